// Objects that somebody in the process holds, by name: those who make the same share one.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace sardonyx {

// Holds nothing itself. Safe from many threads. One of static lifetime is never to be destroyed:
// sessions may be loaded and run while the process exits.
template <typename T>
class WeakRegistry {
 public:
  // Null where nobody holds one of this name.
  std::shared_ptr<T> find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto at = held_.find(name);
    return at == held_.end() ? nullptr : at->second.lock();
  }

  // The one of this name that is held already; where there is none, `made`, which has it from now
  // on.
  std::shared_ptr<T> first_of(const std::string& name, std::shared_ptr<T> made) {
    const std::lock_guard lock(mutex_);
    if (held_.size() >= next_sweep_) {
      std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
      next_sweep_ = 2 * held_.size() + kFirstSweep;
    }
    std::weak_ptr<T>& known = held_[name];
    if (auto first = known.lock()) return first;
    known = made;
    return made;
  }

 private:
  static constexpr size_t kFirstSweep = 1024;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<T>> held_;
  size_t next_sweep_ = kFirstSweep;
};

}  // namespace sardonyx
