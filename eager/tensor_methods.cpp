// Methods of Tensor that stand for functions of eager/functional/functional.h.
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager {

#define SARDONYX_METHOD(name)          \
  Tensor Tensor::name(Loc loc) const { \
    return eager::name(*this, loc);    \
  }
SARDONYX_METHOD(abs)
SARDONYX_METHOD(exp)
SARDONYX_METHOD(log)
SARDONYX_METHOD(sqrt)
SARDONYX_METHOD(rsqrt)
SARDONYX_METHOD(square)
SARDONYX_METHOD(reciprocal)
SARDONYX_METHOD(sin)
SARDONYX_METHOD(cos)
SARDONYX_METHOD(tan)
SARDONYX_METHOD(tanh)
SARDONYX_METHOD(erf)
SARDONYX_METHOD(floor)
SARDONYX_METHOD(ceil)
SARDONYX_METHOD(round)
SARDONYX_METHOD(sign)
SARDONYX_METHOD(trunc)
SARDONYX_METHOD(relu)
SARDONYX_METHOD(sigmoid)
SARDONYX_METHOD(isnan)
SARDONYX_METHOD(isinf)
SARDONYX_METHOD(isfinite)
SARDONYX_METHOD(logical_not)
SARDONYX_METHOD(neg)
SARDONYX_METHOD(log1p)
SARDONYX_METHOD(expm1)
SARDONYX_METHOD(log2)
SARDONYX_METHOD(log10)
SARDONYX_METHOD(exp2)
SARDONYX_METHOD(sinh)
SARDONYX_METHOD(cosh)
SARDONYX_METHOD(asin)
SARDONYX_METHOD(acos)
SARDONYX_METHOD(atan)
SARDONYX_METHOD(asinh)
SARDONYX_METHOD(acosh)
SARDONYX_METHOD(atanh)
SARDONYX_METHOD(erfc)
SARDONYX_METHOD(frac)
SARDONYX_METHOD(bitwise_not)
#undef SARDONYX_METHOD

// Messages name the line of the argument, which is the caller's.
#define SARDONYX_METHOD(name)                       \
  Tensor Tensor::name(const Operand& other) const { \
    return eager::name({*this, other.loc}, other);  \
  }
SARDONYX_METHOD(add)
SARDONYX_METHOD(sub)
SARDONYX_METHOD(mul)
SARDONYX_METHOD(div)
SARDONYX_METHOD(pow)
SARDONYX_METHOD(remainder)
SARDONYX_METHOD(floor_divide)
SARDONYX_METHOD(fmod)
SARDONYX_METHOD(maximum)
SARDONYX_METHOD(minimum)
SARDONYX_METHOD(atan2)
SARDONYX_METHOD(eq)
SARDONYX_METHOD(ne)
SARDONYX_METHOD(lt)
SARDONYX_METHOD(le)
SARDONYX_METHOD(gt)
SARDONYX_METHOD(ge)
SARDONYX_METHOD(hypot)
SARDONYX_METHOD(xlogy)
SARDONYX_METHOD(logaddexp)
SARDONYX_METHOD(bitwise_and)
SARDONYX_METHOD(bitwise_or)
SARDONYX_METHOD(bitwise_xor)
SARDONYX_METHOD(float_power)
#undef SARDONYX_METHOD

Tensor Tensor::logical_and(const Tensor& other, Loc loc) const {
  return eager::logical_and(*this, other, loc);
}
Tensor Tensor::logical_or(const Tensor& other, Loc loc) const {
  return eager::logical_or(*this, other, loc);
}
Tensor Tensor::matmul(const Tensor& other, Loc loc) const {
  return eager::matmul(*this, other, loc);
}
Tensor Tensor::mm(const Tensor& other, Loc loc) const {
  return eager::mm(*this, other, loc);
}
Tensor Tensor::bmm(const Tensor& other, Loc loc) const {
  return eager::bmm(*this, other, loc);
}
Tensor Tensor::dot(const Tensor& other, Loc loc) const {
  return eager::dot(*this, other, loc);
}
Tensor Tensor::clamp(std::optional<Number> low, std::optional<Number> high, Loc loc) const {
  return eager::clamp(*this, low, high, loc);
}
Tensor Tensor::softmax(int64_t axis, Loc loc) const {
  return eager::softmax(*this, axis, loc);
}
Tensor Tensor::log_softmax(int64_t axis, Loc loc) const {
  return eager::log_softmax(*this, axis, loc);
}
Tensor Tensor::lerp(const Operand& end, const Operand& weight) const {
  return eager::lerp(*this, end, weight);
}
Tensor Tensor::any(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::any(*this, axes, keepdim, loc);
}
Tensor Tensor::all(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::all(*this, axes, keepdim, loc);
}
Tensor Tensor::prod(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::prod(*this, axes, keepdim, loc);
}
Tensor Tensor::var(const Axes& axes, bool keepdim, int64_t correction, Loc loc) const {
  return eager::var(*this, axes, keepdim, correction, loc);
}
Tensor Tensor::std(const Axes& axes, bool keepdim, int64_t correction, Loc loc) const {
  return eager::std(*this, axes, keepdim, correction, loc);
}
Tensor Tensor::logsumexp(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::logsumexp(*this, axes, keepdim, loc);
}
Tensor Tensor::norm(double p, const Axes& axes, bool keepdim, Loc loc) const {
  return eager::norm(*this, p, axes, keepdim, loc);
}
Tensor Tensor::max(Loc loc) const {
  return eager::max(*this, loc);
}
Tensor Tensor::min(Loc loc) const {
  return eager::min(*this, loc);
}
std::pair<Tensor, Tensor> Tensor::max(int64_t axis, bool keepdim, Loc loc) const {
  return eager::max(*this, axis, keepdim, loc);
}
std::pair<Tensor, Tensor> Tensor::min(int64_t axis, bool keepdim, Loc loc) const {
  return eager::min(*this, axis, keepdim, loc);
}
std::pair<Tensor, Tensor> Tensor::sort(int64_t axis, bool descending, Loc loc) const {
  return eager::sort(*this, axis, descending, loc);
}
std::pair<Tensor, Tensor> Tensor::topk(int64_t k, int64_t axis, bool largest, Loc loc) const {
  return eager::topk(*this, k, axis, largest, loc);
}
Tensor Tensor::argsort(int64_t axis, bool descending, Loc loc) const {
  return eager::argsort(*this, axis, descending, loc);
}
Tensor Tensor::argmax(Loc loc) const {
  return eager::argmax(*this, {}, false, loc);
}
Tensor Tensor::argmin(std::optional<int64_t> axis, bool keepdim, Loc loc) const {
  return eager::argmin(*this, axis, keepdim, loc);
}
Tensor Tensor::cumsum(int64_t axis, Loc loc) const {
  return eager::cumsum(*this, axis, loc);
}
Tensor Tensor::nonzero(Loc loc) const {
  return eager::nonzero(*this, loc);
}
Tensor Tensor::unflatten(int64_t axis, const Dims& sizes, Loc loc) const {
  return eager::unflatten(*this, axis, sizes, loc);
}
Tensor Tensor::narrow(int64_t axis, const Dim& start, const Dim& length, Loc loc) const {
  return eager::narrow(*this, axis, start, length, loc);
}
Tensor Tensor::flip(const Axes& axes, Loc loc) const {
  return eager::flip(*this, axes, loc);
}
Tensor Tensor::roll(const IntList& shifts, const Axes& axes, Loc loc) const {
  return eager::roll(*this, shifts, axes, loc);
}
Tensor Tensor::repeat(const IntList& counts, Loc loc) const {
  return eager::repeat(*this, counts, loc);
}
Tensor Tensor::repeat_interleave(int64_t count, std::optional<int64_t> axis, Loc loc) const {
  return eager::repeat_interleave(*this, count, axis, loc);
}
Tensor Tensor::tril(int64_t diagonal, Loc loc) const {
  return eager::tril(*this, diagonal, loc);
}
Tensor Tensor::triu(int64_t diagonal, Loc loc) const {
  return eager::triu(*this, diagonal, loc);
}
Tensor Tensor::diagonal(int64_t offset, int64_t a, int64_t b, Loc loc) const {
  return eager::diagonal(*this, offset, a, b, loc);
}
std::vector<Tensor> Tensor::split(int64_t size, int64_t axis, Loc loc) const {
  return eager::split(*this, size, axis, loc);
}
std::vector<Tensor> Tensor::split(const std::vector<int64_t>& sizes, int64_t axis, Loc loc) const {
  return eager::split(*this, sizes, axis, loc);
}
std::vector<Tensor> Tensor::chunk(int64_t count, int64_t axis, Loc loc) const {
  return eager::chunk(*this, count, axis, loc);
}
std::vector<Tensor> Tensor::unbind(int64_t axis, Loc loc) const {
  return eager::unbind(*this, axis, loc);
}
Tensor Tensor::index_select(int64_t axis, const Tensor& indices, Loc loc) const {
  return eager::index_select(*this, axis, indices, loc);
}
Tensor Tensor::index_add(int64_t axis, const Tensor& indices, const Tensor& source, Number alpha,
                         Loc loc) const {
  return eager::index_add(*this, axis, indices, source, alpha, loc);
}
Tensor Tensor::gather(int64_t axis, const Tensor& indices, Loc loc) const {
  return eager::gather(*this, axis, indices, loc);
}
Tensor Tensor::scatter(int64_t axis, const Tensor& indices, const Tensor& source, Loc loc) const {
  return eager::scatter(*this, axis, indices, source, "none", loc);
}
Tensor Tensor::scatter_add(int64_t axis, const Tensor& indices, const Tensor& source,
                           Loc loc) const {
  return eager::scatter_add(*this, axis, indices, source, loc);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value) const {
  return eager::masked_fill(*this, mask, value);
}
Tensor Tensor::masked_select(const Tensor& mask, Loc loc) const {
  return eager::masked_select(*this, mask, loc);
}
Tensor Tensor::where(const Tensor& condition, const Operand& other) const {
  return eager::where(condition, {*this, other.loc}, other);
}

Tensor Tensor::view(const Dims& shape, Loc loc) const {
  return reshape(shape, loc);
}
Tensor Tensor::view_as(const Tensor& other, Loc loc) const {
  return reshape(other.shape(loc), loc);
}
Tensor Tensor::reshape_as(const Tensor& other, Loc loc) const {
  return reshape(other.shape(loc), loc);
}
Tensor Tensor::expand_as(const Tensor& other, Loc loc) const {
  return expand(other.shape(loc), loc);
}
Tensor Tensor::type_as(const Tensor& other, Loc loc) const {
  return to(other.dtype(), loc);
}
Tensor Tensor::clone(Loc loc) const {
  static const OpDef& op = op_named("Identity");
  return apply(op, {*this}, loc);
}

}  // namespace sardonyx::eager
