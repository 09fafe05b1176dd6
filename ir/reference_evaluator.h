// Runs ops by their reference meaning: slow and obviously right. What constant folding, tests and
// the last resort use.
#pragma once

#include <span>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace sardonyx {

// One op on values: checks, infers, allocates and runs its reference kernel, evaluator or body.
std::vector<Datum> evaluate(const OpDef& op, const Attrs& attrs, std::span<const Datum> inputs,
                            size_t outputs, std::span<const Datum> captures = {});
// One op that has a reference kernel on values that were inferred already: the outputs have
// `types`, whose shapes are known.
std::vector<Datum> evaluate_inferred(const OpDef& op, const Attrs& attrs,
                                     std::span<const Datum> inputs, std::span<const Type> types);
// A graph, node by node.
std::vector<Datum> evaluate(const Graph& graph, std::span<const Datum> inputs,
                            std::span<const Datum> captures = {});

// Runs a row's reference kernel on views of stored tensors, unpacking and packing the sub-byte
// types around it.
void run_reference(const OpDef& op, const Attrs& attrs, std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs);

class ReferenceEmitter : public Emitter {
 public:
  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override;
  Val constant(Tensor value) override { return wrap(Datum(std::move(value))); }
  Type type(const Val& val) const override { return unwrap(val).type(); }
  std::optional<Tensor> constant_value(const Val& val) const override;
  std::optional<Dims> dims_value(const Val& val) const override;

  static Val wrap(Datum value) {
    return value.defined() ? Val(std::make_shared<Datum>(std::move(value))) : Val();
  }
  static const Datum& unwrap(const Val& val) { return *val.as<Datum>(); }
};

}  // namespace sardonyx
