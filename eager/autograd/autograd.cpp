#include "eager/autograd/autograd.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "eager/autograd/anomaly.h"
#include "eager/autograd/post_accumulate.h"
#include "eager/autograd/tape.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/fusing_emitter.h"
#include "eager/dispatch/kept_memory.h"
#include "eager/dispatch/profiler.h"
#include "eager/dispatch/substitutes.h"
#include "eager/trace/frame.h"
#include "ir/autodiff/early_gradients.h"

namespace sardonyx::eager {
namespace {

using detail::ImplPtr;
using detail::TapeNode;

// Restores gradient recording to what it was.
class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(detail::grad_enabled()) {
    detail::set_grad_enabled(enabled);
  }
  ~GradMode() { detail::set_grad_enabled(previous_); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};

// The recorded ops that ys were made by, in the order of calls.
std::vector<std::shared_ptr<TapeNode>> collect(const std::vector<Tensor>& ys) {
  std::unordered_set<const TapeNode*> seen;
  std::vector<std::shared_ptr<TapeNode>> nodes;
  const auto visit = [&](const ImplPtr& impl) {
    if (impl && impl->creator && seen.insert(impl->creator.get()).second)
      nodes.push_back(impl->creator);
  };
  for (const Tensor& y : ys)
    visit(y.impl());
  for (size_t next = 0; next < nodes.size(); ++next) {
    const std::shared_ptr<TapeNode> node = nodes[next];
    for (const ImplPtr& input : node->inputs)
      visit(input);
  }
  std::ranges::sort(nodes, {}, [](const auto& node) { return node->sequence; });
  return nodes;
}

// Those among them that depend on xs; an x may have been made from another one.
std::vector<std::shared_ptr<TapeNode>> between(const std::vector<Tensor>& xs,
                                               std::vector<std::shared_ptr<TapeNode>> nodes) {
  std::unordered_set<const void*> reached;
  for (const Tensor& x : xs) {
    if (x.defined()) reached.insert(x.impl().get());
  }
  std::erase_if(nodes, [&](const std::shared_ptr<TapeNode>& node) {
    const bool depends = std::ranges::any_of(node->inputs, [&](const ImplPtr& input) {
      return input && (reached.contains(input.get()) || reached.contains(input->creator.get()));
    });
    if (depends) reached.insert(node.get());
    return !depends;
  });
  return nodes;
}

void check_usable(const TapeNode& node) {
  if (node.is_freed) {
    fail(ErrorCode::kInvalidArgument, "what ", full_name(*node.op), " at ", text_of(node.loc),
         " recorded was freed by an earlier backward(); call that one with retain_graph = true");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.inputs[i]->version == node.versions[i]) continue;
    fail(
        ErrorCode::kInvalidArgument, "input ", i, " of ", full_name(*node.op), " at ",
        text_of(node.loc),
        " was assigned a new value after the call, so its gradient would be wrong; call backward() "
        "before assign()");
  }
}

// An output that nobody holds any more gets a tensor again: the same one for every walk as long as
// recorded gradients read it, so that a second walk finds what depends on it. Under the node's
// lock, which walks of other nodes don't wait for.
Val revived(const std::shared_ptr<TapeNode>& node, size_t index) {
  TapeNode::Output& kept = node->outputs[index];
  if (const ImplPtr alive = kept.impl.lock()) {
    return Val(std::shared_ptr<void>(alive));
  }
  if (!kept.value.defined() && !kept.symbol) return Val();
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->value = kept.value;
  impl->symbol = kept.symbol;
  impl->frame = kept.frame;
  impl->creator = node;
  impl->creator_output = static_cast<uint32_t>(index);
  kept.impl = impl;
  return Val(std::shared_ptr<void>(impl));
}

std::vector<RecordedStep> steps_of(const std::vector<std::shared_ptr<TapeNode>>& nodes) {
  std::vector<RecordedStep> steps;
  steps.reserve(nodes.size());
  for (const std::shared_ptr<TapeNode>& node : nodes) {
    check_usable(*node);
    RecordedStep& step = steps.emplace_back();
    step.op = node->op;
    step.attrs = node->attrs;
    step.captures = node->captures;
    step.rule = node->rule;
    step.origin = text_of(node->loc) + (node->scope.empty() ? "" : " (" + node->scope + ")");
    for (const ImplPtr& input : node->inputs)
      step.inputs.push_back(input ? Val(std::shared_ptr<void>(input)) : Val());
    const std::lock_guard lock(node->reviving);
    for (size_t i = 0; i < node->outputs.size(); ++i)
      step.outputs.push_back(revived(node, i));
  }
  return steps;
}

Val run_hooks(const Val& value, const Val& gradient) {
  const detail::TensorImpl& impl = detail::impl_of(value);
  detail::note_hooks(detail::tensor_of(value));
  if (!impl.grad_state() || impl.grad_state()->hooks->empty()) return gradient;
  Tensor current = detail::tensor_of(gradient);
  impl.grad_state()->hooks->for_each([&](const Tensor::Hook& hook) {
    const Tensor replaced = hook(current);
    if (!replaced.defined()) return;
    if (!detail::may_be_gradient(replaced, current)) {
      fail(ErrorCode::kInvalidArgument, "a hook gave ", replaced.type(), " for the gradient ",
           current.type());
    }
    current = replaced;
  });
  return detail::val_of(current);
}

void check_root(const Tensor& y, const Tensor& weight, const Loc& loc) {
  if (!y.defined() || !y.impl()->tracked()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": the result does not depend on any tensor that requires a gradient (or was computed "
         "under NoGrad, or detached); call set_requires_grad() on the inputs");
  }
  if (const auto& frame = y.impl()->frame; frame && frame->is_over()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": the result is of a trace that is over; ask ",
         "for gradients in the function that is traced");
  }
  if (weight.defined()) {
    if (weight.type() == y.type()) return;
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": expected a gradient of type ", y.type(),
         ", got ", weight.type());
  }
  if (!proved_equal(y.numel(), 1)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": the result is ", y.type(),
         ", but gradients start from one number; reduce it (sum, mean), or give the gradient of "
         "its elements");
  }
}

void free_tape(const std::vector<std::shared_ptr<TapeNode>>& nodes) {
  for (const std::shared_ptr<TapeNode>& node : nodes) {
    node->is_freed = true;
    node->inputs.clear();
    node->versions.clear();
    for (TapeNode::Output& output : node->outputs)
      output.value = Datum();
    node->rule.reset();
  }
}

// Leaves whose gradients are wanted as soon as they are complete, and who wants them.
struct EarlyLeaves {
  Vals leaves;
  std::function<void(const Val& leaf, const Val& gradient)> ready;
};

Vals walk(const std::vector<std::shared_ptr<TapeNode>>& nodes, const std::vector<Tensor>& ys,
          const std::vector<Tensor>& weights, std::span<const Val> xs, bool create_graph,
          const Loc& loc, const EarlyLeaves& early = {}) {
  const detail::ProfiledBackward profiled;
  const GradMode mode(create_graph);
  const detail::AutocastMode as_recorded(DType::kUndefined);
  const detail::Substitutes::Pause recorded_inputs_stay;
  if (!TraceContext::active()) keep_memory_for_training();
  const std::vector<RecordedStep> steps = steps_of(nodes);
  std::vector<const RecordedStep*> pointers;
  for (const RecordedStep& step : steps)
    pointers.push_back(&step);
  Vals roots, seeds;
  for (size_t i = 0; i < ys.size(); ++i) {
    roots.push_back(detail::val_of(ys[i]));
    seeds.push_back(i < weights.size() ? detail::val_of(weights[i]) : Val());
  }
  std::unordered_set<const void*> early_leaves;
  for (const Val& leaf : early.leaves)
    early_leaves.insert(leaf.as<void>());
  // Each op by itself is what is recorded, and what the search for NaN looks at.
  const auto hook_leaf = [&](const Val& value, const Val& gradient) {
    const Val replaced = run_hooks(value, gradient);
    if (early_leaves.contains(value.as<void>())) early.ready(value, replaced);
    return replaced;
  };
  if (create_graph || TraceContext::active() || detects_anomalies()) {
    EagerEmitter emitter(loc);
    return differentiate(emitter, pointers, roots, seeds, xs, hook_leaf, early.leaves);
  }
  FusingEmitter emitter(loc);
  // Hooks and rules of callers see tensors.
  std::unordered_set<const void*> seen_outside;
  for (const RecordedStep& step : steps) {
    for (const Val& output : step.outputs) {
      if (output && step.rule) seen_outside.insert(output.as<void>());
    }
  }
  const auto hook = [&](const Val& value, const Val& gradient) {
    const bool is_seen = detail::impl_of(value).grad_state() ||
                         seen_outside.contains(value.as<void>()) ||
                         early_leaves.contains(value.as<void>());
    if (is_seen) emitter.finish();
    return hook_leaf(value, gradient);
  };
  Vals found = differentiate(emitter, pointers, roots, seeds, xs, hook, early.leaves);
  emitter.finish();
  return found;
}

void accumulate(const Tensor& target, Tensor gradient, bool create_graph, const Loc& loc) {
  static const OpDef& add = op_named("Add");
  const GradMode mode(create_graph);
  const Tensor before = target.grad();
  if (before.defined()) gradient = apply(add, {before, gradient}, loc);
  // A tensor that nobody else holds needs no copy of its handle.
  const bool is_own = gradient.impl().use_count() == 1 && !gradient.impl()->tracked();
  target.set_grad(create_graph || is_own ? gradient : gradient.detach());
}

}  // namespace

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph, Loc loc) const {
  check_root(*this, gradient, loc);
  const auto nodes = collect({*this});
  // Every leaf that requires a gradient, and the others that asked for theirs.
  std::vector<Tensor> targets;
  std::unordered_set<const detail::TensorImpl*> seen;
  const auto add_target = [&](const ImplPtr& impl) {
    if (!impl) return;
    const bool wanted =
        impl->creator ? impl->grad_state() && impl->grad_state()->retain_grad : impl->requires_grad;
    if (wanted && seen.insert(impl.get()).second) targets.push_back(Tensor(impl));
  };
  add_target(impl_);
  for (const auto& node : nodes) {
    for (const ImplPtr& input : node->inputs)
      add_target(input);
  }
  detail::BackwardScope scope;
  Vals xs;
  EarlyLeaves early;
  std::unordered_set<const void*> accumulated;
  for (const Tensor& target : targets) {
    xs.push_back(detail::val_of(target));
    if (detail::has_post_accumulate_hooks(*target.impl())) early.leaves.push_back(xs.back());
  }
  early.ready = [&](const Val& leaf, const Val& whole) {
    accumulated.insert(leaf.as<void>());
    const Tensor target = detail::tensor_of(leaf);
    accumulate(target, detail::tensor_of(whole), create_graph, loc);
    detail::run_post_accumulate_hooks(target);
  };
  Vals found = walk(nodes, {*this}, {gradient}, xs, create_graph, loc, early);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i] || accumulated.contains(xs[i].as<void>())) continue;
    Tensor whole = detail::tensor_of(std::exchange(found[i], Val()));
    accumulate(targets[i], std::move(whole), create_graph, loc);
  }
  if (!retain_graph && !create_graph) free_tape(nodes);
  scope.run_callbacks();
}

std::vector<Tensor> grad(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                         const GradOptions& options, Loc loc) {
  std::vector<Tensor> weights = options.grad_outputs;
  weights.resize(ys.size());
  for (size_t i = 0; i < ys.size(); ++i)
    check_root(ys[i], weights[i], loc);
  Vals targets;
  for (const Tensor& x : xs)
    targets.push_back(detail::val_of(x));
  const auto nodes = between(xs, collect(ys));
  const Vals found = walk(nodes, ys, weights, targets, options.create_graph, loc);
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i] && !options.allow_unused) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": the results do not depend on xs[", i,
           "]; pass allow_unused to get an undefined gradient for it");
    }
    gradients.push_back(found[i] ? detail::tensor_of(found[i]) : Tensor());
  }
  if (!options.retain_graph && !options.create_graph) free_tape(nodes);
  return gradients;
}

std::function<std::pair<Tensor, std::vector<Tensor>>(const std::vector<Tensor>&)> value_and_grad(
    Function fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& arguments) {
    // Recording the gradients serves only a caller who differentiates them.
    const bool outer =
        detail::grad_enabled() && std::ranges::any_of(arguments, [](const Tensor& argument) {
          return argument.defined() && argument.impl()->tracked();
        });
    const GradMode mode(true);
    std::vector<Tensor> own;
    for (const Tensor& argument : arguments)
      own.push_back(outer ? argument : argument.detach().set_requires_grad());
    const Tensor value = fn(own);
    std::vector<Tensor> gradients =
        grad({value}, own, {.create_graph = outer, .retain_graph = outer, .allow_unused = true});
    static const OpDef& zeros_like = op_named("Sub");
    for (size_t i = 0; i < own.size(); ++i) {
      if (!gradients[i].defined())
        gradients[i] = apply(zeros_like, {own[i], own[i]}, Loc::current());
    }
    return std::pair(outer ? value : value.detach(), std::move(gradients));
  };
}

std::function<std::vector<Tensor>(const std::vector<Tensor>&)> grad(Function fn) {
  return [both = value_and_grad(std::move(fn))](const std::vector<Tensor>& arguments) {
    return both(arguments).second;
  };
}

std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& fn,
    const std::vector<Tensor>& inputs, Loc loc) {
  std::vector<Tensor> outputs, read;
  {
    const NoGrad no_grad;
    LeafCollector collector;
    for (const Tensor& output : fn(inputs))
      outputs.push_back(output.detach());
    read = std::move(collector.found);
  }
  // Gradients flow to the arguments and to whatever else fn read.
  std::vector<Tensor> sources = inputs;
  for (const Tensor& tensor : read) {
    const auto is_it = [&](const Tensor& known) { return known.is_same(tensor); };
    if (std::ranges::none_of(sources, is_it)) sources.push_back(tensor);
  }
  const bool tracked = std::ranges::any_of(
      sources, [](const Tensor& source) { return source.defined() && source.impl()->tracked(); });
  if (!detail::grad_enabled() || !tracked) return outputs;
  const size_t arguments = inputs.size();
  auto rule = std::make_shared<const RecordedStep::Rule>(
      [fn, arguments, autocast = Autocast::current()](Emitter&, const GradCall& call) {
        const bool create_graph = detail::grad_enabled();
        std::vector<Tensor> xs, given;
        for (size_t i = 0; i < call.inputs.size(); ++i) {
          const Tensor source = call.inputs[i] ? detail::tensor_of(call.inputs[i]) : Tensor();
          if (i < arguments) given.push_back(source);
          if (call.wants(i)) xs.push_back(source);
        }
        const GradMode mode(true);
        const detail::AutocastMode as_before(autocast);
        std::vector<Tensor> ys, weights;
        const std::vector<Tensor> outputs = fn(given);
        for (size_t i = 0; i < outputs.size(); ++i) {
          if (!call.has_d(i) || !outputs[i].impl()->tracked()) continue;
          ys.push_back(outputs[i]);
          weights.push_back(detail::tensor_of(call.d_outputs[i]));
        }
        const std::vector<Tensor> found = grad(
            ys, xs, {.grad_outputs = weights, .create_graph = create_graph, .allow_unused = true});
        Vals gradients(call.inputs.size());
        for (size_t i = 0, next = 0; i < gradients.size(); ++i) {
          if (call.wants(i)) gradients[i] = detail::val_of(found[next++]);
        }
        return gradients;
      });
  detail::record(op_named("Identity"), Attrs(), sources, 0, outputs, std::move(rule), loc);
  return outputs;
}

namespace {

void check_own_gradient(const Tensor& gradient, const Val& input, size_t index) {
  if (!gradient.defined() || !input) return;
  const Tensor of = detail::tensor_of(input);
  if (detail::may_be_gradient(gradient, of)) return;
  fail(ErrorCode::kInvalidArgument, "the function's backward gave ", gradient.type(),
       " as the gradient of input ", index, ", which is ", of.type(),
       "; sum over what was broadcast, and convert with to()");
}

}  // namespace

std::vector<Tensor> apply(const CustomFunction& function, const std::vector<Tensor>& given,
                          Loc loc) {
  std::vector<Tensor> inputs;
  for (const Tensor& input : given)
    inputs.push_back(detail::Substitutes::of(input));
  std::vector<Tensor> outputs;
  {
    const NoGrad no_grad;
    for (const Tensor& output : function.forward(inputs))
      outputs.push_back(output.detach());
  }
  const bool tracked = std::ranges::any_of(
      inputs, [](const Tensor& input) { return input.defined() && input.impl()->tracked(); });
  if (!detail::grad_enabled() || !tracked) return outputs;
  const auto tensors_of = [](std::span<const Val> vals) {
    std::vector<Tensor> tensors;
    for (const Val& val : vals)
      tensors.push_back(val ? detail::tensor_of(val) : Tensor());
    return tensors;
  };
  auto rule = std::make_shared<const RecordedStep::Rule>(
      [backward = function.backward, tensors_of](Emitter&, const GradCall& call) {
        const std::vector<Tensor> gradients =
            backward(tensors_of(call.inputs), tensors_of(call.outputs), tensors_of(call.d_outputs));
        if (gradients.size() != call.inputs.size()) {
          fail(ErrorCode::kInvalidArgument, "the function's backward gave ", gradients.size(),
               " gradients for ", call.inputs.size(), " inputs");
        }
        Vals vals;
        for (size_t i = 0; i < gradients.size(); ++i) {
          check_own_gradient(gradients[i], call.inputs[i], i);
          vals.push_back(detail::val_of(gradients[i]));
        }
        return vals;
      });
  detail::record(op_named("Identity"), Attrs(), inputs, 0, outputs, std::move(rule), loc);
  return outputs;
}

NoGrad::NoGrad() : previous_(detail::grad_enabled()) {
  detail::set_grad_enabled(false);
}
NoGrad::~NoGrad() {
  detail::set_grad_enabled(previous_);
}
EnableGrad::EnableGrad() : previous_(detail::grad_enabled()) {
  detail::set_grad_enabled(true);
}
EnableGrad::~EnableGrad() {
  detail::set_grad_enabled(previous_);
}
bool is_grad_enabled() {
  return detail::grad_enabled();
}

}  // namespace sardonyx::eager
