// Tensors that compute at once: handles on values, with autograd. The same calls on symbolic
// tensors are recorded in a graph (eager/trace/trace.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "eager/arguments.h"
#include "eager/autograd/removable_handle.h"
#include "eager/dim.h"
#include "eager/trace/location.h"
#include "ir/core/dtype.h"
#include "ir/core/error.h"

namespace sardonyx {
class Datum;
class Tensor;
struct Type;
}  // namespace sardonyx

namespace sardonyx::eager {

namespace detail {
struct TensorImpl;
}
class Tensor;
// One place of Tensor::index: an integer, a Slice, a new dim of size 1 (NewAxis), all the dims that
// the others leave (Ellipsis), or a tensor of int64 indices or of bools.
struct Slice {
  std::optional<Dim> begin = {}, end = {};
  int64_t step = 1;
};
struct NewAxis {};
struct Ellipsis {};
struct Index;
struct UniqueResult;
// What stands in brackets; remembers the caller's line.
struct At {
  int64_t index;
  Loc loc;
  At(int64_t place, Loc from = Loc::current()) : index(place), loc(from) {}
};

// A handle: copies share one value and one gradient, as in torch. Values are immutable; `assign`
// gives a handle (and all its copies) another one. Elements are any ONNX type, in row-major order.
class Tensor {
 public:
  Tensor() = default;  // undefined: an omitted optional argument
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  // Only of a variable: `x[0] = y` and `p.grad() = g` would change a handle that is gone at once.
  // Elements are written by index_put(), values by assign(), gradients by set_grad().
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  explicit Tensor(const sardonyx::Tensor& value);
  explicit Tensor(const sardonyx::Datum& value);
  // One number as a tensor of rank 0.
  template <typename T>
  static Tensor scalar(T value, DType dtype = dtype_of<T>()) {
    if constexpr (std::is_arithmetic_v<T>)
      return of_number(value, dtype);
    else
      return of_number(static_cast<double>(value), dtype);
  }
  template <typename T>
  static Tensor of(const std::vector<T>& values, Shape shape, Loc loc = Loc::current());

  // There is no conversion to bool: ask defined(), or item<bool>() for the value.
  bool defined() const { return impl_ != nullptr; }
  DType dtype() const;
  size_t rank() const;
  int64_t dim() const { return static_cast<int64_t>(rank()); }
  // Dims may be symbolic in a trace; see eager/dim.h for what C++ may ask of them.
  Sizes shape(Loc loc = Loc::current()) const;
  Dim size(int64_t axis, Loc loc = Loc::current()) const;  // negative axes count from the end
  Dim numel(Loc loc = Loc::current()) const;
  // Element type and shape as the runtime's Type.
  sardonyx::Type type() const;
  // Whether this is a tensor of a trace, which has no elements yet.
  bool is_symbolic() const;

  // The value. Throws kInvalidArgument for a symbolic tensor: it has none before the run; the
  // message names the caller's line and what to write instead (cond, while_loop, scan).
  const sardonyx::Tensor& data(Loc loc = Loc::current()) const;
  const sardonyx::Datum& datum(Loc loc = Loc::current()) const;
  // The one element, converted to T. Throws unless there is exactly one.
  template <typename T>
  T item(Loc loc = Loc::current()) const {
    if constexpr (std::integral<T> && sizeof(T) == sizeof(int64_t)) {
      if (const auto exact = item_as_int64(loc)) return static_cast<T>(*exact);
    }
    return static_cast<T>(item_as_double(loc));
  }
  // All elements in row-major order; T must be the element type.
  template <typename T>
  std::vector<T> to_vector(Loc loc = Loc::current()) const;
  std::string text() const;  // as numpy prints it, shortened beyond 1000 elements

  // --- autograd ---
  // Whether results that depend on this tensor are recorded for backward().
  bool requires_grad() const;
  Tensor& set_requires_grad(bool wanted = true, Loc loc = Loc::current());
  bool is_leaf(Loc loc = Loc::current()) const;  // not made by a recorded op
  // The sum of what backward() calls have brought; undefined before the first.
  Tensor grad(Loc loc = Loc::current()) const;
  void set_grad(const Tensor& gradient, Loc loc = Loc::current()) const;
  void zero_grad(Loc loc = Loc::current()) const { set_grad(Tensor(), loc); }
  // Keeps the gradient of a tensor that is no leaf.
  Tensor& retain_grad(Loc loc = Loc::current());
  // Adds d(this)/d(leaf) to grad() of every leaf that requires one. `gradient` (ones for a tensor
  // of one element) weighs the elements. Frees what was recorded unless `retain_graph`.
  // With `create_graph` a leaf's gradient may hold the leaf, which holds its gradient: neither is
  // freed before zero_grad(). grad() (eager/autograd/autograd.h) leaves no such cycle.
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                Loc loc = Loc::current()) const;
  // Called with the whole gradient of this tensor in each backward pass, in order of registration,
  // until the handle removes it; a defined result takes the gradient's place.
  using Hook = std::function<Tensor(const Tensor& gradient)>;
  RemovableHandle register_hook(Hook hook) const;
  // The same value, cut from what it was computed from.
  Tensor detach() const;
  // Gives this handle and its copies another value of the same type and shape; not recorded. In a
  // trace it becomes a state that the graph gives back.
  const Tensor& assign(const Tensor& value, Loc loc = Loc::current()) const;

  // --- shape and type, after torch ---
  Tensor to(DType dtype, Loc loc = Loc::current()) const;
  // One dim may be -1: what is left.
  Tensor reshape(const Dims& shape, Loc loc = Loc::current()) const;
  template <IntegerSizes S>
  Tensor reshape(const S& sizes, Loc loc = Loc::current()) const {
    return reshape(dims_of(sizes), loc);
  }
  // Axes `first` to `last` as one.
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc loc = Loc::current()) const;
  // Without the axes, which must have size 1; none given: without all of size 1.
  Tensor squeeze(const Axes& axes = {}, Loc loc = Loc::current()) const;
  // With a new axis of size 1 at `axis` of the result.
  Tensor unsqueeze(int64_t axis, Loc loc = Loc::current()) const;
  // Axis i of the result is axes[i] of this; all axes, each once.
  Tensor permute(const Axes& axes, Loc loc = Loc::current()) const;
  // Axes `a` and `b` exchanged.
  Tensor transpose(int64_t a, int64_t b, Loc loc = Loc::current()) const;
  // The last two axes exchanged.
  Tensor t(Loc loc = Loc::current()) const { return transpose(-2, -1, loc); }
  // Broadcast to `shape`; -1 keeps a size.
  Tensor expand(const Dims& shape, Loc loc = Loc::current()) const;
  template <IntegerSizes S>
  Tensor expand(const S& sizes, Loc loc = Loc::current()) const {
    return expand(dims_of(sizes), loc);
  }
  // Elements of a range along one axis; negative ends count from its end.
  Tensor slice(int64_t axis, const Slice& range, Loc loc = Loc::current()) const;
  // One element along an axis, which the result lacks.
  Tensor select(int64_t axis, int64_t index, Loc loc = Loc::current()) const;
  // x.index({0, Slice{1, {}}, Ellipsis{}, NewAxis{}, rows}).
  Tensor index(const std::vector<Index>& places, Loc loc = Loc::current()) const;
  // A copy with `values` (broadcast) in these places, or added to what stands there. Of places that
  // are named twice one value is kept, and with `accumulate` all are added. Gradients flow to both.
  Tensor index_put(const std::vector<Index>& places, const Tensor& values, bool accumulate = false,
                   Loc loc = Loc::current()) const;
  // The slice at one index of axis 0.
  Tensor operator[](const At& at) const;

  // --- reductions; no axes: over all elements ---
  // Sums of bools and of integers below 64 bits are int64.
  Tensor sum(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // Of floating elements only.
  Tensor mean(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // The largest (smallest) along axes; where several are, they share the gradient.
  Tensor amax(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  Tensor amin(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // The index (int64) of the first largest element along an axis.
  Tensor argmax(int64_t axis, bool keepdim = false, Loc loc = Loc::current()) const;

  // --- the functions of eager/functional/functional.h as methods, in torch's names and order of
  // arguments ---
  Tensor abs(Loc loc = Loc::current()) const;
  Tensor exp(Loc loc = Loc::current()) const;
  Tensor log(Loc loc = Loc::current()) const;
  Tensor sqrt(Loc loc = Loc::current()) const;
  Tensor rsqrt(Loc loc = Loc::current()) const;
  Tensor square(Loc loc = Loc::current()) const;
  Tensor reciprocal(Loc loc = Loc::current()) const;
  Tensor sin(Loc loc = Loc::current()) const;
  Tensor cos(Loc loc = Loc::current()) const;
  Tensor tan(Loc loc = Loc::current()) const;
  Tensor tanh(Loc loc = Loc::current()) const;
  Tensor erf(Loc loc = Loc::current()) const;
  Tensor floor(Loc loc = Loc::current()) const;
  Tensor ceil(Loc loc = Loc::current()) const;
  Tensor round(Loc loc = Loc::current()) const;
  Tensor sign(Loc loc = Loc::current()) const;
  Tensor trunc(Loc loc = Loc::current()) const;
  Tensor relu(Loc loc = Loc::current()) const;
  Tensor sigmoid(Loc loc = Loc::current()) const;
  Tensor isnan(Loc loc = Loc::current()) const;
  Tensor isinf(Loc loc = Loc::current()) const;
  Tensor isfinite(Loc loc = Loc::current()) const;
  Tensor logical_not(Loc loc = Loc::current()) const;
  // -x, and the functions of <cmath> of the same names, element by element; log1p(x) is log(1 + x)
  // and expm1(x) is exp(x) - 1, both exact near 0. Of floating elements only, but neg().
  Tensor neg(Loc loc = Loc::current()) const;
  Tensor log1p(Loc loc = Loc::current()) const;
  Tensor expm1(Loc loc = Loc::current()) const;
  Tensor log2(Loc loc = Loc::current()) const;
  Tensor log10(Loc loc = Loc::current()) const;
  Tensor exp2(Loc loc = Loc::current()) const;
  Tensor sinh(Loc loc = Loc::current()) const;
  Tensor cosh(Loc loc = Loc::current()) const;
  Tensor asin(Loc loc = Loc::current()) const;
  Tensor acos(Loc loc = Loc::current()) const;
  Tensor atan(Loc loc = Loc::current()) const;
  Tensor asinh(Loc loc = Loc::current()) const;
  Tensor acosh(Loc loc = Loc::current()) const;
  Tensor atanh(Loc loc = Loc::current()) const;
  // 1 - erf(x), exact for large x.
  Tensor erfc(Loc loc = Loc::current()) const;
  // x - trunc(x), with the sign of x.
  Tensor frac(Loc loc = Loc::current()) const;
  // Of integers; of bools the negation.
  Tensor bitwise_not(Loc loc = Loc::current()) const;
  // Elementwise with another tensor or a number, broadcast to one shape; types are promoted as
  // torch does.
  Tensor add(const Operand& other) const;
  Tensor sub(const Operand& other) const;
  Tensor mul(const Operand& other) const;
  Tensor div(const Operand& other) const;
  Tensor pow(const Operand& other) const;
  Tensor remainder(const Operand& other) const;
  Tensor floor_divide(const Operand& other) const;
  Tensor fmod(const Operand& other) const;
  Tensor maximum(const Operand& other) const;
  Tensor minimum(const Operand& other) const;
  Tensor atan2(const Operand& other) const;
  // Comparisons give bools.
  Tensor eq(const Operand& other) const;
  Tensor ne(const Operand& other) const;
  Tensor lt(const Operand& other) const;
  Tensor le(const Operand& other) const;
  Tensor gt(const Operand& other) const;
  Tensor ge(const Operand& other) const;
  // sqrt(x^2 + other^2), without overflow in between.
  Tensor hypot(const Operand& other) const;
  // x * log(other); 0 where x is 0, whatever the other is.
  Tensor xlogy(const Operand& other) const;
  // log(exp(x) + exp(other)), without overflow.
  Tensor logaddexp(const Operand& other) const;
  // 0 below 0, 1 above, and the other at 0.
  Tensor heaviside(const Operand& other) const;
  // Of integers and bools.
  Tensor bitwise_and(const Operand& other) const;
  Tensor bitwise_or(const Operand& other) const;
  Tensor bitwise_xor(const Operand& other) const;
  // Of integers: the greatest common divisor, the least common multiple.
  Tensor gcd(const Operand& other) const;
  Tensor lcm(const Operand& other) const;
  // x^other, computed in double.
  Tensor float_power(const Operand& other) const;
  // this + alpha * other, this - alpha * other.
  Tensor add(const Operand& other, Number alpha) const;
  Tensor sub(const Operand& other, Number alpha) const;
  // x + value * a * b; addcdiv: x + value * a / b.
  Tensor addcmul(const Operand& a, const Operand& b, Number value = 1) const;
  Tensor addcdiv(const Operand& a, const Operand& b, Number value = 1) const;
  // Of bools, or of numbers as != 0.
  Tensor logical_and(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor logical_or(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor logical_xor(const Tensor& other, Loc loc = Loc::current()) const;
  // |x - other| <= atol + rtol * |other|, element by element, as bools.
  Tensor isclose(const Operand& other, CloseOptions options = {}) const;
  // Whether all elements are close; equal(): whether shape and all elements are the same. Both wait
  // for the values, so a trace refuses them.
  bool allclose(const Tensor& other, CloseOptions options = {}, Loc loc = Loc::current()) const;
  bool equal(const Tensor& other, Loc loc = Loc::current()) const;
  // Matrix products: of the last two axes with batches broadcast; mm of two matrices; bmm of two
  // batches [B, n, k] and [B, k, m]; dot of two vectors.
  Tensor matmul(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor mm(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor bmm(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor dot(const Tensor& other, Loc loc = Loc::current()) const;
  // Of a matrix and a vector.
  Tensor mv(const Tensor& other, Loc loc = Loc::current()) const;
  // [n] and [m] to [n, m].
  Tensor outer(const Tensor& other, Loc loc = Loc::current()) const;
  // Over the last axes of both: [..., k] and [..., k] to the axes before them.
  Tensor inner(const Tensor& other, Loc loc = Loc::current()) const;
  // The vector product along an axis of size 3.
  Tensor cross(const Tensor& other, int64_t axis = -1, Loc loc = Loc::current()) const;
  // beta * x + alpha * (a @ b); baddbmm: of batches [B, n, k] and [B, k, m].
  Tensor addmm(const Tensor& a, const Tensor& b, ScaledProduct scales = {},
               Loc loc = Loc::current()) const;
  Tensor baddbmm(const Tensor& a, const Tensor& b, ScaledProduct scales = {},
                 Loc loc = Loc::current()) const;
  // The sum of a matrix's diagonal.
  Tensor trace(Loc loc = Loc::current()) const;
  // A square matrix times itself; a negative power is of the inverse.
  Tensor matrix_power(int64_t power, Loc loc = Loc::current()) const;
  // Elements limited to [low, high]; either bound may be left out.
  Tensor clamp(std::optional<Number> low, std::optional<Number> high = {},
               Loc loc = Loc::current()) const;
  Tensor clip(std::optional<Number> low, std::optional<Number> high = {},
              Loc loc = Loc::current()) const;  // clamp
  // With one bound.
  Tensor clamp_min(Number low, Loc loc = Loc::current()) const;
  Tensor clamp_max(Number high, Loc loc = Loc::current()) const;
  // log(x / (1 - x)); x is clamped to [eps, 1 - eps] where eps is given.
  Tensor logit(std::optional<double> eps = {}, Loc loc = Loc::current()) const;
  // NaN and infinities replaced: infinities by the type's largest numbers where none are given.
  Tensor nan_to_num(double nan = 0, std::optional<double> posinf = {},
                    std::optional<double> neginf = {}, Loc loc = Loc::current()) const;
  // Along one axis.
  Tensor softmax(int64_t axis, Loc loc = Loc::current()) const;
  Tensor log_softmax(int64_t axis, Loc loc = Loc::current()) const;
  // this + weight * (end - this).
  Tensor lerp(const Operand& end, const Operand& weight) const;
  Tensor where(const Tensor& condition, const Operand& other) const;  // this where it is true

  // Whether any (all) elements along the axes are not 0: bools.
  Tensor any(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  Tensor all(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // The product along the axes; integers below 64 bits give int64.
  Tensor prod(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // Variance and deviation with the divisor n - correction.
  Tensor var(const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
             Loc loc = Loc::current()) const;
  Tensor std(const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
             Loc loc = Loc::current()) const;
  // log(sum(exp(x))) along the axes, without overflow.
  Tensor logsumexp(const Axes& axes, bool keepdim = false, Loc loc = Loc::current()) const;
  // The p-norm of the elements along the axes.
  Tensor norm(double p = 2, const Axes& axes = {}, bool keepdim = false,
              Loc loc = Loc::current()) const;
  // The p-norm of the difference of all elements.
  Tensor dist(const Tensor& other, double p = 2, Loc loc = Loc::current()) const;
  // Without the elements that are NaN.
  Tensor nansum(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  Tensor nanmean(const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current()) const;
  // int64.
  Tensor count_nonzero(const Axes& axes = {}, Loc loc = Loc::current()) const;
  // The largest (smallest) of all elements.
  Tensor max(Loc loc = Loc::current()) const;
  Tensor min(Loc loc = Loc::current()) const;
  Tensor max(const Tensor& other, Loc loc = Loc::current()) const;  // maximum
  Tensor min(const Tensor& other, Loc loc = Loc::current()) const;
  // {values, indices}.
  std::pair<Tensor, Tensor> max(int64_t axis, bool keepdim = false, Loc loc = Loc::current()) const;
  std::pair<Tensor, Tensor> min(int64_t axis, bool keepdim = false, Loc loc = Loc::current()) const;
  // Stable; NaN counts as the greatest.
  std::pair<Tensor, Tensor> sort(int64_t axis = -1, bool descending = false,
                                 Loc loc = Loc::current()) const;
  // The k largest (smallest), in order. k must not be above the axis' size.
  std::pair<Tensor, Tensor> topk(int64_t k, int64_t axis = -1, bool largest = true,
                                 Loc loc = Loc::current()) const;
  // The indices (int64) that sort along an axis.
  Tensor argsort(int64_t axis = -1, bool descending = false, Loc loc = Loc::current()) const;
  Tensor argmax(Loc loc = Loc::current()) const;  // among all elements in row-major order
  // The first smallest, along an axis or among all elements.
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false,
                Loc loc = Loc::current()) const;
  // The middle element, the lower one of an even number; with an axis {values, indices}.
  Tensor median(Loc loc = Loc::current()) const;
  std::pair<Tensor, Tensor> median(int64_t axis, bool keepdim = false,
                                   Loc loc = Loc::current()) const;
  // The same without NaNs; NaN of nothing else.
  Tensor nanmedian(Loc loc = Loc::current()) const;
  std::pair<Tensor, Tensor> nanmedian(int64_t axis, bool keepdim = false,
                                      Loc loc = Loc::current()) const;
  // {values, indices}: what occurs most often along an axis, the smallest of such, and its last
  // place.
  std::pair<Tensor, Tensor> mode(int64_t axis = -1, bool keepdim = false,
                                 Loc loc = Loc::current()) const;
  // The k-th smallest, from 1 on.
  std::pair<Tensor, Tensor> kthvalue(int64_t k, int64_t axis = -1, bool keepdim = false,
                                     Loc loc = Loc::current()) const;
  // Linearly interpolated between neighbours; q within [0, 1].
  Tensor quantile(double q, std::optional<int64_t> axis = {}, bool keepdim = false,
                  Loc loc = Loc::current()) const;
  // Running sums along an axis, of the same shape.
  Tensor cumsum(int64_t axis, Loc loc = Loc::current()) const;
  Tensor cumprod(int64_t axis, Loc loc = Loc::current()) const;
  // Running extremes and the indices where they are.
  std::pair<Tensor, Tensor> cummax(int64_t axis, Loc loc = Loc::current()) const;
  std::pair<Tensor, Tensor> cummin(int64_t axis, Loc loc = Loc::current()) const;
  // log of the running sums of exp(x), without overflow.
  Tensor logcumsumexp(int64_t axis, Loc loc = Loc::current()) const;
  // Differences of neighbours along an axis, `times` times over.
  Tensor diff(int64_t times = 1, int64_t axis = -1, Loc loc = Loc::current()) const;
  // How often each number occurs (or the sum of its weights), for integers >= 0: [max + 1].
  Tensor bincount(const Tensor& weights = {}, int64_t minlength = 0,
                  Loc loc = Loc::current()) const;
  // Each value once, sorted, with where it was and how often.
  UniqueResult unique(std::optional<int64_t> axis = {}, Loc loc = Loc::current()) const;
  // By the elements as probabilities: eager/functional/sampling.h.
  Tensor bernoulli(Loc loc = Loc::current()) const;
  Tensor multinomial(int64_t count, bool replacement = false, Loc loc = Loc::current()) const;
  // Indices of elements that are not 0: int64 [count, rank].
  Tensor nonzero(Loc loc = Loc::current()) const;

  Tensor view(const Dims& shape, Loc loc = Loc::current()) const;  // reshape
  template <IntegerSizes S>
  Tensor view(const S& sizes, Loc loc = Loc::current()) const {
    return reshape(sizes, loc);
  }
  // Reshaped, or expanded, to the shape of `other`; or converted to its element type.
  Tensor view_as(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor reshape_as(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor expand_as(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor type_as(const Tensor& other, Loc loc = Loc::current()) const;
  Tensor contiguous() const { return *this; }  // every tensor is
  // The same value in a handle of its own: assign() to one leaves the other as it is.
  Tensor clone(Loc loc = Loc::current()) const;
  // Of this element type.
  Tensor new_zeros(const Dims& shape, Loc loc = Loc::current()) const;
  Tensor new_ones(const Dims& shape, Loc loc = Loc::current()) const;
  Tensor new_full(const Dims& shape, Number value, Loc loc = Loc::current()) const;
  // One axis as several, of which one size may be -1.
  Tensor unflatten(int64_t axis, const Dims& sizes, Loc loc = Loc::current()) const;
  // One axis at another place; the others keep their order.
  Tensor movedim(const IntList& from, const IntList& to, Loc loc = Loc::current()) const;
  // transpose() by NumPy's names.
  Tensor swapaxes(int64_t a, int64_t b, Loc loc = Loc::current()) const;
  Tensor swapdims(int64_t a, int64_t b, Loc loc = Loc::current()) const;  // swapaxes
  // The transpose.
  Tensor T(Loc loc = Loc::current()) const;  // of at most two axes, swapped
  Tensor mT(Loc loc = Loc::current()) const { return transpose(-2, -1, loc); }
  // By quarter turns in the plane of two axes, from the first towards the second.
  Tensor rot90(int64_t times = 1, int64_t from = 0, int64_t to = 1, Loc loc = Loc::current()) const;
  // `length` elements from `start` along an axis.
  Tensor narrow(int64_t axis, const Dim& start, const Dim& length, Loc loc = Loc::current()) const;
  // Elements along the axes in reverse.
  Tensor flip(const Axes& axes, Loc loc = Loc::current()) const;
  // Elements moved along the axes; those that leave at one end enter at the other. No axes: of all
  // elements in row-major order.
  Tensor roll(const IntList& shifts, const Axes& axes = {}, Loc loc = Loc::current()) const;
  // The whole, counts[i] times along axis i.
  Tensor repeat(const IntList& counts, Loc loc = Loc::current()) const;
  // Each element `count` times in a row, along an axis or of all elements.
  Tensor repeat_interleave(int64_t count, std::optional<int64_t> axis = {},
                           Loc loc = Loc::current()) const;
  Tensor repeat_interleave(const Tensor& counts, std::optional<int64_t> axis = {},
                           Loc loc = Loc::current()) const;
  // The whole, repeats[i] times along axis i, as in numpy.tile.
  Tensor tile(const Dims& repeats, Loc loc = Loc::current()) const;
  Tensor broadcast_to(const Dims& shape, Loc loc = Loc::current()) const;
  // Zeros above (below) a diagonal of the last two axes.
  Tensor tril(int64_t diagonal = 0, Loc loc = Loc::current()) const;
  Tensor triu(int64_t diagonal = 0, Loc loc = Loc::current()) const;
  // The diagonal of axes `a` and `b`, which becomes the last axis.
  Tensor diagonal(int64_t offset = 0, int64_t a = 0, int64_t b = 1, Loc loc = Loc::current()) const;
  // A vector as the diagonal of a matrix, or a matrix's diagonal as a vector.
  Tensor diag(int64_t offset = 0, Loc loc = Loc::current()) const;
  // The last axis as the diagonal of two new last axes.
  Tensor diag_embed(int64_t offset = 0, Loc loc = Loc::current()) const;
  // Pieces of `size` elements along an axis, the last of what is left.
  std::vector<Tensor> split(int64_t size, int64_t axis = 0, Loc loc = Loc::current()) const;
  std::vector<Tensor> split(const std::vector<int64_t>& sizes, int64_t axis = 0,
                            Loc loc = Loc::current()) const;
  // `count` pieces of equal sizes, the last perhaps smaller or missing.
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0, Loc loc = Loc::current()) const;
  std::vector<Tensor> tensor_split(int64_t count, int64_t axis = 0, Loc loc = Loc::current()) const;
  // The slices along an axis, which they lack.
  std::vector<Tensor> unbind(int64_t axis = 0, Loc loc = Loc::current()) const;
  // The slices that int64 `indices` [n] name along an axis.
  Tensor index_select(int64_t axis, const Tensor& indices, Loc loc = Loc::current()) const;
  // alpha * source added to the slices that `indices` name.
  Tensor index_add(int64_t axis, const Tensor& indices, const Tensor& source, Number alpha = 1,
                   Loc loc = Loc::current()) const;
  Tensor index_copy(int64_t axis, const Tensor& indices, const Tensor& source,
                    Loc loc = Loc::current()) const;
  Tensor index_fill(int64_t axis, const Tensor& indices, Number value,
                    Loc loc = Loc::current()) const;
  Tensor take(const Tensor& indices, Loc loc = Loc::current()) const;
  Tensor take_along_dim(const Tensor& indices, int64_t axis, Loc loc = Loc::current()) const;
  // out[i][j] = this[i][indices[i][j]] for axis 1, and so on.
  Tensor gather(int64_t axis, const Tensor& indices, Loc loc = Loc::current()) const;
  // out[i][indices[i][j]] = source[i][j] for axis 1; scatter_add adds instead.
  Tensor scatter(int64_t axis, const Tensor& indices, const Tensor& source,
                 Loc loc = Loc::current()) const;
  Tensor scatter(int64_t axis, const Tensor& indices, Number value, Loc loc = Loc::current()) const;
  // reduction: sum, prod, mean, amax, amin; with `include_self` of what stands there as well.
  Tensor scatter_reduce(int64_t axis, const Tensor& indices, const Tensor& source,
                        std::string_view reduction, bool include_self = true,
                        Loc loc = Loc::current()) const;
  Tensor scatter_add(int64_t axis, const Tensor& indices, const Tensor& source,
                     Loc loc = Loc::current()) const;
  // `value` where the mask is true.
  Tensor masked_fill(const Tensor& mask, const Operand& value) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source, Loc loc = Loc::current()) const;
  // The elements where the mask is true, in one dimension.
  Tensor masked_select(const Tensor& mask, Loc loc = Loc::current()) const;

  // Two handles of one tensor.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}

 private:
  static Tensor of_number(const Number& value, DType dtype);
  static Tensor of_bytes(const void* bytes, DType dtype, Shape shape, size_t count,
                         const Loc& loc = Loc::current());
  double item_as_double(const Loc& loc) const;
  std::optional<int64_t> item_as_int64(const Loc& loc) const;  // the bits of 64-bit integers
  const sardonyx::Tensor& one_element(const Loc& loc) const;
  const void* elements(DType wanted, size_t& count, const Loc& loc) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

struct Index : std::variant<int64_t, Slice, NewAxis, Ellipsis, Tensor> {
  using Base = std::variant<int64_t, Slice, NewAxis, Ellipsis, Tensor>;
  using Base::Base;
  Index(int value) : Base(int64_t{value}) {}
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// What the operators take: a tensor, or a number that takes on the other side's type (a fraction
// makes an integer tensor float32, as in torch). Remembers the caller's line.
struct Operand : Number {
  const Tensor* tensor = nullptr;  // none: a number
  Loc loc;
  Operand(const Tensor& value, Loc at = Loc::current()) : tensor(&value), loc(at) {}
  Operand(const Number& value, Loc at = Loc::current()) : Number(value), loc(at) {}
  template <std::floating_point Fraction>
  Operand(Fraction value, Loc at = Loc::current()) : Number(value), loc(at) {}
  template <std::integral Integer>
  Operand(Integer value, Loc at = Loc::current()) : Number(value), loc(at) {}
  // A size is an integer; one that a trace does not know is computed in the graph.
  Operand(const Dim& size, Loc at = Loc::current());
  std::shared_ptr<const Tensor> open_size = {};  // what `tensor` is then
};

// Broadcast as numpy does; mixed element types are promoted as torch does: a tensor of rank 0
// changes the type of one with dims only where it is of a higher kind (bool, integer, floating).
Tensor operator-(const Operand& a);
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);  // of integers: float32, as in torch
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor operator&&(const Operand& a, const Operand& b);  // both are evaluated
Tensor operator||(const Operand& a, const Operand& b);
Tensor operator!(const Operand& a);
Tensor operator%(const Operand& a, const Operand& b);  // remainder
Tensor operator&(const Operand& a, const Operand& b);  // of bools or integers
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator~(const Operand& a);

template <typename Element>
Tensor Tensor::of(const std::vector<Element>& values, Shape shape, Loc loc) {
  if constexpr (std::is_same_v<Element, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return of_bytes(bytes.data(), DType::kBool, std::move(shape), values.size(), loc);
  } else {
    return of_bytes(values.data(), dtype_of<Element>(), std::move(shape), values.size(), loc);
  }
}

template <typename Element>
std::vector<Element> Tensor::to_vector(Loc loc) const {
  size_t count = 0;
  const Element* first = static_cast<const Element*>(elements(dtype_of<Element>(), count, loc));
  return std::vector<Element>(first, first + count);
}

}  // namespace sardonyx::eager
