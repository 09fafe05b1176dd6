// The weights as the file holds them, which take as much memory as the form that kernels want them
// in: what was packed is let go. It comes back when anybody wants to see it after all.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/plan/planning_mutex.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/graph.h"

namespace sardonyx {

class WeightResidency {
 public:
  // Allows plans to evict weights from now on, until `restore`; they need not be in memory. Only
  // for graphs whose constants nobody but plans reads.
  void allow_release();
  // Loads all constants of `graph`; no plan lets any weights go from here on, those of other graphs
  // included. Throws where they can't be read any more; then plans go on as before.
  void restore(const Graph& graph);
  // Calls `plan` with whether it may let go what it has packed: then it must not look at the
  // elements of constants but through the packs.
  template <typename Plan>
  auto planning(const Plan& plan) {
    {
      const std::lock_guard lock(mutex_);
      if (is_allowed_) return plan(true);
    }
    return plan(false);
  }
  // A plan reads these as they are stored: they stay for good.
  void keep(const Tensor& weights) { kept_.insert(weights.buffer().get()); }
  bool is_kept(const Tensor& weights) const { return kept_.contains(weights.buffer().get()); }

  // Lets the weights of `before` go that `after`, which passes made of it, does not use.
  static void release_replaced(const Graph& before, const Graph& after);

 private:
  PlanningMutex mutex_;
  bool is_allowed_ = false;
  std::unordered_set<const Buffer*> kept_;
};

// Loads the constants of `graph` into memory that passes may look at: all but those that may be
// evicted where they are used, or that DequantizeLinear reads. A pass that looks at others brings
// them first.
void load_inspectable_weights(const Graph& graph);

// The total bytes of constants that are weights of products, without those within subgraphs.
size_t weight_bytes(const Graph& graph);

// The last node that reads each buffer of weights in a graph.
class WeightUses {
 public:
  // `values` by ValueId with the node that reads each last.
  WeightUses(std::span<const Value* const> values, std::span<const size_t> last_use);
  // The buffer behind weights that node `node` is the last to read; null where another one follows,
  // or it can't be read again.
  std::shared_ptr<EvictableBuffer> unused_after(const Tensor& weights, size_t node) const;

 private:
  std::unordered_map<const Buffer*, size_t> last_use_;
};

}  // namespace sardonyx
