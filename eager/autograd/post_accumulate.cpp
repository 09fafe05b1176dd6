#include "eager/autograd/post_accumulate.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace sardonyx::eager {
namespace {

using detail::BackwardScope;
using detail::TensorImpl;

thread_local BackwardScope* t_backward = nullptr;

// Few tensors have such hooks, and those that have none are not to pay for them. Hooks of tensors
// that are gone go when the next ones are registered.
struct PostAccumulateHooks {
  struct Leaf {
    std::weak_ptr<TensorImpl> impl;
    std::map<size_t, PostAccumulateHook> hooks;
  };
  std::mutex mutex;
  std::atomic<size_t> count = 0;
  size_t next_number = 0;
  std::unordered_map<const TensorImpl*, Leaf> leaves;

  void sweep() {
    std::erase_if(leaves, [](const auto& entry) {
      return entry.second.impl.expired() || entry.second.hooks.empty();
    });
    count = leaves.size();
  }
};

PostAccumulateHooks& post_accumulate_hooks() {
  static auto* hooks = new PostAccumulateHooks;  // tensors of static lifetime may outlive others
  return *hooks;
}

// In order of registration; copies, since a hook may remove itself.
std::vector<PostAccumulateHook> hooks_of(const TensorImpl& leaf) {
  PostAccumulateHooks& all = post_accumulate_hooks();
  if (all.count == 0) return {};
  const std::lock_guard lock(all.mutex);
  const auto found = all.leaves.find(&leaf);
  std::vector<PostAccumulateHook> hooks;
  if (found == all.leaves.end() || found->second.impl.lock().get() != &leaf) return hooks;
  for (const auto& [number, hook] : found->second.hooks)
    hooks.push_back(hook);
  return hooks;
}

}  // namespace

size_t register_post_accumulate_hook(const Tensor& leaf, PostAccumulateHook hook) {
  if (!leaf.defined() || !leaf.is_leaf() || !leaf.requires_grad()) {
    fail(ErrorCode::kInvalidArgument,
         "register_post_accumulate_hook: expected a leaf that requires a gradient, got ",
         leaf.defined() ? text(leaf.type()) : "an undefined tensor");
  }
  PostAccumulateHooks& all = post_accumulate_hooks();
  const std::lock_guard lock(all.mutex);
  all.sweep();
  PostAccumulateHooks::Leaf& entry = all.leaves[leaf.impl().get()];
  entry.impl = leaf.impl();
  entry.hooks.emplace(all.next_number, std::move(hook));
  all.count = all.leaves.size();
  return all.next_number++;
}

void remove_post_accumulate_hook(const Tensor& leaf, size_t number) {
  PostAccumulateHooks& all = post_accumulate_hooks();
  const std::lock_guard lock(all.mutex);
  const auto found = all.leaves.find(leaf.impl().get());
  if (found != all.leaves.end()) found->second.hooks.erase(number);
  all.sweep();
}

void call_after_backward(std::function<void()> callback) {
  if (!t_backward)
    fail(ErrorCode::kInvalidArgument, "call_after_backward: this thread is in no backward()");
  t_backward->callbacks_.push_back(std::move(callback));
}

namespace detail {

bool has_post_accumulate_hooks(const TensorImpl& leaf) {
  return !hooks_of(leaf).empty();
}

void run_post_accumulate_hooks(const Tensor& leaf) {
  for (const PostAccumulateHook& hook : hooks_of(*leaf.impl()))
    hook(leaf);
}

BackwardScope::BackwardScope() : outer_(t_backward) {
  t_backward = this;
}
BackwardScope::~BackwardScope() {
  t_backward = outer_;
}

void BackwardScope::run_callbacks() {
  // One may ask for another.
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const std::function<void()> callback = std::move(callbacks_[i]);
    callback();
  }
}

}  // namespace detail
}  // namespace sardonyx::eager
