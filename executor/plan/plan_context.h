// The state that the parts of the planner share while they plan one segment: ShapeSpecializer says
// which types and values the nodes have, KernelSelector which kernels run them, BufferAssigner
// where values are, and StepEmitter writes the steps.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/plan/indexed_graph.h"
#include "executor/plan/inference_cache.h"
#include "executor/plan/kernel_cache.h"
#include "executor/plan/known_values.h"
#include "executor/plan/segment.h"
#include "executor/session_state.h"
#include "executor/weights/weight_residency.h"

namespace sardonyx {

// The caches that all plans of one graph share. One plan is made at a time.
struct PlanCaches {
  explicit PlanCaches(size_t values) : is_read_unpacked(values) {}

  InferenceCache inferences;
  KernelCache kernels;
  std::optional<WeightUses> weight_uses;  // made by the first plan that may let weights go
  std::vector<bool> is_read_unpacked;     // by ValueId: constants that stay in memory for a plan
};

struct PlanRequest {
  const IndexedGraph& graph;
  PlanCaches& caches;
  SessionState& session;
  const PlanSegment& parent;                 // the plan goes on where this one ended
  std::span<const Datum* const> run_values;  // by ValueId: what the run has by now, or null
  bool may_release;  // weights that nobody needs any more once they are packed are let go
};

struct PlanContext {
  explicit PlanContext(const PlanRequest& request);

  const IndexedGraph& graph;
  PlanCaches& caches;
  SessionState& session;
  const PlanSegment& parent;
  std::span<const Datum* const> run_values;
  const WeightUses* weight_uses = nullptr;  // set where weights may be let go
  std::shared_ptr<PlanSegment> segment = std::make_shared<PlanSegment>();
  KnownValues known;
  size_t node_index;  // of the node that is planned now

  const IndexedNode& indexed() const { return graph.nodes()[node_index]; }
  const Node& node() const { return *indexed().node; }
  const OpDef& op() const { return indexed().op->def(); }
  // Inputs and outputs of the current node; kNoValue where omitted.
  ValueId input(size_t slot) const { return indexed().inputs[slot]; }
  ValueId output(size_t slot) const { return indexed().outputs[slot]; }

  bool has_only_constants() const;
  // Brings the elements of the node's constant inputs to memory: all of them, or those that
  // inference and kernels may look at, which weights are not.
  void load_constants(bool all) const;
  // The part of a cache key for the constant in `slot`: the address of the interned tensor where it
  // is small, else its own; 0 where the input is no constant. nullopt: the constant may be freed,
  // and its address be another tensor's later, so that it can be no key.
  std::optional<uint64_t> constant_key(size_t slot) const;
};

// The part of a cache key for a constant that the kernel is not told.
constexpr uint64_t kHiddenConstant = 1;

// Whether constants of this type are told apart by their value, not by their address.
inline bool is_small(const TypeInfo& constant) {
  return constant.type.dtype != DType::kString && constant.bytes <= InferenceCache::kSmall;
}

}  // namespace sardonyx
