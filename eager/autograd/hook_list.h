// Hooks that are called in the order of their registration and may be removed while they run.
#pragma once

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
    return RemovableHandle([list = this->weak_from_this(), number = next_++] {
      if (const auto alive = list.lock()) alive->remove(number);
    });
  }

  // Whether a call has anything to run: asked at each call of a module.
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return hooks_.empty();
  }

  // Of the hooks that are there, ascending. None is used again.
  std::vector<size_t> numbers() const {
    std::vector<size_t> found;
    const std::lock_guard lock(mutex_);
    for (const auto& [number, hook] : hooks_)
      found.push_back(number);
    return found;
  }

  // call(hook) for those that are there now and, when their turn comes, still are. No lock is held
  // meanwhile: a hook may register hooks, which run from the next time on, and remove any.
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
  }

  mutable std::mutex mutex_;
  Numbered hooks_;
  size_t next_ = 0;
};

}  // namespace sardonyx::eager::detail
