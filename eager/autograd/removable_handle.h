// What the registration of a hook gives: the way to take the hook out again.
#pragma once

#include <functional>
#include <utility>

namespace sardonyx::eager {

// A copy removes the same hook. Going out of scope removes nothing.
class RemovableHandle {
 public:
  RemovableHandle() = default;  // of no hook
  explicit RemovableHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  // From then on the hook isn't called, not even in the pass or call that runs at the moment. May
  // be called from the hook itself, from any thread, twice, and when what has the hook is gone.
  void remove() const {
    if (remove_) remove_();
  }

 private:
  std::function<void()> remove_;  // which does nothing the second time
};

}  // namespace sardonyx::eager
