// The weights as the file holds them, which take as much memory as the form that kernels want them
// in. A model whose inputs have fixed sizes is planned once: there, what was packed is let go. It
// comes back when anybody wants to see it after all.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/reloadable_buffer.h"

namespace sardonyx {

class Originals {
 public:
  // From now on, until `restore`, a plan may let weights go. Only where nobody else looks at the
  // graph's constants.
  void allow_release();
  // Brings back what plans have let go, for good. Throws where it can't be read any more.
  void restore();
  // Calls `plan`. The first plan after `allow_release` gets true: it may let go what it has packed.
  // All others find the weights there.
  template <typename Plan>
  auto planning(const Plan& plan) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_allowed_, false)) return plan(true);
      reload(released_);
    }
    return plan(false);
  }
  // During such a plan.
  void release(std::shared_ptr<ReloadableBuffer> weights);

  // Lets the weights of `before` go that `after`, which passes made of it, does not use.
  void release_replaced(const Graph& before, const Graph& after);
  // Brings those back as well.
  void restore_all();

 private:
  using Buffers = std::vector<std::shared_ptr<ReloadableBuffer>>;
  static void reload(Buffers& buffers);

  std::mutex mutex_;
  bool is_allowed_ = false;
  Buffers released_, replaced_;
};

// Who still needs the weights while one plan is made.
class WeightUses {
 public:
  // `values` by ValueId with the node that reads each last.
  WeightUses(std::span<const Value* const> values, std::span<const size_t> last_use);
  // Its elements are read by the run.
  void keep(const Tensor& weights) { kept_.insert(weights.buffer().get()); }
  // The buffer behind weights that node `node` was the last to read, if it can be let go.
  std::shared_ptr<ReloadableBuffer> unused_after(const Tensor& weights, size_t node) const;

 private:
  std::unordered_map<const Buffer*, size_t> last_use_;
  std::unordered_set<const Buffer*> kept_;
};

}  // namespace sardonyx
