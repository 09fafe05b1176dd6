// Tree ensembles of ai.onnx.ml. Where the specification is silent (which of two scores a classifier
// with two classes gives, what a transform does to a single score), they do as ONNX Runtime does,
// whose answers users know.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ir/dispatch.h"
#include "ir/ops/infer.h"
#include "ir/ops/made_once.h"
#include "ir/ops/scores.h"
#include "ir/ops/tables.h"
#include "ir/ops/tree_ensemble.h"
#include "ir/run_control.h"
#include "ir/scratch.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

struct TreeEnsembleAttrs {
  int64_t aggregate_function = 1;
  Ints leaf_targetids;
  Tensor leaf_weights;
  std::optional<Tensor> membership_values;
  std::optional<int64_t> n_targets;
  Ints nodes_falseleafs, nodes_falsenodeids, nodes_featureids;
  std::optional<Tensor> nodes_hitrates;
  Ints nodes_missing_value_tracks_true;
  Tensor nodes_modes, nodes_splits;
  Ints nodes_trueleafs, nodes_truenodeids;
  int64_t post_transform = 0;
  Ints tree_roots;
  static auto fields() {
    using A = TreeEnsembleAttrs;
    return std::tuple{field("aggregate_function", &A::aggregate_function),
                      required("leaf_targetids", &A::leaf_targetids),
                      required("leaf_weights", &A::leaf_weights),
                      field("membership_values", &A::membership_values),
                      field("n_targets", &A::n_targets),
                      required("nodes_falseleafs", &A::nodes_falseleafs),
                      required("nodes_falsenodeids", &A::nodes_falsenodeids),
                      required("nodes_featureids", &A::nodes_featureids),
                      field("nodes_hitrates", &A::nodes_hitrates),
                      field("nodes_missing_value_tracks_true", &A::nodes_missing_value_tracks_true),
                      required("nodes_modes", &A::nodes_modes),
                      required("nodes_splits", &A::nodes_splits),
                      required("nodes_trueleafs", &A::nodes_trueleafs),
                      required("nodes_truenodeids", &A::nodes_truenodeids),
                      field("post_transform", &A::post_transform),
                      required("tree_roots", &A::tree_roots)};
  }
};

// The lists that TreeEnsembleRegressor and -Classifier have in common.
struct NodeAttrs {
  Floats base_values;
  std::optional<Tensor> base_values_as_tensor;
  Ints nodes_falsenodeids, nodes_featureids;
  Floats nodes_hitrates;
  std::optional<Tensor> nodes_hitrates_as_tensor;
  Ints nodes_missing_value_tracks_true;
  Strings nodes_modes;
  Ints nodes_nodeids, nodes_treeids, nodes_truenodeids;
  Floats nodes_values;
  std::optional<Tensor> nodes_values_as_tensor;
  std::string post_transform = "NONE";
  template <typename A>
  static auto shared_fields() {
    return std::tuple{
        Field<A, Floats>{"base_values", &A::base_values},
        Field<A, std::optional<Tensor>>{"base_values_as_tensor", &A::base_values_as_tensor},
        Field<A, Ints>{"nodes_falsenodeids", &A::nodes_falsenodeids},
        Field<A, Ints>{"nodes_featureids", &A::nodes_featureids},
        Field<A, Floats>{"nodes_hitrates", &A::nodes_hitrates},
        Field<A, std::optional<Tensor>>{"nodes_hitrates_as_tensor", &A::nodes_hitrates_as_tensor},
        Field<A, Ints>{"nodes_missing_value_tracks_true", &A::nodes_missing_value_tracks_true},
        Field<A, Strings>{"nodes_modes", &A::nodes_modes},
        Field<A, Ints>{"nodes_nodeids", &A::nodes_nodeids},
        Field<A, Ints>{"nodes_treeids", &A::nodes_treeids},
        Field<A, Ints>{"nodes_truenodeids", &A::nodes_truenodeids},
        Field<A, Floats>{"nodes_values", &A::nodes_values},
        Field<A, std::optional<Tensor>>{"nodes_values_as_tensor", &A::nodes_values_as_tensor},
        Field<A, std::string>{"post_transform", &A::post_transform}};
  }
};

struct RegressorAttrs : NodeAttrs {
  std::string aggregate_function = "SUM";
  std::optional<int64_t> n_targets;
  Ints target_ids, target_nodeids, target_treeids;
  Floats target_weights;
  std::optional<Tensor> target_weights_as_tensor;
  static auto fields() {
    using A = RegressorAttrs;
    return std::tuple_cat(
        shared_fields<A>(),
        std::tuple{field("aggregate_function", &A::aggregate_function),
                   field("n_targets", &A::n_targets), field("target_ids", &A::target_ids),
                   field("target_nodeids", &A::target_nodeids),
                   field("target_treeids", &A::target_treeids),
                   field("target_weights", &A::target_weights),
                   field("target_weights_as_tensor", &A::target_weights_as_tensor)});
  }
};

struct ClassifierAttrs : NodeAttrs {
  Ints class_ids, class_nodeids, class_treeids;
  Floats class_weights;
  std::optional<Tensor> class_weights_as_tensor;
  Ints classlabels_int64s;
  Strings classlabels_strings;
  static auto fields() {
    using A = ClassifierAttrs;
    return std::tuple_cat(
        shared_fields<A>(),
        std::tuple{field("class_ids", &A::class_ids), field("class_nodeids", &A::class_nodeids),
                   field("class_treeids", &A::class_treeids),
                   field("class_weights", &A::class_weights),
                   field("class_weights_as_tensor", &A::class_weights_as_tensor),
                   field("classlabels_int64s", &A::classlabels_int64s),
                   field("classlabels_strings", &A::classlabels_strings)});
  }
};

// A list that may be given as floats or, for doubles, as a tensor.
template <typename T>
std::vector<T> either(const char* name, const Floats& floats, const std::optional<Tensor>& tensor) {
  if (!tensor) return {floats.begin(), floats.end()};
  if (!floats.empty()) {
    fail(ErrorCode::kInvalidModel, "attribute ", name, " is given twice: as floats and as tensor");
  }
  return read_attribute<T>(*tensor);
}

bool has_doubles(const std::optional<Tensor>& tensor) {
  return tensor && tensor->dtype() == DType::kDouble;
}

// The last of the ids plus one, where the number of targets is not given.
int64_t count_targets(const std::optional<int64_t>& given, const Ints& ids) {
  if (given) {
    if (*given < 1) {
      fail(ErrorCode::kInvalidModel, "attribute n_targets: expected at least 1, got ", *given);
    }
    return *given;
  }
  const int64_t last = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end());
  if (last < 0 || last == INT64_MAX) {
    fail(ErrorCode::kInvalidModel, "ids of targets: ", last, " is out of range");
  }
  return last + 1;
}

template <typename T>
TreeEnsembleModel<T> build(const TreeEnsembleAttrs& attrs) {
  const BranchLists<T> lists{
      attrs.tree_roots,
      attrs.nodes_featureids,
      attrs.nodes_truenodeids,
      attrs.nodes_falsenodeids,
      attrs.nodes_trueleafs,
      attrs.nodes_falseleafs,
      attrs.nodes_missing_value_tracks_true,
      attrs.nodes_modes.to_int64s(),
      read_attribute<T>(attrs.nodes_splits),
      attrs.membership_values ? read_attribute<T>(*attrs.membership_values) : std::vector<T>{},
      attrs.leaf_targetids,
      read_attribute<T>(attrs.leaf_weights),
      count_targets(attrs.n_targets, attrs.leaf_targetids)};
  return build_ensemble(lists);
}

template <typename T>
TreeEnsembleModel<T> build_nodes(const NodeAttrs& attrs, const Ints& trees, const Ints& nodes,
                                 const Ints& targets, std::vector<T> weights, int64_t count) {
  const NodeLists<T> lists{
      attrs.nodes_treeids,
      attrs.nodes_nodeids,
      attrs.nodes_featureids,
      attrs.nodes_truenodeids,
      attrs.nodes_falsenodeids,
      attrs.nodes_missing_value_tracks_true,
      attrs.nodes_modes,
      either<T>("nodes_values", attrs.nodes_values, attrs.nodes_values_as_tensor),
      trees,
      nodes,
      targets,
      std::move(weights),
      count};
  return build_ensemble(lists);
}

template <typename T>
TreeEnsembleModel<T> build(const RegressorAttrs& attrs) {
  return build_nodes<T>(
      attrs, attrs.target_treeids, attrs.target_nodeids, attrs.target_ids,
      either<T>("target_weights", attrs.target_weights, attrs.target_weights_as_tensor),
      count_targets(attrs.n_targets, attrs.target_ids));
}

ClassLabels labels_of(const ClassifierAttrs& attrs) {
  return {attrs.classlabels_strings, attrs.classlabels_int64s};
}

template <typename T>
TreeEnsembleModel<T> build(const ClassifierAttrs& attrs) {
  return build_nodes<T>(
      attrs, attrs.class_treeids, attrs.class_nodeids, attrs.class_ids,
      either<T>("class_weights", attrs.class_weights, attrs.class_weights_as_tensor),
      static_cast<int64_t>(labels_of(attrs).size()));
}

bool in_double(const TreeEnsembleAttrs&, DType input) {
  return input == DType::kDouble;
}
bool in_double(const RegressorAttrs& attrs, DType input) {
  return input == DType::kDouble || has_doubles(attrs.nodes_values_as_tensor) ||
         has_doubles(attrs.target_weights_as_tensor) || has_doubles(attrs.base_values_as_tensor);
}
bool in_double(const ClassifierAttrs& attrs, DType input) {
  return input == DType::kDouble || has_doubles(attrs.nodes_values_as_tensor) ||
         has_doubles(attrs.class_weights_as_tensor) || has_doubles(attrs.base_values_as_tensor);
}

// Builds the ensemble and checks it against the features that X has, where they are known.
template <typename Attrs>
TreeEnsembleModel<float> checked(InferContext& c) {
  const TreeEnsembleModel<float> model = build<float>(c.attrs<Attrs>());
  const std::optional<Dim> features = feature_count(c);
  model.check(features && features->is_known() ? features->value() : -1);
  return model;
}

// The ensemble of a node, which checked() has seen.
template <typename NodeAttrs, typename T>
std::shared_ptr<const TreeEnsembleModel<T>> ensemble_of(const Attrs& attrs) {
  return made_once<TreeEnsembleModel<T>, NodeAttrs>(
      attrs, 0, [](const NodeAttrs& given) { return build<T>(given); });
}

// What is added to the scores.
template <typename T>
std::pmr::vector<T> base_values(const NodeAttrs& attrs) {
  std::pmr::vector<T> values(scratch());
  if (!attrs.base_values_as_tensor) {
    values.assign(attrs.base_values.begin(), attrs.base_values.end());
    return values;
  }
  const Tensor& tensor = *attrs.base_values_as_tensor;
  detail::dispatch_among<float, double>(tensor.dtype(), [&]<typename From>() {
    for (const From value : tensor.values<From>())
      values.push_back(static_cast<T>(value));
  });
  return values;
}

// Calls row(model, features of the row, number of the row) for each row of X.
template <typename NodeAttrs, typename T, typename Row>
void for_each_row(const KernelCall& call, Row row) {
  const auto [rows, features] = feature_table(call.inputs[0].shape);
  const auto held = ensemble_of<NodeAttrs, T>(call.raw_attrs);
  const TreeEnsembleModel<T>& model = *held;
  const std::pmr::vector<T> x = read_features<T>(call.inputs[0]);
  for (int64_t i = 0; i < rows; ++i) {
    if (i % 1024 == 0) check_interrupted();
    row(model, x.data() + i * features, i);
  }
}

// Scores of a regression: a single target knows no transform but PROBIT, as the others need rivals.
template <typename T>
void finish_regression(std::span<const TargetScore<T>> scores, size_t trees, Aggregate aggregate,
                       std::span<const T> base, PostTransform transform, std::span<T> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = scores[i].present ? scores[i].value : T(0);
    if (aggregate == Aggregate::kAverage && trees > 0) out[i] /= static_cast<T>(trees);
    if (base.size() == out.size()) out[i] += base[i];
  }
  if (out.size() > 1 || transform == PostTransform::kProbit) transform_scores<T>(transform, out);
}

template <typename T>
void store(const TensorView& view, int64_t at, std::span<const T> values) {
  detail::dispatch_among<float, double, Float16>(view.dtype, [&]<typename To>() {
    To* out = view.data<To>() + at;
    for (size_t i = 0; i < values.size(); ++i)
      out[i] = To(values[i]);
  });
}

template <typename Attrs, typename T>
void regress(const KernelCall& call, Aggregate aggregate, PostTransform transform,
             std::span<const T> base) {
  std::pmr::vector<TargetScore<T>> scores(scratch());
  std::pmr::vector<T> out(scratch());
  for_each_row<Attrs, T>(call, [&](const TreeEnsembleModel<T>& model, const T* row, int64_t i) {
    scores.resize(static_cast<size_t>(model.targets));
    out.resize(scores.size());
    model.score(row, aggregate, scores);
    finish_regression<T>(scores, model.roots.size(), aggregate, base, transform, out);
    store<T>(call.outputs[0], i * model.targets, out);
  });
}

// --- TreeEnsemble ---

void infer_tree_ensemble(InferContext& c) {
  const auto& attrs = c.attrs<TreeEnsembleAttrs>();
  c.require(attrs.aggregate_function >= 0 && attrs.aggregate_function <= 3,
            "attribute aggregate_function: expected 0 to 3, got ", attrs.aggregate_function);
  c.require(attrs.post_transform >= 0 && attrs.post_transform <= 4,
            "attribute post_transform: expected 0 to 4, got ", attrs.post_transform);
  c.require(!attrs.tree_roots.empty(), "attribute tree_roots: expected at least one tree");
  const Dim rows = feature_rows(c);
  c.set(0, c.dtype(0), Dims{rows, checked<TreeEnsembleAttrs>(c).targets});
}

template <typename T>
void tree_ensemble_as(const KernelCall& call) {
  const auto& attrs = call.attrs<TreeEnsembleAttrs>();
  regress<TreeEnsembleAttrs, T>(call, static_cast<Aggregate>(attrs.aggregate_function),
                                static_cast<PostTransform>(attrs.post_transform), {});
}

void tree_ensemble(const KernelCall& call) {
  const bool wide = in_double(call.attrs<TreeEnsembleAttrs>(), call.inputs[0].dtype);
  wide ? tree_ensemble_as<double>(call) : tree_ensemble_as<float>(call);
}

// --- TreeEnsembleRegressor ---

void infer_regressor(InferContext& c) {
  const auto& attrs = c.attrs<RegressorAttrs>();
  aggregate_named(attrs.aggregate_function);
  post_transform_named(attrs.post_transform);
  const Dim rows = feature_rows(c);
  const int64_t targets = checked<RegressorAttrs>(c).targets;
  const size_t base =
      either<float>("base_values", attrs.base_values, attrs.base_values_as_tensor).size();
  c.require(base == 0 || static_cast<int64_t>(base) == targets,
            "attribute base_values: expected none or ", targets, " (one for each target), got ",
            base);
  c.set(0, DType::kFloat, Dims{rows, targets});
}

template <typename T>
void regressor_as(const KernelCall& call) {
  const auto& attrs = call.attrs<RegressorAttrs>();
  regress<RegressorAttrs, T>(call, aggregate_named(attrs.aggregate_function),
                             post_transform_named(attrs.post_transform), base_values<T>(attrs));
}

void regressor(const KernelCall& call) {
  const bool wide = in_double(call.attrs<RegressorAttrs>(), call.inputs[0].dtype);
  wide ? regressor_as<double>(call) : regressor_as<float>(call);
}

// --- TreeEnsembleClassifier ---

void infer_classifier(InferContext& c) {
  const auto& attrs = c.attrs<ClassifierAttrs>();
  post_transform_named(attrs.post_transform);
  const ClassLabels labels = labels_of(attrs);
  labels.check(c);
  const Dim rows = feature_rows(c);
  checked<ClassifierAttrs>(c);
  const size_t base =
      either<float>("base_values", attrs.base_values, attrs.base_values_as_tensor).size();
  c.require(base <= labels.size(), "attribute base_values: expected at most ", labels.size(),
            " (one for each class), got ", base);
  c.set(0, labels.dtype(), Dims{rows});
  c.set(1, DType::kFloat, Dims{rows, static_cast<int64_t>(labels.size())});
}

// With two classes whose leaves all vote for one class, the votes are the score of the second
// class: a probability where no vote is negative, else a margin.
struct Voting {
  bool single_sided = false;
  bool probabilities = false;
};
template <typename T>
Voting voting_of(const TreeEnsembleModel<T>& model) {
  return {model.targets == 2 && model.has_one_target, model.is_nonnegative};
}

// Does `score` speak for the second of two classes?
template <typename T>
bool is_second_class(const Voting& voting, T score) {
  return score > (voting.single_sided && voting.probabilities ? T(0.5) : T(0));
}

// Both classes' scores out of the second one's alone.
template <typename T>
void spread_score(const Voting& voting, T score, PostTransform transform, std::span<T> out) {
  if (transform == PostTransform::kProbit) {
    out[0] = probit(static_cast<float>(score));
    out[1] = 0;
  } else if (voting.single_sided && voting.probabilities) {
    out[0] = 1 - score;
    out[1] = score;
  } else {
    const bool squash = transform == PostTransform::kLogistic;
    out[0] = squash ? logistic(-score) : -score;
    out[1] = squash ? logistic(score) : score;
  }
}

// Two classes: gives the winner.
template <typename T>
size_t classify_two(const Voting& voting, std::span<const TargetScore<T>> votes,
                    std::span<const T> base, PostTransform transform, std::span<T> out) {
  T first = votes[0].value, second = votes[1].value;
  if (base.size() < 2) {
    if (base.size() == 1) first += base[0];
    if (!votes[1].present) {
      spread_score(voting, first, transform, out);
      return is_second_class(voting, first);
    }
  } else if (votes[1].present) {  // the first class's votes are taken for a margin
    second = base[1] + first;
    first = -second;
  } else {
    second += base[1];
    first += base[0];
  }
  out[0] = first;
  out[1] = second;
  transform_scores(transform, out);
  return is_second_class(voting, votes[1].present ? second : first);
}

template <typename T>
size_t classify_many(std::span<const TargetScore<T>> votes, std::span<const T> base,
                     PostTransform transform, std::span<T> out) {
  size_t best = 0;
  bool found = false;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = votes[i].value + (i < base.size() ? base[i] : T(0));
    const bool counts = votes[i].present || i < base.size();
    if (counts && (!found || out[i] > out[best])) best = i;
    found |= counts;
  }
  if (out.size() > 1 || transform == PostTransform::kProbit) transform_scores(transform, out);
  return best;
}

template <typename T>
void classifier_as(const KernelCall& call) {
  const auto& attrs = call.attrs<ClassifierAttrs>();
  const ClassLabels labels = labels_of(attrs);
  const PostTransform transform = post_transform_named(attrs.post_transform);
  const std::pmr::vector<T> base = base_values<T>(attrs);
  std::pmr::vector<TargetScore<T>> votes(labels.size(), scratch());
  std::pmr::vector<T> out(labels.size(), scratch());
  for_each_row<ClassifierAttrs, T>(
      call, [&](const TreeEnsembleModel<T>& model, const T* row, int64_t i) {
        model.score(row, Aggregate::kSum, votes);
        const size_t winner = out.size() == 2
                                  ? classify_two<T>(voting_of(model), votes, base, transform, out)
                                  : classify_many<T>(votes, base, transform, out);
        if (call.wants(0)) labels.write(call.outputs[0], i, winner);
        if (call.wants(1)) store<T>(call.outputs[1], i * model.targets, out);
      });
}

void classifier(const KernelCall& call) {
  const bool wide = in_double(call.attrs<ClassifierAttrs>(), call.inputs[0].dtype);
  wide ? classifier_as<double>(call) : classifier_as<float>(call);
}

// --- samples: one tree, x[0] <= 0.5 ? leaf 0 : (x[1] > -0.5 ? leaf 1 : leaf 2) ---

std::vector<Sample> tree_ensemble_samples() {
  const AttrMap attrs{{"tree_roots", Ints{0}},
                      {"nodes_featureids", Ints{0, 1}},
                      {"nodes_modes", Tensor::vector<uint8_t>({0, 3})},
                      {"nodes_splits", Tensor::vector<float>({0.5f, -0.5f})},
                      {"nodes_truenodeids", Ints{0, 1}},
                      {"nodes_trueleafs", Ints{1, 1}},
                      {"nodes_falsenodeids", Ints{1, 2}},
                      {"nodes_falseleafs", Ints{0, 1}},
                      {"leaf_targetids", Ints{0, 1, 0}},
                      {"leaf_weights", Tensor::vector<float>({1.5f, -2.5f, 4})},
                      {"n_targets", int64_t{2}}};
  AttrMap averaged = attrs;
  averaged["aggregate_function"] = int64_t{0};
  averaged["post_transform"] = int64_t{1};
  return {{.inputs = {{.shape = {5, 2}}}, .attrs = attrs},
          {.inputs = {{.shape = {2}}}, .attrs = averaged},
          {.inputs = {{.shape = {0, 3}}}, .attrs = attrs}};
}

AttrMap node_sample() {
  return {{"nodes_treeids", Ints{0, 0, 0, 0, 0}},
          {"nodes_nodeids", Ints{0, 1, 2, 3, 4}},
          {"nodes_featureids", Ints{0, 0, 1, 0, 0}},
          {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}},
          {"nodes_values", Floats{0.5f, 0, -0.5f, 0, 0}},
          {"nodes_truenodeids", Ints{1, 0, 3, 0, 0}},
          {"nodes_falsenodeids", Ints{2, 0, 4, 0, 0}}};
}

std::vector<Sample> regressor_samples() {
  AttrMap attrs = node_sample();
  attrs.insert({{"target_treeids", Ints{0, 0, 0}},
                {"target_nodeids", Ints{1, 3, 4}},
                {"target_ids", Ints{0, 1, 0}},
                {"target_weights", Floats{1.5f, -2.5f, 4}},
                {"n_targets", int64_t{2}}});
  return {{.inputs = {{.shape = {5, 2}}}, .attrs = attrs},
          {.inputs = {{.shape = {3}}}, .attrs = attrs}};
}

std::vector<Sample> classifier_samples() {
  AttrMap attrs = node_sample();
  attrs.insert({{"class_treeids", Ints{0, 0, 0}},
                {"class_nodeids", Ints{1, 3, 4}},
                {"class_ids", Ints{0, 1, 2}},
                {"class_weights", Floats{1.5f, 2.5f, 4}}});
  AttrMap strings = attrs;
  attrs["classlabels_int64s"] = Ints{10, 20, 30};
  strings["classlabels_strings"] = Strings{"a", "b", "c"};
  strings["post_transform"] = std::string("SOFTMAX");
  return {{.inputs = {{.shape = {5, 2}}}, .attrs = attrs, .outputs = 2},
          {.inputs = {{.shape = {4, 2}}}, .attrs = strings, .outputs = 2}};
}

constexpr DTypeSet kFeatures{DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32};

const OpDef kTreeOps[] = {
    {.name = "TreeEnsemble",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kDouble, DType::kFloat16}}},
     .attrs = attr_schema<TreeEnsembleAttrs>(),
     .infer = infer_tree_ensemble,
     .reference = tree_ensemble,
     .samples = tree_ensemble_samples},
    {.name = "TreeEnsembleClassifier",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T1) -> (Y: T2, Z: float)",
     .types = {{"T1", kFeatures}, {"T2", DTypeSet{DType::kString, DType::kInt64}}},
     .attrs = attr_schema<ClassifierAttrs>(),
     .infer = infer_classifier,
     .reference = classifier,
     .samples = classifier_samples},
    {.name = "TreeEnsembleRegressor",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kFeatures}},
     .attrs = attr_schema<RegressorAttrs>(),
     .infer = infer_regressor,
     .reference = regressor,
     .samples = regressor_samples},
};

}  // namespace

std::span<const OpDef> tree_ops() {
  return kTreeOps;
}

}  // namespace sardonyx::ops
