// Tensors that compute at once: handles on values, with autograd. The same calls on symbolic
// tensors are recorded in a graph (eager/trace.h).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "eager/dim.h"
#include "eager/location.h"
#include "ir/dtype.h"
#include "ir/error.h"

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

// A handle: copies share one value and one gradient, as in torch. Values are immutable; `assign`
// gives a handle (and all its copies) another one. Elements are any ONNX type, in row-major order.
class Tensor {
 public:
  Tensor() = default;  // undefined: an omitted optional argument
  explicit Tensor(const sardonyx::Tensor& value);
  explicit Tensor(const sardonyx::Datum& value);
  // One number as a tensor of rank 0.
  template <typename T>
  static Tensor scalar(T value, DType dtype = dtype_of<T>()) {
    return of_double(static_cast<double>(value), dtype);
  }
  template <typename T>
  static Tensor of(const std::vector<T>& values, Shape shape);

  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const = delete;  // ask defined(), or item<bool>()
  DType dtype() const;
  size_t rank() const;
  // Dims may be symbolic in a trace; see eager/dim.h for what C++ may ask of them.
  Sizes shape(Loc loc = Loc::current()) const;
  Dim size(int64_t axis, Loc loc = Loc::current()) const;  // negative axes count from the end
  Dim numel(Loc loc = Loc::current()) const;
  sardonyx::Type type() const;
  bool is_symbolic() const;

  // The value. Throws kInvalidArgument for a symbolic tensor: it has none before the run; the
  // message names the caller's line and what to write instead (cond, while_loop, scan).
  const sardonyx::Tensor& data(Loc loc = Loc::current()) const;
  const sardonyx::Datum& datum(Loc loc = Loc::current()) const;
  // The one element, converted to T. Throws unless there is exactly one.
  template <typename T>
  T item(Loc loc = Loc::current()) const {
    return static_cast<T>(item_as_double(loc));
  }
  // All elements in row-major order; T must be the element type.
  template <typename T>
  std::vector<T> to_vector(Loc loc = Loc::current()) const;
  std::string text() const;  // as numpy prints it, shortened beyond 1000 elements

  // --- autograd ---
  // Whether results that depend on this tensor are recorded for backward().
  bool requires_grad() const;
  Tensor& set_requires_grad(bool wanted = true);
  bool is_leaf() const;  // not made by a recorded op
  // The sum of what backward() calls have brought; undefined before the first.
  Tensor grad() const;
  void set_grad(const Tensor& gradient) const;
  void zero_grad() const { set_grad(Tensor()); }
  // Keeps the gradient of a tensor that is no leaf.
  Tensor& retain_grad();
  // Adds d(this)/d(leaf) to grad() of every leaf that requires one. `gradient` (ones for a tensor
  // of one element) weighs the elements. Frees what was recorded unless `retain_graph`.
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                Loc loc = Loc::current()) const;
  // Called with the whole gradient of this tensor in each backward pass; a defined result takes its
  // place.
  using Hook = std::function<Tensor(const Tensor& gradient)>;
  void register_hook(Hook hook) const;
  // The same value, cut from what it was computed from.
  Tensor detach() const;
  // Gives this handle and its copies another value of the same type and shape; not recorded. In a
  // trace it becomes a state that the graph gives back.
  const Tensor& assign(const Tensor& value, Loc loc = Loc::current()) const;

  // --- shape and type, after torch ---
  Tensor to(DType dtype, Loc loc = Loc::current()) const;
  // One dim may be -1: what is left.
  Tensor reshape(const Dims& shape, Loc loc = Loc::current()) const;
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc loc = Loc::current()) const;
  Tensor squeeze(const std::vector<int64_t>& axes = {}, Loc loc = Loc::current()) const;
  Tensor unsqueeze(int64_t axis, Loc loc = Loc::current()) const;
  Tensor permute(const std::vector<int64_t>& axes, Loc loc = Loc::current()) const;
  Tensor transpose(int64_t a, int64_t b, Loc loc = Loc::current()) const;
  Tensor t(Loc loc = Loc::current()) const { return transpose(-2, -1, loc); }
  Tensor expand(const Dims& shape, Loc loc = Loc::current()) const;
  Tensor slice(int64_t axis, const Slice& range, Loc loc = Loc::current()) const;
  Tensor select(int64_t axis, int64_t index, Loc loc = Loc::current()) const;
  // x.index({0, Slice{1, {}}, Ellipsis{}, NewAxis{}, rows}).
  Tensor index(const std::vector<Index>& places, Loc loc = Loc::current()) const;
  Tensor operator[](int64_t index) const;

  // --- reductions; no axes: over all elements ---
  Tensor sum(const std::vector<int64_t>& axes = {}, bool keepdim = false,
             Loc loc = Loc::current()) const;
  Tensor mean(const std::vector<int64_t>& axes = {}, bool keepdim = false,
              Loc loc = Loc::current()) const;
  Tensor amax(const std::vector<int64_t>& axes = {}, bool keepdim = false,
              Loc loc = Loc::current()) const;
  Tensor amin(const std::vector<int64_t>& axes = {}, bool keepdim = false,
              Loc loc = Loc::current()) const;
  Tensor argmax(int64_t axis, bool keepdim = false, Loc loc = Loc::current()) const;
  Tensor operator-() const;

  // Two handles of one tensor.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}

 private:
  static Tensor of_double(double value, DType dtype);
  static Tensor of_bytes(const void* bytes, DType dtype, Shape shape, size_t count);
  double item_as_double(const Loc& loc) const;
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
struct Operand {
  const Tensor* tensor = nullptr;
  double number = 0;
  bool is_fraction = false;
  Loc loc;
  Operand(const Tensor& value, Loc at = Loc::current()) : tensor(&value), loc(at) {}
  Operand(double value, Loc at = Loc::current()) : number(value), is_fraction(true), loc(at) {}
  Operand(float value, Loc at = Loc::current()) : number(value), is_fraction(true), loc(at) {}
  Operand(int value, Loc at = Loc::current()) : number(value), loc(at) {}
  Operand(int64_t value, Loc at = Loc::current()) : number(static_cast<double>(value)), loc(at) {}
};

// Broadcast as numpy does; mixed element types are promoted as torch does.
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
// Of two tensors these are meant, not the built-in ones on bool.
Tensor operator&&(const Tensor& a, const Tensor& b);
Tensor operator||(const Tensor& a, const Tensor& b);
Tensor operator!(const Tensor& a);

template <typename T>
Tensor Tensor::of(const std::vector<T>& values, Shape shape) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return of_bytes(bytes.data(), DType::kBool, std::move(shape), values.size());
  } else {
    return of_bytes(values.data(), dtype_of<T>(), std::move(shape), values.size());
  }
}

template <typename T>
std::vector<T> Tensor::to_vector(Loc loc) const {
  size_t count = 0;
  const T* first = static_cast<const T*>(elements(dtype_of<T>(), count, loc));
  return std::vector<T>(first, first + count);
}

}  // namespace sardonyx::eager
