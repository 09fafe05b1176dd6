// What stands behind an eager Tensor; for the eager layer's own sources.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "eager/autograd/hook_list.h"
#include "eager/tensor.h"
#include "ir/autodiff/autodiff.h"
#include "ir/datum.h"
#include "ir/graph.h"

namespace sardonyx::eager {

class TraceContext;

namespace detail {

struct TapeNode;

// Autograd state that few tensors have.
struct GradState {
  Tensor grad;
  Tensor presence;  // of `grad` in a trace: whether there is one, once it runs; undefined: there is
  const std::shared_ptr<HookList<Tensor::Hook>> hooks = std::make_shared<HookList<Tensor::Hook>>();
  std::atomic<bool> retain_grad = false;
};

// The value and the autograd state that all copies of a Tensor share.
struct TensorImpl : std::enable_shared_from_this<TensorImpl> {
  Datum value;              // undefined while symbolic
  Value* symbol = nullptr;  // of the graph that `frame` records
  std::shared_ptr<TraceContext> frame;
  bool requires_grad = false;         // a leaf that gradients are kept for
  std::shared_ptr<TapeNode> creator;  // the recorded op that made it
  uint32_t creator_output = 0;
  uint32_t version = 0;     // counts `assign`
  bool is_literal = false;  // made within a trace: part of the graph, no state of the program's

  TensorImpl() = default;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;
  ~TensorImpl() { delete grad_state_.load(); }

  // Null before the first use of grads(), which threads may make at once.
  GradState* grad_state() const { return grad_state_; }
  GradState& grads() {
    if (GradState* there = grad_state_) return *there;
    auto made = std::make_unique<GradState>();
    GradState* before = nullptr;
    return grad_state_.compare_exchange_strong(before, made.get()) ? *made.release() : *before;
  }
  bool tracked() const { return requires_grad || creator != nullptr; }

 private:
  std::atomic<GradState*> grad_state_ = nullptr;
};
using ImplPtr = std::shared_ptr<TensorImpl>;

// A leaf of this value.
ImplPtr make_impl(Datum value);

// The same tensor for emitters, and back.
inline Val val_of(const Tensor& tensor) {
  return tensor.defined() ? Val(std::shared_ptr<void>(tensor.impl())) : Val();
}
inline TensorImpl& impl_of(const Val& val) {
  return *val.as<TensorImpl>();
}
Tensor tensor_of(const Val& val);

// The gradient that is kept for the tensor, undefined where there is none. Threads may read and
// replace it at once: each gets one that somebody has set.
Tensor kept_gradient(TensorImpl& of);
void keep_gradient(TensorImpl& of, Tensor gradient);

// Where a trace can't tell whether there will be a gradient, it has zeros for one, and a bool of
// rank 0 that tells. keep_gradient() makes it undefined: there is one.
Tensor gradient_presence(TensorImpl& of);
void keep_gradient_where(TensorImpl& of, Tensor presence, Tensor gradient);
// Another value of the gradient, which is there where it was.
void rescale_gradient(const Tensor& of, const Tensor& gradient);

// Whether the one may be the gradient of the other: of its element type and, as far as sizes are
// known, of its shape.
bool may_be_gradient(const Tensor& gradient, const Tensor& of);
bool may_fit(const Tensor& gradient, const Tensor& of);  // of any element type

// A trace is of use while the program's tensor has the hooks that it had when the trace first
// called or changed them.
void note_hooks(const Tensor& tensor);

}  // namespace detail
}  // namespace sardonyx::eager
