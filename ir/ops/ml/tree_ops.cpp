// Tree ensembles of ai.onnx.ml.
#include <memory>
#include <vector>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/ml/tree_aggregation.h"
#include "ir/ops/ml/tree_attributes.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/attribute_cache.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

// Builds the ensemble and checks it against the features that X has, where they are known.
template <typename Attrs>
TreeEnsembleModel<float> checked(InferContext& c) {
  const TreeEnsembleModel<float> model = build_ensemble<float>(c.attrs<Attrs>());
  const std::optional<Dim> features = feature_count(c);
  model.check(features && features->is_known() ? features->value() : -1);
  return model;
}

// The three ops' reference.
template <typename Attrs, typename T>
void run_as(const KernelCall& call) {
  using Op = std::shared_ptr<const TreeOp<T>>;
  const FeatureTable table = feature_table(call.inputs[0].shape);
  if (table.rows == 0) return;  // nor is there any bound for the number of targets then
  const int64_t features = table.features;
  const auto held = cached_for_attributes<Op, Attrs>(call.raw_attrs, features, [&](const Attrs&) {
    return make_tree_op<T>(call.op, call.raw_attrs, features);
  });
  const TreeOp<T>& op = **held;
  const std::pmr::vector<T> x = read_features<T>(call.inputs[0]);
  std::pmr::vector<TargetScore<T>> scores(op.targets(), scratch());
  std::pmr::vector<T> row_scores(op.targets(), scratch());
  for (int64_t row = 0; row < table.rows; ++row) {
    if (row % 1024 == 0) check_interrupted();
    op.model().score(x.data() + row * features, op.aggregate(), scores);
    op.write(row, scores, row_scores, call.outputs);
  }
}

template <typename Attrs>
void run_trees(const KernelCall& call) {
  const bool wide = in_double(call.attrs<Attrs>(), call.inputs[0].dtype);
  wide ? run_as<Attrs, double>(call) : run_as<Attrs, float>(call);
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

// --- TreeEnsembleRegressor ---

void infer_regressor(InferContext& c) {
  const auto& attrs = c.attrs<TreeRegressorAttrs>();
  aggregate_named(attrs.aggregate_function);
  post_transform_named(attrs.post_transform);
  const Dim rows = feature_rows(c);
  const int64_t targets = checked<TreeRegressorAttrs>(c).targets;
  const size_t base = base_values<float>(attrs).size();
  c.require(base == 0 || static_cast<int64_t>(base) == targets,
            "attribute base_values: expected none or ", targets, " (one for each target), got ",
            base);
  c.set(0, DType::kFloat, Dims{rows, targets});
}

// --- TreeEnsembleClassifier ---

void infer_classifier(InferContext& c) {
  const auto& attrs = c.attrs<TreeClassifierAttrs>();
  post_transform_named(attrs.post_transform);
  const ClassLabels labels = labels_of(attrs);
  labels.check(c);
  const Dim rows = feature_rows(c);
  checked<TreeClassifierAttrs>(c);
  const size_t base = base_values<float>(attrs).size();
  c.require(base <= labels.size(), "attribute base_values: expected at most ", labels.size(),
            " (one for each class), got ", base);
  c.set(0, labels.dtype(), Dims{rows});
  c.set(1, DType::kFloat, Dims{rows, static_cast<int64_t>(labels.size())});
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
     .doc = "The aggregated leaf values of trees for each row of X [N, F]: [N, targets].",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kDouble, DType::kFloat16}}},
     .attrs = attr_schema<TreeEnsembleAttrs>(),
     .infer = infer_tree_ensemble,
     .reference = run_trees<TreeEnsembleAttrs>,
     .samples = tree_ensemble_samples},
    {.name = "TreeEnsembleClassifier",
     .doc = "The class of each row of X [N, F] by a vote of trees, and the scores [N, classes].",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T1) -> (Y: T2, Z: float)",
     .types = {{"T1", kFeatures}, {"T2", DTypeSet{DType::kString, DType::kInt64}}},
     .attrs = attr_schema<TreeClassifierAttrs>(),
     .infer = infer_classifier,
     .reference = run_trees<TreeClassifierAttrs>,
     .samples = classifier_samples},
    {.name = "TreeEnsembleRegressor",
     .doc = "The aggregated values of trees for each row of X [N, F]: [N, n_targets].",
     .domain = "ai.onnx.ml",
     .since = 5,
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kFeatures}},
     .attrs = attr_schema<TreeRegressorAttrs>(),
     .infer = infer_regressor,
     .reference = run_trees<TreeRegressorAttrs>,
     .samples = regressor_samples},
};

}  // namespace

std::span<const OpDef> tree_ops() {
  return kTreeOps;
}

}  // namespace sardonyx::ops
