// Methods of Tensor that stand for the functions of eager/functional/: the rarer ones.
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {

Tensor Tensor::add(const Operand& other, Number alpha) const {
  return eager::add({*this, other.loc}, eager::mul(other, alpha));
}
Tensor Tensor::sub(const Operand& other, Number alpha) const {
  return eager::sub({*this, other.loc}, eager::mul(other, alpha));
}
Tensor Tensor::addcmul(const Operand& a, const Operand& b, Number value) const {
  return eager::addcmul(*this, a, b, value);
}
Tensor Tensor::addcdiv(const Operand& a, const Operand& b, Number value) const {
  return eager::addcdiv(*this, a, b, value);
}

Tensor Tensor::heaviside(const Operand& values) const {
  return eager::heaviside(*this, values);
}
Tensor Tensor::logical_xor(const Tensor& other, Loc loc) const {
  return eager::logical_xor(*this, other, loc);
}
Tensor Tensor::gcd(const Operand& other) const {
  return eager::gcd({*this, other.loc}, other);
}
Tensor Tensor::lcm(const Operand& other) const {
  return eager::lcm({*this, other.loc}, other);
}
Tensor Tensor::isclose(const Operand& other, CloseOptions options) const {
  return eager::isclose({*this, other.loc}, other, options);
}
bool Tensor::allclose(const Tensor& other, CloseOptions options, Loc loc) const {
  return eager::allclose(*this, other, options, loc);
}
bool Tensor::equal(const Tensor& other, Loc loc) const {
  return eager::equal(*this, other, loc);
}

Tensor Tensor::mv(const Tensor& other, Loc loc) const {
  return eager::mv(*this, other, loc);
}
Tensor Tensor::outer(const Tensor& other, Loc loc) const {
  return eager::outer(*this, other, loc);
}
Tensor Tensor::inner(const Tensor& other, Loc loc) const {
  return eager::inner(*this, other, loc);
}
Tensor Tensor::cross(const Tensor& other, int64_t axis, Loc loc) const {
  return eager::cross(*this, other, axis, loc);
}
Tensor Tensor::addmm(const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) const {
  return eager::addmm(*this, a, b, scales, loc);
}
Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) const {
  return eager::baddbmm(*this, a, b, scales, loc);
}
Tensor Tensor::trace(Loc loc) const {
  return eager::trace(*this, loc);
}
Tensor Tensor::matrix_power(int64_t power, Loc loc) const {
  return eager::matrix_power(*this, power, loc);
}

Tensor Tensor::clip(std::optional<Number> low, std::optional<Number> high, Loc loc) const {
  return eager::clamp(*this, low, high, loc);
}
Tensor Tensor::clamp_min(Number low, Loc loc) const {
  return eager::clamp(*this, low, {}, loc);
}
Tensor Tensor::clamp_max(Number high, Loc loc) const {
  return eager::clamp(*this, {}, high, loc);
}
Tensor Tensor::logit(std::optional<double> eps, Loc loc) const {
  return eager::logit(*this, eps, loc);
}
Tensor Tensor::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf,
                          Loc loc) const {
  return eager::nan_to_num(*this, nan, posinf, neginf, loc);
}

Tensor Tensor::dist(const Tensor& other, double p, Loc loc) const {
  return eager::dist(*this, other, p, loc);
}
Tensor Tensor::nansum(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::nansum(*this, axes, keepdim, loc);
}
Tensor Tensor::nanmean(const Axes& axes, bool keepdim, Loc loc) const {
  return eager::nanmean(*this, axes, keepdim, loc);
}
Tensor Tensor::count_nonzero(const Axes& axes, Loc loc) const {
  return eager::count_nonzero(*this, axes, loc);
}
Tensor Tensor::max(const Tensor& other, Loc loc) const {
  return eager::maximum({*this, loc}, {other, loc});
}
Tensor Tensor::min(const Tensor& other, Loc loc) const {
  return eager::minimum({*this, loc}, {other, loc});
}

Tensor Tensor::median(Loc loc) const {
  return eager::median(*this, loc);
}
std::pair<Tensor, Tensor> Tensor::median(int64_t axis, bool keepdim, Loc loc) const {
  return eager::median(*this, axis, keepdim, loc);
}
Tensor Tensor::nanmedian(Loc loc) const {
  return eager::nanmedian(*this, loc);
}
std::pair<Tensor, Tensor> Tensor::nanmedian(int64_t axis, bool keepdim, Loc loc) const {
  return eager::nanmedian(*this, axis, keepdim, loc);
}
std::pair<Tensor, Tensor> Tensor::mode(int64_t axis, bool keepdim, Loc loc) const {
  return eager::mode(*this, axis, keepdim, loc);
}
std::pair<Tensor, Tensor> Tensor::kthvalue(int64_t k, int64_t axis, bool keepdim, Loc loc) const {
  return eager::kthvalue(*this, k, axis, keepdim, loc);
}
Tensor Tensor::quantile(double q, std::optional<int64_t> axis, bool keepdim, Loc loc) const {
  return eager::quantile(*this, q, axis, keepdim, loc);
}
Tensor Tensor::cumprod(int64_t axis, Loc loc) const {
  return eager::cumprod(*this, axis, loc);
}
std::pair<Tensor, Tensor> Tensor::cummax(int64_t axis, Loc loc) const {
  return eager::cummax(*this, axis, loc);
}
std::pair<Tensor, Tensor> Tensor::cummin(int64_t axis, Loc loc) const {
  return eager::cummin(*this, axis, loc);
}
Tensor Tensor::logcumsumexp(int64_t axis, Loc loc) const {
  return eager::logcumsumexp(*this, axis, loc);
}
Tensor Tensor::diff(int64_t times, int64_t axis, Loc loc) const {
  return eager::diff(*this, times, axis, loc);
}
Tensor Tensor::bincount(const Tensor& weights, int64_t minlength, Loc loc) const {
  return eager::bincount(*this, weights, minlength, loc);
}
UniqueResult Tensor::unique(std::optional<int64_t> axis, Loc loc) const {
  return eager::unique(*this, axis, loc);
}
Tensor Tensor::bernoulli(Loc loc) const {
  return eager::bernoulli(*this, loc);
}
Tensor Tensor::multinomial(int64_t count, bool replacement, Loc loc) const {
  return eager::multinomial(*this, count, replacement, loc);
}

Tensor Tensor::new_zeros(const Dims& shape, Loc loc) const {
  require_defined(*this, "new_zeros", "the tensor", loc);
  return eager::zeros(shape, {.dtype = dtype()}, loc);
}
Tensor Tensor::new_ones(const Dims& shape, Loc loc) const {
  require_defined(*this, "new_ones", "the tensor", loc);
  return eager::ones(shape, {.dtype = dtype()}, loc);
}
Tensor Tensor::new_full(const Dims& shape, Number value, Loc loc) const {
  require_defined(*this, "new_full", "the tensor", loc);
  return eager::full(shape, value, {.dtype = dtype()}, loc);
}
Tensor Tensor::movedim(const IntList& from, const IntList& to, Loc loc) const {
  return eager::movedim(*this, from, to, loc);
}
Tensor Tensor::swapaxes(int64_t a, int64_t b, Loc loc) const {
  return transpose(a, b, loc);
}
Tensor Tensor::swapdims(int64_t a, int64_t b, Loc loc) const {
  return transpose(a, b, loc);
}
Tensor Tensor::T(Loc loc) const {
  require_defined(*this, "T", "the tensor", loc);
  if (rank() > 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": T: expected a matrix, got ", type(),
         "; swap the last two axes with mT()");
  }
  return rank() < 2 ? *this : transpose(0, 1, loc);
}
Tensor Tensor::rot90(int64_t times, int64_t from, int64_t to, Loc loc) const {
  return eager::rot90(*this, times, from, to, loc);
}
Tensor Tensor::repeat_interleave(const Tensor& counts, std::optional<int64_t> axis, Loc loc) const {
  return eager::repeat_interleave(*this, counts, axis, loc);
}
Tensor Tensor::tile(const Dims& repeats, Loc loc) const {
  return eager::tile(*this, repeats, loc);
}
Tensor Tensor::broadcast_to(const Dims& shape, Loc loc) const {
  return expand(shape, loc);
}
Tensor Tensor::diag(int64_t offset, Loc loc) const {
  return eager::diag(*this, offset, loc);
}
Tensor Tensor::diag_embed(int64_t offset, Loc loc) const {
  return eager::diag_embed(*this, offset, loc);
}
std::vector<Tensor> Tensor::tensor_split(int64_t count, int64_t axis, Loc loc) const {
  return eager::tensor_split(*this, count, axis, loc);
}

Tensor Tensor::index_copy(int64_t axis, const Tensor& indices, const Tensor& source,
                          Loc loc) const {
  return eager::index_copy(*this, axis, indices, source, loc);
}
Tensor Tensor::index_fill(int64_t axis, const Tensor& indices, Number value, Loc loc) const {
  return eager::index_fill(*this, axis, indices, value, loc);
}
Tensor Tensor::take(const Tensor& indices, Loc loc) const {
  return eager::take(*this, indices, loc);
}
Tensor Tensor::take_along_dim(const Tensor& indices, int64_t axis, Loc loc) const {
  return eager::take_along_dim(*this, indices, axis, loc);
}
Tensor Tensor::scatter(int64_t axis, const Tensor& indices, Number value, Loc loc) const {
  return eager::scatter(*this, axis, indices, value, loc);
}
Tensor Tensor::scatter_reduce(int64_t axis, const Tensor& indices, const Tensor& source,
                              std::string_view reduction, bool include_self, Loc loc) const {
  return eager::scatter_reduce(*this, axis, indices, source, reduction, include_self, loc);
}
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source, Loc loc) const {
  return eager::masked_scatter(*this, mask, source, loc);
}

}  // namespace sardonyx::eager
