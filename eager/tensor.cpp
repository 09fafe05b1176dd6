#include "eager/tensor.h"

#include <array>
#include <cstring>
#include <mutex>
#include <optional>

#include "eager/autograd/tape.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/substitutes.h"
#include "eager/tensor_text.h"
#include "eager/trace/frame.h"
#include "ir/core/bools.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::eager {
namespace detail {

ImplPtr make_impl(Datum value) {
  auto impl = std::make_shared<TensorImpl>();
  impl->value = std::move(value);
  return impl;
}

Tensor tensor_of(const Val& val) {
  return Tensor(val.as<TensorImpl>()->shared_from_this());
}

namespace {

// One of a few locks for all tensors; each is held while a handle is copied.
std::mutex& gradient_lock(const TensorImpl& of) {
  constexpr size_t kLocks = 64;
  static auto& locks = *new std::array<std::mutex, kLocks>;
  return locks[reinterpret_cast<uintptr_t>(&of) / sizeof(TensorImpl) % kLocks];
}

}  // namespace

Tensor kept_gradient(TensorImpl& of) {
  const std::lock_guard lock(gradient_lock(of));
  return of.grad_state() ? of.grad_state()->grad : Tensor();
}

void keep_gradient(TensorImpl& of, Tensor gradient) {
  keep_gradient_where(of, Tensor(), std::move(gradient));
}

Tensor gradient_presence(TensorImpl& of) {
  const std::lock_guard lock(gradient_lock(of));
  return of.grad_state() ? of.grad_state()->presence : Tensor();
}

void keep_gradient_where(TensorImpl& of, Tensor presence, Tensor gradient) {
  const std::lock_guard lock(gradient_lock(of));
  if (!gradient.defined() && !of.grad_state()) return;
  // Those before go when the lock is free again.
  std::swap(of.grads().grad, gradient);
  std::swap(of.grads().presence, presence);
}

void rescale_gradient(const Tensor& of, const Tensor& gradient) {
  const Tensor presence = gradient_presence(*of.impl());
  of.set_grad(gradient);
  if (presence.defined()) keep_gradient_where(*of.impl(), presence, gradient);
}

bool may_be_gradient(const Tensor& gradient, const Tensor& of) {
  return same_kind(gradient.type(), of.type()) && may_fit(gradient, of);
}

bool may_fit(const Tensor& gradient, const Tensor& of) {
  const Type given = gradient.type(), wanted = of.type();
  bool fits = true;
  if (given.shape && wanted.shape) {
    fits = given.rank() == wanted.rank();
    for (size_t i = 0; fits && i < given.rank(); ++i) {
      const sardonyx::Dim &a = (*given.shape)[i], &b = (*wanted.shape)[i];
      fits = !a.is_known() || !b.is_known() || a == b;
    }
  }
  return fits;
}

}  // namespace detail

namespace {

const detail::TensorImpl& defined_impl(const Tensor& tensor, const Loc& loc = Loc()) {
  if (tensor.defined()) return *detail::Substitutes::of(tensor).impl();
  fail_at(loc, "an undefined tensor has no value, type or shape; so is a gradient before ",
          "backward(), and an argument or result that was left out");
}

// f(what stands in for x), or nullopt where nothing does.
template <typename F>
auto on_substitute(const Tensor& x, const F& f) {
  std::optional<std::decay_t<decltype(f(x))>> result;
  if (!detail::Substitutes::any()) return result;
  const Tensor& given = detail::Substitutes::of(x);
  if (given.is_same(x)) return result;
  const detail::Substitutes::Pause pause;
  result.emplace(f(given));
  return result;
}

}  // namespace

Tensor::Tensor(const sardonyx::Tensor& value) : Tensor(Datum(value)) {}

Tensor::Tensor(const Datum& value) : impl_(detail::make_impl(value)) {
  impl_->is_literal = TraceContext::active() != nullptr;
}

Tensor Tensor::of_number(const Number& value, DType dtype) {
  return Tensor(filled(dtype, {}, value));
}

Tensor Tensor::of_bytes(const void* bytes, DType dtype, Shape shape, size_t count, const Loc& loc) {
  sardonyx::Tensor made =
      at_line(loc, [&] { return sardonyx::Tensor::allocate(dtype, std::move(shape)); });
  if (static_cast<size_t>(made.count()) != count) {
    fail_at(loc, "shape ", to_text(made.shape()), " has ", made.count(), " elements, but ", count,
            " were given");
  }
  if (dtype == DType::kString) {
    const auto* strings = static_cast<const std::string*>(bytes);
    std::copy(strings, strings + count, static_cast<std::string*>(made.raw()));
  } else if (count > 0) {
    std::memcpy(made.raw(), bytes, made.bytes());
    normalize_bools(made);
  }
  return Tensor(made);
}

Type Tensor::type() const {
  const detail::TensorImpl& impl = defined_impl(*this);
  if (impl.symbol) return impl.symbol->type;
  return impl.value.type();
}

bool Tensor::is_symbolic() const {
  return impl_ && impl_->symbol;
}

DType Tensor::dtype() const {
  const detail::TensorImpl& impl = defined_impl(*this);
  return impl.symbol ? impl.symbol->type.dtype : impl.value.tensor().dtype();
}

size_t Tensor::rank() const {
  const detail::TensorImpl& impl = defined_impl(*this);
  if (!impl.symbol) return impl.value.tensor().rank();
  return shape().size();
}

Sizes Tensor::shape(Loc loc) const {
  const detail::TensorImpl& impl = defined_impl(*this, loc);
  if (!impl.symbol) return {to_dims(impl.value.tensor().shape()), loc};
  if (!impl.symbol->type.shape) {
    fail_at(loc, "the rank of ", impl.symbol->name, " (", impl.symbol->type,
            ") is not known before the run; reshape it to a shape of known rank");
  }
  return {*impl.symbol->type.shape, loc};
}

Dim Tensor::size(int64_t axis, Loc loc) const {
  const Sizes dims = shape(loc);
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank) {
    fail_at(loc, "size: expected an axis within [", -rank, ", ", rank, "), got ", axis);
  }
  return dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

Dim Tensor::numel(Loc loc) const {
  return {element_count(shape(loc)), loc};
}

const Datum& Tensor::datum(Loc loc) const {
  if (const auto given = on_substitute(*this, [&](const Tensor& x) { return &x.datum(loc); }))
    return **given;
  const detail::TensorImpl& impl = defined_impl(*this, loc);
  TraceContext* frame = TraceContext::active();
  const bool is_assigned = frame && !impl.symbol && frame->current(*this).defined();
  if (!impl.symbol && !is_assigned) {
    if (frame) frame->note_value_read(*this, loc);
    return impl.value;
  }
  TraceContext& owner = is_assigned ? *frame : *impl.frame;
  fail(
      ErrorCode::kInvalidArgument, text_of(loc), ": the value of a symbolic tensor (",
      is_assigned ? impl.value.type() : impl.symbol->type, ") is asked for while tracing ",
      owner.graph().name.empty() ? "a function" : owner.graph().name,
      "; it is known at the run only: branch with cond(), loop with while_loop() or scan(), select "
      "with where()");
}

const sardonyx::Tensor& Tensor::data(Loc loc) const {
  return datum(loc).tensor();
}

const sardonyx::Tensor& Tensor::one_element(const Loc& loc) const {
  const sardonyx::Tensor& value = data(loc);
  if (value.count() != 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": item() of a tensor ", type(),
         "; it is for one element: index or reduce the tensor first");
  }
  return value;
}

std::optional<int64_t> Tensor::item_as_int64(const Loc& loc) const {
  const sardonyx::Tensor& value = one_element(loc);
  if (!is_integer(value.dtype()) || bits_of(value.dtype()) < 64) return std::nullopt;
  int64_t bits = 0;
  std::memcpy(&bits, value.raw(), sizeof bits);
  return bits;
}

double Tensor::item_as_double(const Loc& loc) const {
  const sardonyx::Tensor& value = one_element(loc);
  return value.to_doubles()[0];
}

const void* Tensor::elements(DType wanted, size_t& count, const Loc& loc) const {
  const sardonyx::Tensor& value = data(loc);
  if (value.dtype() != wanted) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": the tensor's elements are ", value.dtype(),
         ", asked for as ", wanted, "; convert with to()");
  }
  count = static_cast<size_t>(value.count());
  return value.raw();
}

std::string Tensor::text() const {
  if (!defined()) return "undefined";
  if (is_symbolic()) return sardonyx::text("symbolic ", impl_->symbol->name, " ", type());
  return impl_->value.is_tensor() ? tensor_text(impl_->value.tensor()) : type().text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.text();
}

bool Tensor::requires_grad() const {
  if (!impl_) return false;
  if (const auto given = on_substitute(*this, [](const Tensor& x) { return x.requires_grad(); }))
    return *given;
  if (TraceContext* frame = TraceContext::active()) frame->root().note_requires_grad(*this);
  return impl_->tracked();
}

Tensor& Tensor::set_requires_grad(bool wanted, Loc loc) {
  require_defined(*this, "set_requires_grad", "the tensor", loc);
  const detail::TensorImpl& impl = *impl_;
  if (impl.creator) {
    if (wanted) return *this;
    fail_at(loc, "set_requires_grad: only leaves can be told to need no gradient; use detach() on ",
            "a result");
  }
  if (wanted && !is_floating(dtype())) {
    fail_at(loc, "set_requires_grad: only floating tensors can require gradients, this is ", type(),
            "; convert it with to(DType::kFloat)");
  }
  // What the traced function itself sets is no condition of it.
  if (TraceContext* frame = TraceContext::active()) frame->root().guards.ignore({impl_.get(), 'r'});
  impl_->requires_grad = wanted;
  return *this;
}

bool Tensor::is_leaf(Loc loc) const {
  return defined_impl(*this, loc).creator == nullptr;
}

Tensor Tensor::grad(Loc loc) const {
  defined_impl(*this, loc);
  if (TraceContext* frame = TraceContext::active()) frame->note_grad_read(*this);
  return detail::kept_gradient(*impl_);
}

void Tensor::set_grad(const Tensor& gradient, Loc loc) const {
  require_defined(*this, "set_grad", "the tensor", loc);
  // Of a small type there may be a wider gradient: GradScaler unscales in float32.
  if (gradient.defined() && !(is_floating(gradient.dtype()) && detail::may_fit(gradient, *this))) {
    fail_at(loc, "set_grad: expected a gradient of type ", type(), ", got ", gradient.type());
  }
  if (TraceContext* frame = TraceContext::active()) frame->note_grad(*this);
  detail::keep_gradient(*impl_, gradient);
}

Tensor& Tensor::retain_grad(Loc loc) {
  defined_impl(*this, loc);
  impl_->grads().retain_grad = true;
  return *this;
}

void detail::note_hooks(const Tensor& tensor) {
  TraceContext* frame = TraceContext::active();
  const TensorImpl& impl = *tensor.impl();
  if (!frame || impl.symbol || impl.is_literal) return;
  const auto numbers = [](const TensorImpl& of) {
    return of.grad_state() ? of.grad_state()->hooks->numbers() : std::vector<size_t>();
  };
  frame->root().guards.note({&impl, 'h'}, [tensor, numbers, was = numbers(impl)]() -> std::string {
    if (numbers(*tensor.impl()) == was) return "";
    return sardonyx::text("a tensor ", tensor.type(), " has other hooks now");
  });
}

RemovableHandle Tensor::register_hook(Hook hook) const {
  defined_impl(*this);
  detail::note_hooks(*this);
  return impl_->grads().hooks->add(std::move(hook));
}

Tensor Tensor::detach() const {
  if (auto given = on_substitute(*this, [](const Tensor& x) { return x.detach(); })) return *given;
  const detail::TensorImpl& impl = defined_impl(*this);
  if (impl.symbol) return impl.frame->wrap(impl.symbol);
  auto copy = detail::make_impl(impl.value);
  copy->is_literal = impl.is_literal;
  TraceContext* frame = TraceContext::active();
  if (frame && !impl.is_literal) {
    // Within a trace a tensor of the program stays the state that it is.
    if (frame->records(std::span(this, 1)))
      return frame->wrap(frame->value_of(*this, Loc::current()));
  }
  return Tensor(std::move(copy));
}

namespace {

// Of sizes that a trace leaves open compile() notes that they are equal.
bool fits_target(const Type& wanted, const Type& given, const Loc& loc) {
  if (wanted == given) return true;
  if (!same_kind(wanted, given) || !wanted.shape || !given.shape || wanted.rank() != given.rank())
    return false;
  for (size_t i = 0; i < wanted.rank(); ++i) {
    if (!detail::sizes_agree((*wanted.shape)[i], (*given.shape)[i], loc, /*unknown=*/false))
      return false;
  }
  return true;
}

}  // namespace

const Tensor& Tensor::assign(const Tensor& value, Loc loc) const {
  require_defined(*this, "assign", "the target", loc);
  require_defined(value, "assign", "the value", loc);
  if (on_substitute(*this, [&](const Tensor& x) { return x.assign(value, loc).defined(); }))
    return *this;
  const Type wanted = type(), given = value.type();
  if (!fits_target(wanted, given, loc)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": assign: expected a value of type ", wanted,
         ", got ", given);
  }
  if (TraceContext* frame = TraceContext::active();
      frame && (value.is_symbolic() || frame->records({}))) {
    frame->assign(*this, value, loc);
  } else {
    impl_->value = value.datum(loc);
  }
  ++impl_->version;
  return *this;
}

}  // namespace sardonyx::eager
