// Hooks that are called in the order of their registration and may be removed while they run.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "eager/autograd/removable_handle.h"

namespace sardonyx::eager::detail {

// Kept by a shared_ptr: handles outlive it. Safe from many threads.
template <typename Hook>
class HookList : public std::enable_shared_from_this<HookList<Hook>> {
 public:
  // At the end. The handle holds no part of the list, and does nothing once the list is gone.
  RemovableHandle add(Hook hook) {
    const std::lock_guard lock(mutex_);
    hooks_.emplace(next_, std::make_shared<const Hook>(std::move(hook)));
    count_ = hooks_.size();
    return RemovableHandle([list = this->weak_from_this(), number = next_++] {
      if (const auto alive = list.lock()) alive->remove(number);
    });
  }

  // Asked at each call of a module, by all of its threads: without the lock.
  bool empty() const { return count_ == 0; }

  // Of the hooks that are there, ascending. None is used again.
  std::vector<size_t> numbers() const {
    std::vector<size_t> found;
    if (empty()) return found;
    const std::lock_guard lock(mutex_);
    for (const auto& [number, hook] : hooks_)
      found.push_back(number);
    return found;
  }

  // call(hook) for the hooks that are registered now, but for those that are removed before they
  // are reached. No lock is held meanwhile: a hook may register hooks, which run from the next time
  // on, and remove any.
  template <typename Call>
  void for_each(const Call& call) const {
    for (const auto& [number, hook] : now()) {
      if (has(number)) call(*hook);
    }
  }

 private:
  using Numbered = std::map<size_t, std::shared_ptr<const Hook>>;

  Numbered now() const {
    const std::lock_guard lock(mutex_);
    return hooks_;
  }
  bool has(size_t number) const {
    const std::lock_guard lock(mutex_);
    return hooks_.contains(number);
  }
  void remove(size_t number) {
    typename Numbered::node_type removed;  // destroyed behind the lock: it may hold a handle
    const std::lock_guard lock(mutex_);
    removed = hooks_.extract(number);
    count_ = hooks_.size();
  }

  mutable std::mutex mutex_;
  Numbered hooks_;
  std::atomic<size_t> count_ = 0;
  size_t next_ = 0;
};

}  // namespace sardonyx::eager::detail
