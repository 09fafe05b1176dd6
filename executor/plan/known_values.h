// What a plan knows of each value when it is made: type, size, and the elements of those that do
// not depend on the run.
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
  // Is `constant` the tensor that stands for all of its value? It becomes so when a key asks for
  // it.
  mutable bool is_same_constant = false;
  TypeInfoPtr facts;                               // null: of no type; concrete where kTyped
  mutable std::shared_ptr<const Tensor> constant;  // set where it is known before the run

  const Type& type() const { return facts ? facts->type : kNoFacts.type; }
  const std::optional<Shape>& shape() const { return facts ? facts->shape : kNoFacts.shape; }

 private:
  static const TypeInfo kNoFacts;
};

// What one segment ends with, for those that go on from it.
struct ValueKnowledge {
  std::vector<const ValueState*> values;  // by ValueId
  std::vector<ValueId> dynamic;           // those that the run must bring
  std::deque<ValueState> own;             // what was learned here; the rest is inherited
  std::shared_ptr<const ValueKnowledge> inherited;
};

// Before the first segment: the constants. Inputs and captures are dynamic.
std::shared_ptr<const ValueKnowledge> knowledge_at_load(const IndexedGraph& graph,
                                                        InferenceCache& inferences);

// The same while a segment is planned.
class KnownValues {
 public:
  explicit KnownValues(std::shared_ptr<const ValueKnowledge> inherited);

  const ValueState& operator[](ValueId value) const { return *values_[value]; }
  size_t size() const { return values_.size(); }
  // The entry of `value`, which may now be changed; it lives as long as what is learned.
  ValueState& refine(ValueId value);
  // A new entry, with what `facts` says alone.
  ValueState& set_typed(ValueId value, TypeInfoPtr facts);
  // What is known at the end: the runs of later segments hold all typed values as whole ones.
  std::shared_ptr<const ValueKnowledge> take();

 private:
  std::vector<const ValueState*> values_;  // by ValueId
  std::shared_ptr<ValueKnowledge> learned_ = std::make_shared<ValueKnowledge>();
};

}  // namespace sardonyx
