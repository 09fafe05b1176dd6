// Reverse-mode differentiation: the one walk that eager backward passes, gradients of graphs and
// the op Gradient share. Rules stand in the rows of the op table (OpDef::grad); what they emit is
// ops again, so a gradient can be recorded, exported and differentiated once more.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/op_def.h"

namespace sardonyx {

// One op that ran or was recorded.
struct RecordedStep {
  // A rule of the caller's, in place of the row's: custom functions, recomputation.
  using Rule = std::function<Vals(Emitter& e, const GradCall& call)>;

  const OpDef* op = nullptr;
  Attrs attrs;
  Vals inputs;  // captures of subgraphs last
  size_t captures = 0;
  Vals outputs;
  std::shared_ptr<const Rule> rule = nullptr;
  std::string origin = "";  // "model.cpp:12 (encoder.layer1)", for messages
};

// Called with the gradient of a value once all its parts are summed, before it goes on to the
// value's producer; returns the gradient to go on with.
using GradientHook = std::function<Val(const Val& value, const Val& gradient)>;

// d(sum over i of <ys[i], d_ys[i]>) / d(xs[j]) for each j; an empty Val where ys do not depend on
// xs[j] through differentiable ops. `steps` are in the order in which they ran; those that do not
// are between xs and ys are skipped. An empty d_ys[i] stands for ones. Throws kUnsupported, naming
// the op and where it was called, where a gradient reaches an op that has no rule.
Vals differentiate(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> ys,
                   std::span<const Val> d_ys, std::span<const Val> xs,
                   const GradientHook& hook = nullptr);

// Emits through another emitter and keeps what was emitted, so that it can be differentiated.
class RecordingEmitter : public Emitter {
 public:
  explicit RecordingEmitter(Emitter& inner) : inner_(inner) {}

  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override;
  Val constant(Tensor value) override { return inner_.constant(std::move(value)); }
  Type type(const Val& val) const override { return inner_.type(val); }
  std::optional<Tensor> constant_value(const Val& val) const override {
    return inner_.constant_value(val);
  }
  std::optional<Dims> dims_value(const Val& val) const override { return inner_.dims_value(val); }

  std::vector<const RecordedStep*> steps() const;
  // differentiate() over what was recorded so far. What the rules emit is recorded as well.
  Vals gradients(std::span<const Val> ys, std::span<const Val> d_ys, std::span<const Val> xs);

 private:
  Emitter& inner_;
  std::vector<std::unique_ptr<RecordedStep>> steps_;  // stable addresses while rules emit more
};

// Helpers that rules share.

// The shape of x as a 1-D int64 value: a constant where it is known.
Val shape_of(Emitter& e, const Val& x);
// A tensor of x's shape and dtype, filled with `value`.
Val full_like(Emitter& e, const Val& x, double value);
// Sums `gradient`, whose shape is that of x or one that x was broadcast to, down to x's shape.
Val sum_to(Emitter& e, const Val& gradient, const Val& x);
// The elements of `x` under the shape of `like`.
Val reshape_like(Emitter& e, const Val& x, const Val& like);

}  // namespace sardonyx
