// The one way an eager call takes: run or record it, and note it for gradients.
#pragma once

#include <span>
#include <vector>

#include "eager/placed.h"
#include "eager/tensor_impl.h"
#include "ir/emitter/emitter.h"

namespace sardonyx::eager {

struct OpCall {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const Tensor> inputs;  // captures of subgraphs last; undefined where omitted
  size_t captures = 0;
  Loc loc;
  std::string_view name = {};  // of the node where the op is recorded; else by module path and op
  // Nobody else has the first input: what runs now may write the output over it.
  bool may_overwrite_first = false;
};

// Runs the op, or records it where a trace asks for it; fills all of `outputs`. Errors carry the
// caller's line and the module path.
void apply(const OpCall& call, std::span<Tensor> outputs);

// One output, by the op's name; `row` finds a row once: `static const OpDef& relu = row("Relu");`.
Tensor apply(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, const Loc& loc);
Tensor apply(const OpDef& op, std::initializer_list<Tensor> inputs, const Loc& loc);
Tensor apply(const OpDef& op, std::initializer_list<Tensor> inputs, const AttrMap& attrs,
             const Loc& loc);
std::vector<Tensor> apply_many(const OpDef& op, std::span<const Tensor> inputs,
                               const AttrMap& attrs, size_t outputs, const Loc& loc);

// kInvalidArgument unless `x` is defined: "m.cpp:12: pad: x is undefined ...".
void require_defined(const Tensor& x, std::string_view function, std::string_view argument,
                     const Loc& loc);

// Ops through apply(): what gradient rules and bodies emit into. Vals are Tensors of this layer.
class EagerEmitter : public Emitter {
 public:
  explicit EagerEmitter(Loc loc = Loc::current()) : loc_(loc) {}
  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override;
  Val constant(sardonyx::Tensor value) override;
  Type type(const Val& val) const override;
  std::optional<sardonyx::Tensor> constant_value(const Val& val) const override;
  std::optional<Dims> dims_value(const Val& val) const override;
  const Loc& loc() const { return loc_; }

 private:
  Loc loc_;
};

// Of this number alone: -0 stays -0, and integers of 64 bits have the number's own bits.
sardonyx::Tensor filled(DType dtype, const Shape& shape, const Number& number);

// A constant of the program: a number, an axes list. In a trace it is part of the graph.
Tensor literal(sardonyx::Tensor value);
Tensor literal(const Number& number, DType dtype);  // of rank 0
Tensor int64s(const std::vector<int64_t>& values);

}  // namespace sardonyx::eager
