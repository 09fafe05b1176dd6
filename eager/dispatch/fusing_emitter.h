// Elementwise ops of gradient rules, run in groups: one pass over memory for a chain of ops.
#pragma once

#include <optional>
#include <vector>

#include "eager/dispatch/dispatch.h"
#include "ir/ops/gradient/gradient_rules.h"

namespace sardonyx::eager {

// Holds back elementwise ops of one shape until a value of theirs is needed, and runs them as one
// sardonyx::FusedElementwise, to the same numbers. Values that nobody holds by then are never
// written to memory.
//
// It serves walks that neither record nor are recorded. A Val that is held back has no data: it may
// leave the emitter's user after finish() only.
class FusingEmitter : public EagerEmitter {
 public:
  explicit FusingEmitter(Loc loc) : EagerEmitter(loc) {}

  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override;
  Type type(const Val& val) const override;
  std::optional<sardonyx::Tensor> constant_value(const Val& val) const override;
  std::optional<Dims> dims_value(const Val& val) const override;

  // Computes what is held back and still held by somebody.
  void finish();

 private:
  struct FusedValue {
    detail::ImplPtr impl;
    DType dtype = DType::kUndefined;
    bool is_result;          // of a step
    bool is_output = false;  // somebody outside holds it
    bool is_read = false;    // by a step that runs
  };
  struct FusedStep {
    const OpDef* op;
    Attrs attrs;
    std::vector<size_t> operands;  // indices of values
    size_t result;
    bool is_expand;
  };
  struct FusionGroup {
    std::vector<FusedValue> values;
    std::vector<FusedStep> steps;

    const FusedValue* result_of(const Val& val) const;
    size_t index_of(const Val& val);
    size_t source_of(size_t value) const;  // through Expand
    void read_sources(FusedStep& step, int64_t count) const;
  };
  // What a call would make.
  struct ResultType {
    Shape shape;
    DType dtype;
    bool is_expand;
  };

  std::optional<ResultType> result_of_step(const OpDef& op, std::span<const Val> inputs) const;
  bool reads_held_back(std::span<const Val> inputs) const;
  // Scatters into an Expand that is held back, as gradients of picked elements do: into a copy of
  // its own. nullopt for other calls.
  std::optional<Vals> scatter_over_fill(const OpDef& op, std::span<const Val> inputs,
                                        const Attrs& attrs);
  void run_alone(FusionGroup& group, const FusedStep& step);
  void run_fused(FusionGroup& group, const std::vector<const FusedStep*>& steps);

  Shape shape_;  // of all values that are held back
  FusionGroup group_;
};

// Whether a formula of these tensors may run through a FusingEmitter: they are float32, and nobody
// records its ops or looks at them one by one.
bool may_fuse(std::span<const Tensor> tensors);

// formula(terms of the tensors) by groups of elementwise ops; nullopt where it may not be fused.
template <typename Formula, typename... Tensors>
std::optional<Tensor> fused(const Loc& loc, const Formula& formula, const Tensors&... tensors) {
  const Tensor all[] = {tensors...};
  if (!may_fuse(all)) return std::nullopt;
  FusingEmitter emitter(loc);
  const Val result = formula(ops::Term{&emitter, detail::val_of(tensors)}...).val;
  emitter.finish();
  return detail::tensor_of(result);
}

}  // namespace sardonyx::eager
