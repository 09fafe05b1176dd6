#include "ir/autodiff/autodiff.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/autodiff/autodiff_body.h"
#include "ir/autodiff/early_gradients.h"
#include "ir/core/run_control.h"
#include "ir/ops/sequence/sequence_gradient.h"

namespace sardonyx {
namespace {

using Key = const void*;

Key key_of(const Val& val) {
  return val.as<void>();
}

// Gradients that have arrived so far, by value.
class Gradients {
 public:
  explicit Gradients(Emitter& e) : e_(e) {}

  void add(const Val& value, const Val& gradient) {
    Val& held = held_[key_of(value)];
    held = held ? ops::added_gradients(e_, held, gradient) : gradient;
  }
  Val find(const Val& value) const {
    const auto at = held_.find(key_of(value));
    return at == held_.end() ? Val() : at->second;
  }
  void set(const Val& value, Val gradient) { held_[key_of(value)] = std::move(gradient); }
  void forget(const Val& value) { held_.erase(key_of(value)); }

 private:
  Emitter& e_;
  std::unordered_map<Key, Val> held_;
};

// The values that depend on xs.
std::unordered_set<Key> reached_from(const Emitter& e, std::span<const RecordedStep* const> steps,
                                     std::span<const Val> xs) {
  std::unordered_set<Key> reached;
  for (const Val& x : xs)
    reached.insert(key_of(x));
  for (const RecordedStep* step : steps) {
    const auto is_reached = [&](const Val& input) { return reached.contains(key_of(input)); };
    if (!std::ranges::any_of(step->inputs, is_reached)) continue;
    for (const Val& output : step->outputs) {
      // Sizes and indices of x do not lead on: no gradient flows through them.
      if (output && ops::carries_gradients(e.type(output))) reached.insert(key_of(output));
    }
  }
  return reached;
}

// The step of the walk, which goes backwards, that is the last one to use a value: its first use.
std::unordered_map<Key, size_t> last_visits_of(std::span<const RecordedStep* const> steps,
                                               std::span<const Val> values) {
  std::unordered_map<Key, size_t> visits;
  for (const Val& value : values)
    visits.emplace(key_of(value), steps.size());
  for (size_t i = steps.size(); !visits.empty() && i-- > 0;) {
    for (const Val& input : steps[i]->inputs) {
      const auto found = input ? visits.find(key_of(input)) : visits.end();
      if (found != visits.end()) found->second = i;
    }
  }
  return visits;
}

Vals apply_rule(Emitter& e, const RecordedStep& step, const GradCall& call) {
  if (step.rule) return (*step.rule)(e, call);
  if (step.op->grad) return step.op->grad(e, call);
  if (step.op->body) return autodiff_body(e, call, step.op->body);
  fail(ErrorCode::kUnsupported, full_name(*step.op),
       " has no gradient, but the result depends on a wanted value through it; detach its input");
}

class ReverseWalk {
 public:
  ReverseWalk(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> xs,
              const GradientHook& hook)
      : e_(e), hook_(hook), gradients_(e), reached_(reached_from(e, steps, xs)) {
    for (const Val& x : xs)
      wanted_.insert(key_of(x));
  }

  void seed(const Val& y, const Val& d_y) {
    if (reached_.contains(key_of(y))) gradients_.add(y, d_y ? d_y : full_like(e_, y, 1));
  }

  void visit(const RecordedStep& step) {
    Vals d_outputs;
    for (const Val& output : step.outputs)
      d_outputs.push_back(output ? finished(output) : Val());
    if (std::ranges::none_of(d_outputs, [](const Val& d) { return bool(d); })) return;
    std::vector<bool> needed;
    for (const Val& input : step.inputs) {
      needed.push_back(input && reached_.contains(key_of(input)) &&
                       ops::carries_gradients(e_.type(input)));
    }
    if (std::ranges::none_of(needed, std::identity())) return;
    const GradCall call{*step.op,  step.attrs, step.inputs,  step.outputs,
                        d_outputs, needed,     step.captures};
    try {
      spread(step, needed, apply_rule(e_, step, call));
    } catch (const Error& error) {
      throw error.with_context("gradient of " + full_name(*step.op) +
                               (step.origin.empty() ? "" : " at " + step.origin));
    }
  }

  // Gradients that have gone on to the inputs are of no more use, and often large.
  void leave(const RecordedStep& step) {
    for (const Val& output : step.outputs) {
      if (output && !wanted_.contains(key_of(output))) gradients_.forget(output);
    }
  }

  // The whole gradient of a value, given to the hook once.
  Val finished(const Val& value) {
    Val gradient = gradients_.find(value);
    if (!gradient || !hook_ || !hooked_.insert(key_of(value)).second) return gradient;
    gradient = hook_(value, gradient);
    gradients_.set(value, gradient);
    return gradient;
  }

 private:
  void spread(const RecordedStep& step, const std::vector<bool>& needed, const Vals& d_inputs) {
    for (size_t i = 0; i < d_inputs.size() && i < step.inputs.size(); ++i) {
      if (!d_inputs[i] || !needed[i]) continue;
      const bool broadcasts = !step.rule && step.op->is(kElementwise) && step.inputs.size() > 1;
      gradients_.add(step.inputs[i],
                     broadcasts ? sum_to(e_, d_inputs[i], step.inputs[i]) : d_inputs[i]);
    }
  }

  Emitter& e_;
  const GradientHook& hook_;
  Gradients gradients_;
  std::unordered_set<Key> reached_, hooked_, wanted_;
};

// Dims of `gradient` that x lacks or has as 1, where both are known well enough to tell; nullopt
// where only the run can.
struct BroadcastReduction {
  std::vector<int64_t> axes;
  bool same_rank;
};
std::optional<BroadcastReduction> reduction_between(const Dims& gradient, const Dims& x) {
  if (gradient.size() < x.size()) return std::nullopt;
  BroadcastReduction found{{}, gradient.size() == x.size()};
  const size_t extra = gradient.size() - x.size();
  for (size_t i = 0; i < gradient.size(); ++i) {
    if (i < extra) {
      found.axes.push_back(static_cast<int64_t>(i));
      continue;
    }
    const Dim& from = gradient[i];
    const Dim& to = x[i - extra];
    if (from == to) continue;
    if (!(to == 1)) return std::nullopt;
    found.axes.push_back(static_cast<int64_t>(i));
  }
  return found;
}

// Sums a gradient to the shape of x where shapes are known at run time only: the axes are those on
// which the padded shape of x differs.
Val sum_to_at_run(Emitter& e, const Val& gradient, const Val& x) {
  const Val wanted = e.call("Shape", {x});
  const Val have = e.call("Shape", {gradient});
  const Val missing = e.call("Sub", {e.call("Size", {have}), e.call("Size", {wanted})});
  const Val ones = e.call("Expand", {e.int64s({1}), e.call("Unsqueeze", {missing, e.int64s({0})})});
  const Val padded = e.call("Concat", {ones, wanted}, {{"axis", int64_t{0}}});
  const Val differs = e.call("Not", {e.call("Equal", {padded, have})});
  const Val axes = e.call("Squeeze", {e.call("NonZero", {differs}), e.int64s({0})});
  const Val summed = e.call("ReduceSum", {gradient, axes},
                            {{"keepdims", int64_t{1}}, {"noop_with_empty_axes", int64_t{1}}});
  return e.call("Reshape", {summed, wanted}, {{"allowzero", int64_t{1}}});
}

}  // namespace

Vals differentiate(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> ys,
                   std::span<const Val> d_ys, std::span<const Val> xs, const GradientHook& hook) {
  return differentiate(e, steps, ys, d_ys, xs, hook, {});
}

Vals differentiate(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> ys,
                   std::span<const Val> d_ys, std::span<const Val> xs, const GradientHook& hook,
                   std::span<const Val> early) {
  ReverseWalk walk(e, steps, xs, hook);
  const std::unordered_map<Key, size_t> last_visits = last_visits_of(steps, early);
  for (size_t i = 0; i < ys.size(); ++i)
    walk.seed(ys[i], i < d_ys.size() ? d_ys[i] : Val());
  for (size_t i = steps.size(); i-- > 0;) {
    check_interrupted();
    walk.visit(*steps[i]);
    walk.leave(*steps[i]);
    if (last_visits.empty()) continue;
    for (const Val& input : steps[i]->inputs) {
      const auto found = input ? last_visits.find(key_of(input)) : last_visits.end();
      if (found != last_visits.end() && found->second == i) walk.finished(input);
    }
  }
  Vals found;
  for (const Val& x : xs)
    found.push_back(walk.finished(x));
  return found;
}

Vals RecordingEmitter::emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                            size_t outputs, size_t captures) {
  Vals results = inner_.emit(op, inputs, attrs, outputs, captures);
  steps_.push_back(std::make_unique<RecordedStep>(
      RecordedStep{&op, attrs, Vals(inputs.begin(), inputs.end()), captures, results}));
  return results;
}

std::vector<const RecordedStep*> RecordingEmitter::steps() const {
  std::vector<const RecordedStep*> all;
  for (const auto& step : steps_)
    all.push_back(step.get());
  return all;
}

Vals RecordingEmitter::gradients(std::span<const Val> ys, std::span<const Val> d_ys,
                                 std::span<const Val> xs) {
  return differentiate(*this, steps(), ys, d_ys, xs);
}

Val shape_of(Emitter& e, const Val& x) {
  const std::optional<Shape> known = e.type(x).known_shape();
  return known ? e.int64s(*known) : e.call("Shape", {x});
}

Val full_like(Emitter& e, const Val& x, double value) {
  const Val one = e.scalar_like(x, value);
  const std::optional<Shape> known = e.type(x).known_shape();
  if (known && known->empty()) return one;
  return e.call("Expand", {one, shape_of(e, x)});
}

Val sum_to(Emitter& e, const Val& gradient, const Val& x) {
  const Type from = e.type(gradient), to = e.type(x);
  const std::optional<BroadcastReduction> reduction =
      from.shape && to.shape ? reduction_between(*from.shape, *to.shape) : std::nullopt;
  if (!reduction) return sum_to_at_run(e, gradient, x);
  if (reduction->axes.empty()) return gradient;
  const Val summed = e.call("ReduceSum", {gradient, e.int64s(reduction->axes)},
                            {{"keepdims", int64_t{reduction->same_rank}}});
  return reduction->same_rank ? summed : reshape_like(e, summed, x);
}

Val reshape_like(Emitter& e, const Val& x, const Val& like) {
  const Type from = e.type(x), to = e.type(like);
  if (from.shape && to.shape && *from.shape == *to.shape) return x;
  return e.call("Reshape", {x, shape_of(e, like)}, {{"allowzero", int64_t{1}}});
}

}  // namespace sardonyx
