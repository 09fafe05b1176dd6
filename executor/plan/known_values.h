// The planner's knowledge of each value: its type, its size, and the elements of values that do not
// depend on the run.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "executor/plan/indexed_graph.h"
#include "executor/plan/inference_cache.h"
#include "executor/plan/value_id.h"

namespace sardonyx {

struct ValueState {
  // kUnseen: its node is not planned yet, or was left out; kDynamic: its type comes with the run.
  enum class TypeState : uint8_t { kUnseen, kTyped, kDynamic } state = TypeState::kUnseen;
  bool is_datum = false;  // the run holds it as a whole value when the segment starts
  // Whether `constant` is the interned tensor (InferenceCache::same_constant). It is interned when
  // a cache key first needs it.
  mutable bool is_same_constant = false;
  TypeInfoPtr facts;                               // null: of no type; concrete where kTyped
  mutable std::shared_ptr<const Tensor> constant;  // set where it is known before the run

  const Type& type() const { return facts ? facts->type : kNoFacts.type; }
  const std::optional<Shape>& shape() const { return facts ? facts->shape : kNoFacts.shape; }

 private:
  static const TypeInfo kNoFacts;
};

// The knowledge at the end of a segment, which the segments after it start from.
struct ValueKnowledge {
  std::vector<const ValueState*> values;  // by ValueId
  std::vector<ValueId> dynamic;           // the values whose types are known only in the run
  std::deque<ValueState> own;             // what was learned here; the rest is inherited
  std::shared_ptr<const ValueKnowledge> inherited;
};

// The knowledge before the first segment: constants are known, inputs and captures are dynamic.
std::shared_ptr<const ValueKnowledge> knowledge_at_load(const IndexedGraph& graph,
                                                        InferenceCache& inferences);

// The knowledge of a segment that is being planned, on top of what it inherits.
class KnownValues {
 public:
  explicit KnownValues(std::shared_ptr<const ValueKnowledge> inherited);

  const ValueState& operator[](ValueId value) const { return *values_[value]; }
  size_t size() const { return values_.size(); }
  // The entry of `value`, which may now be changed; it lives as long as what is learned.
  ValueState& refine(ValueId value);
  // Replaces the entry of `value` by one that holds `facts` alone.
  ValueState& set_typed(ValueId value, TypeInfoPtr facts);
  // The knowledge at the end of the segment. The runs of later segments hold all typed values as
  // Datums.
  std::shared_ptr<const ValueKnowledge> take();

 private:
  std::vector<const ValueState*> values_;  // by ValueId
  std::shared_ptr<ValueKnowledge> learned_ = std::make_shared<ValueKnowledge>();
};

}  // namespace sardonyx
