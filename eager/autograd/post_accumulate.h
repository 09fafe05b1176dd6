// Calls at the moments in which backward() has brought gradients: for those who send them on
// while the walk goes on.
#pragma once

#include <functional>
#include <vector>

#include "eager/tensor_impl.h"

namespace sardonyx::eager {

// Called in each backward() once grad() of this leaf is complete, which is while gradients of other
// leaves are still computed: the leaf's last use in the walk comes before those of leaves that were
// used earlier. grad(), which leaves grad() of leaves as it is, doesn't call it. Throws
// kInvalidArgument for a tensor that is no leaf or requires no gradient. The number is for
// remove_post_accumulate_hook(). Safe from many threads.
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;
size_t register_post_accumulate_hook(const Tensor& leaf, PostAccumulateHook hook);
void remove_post_accumulate_hook(const Tensor& leaf, size_t number);

// Called once at the end of the backward() that this thread is in, after all hooks of leaves and in
// the order of these calls; not where that backward() ends with an error. Throws kInvalidArgument
// outside of one.
void call_after_backward(std::function<void()> callback);

namespace detail {

bool has_post_accumulate_hooks(const TensorImpl& leaf);
void run_post_accumulate_hooks(const Tensor& leaf);

// A backward() of this thread, and what is to be called after it. They nest: a hook may call
// backward() itself.
class BackwardScope {
 public:
  BackwardScope();
  ~BackwardScope();
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;
  void run_callbacks();

 private:
  friend void eager::call_after_backward(std::function<void()> callback);
  BackwardScope* outer_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace detail
}  // namespace sardonyx::eager
