// Losses over classes. Both have bodies, so they run, fuse and differentiate as what they are made
// of.
#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/normalization/softmax.h"
#include "ir/ops/op_families.h"
#include "ir/value_compare.h"

namespace sardonyx::ops {
namespace {

void check_reduction(const InferContext& c) {
  const std::string& reduction = c.attrs<LossAttrs>().reduction;
  c.require(reduction == "mean" || reduction == "sum" || reduction == "none",
            "attribute reduction: expected mean, sum or none, got ", reduction);
}

// Scores [N, C, d...], labels [N, d...], weights [C].
void infer_loss(InferContext& c) {
  check_reduction(c);
  const Dims* scores = c.shape(0);
  const Dims* labels = c.shape(1);
  if (scores && scores->size() < 2) c.fail_input(0, "expected rank 2 or more");
  if (scores && labels) {
    c.require_rank(1, scores->size() - 1);
    for (size_t i = 0; i < labels->size(); ++i) {
      c.merged((*labels)[i], (*scores)[i == 0 ? 0 : i + 1],
               text("dim ", i, " of ", c.input_label(1)));
    }
  }
  c.require_rank(2, 1);
  if (scores && c.shape(2)) {
    c.merged((*c.shape(2))[0], (*scores)[1], text("classes of ", c.input_label(2)));
  }
  std::optional<Dims> out = shape_of(c, 1);
  if (c.attrs<LossAttrs>().reduction != "none") out = Dims{};
  c.set(0, c.dtype(0), std::move(out));
  c.set(1, c.type(0));
}

// Labels [N, d...] as classes of scores [N, C, d...]; those that are to be ignored become class 0.
struct ClassIndicesAttrs {
  std::optional<int64_t> ignore_index;
  static auto fields() {
    return std::tuple{field("ignore_index", &ClassIndicesAttrs::ignore_index)};
  }
};

void infer_class_indices(InferContext& c) {
  if (const Dims* scores = c.shape(1); scores && scores->size() < 2)
    c.fail_input(1, "expected rank 2 or more");
  c.set(0, c.type(0));
}

template <typename T>
void find_class_indices(const KernelCall& call, std::optional<int64_t> ignored) {
  const T* labels = call.inputs[0].data<T>();
  T* classes = call.outputs[0].data<T>();
  const int64_t count = call.inputs[1].shape[1];
  for (int64_t i = 0; i < call.inputs[0].count(); ++i) {
    const int64_t label = labels[i];
    if (label == ignored) {
      classes[i] = 0;
      continue;
    }
    if (label < 0 || label >= count) {
      fail(ErrorCode::kInvalidArgument, "label ", label, " at ",
           position_text(call.inputs[0].shape, i), " is no class: expected 0 to ", count - 1,
           ignored ? text(" or ignore_index, ", *ignored)
                   : std::string("; set ignore_index to leave labels out"));
    }
    classes[i] = labels[i];
  }
}

void run_class_indices(const KernelCall& call) {
  const auto ignored = call.attrs<ClassIndicesAttrs>().ignore_index;
  if (call.inputs[0].dtype == DType::kInt32)
    find_class_indices<int32_t>(call, ignored);
  else
    find_class_indices<int64_t>(call, ignored);
}

Val cast(Emitter& e, const Val& x, DType to) {
  if (e.type(x).dtype == to) return x;
  return e.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

// Half-width scores are summed in float.
DType sum_type(DType dtype) {
  return dtype == DType::kDouble ? dtype : DType::kFloat;
}

// Where a label is to be ignored.
Val ignored_labels(Emitter& e, const Val& labels, int64_t ignore_index) {
  // The index need not fit the labels' type.
  return e.call("Equal",
                {cast(e, labels, DType::kInt64), e.constant(Tensor::scalar(ignore_index))});
}

// No class has a negative number, but gathering counts those from the end: send them beyond it.
Vals class_indices_body(Emitter& e, const BodyCall& call) {
  const Val& labels = call.inputs[0];
  const Val zero = e.scalar_like(labels, 0), beyond = e.scalar_like(labels, 0x7fffffff);
  const Val classes = e.call("Where", {e.call("Less", {labels, zero}), beyond, labels});
  const auto ignore_index = call.attrs<ClassIndicesAttrs>().ignore_index;
  if (!ignore_index) return {classes};
  return {e.call("Where", {ignored_labels(e, labels, *ignore_index), zero, classes})};
}

// The loss from log-probabilities, in their type.
Val likelihood_loss(Emitter& e, const LossAttrs& attrs, const Val& scores, const Val& labels,
                    const Val& weights) {
  AttrMap to_classes;
  if (attrs.ignore_index) to_classes.emplace("ignore_index", *attrs.ignore_index);
  const Val classes = e.call("sardonyx::ClassIndices", {labels, scores}, to_classes);
  const Val ignored = attrs.ignore_index ? ignored_labels(e, labels, *attrs.ignore_index) : Val();
  const Val axis = e.int64s({1});
  const Val picked = e.call("GatherElements", {scores, e.call("Unsqueeze", {classes, axis})},
                            {{"axis", int64_t{1}}});
  Val loss = e.call("Neg", {e.call("Squeeze", {picked, axis})});
  const Val zero = e.scalar_like(scores, 0);
  Val share = weights ? e.call("Gather", {weights, classes}) : Val();
  if (share) loss = e.call("Mul", {loss, share});
  if (ignored) {
    share = e.call("Where", {ignored, zero, share ? share : e.scalar_like(scores, 1)});
    loss = e.call("Where", {ignored, zero, loss});
  }
  if (attrs.reduction == "none") return loss;
  const AttrMap to_scalar{{"keepdims", int64_t{0}}};
  if (attrs.reduction == "mean" && !share) return e.call("ReduceMean", {loss}, to_scalar);
  const Val sum = e.call("ReduceSum", {loss}, to_scalar);
  if (attrs.reduction == "sum") return sum;
  return e.call("Div", {sum, e.call("ReduceSum", {share}, to_scalar)});
}

Vals likelihood_loss_body(Emitter& e, const BodyCall& call) {
  const DType dtype = e.type(call.inputs[0]).dtype, wide = sum_type(dtype);
  const Val weights = call.has(2) ? cast(e, call.inputs[2], wide) : Val();
  const Val loss = likelihood_loss(e, call.attrs<LossAttrs>(), cast(e, call.inputs[0], wide),
                                   call.inputs[1], weights);
  return {cast(e, loss, dtype)};
}

Vals cross_entropy_body(Emitter& e, const BodyCall& call) {
  const DType dtype = e.type(call.inputs[0]).dtype, wide = sum_type(dtype);
  const Val weights = call.has(2) ? cast(e, call.inputs[2], wide) : Val();
  const Val log_prob =
      e.call("LogSoftmax", {cast(e, call.inputs[0], wide)}, {{"axis", int64_t{1}}});
  const Val loss = likelihood_loss(e, call.attrs<LossAttrs>(), log_prob, call.inputs[1], weights);
  Vals results{cast(e, loss, dtype)};
  if (call.output_count > 1) results.push_back(cast(e, log_prob, dtype));
  return results;
}

// d * share * (probability - one at the label) for each score, where a label's share is its weight
// (none where it is ignored), divided by the sum of all shares for the mean. Of a loss by whose
// weights or logarithms somebody differentiates, the gradient is that of the body.
Vals cross_entropy_gradient(Emitter& e, const GradCall& c) {
  if (c.wants(2) || !c.has_d(0) || c.has_d(1)) return autodiff_body(e, c, cross_entropy_body);
  const auto& attrs = c.attrs<LossAttrs>();
  const Term scores = input(e, c, 0);
  const DType wide = sum_type(scores.dtype());
  const bool has_log_prob = c.outputs.size() > 1 && c.outputs[1];
  const Term probability = has_log_prob
                               ? apply("Exp", cast(output(e, c, 1), wide))
                               : apply("Softmax", cast(scores, wide), {{"axis", int64_t{1}}});
  Term labels = input(e, c, 1), d = cast(d_output(e, c, 0), wide);
  std::optional<Term> ignored, share;
  if (attrs.ignore_index) {
    const Term index{&e, e.constant(Tensor::scalar(*attrs.ignore_index))};
    ignored = equal(cast(labels, DType::kInt64), index);
    labels = where(*ignored, 0, labels);
  }
  if (c.has(2)) share = apply("Gather", cast(input(e, c, 2), wide), labels);
  if (ignored) share = where(*ignored, 0, share ? *share : d.number(1));
  if (attrs.reduction == "mean") {
    d = d / (share ? apply("ReduceSum", *share, {{"keepdims", int64_t{0}}})
                   : cast(apply("Size", labels), wide));
  }
  if (share) d = d * *share;
  if (share || attrs.reduction == "none") d = apply("Unsqueeze", d, int64s(e, {1}));
  const Term first = int64s(e, {0});
  const Term off_on = apply("Concat", apply("Unsqueeze", d.number(0), first),
                            apply("Unsqueeze", d.number(1), first), {{"axis", int64_t{0}}});
  const Term at_label{
      &e, e.call("OneHot", {labels, sizes_of(scores, 1, 2), off_on}, {{"axis", int64_t{1}}})};
  return {cast((probability - at_label) * d, scores.dtype())};
}

std::vector<Sample> loss_samples(size_t outputs) {
  const SampleInput four_labels{.shape = {4}, .value = Tensor::vector<int64_t>({0, 2, 1, 2})};
  const SampleInput pixels{.shape = {2, 2, 1},
                           .value = Tensor::of<int32_t>({0, 2, 1, -1}, {2, 2, 1})};
  const SampleInput weights{.shape = {3}, .low = 0.25, .high = 1};
  std::vector<Sample> samples{
      {.inputs = {{.shape = {4, 3}}, four_labels}},
      {.inputs = {{.shape = {4, 3}}, four_labels, weights},
       .attrs = {{"reduction", std::string("none")}, {"ignore_index", int64_t{1}}}},
      {.inputs = {{.shape = {2, 3, 2, 1}}, pixels, weights},
       .attrs = {{"ignore_index", int64_t{-1}}}},
      {.inputs = {{.shape = {2, 3, 2, 1}}, pixels},
       .attrs = {{"reduction", std::string("sum")}, {"ignore_index", int64_t{-1}}}},
  };
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i].outputs = i % 2 == 0 ? outputs : 1;
  return samples;
}

std::vector<Sample> class_indices_samples() {
  return {{.inputs = {{.shape = {4}, .value = Tensor::vector<int64_t>({0, 2, 1, 2})},
                      {.shape = {4, 3}}}},
          {.inputs = {{.shape = {2, 2, 1}, .value = Tensor::of<int32_t>({0, 2, 1, -1}, {2, 2, 1})},
                      {.shape = {2, 3, 2, 1}}},
           .attrs = {{"ignore_index", int64_t{-1}}}}};
}

}  // namespace

std::span<const OpDef> loss_ops() {
  constexpr DTypeSet kLabels{DType::kInt32, DType::kInt64};
  static const OpDef kOps[] = {
      {.name = "NegativeLogLikelihoodLoss",
       .doc = "The negated log-probabilities [N, C, ...] of the classes [N, ...], weighted by "
              "class [C], reduced as `reduction` says; ignore_index counts for nothing.",
       .since = 22,
       .signature = "(input: T, target: Tind, weight?: T) -> (loss: T)",
       .types = {{"T", kFloats}, {"Tind", kLabels}},
       .attrs = attr_schema<LossAttrs>(),
       .infer = infer_loss,
       .body = likelihood_loss_body,
       .facts = kFloat32InMixed,
       .samples = [] { return loss_samples(1); }},
      {.name = "SoftmaxCrossEntropyLoss",
       .doc = "The cross entropy of scores [N, C, ...] and classes [N, ...], weighted by class "
              "[C], reduced as `reduction` says; the log-probabilities come as well.",
       .since = 13,
       .signature = "(scores: T, labels: Tind, weights?: T) -> (output: T, log_prob?: T)",
       .types = {{"T", kFloats}, {"Tind", kLabels}},
       .attrs = attr_schema<LossAttrs>(),
       .infer = infer_loss,
       .body = cross_entropy_body,
       .grad = cross_entropy_gradient,
       .facts = kFloat32InMixed,
       .samples = [] { return loss_samples(2); }},
      // Its error names a label that is no class, where gathering would name an index.
      {.name = "ClassIndices",
       .doc = "The labels, each checked to be a class of scores [N, C, ...] or ignore_index, by an "
              "error that names it.",
       .domain = "sardonyx",
       .signature = "(labels: Tind, scores: T) -> (classes: Tind)",
       .types = {{"T", kFloats}, {"Tind", kLabels}},
       .attrs = attr_schema<ClassIndicesAttrs>(),
       .infer = infer_class_indices,
       .reference = run_class_indices,
       .body = class_indices_body,
       .samples = class_indices_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
