// Deviations of nodes: arguments and attributes of ops.
#include "onnx_io/import/leniency_for_test.h"

namespace sardonyx {
namespace {

using namespace test;
using testing::ElementsAre;

// GroupNormalization of (1, 4, 1) in two groups with a scale of 2 and a bias for each of `biased`.
ModelBuilder with_one_scale(const Tensor& scale, int64_t biased, int64_t opset = kNewestOpset) {
  ModelBuilder model(opset);
  model.graph().input("x", DType::kFloat, {{1, 4, 1}});
  model.graph().node("GroupNormalization", {"x", "scale", "bias"}, {"y"},
                     {{"num_groups", int64_t{2}}});
  model.graph().output("y");
  model.graph().initializer("scale", scale);
  model.graph().initializer("bias", Tensor::zeros(DType::kFloat, {biased}));
  return model;
}

ModelBuilder expanded_to(const Tensor& sizes) {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{1}});
  model.graph().initializer("sizes", sizes);
  model.graph().node("Expand", {"x", "sizes"}, {"y"});
  model.graph().output("y");
  return model;
}

TEST(Leniency, LoadsNodesWithANamedWarning) {
  const Datum x = Tensor::of<float>({-1, 2, 3}, {1, 3});
  expect_lenience({
      {"a signal of rank 2",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{1, 4}});
         model.graph().initializer("step", Tensor::scalar<int64_t>(4));
         model.graph().initializer("length", Tensor::scalar<int64_t>(4));
         model.graph().node("STFT", {"x", "step", "", "length"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "signal-rank",
       {Tensor::of<float>({1, 2, 3, 4}, {1, 4})},
       {10, 0, -2, 2, -2, 0}},
      {"a size that is a scalar",
       [] { return expanded_to(Tensor::scalar<int64_t>(3)); },
       "argument-rank",
       {floats({5})},
       {5, 5, 5}},
      {"a size in a matrix",
       [] {
         return expanded_to(Tensor::of<int64_t>({3}, {1, 1}));
       },
       "argument-rank",
       {floats({5})},
       {5, 5, 5}},
      {"scales of channels in a row of a matrix",
       [] {
         ModelBuilder model = with_op("GroupNormalization", {"x", "scale", "bias"},
                                      {{"num_groups", int64_t{1}}}, {1, 2, 1});
         model.graph().initializer("scale", Tensor::of<float>({1, 2}, {1, 2}));
         model.graph().initializer("bias", floats({0, 1}));
         return model;
       },
       "argument-rank",
       {Tensor::of<float>({-100, 100}, {1, 2, 1})},
       {-1, 3}},
      {"one scale for all channels",
       [] { return with_one_scale(floats({2}), 4); },
       "one-element-scale",
       {Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1})},
       {-2, 2, 2, -2}},
      {"one scale and one bias for all groups",
       [] { return with_one_scale(floats({2}), 1, 18); },
       "one-element-scale",
       {Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1})},
       {-2, 2, 2, -2}},
      {"a condition that is a matrix of one element, and no constant",
       [] {
         ModelBuilder model;
         GraphBuilder graph = model.graph();
         graph.input("c", DType::kBool, {{1, 1}});
         NodeProto& node = graph.node("If", {"c"}, {"y"});
         for (const auto& [branch, name, value] :
              {std::tuple("then_branch", "t", 1.0f), std::tuple("else_branch", "e", 2.0f)}) {
           GraphBuilder inner = add_subgraph(node, branch);
           inner.node("Constant", {}, {name}, {{"value_float", value}});
           inner.output(name);
         }
         graph.output("y");
         return model;
       },
       "argument-rank",
       {Tensor::of<bool>({false}, {1, 1})},
       {2}},
      {"an axis that is reduced twice",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{2, 2}});
         model.graph().initializer("axes", Tensor::vector<int64_t>({1, -1}));
         model.graph().node("ReduceSum", {"x", "axes"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "repeated-axis",
       {Tensor::of<float>({1, 2, 3, 4}, {2, 2})},
       {3, 7}},
      {"an axis that is squeezed twice, in the older form",
       [] {
         ModelBuilder model(11);
         model.graph().input("x", DType::kFloat, {{1, 2}});
         model.graph().node("Squeeze", {"x"}, {"y"}, {{"axes", std::vector<int64_t>{0, 0}}});
         model.graph().output("y");
         return model;
       },
       "repeated-axis",
       {Tensor::of<float>({1, 2}, {1, 2})},
       {1, 2}},
      {"keepdims of 2, as the shape of what is reduced shows",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{1, 3}});
         model.graph().initializer("axes", Tensor::vector<int64_t>({1}));
         model.graph().node("ReduceMean", {"x", "axes"}, {"mean"}, {{"keepdims", int64_t{2}}});
         model.graph().node("Shape", {"mean"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "flag-value",
       {x},
       {1}},
      {"saturate of 2: what is too large is infinite",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{1}});
         const auto to = static_cast<int64_t>(DType::kFloat8E5M2);
         model.graph().node("Cast", {"x"}, {"small"}, {{"saturate", int64_t{2}}, {"to", to}});
         model.graph().node("Cast", {"small"}, {"y"},
                            {{"to", static_cast<int64_t>(DType::kFloat)}});
         model.graph().output("y");
         return model;
       },
       "flag-value",
       {floats({1e6f})},
       {std::numeric_limits<double>::infinity()}},
      {"largest of 2",
       [] {
         ModelBuilder model = with_op("TopK", {"x", "k"}, {{"largest", int64_t{2}}}, {1, 3});
         model.graph().initializer("k", Tensor::vector<int64_t>({1}));
         model.proto.mutable_graph()->mutable_node(0)->add_output("places");
         return model;
       },
       "flag-value",
       {x},
       {-1}},
      {"a slope with more dims than X",
       [] {
         ModelBuilder model = with_op("PRelu", {"x", "slope"}, {}, {3});
         model.graph().initializer("slope", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
         return model;
       },
       "slope-shape",
       {floats({-1, 2, -3})},
       {-1, 2, -9, -4, 2, -18}},
      {"a slope with a longer dim than X, which has a longer one as well",
       [] {
         ModelBuilder model = with_op("PRelu", {"x", "slope"}, {}, {2, 1}, 9);
         model.graph().initializer("slope", Tensor::of<float>({1, 2, 3}, {1, 3}));
         return model;
       },
       "slope-shape",
       {Tensor::of<float>({-1, -2}, {2, 1})},
       {-1, -2, -3, -2, -4, -6}},
      {"the axes of images for a tensor of rank 3",
       [] {
         return with_op("MeanVarianceNormalization", {"x"}, {}, {2, 1, 2});
       },
       "missing-axis",
       {Tensor::of<float>({1, 1, 3, 3}, {2, 1, 2})},
       {-1, -1, 1, 1}},
      {"a condition that chooses beyond the end of an axis",
       [] {
         ModelBuilder model = with_op("Compress", {"x", "c"}, {{"axis", int64_t{-1}}}, {2, 2});
         model.graph().initializer("c", Tensor::of<bool>({false, true, true}, {3}));
         return model;
       },
       "condition-length",
       {Tensor::of<float>({1, 2, 3, 4}, {2, 2})},
       {2, 4}},
      {"a condition with more elements than there are",
       [] {
         ModelBuilder model = with_op("Compress", {"x", "c"}, {}, {2, 1});
         model.graph().initializer("c", Tensor::of<bool>({true, false, true, true}, {4}));
         return model;
       },
       "condition-length",
       {Tensor::of<float>({1, 2}, {2, 1})},
       {1}},
      {"tuples of no index",
       [] {
         ModelBuilder model = with_op("GatherND", {"x", "indices"}, {}, {2});
         model.graph().initializer("indices", Tensor::of<int64_t>({}, {2, 0}));
         return model;
       },
       "empty-tuple",
       {floats({1, 2})},
       {1, 2, 1, 2}},
  });
}

// Where the number of channels is known in a run alone, too.
TEST(Leniency, AScalarScaleOfGroupsDeviatesTwice) {
  ModelBuilder model = with_one_scale(Tensor::scalar(2.0f), 1);
  set_type(*model.proto.mutable_graph()->mutable_input(0), DType::kFloat,
           std::vector<DimSpec>{"n", "c", 1});
  EXPECT_THAT(warnings_of(model),
              ElementsAre("argument-rank", "one-element-scale", "one-element-scale"));
  const Tensor x = Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1});
  const std::vector<double> got = run(model, {x})[0].tensor().to_doubles();
  EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 2, -2}));
}

TEST(Leniency, AScaleOfAnyLengthMayBeOne) {
  LoadOptions strict;
  strict.strict = true;
  const Tensor x = Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1});
  for (const int64_t opset : {int64_t{18}, kNewestOpset}) {
    for (const bool has_rank : {false, true}) {
      ModelBuilder model(opset);
      if (has_rank)
        model.graph().input("x", DType::kFloat, {{1, 4, 1}});
      else
        model.graph().input("x", DType::kFloat, std::nullopt);
      model.graph().input("scale", DType::kFloat, {{"k"}});
      model.graph().node("GroupNormalization", {"x", "scale", "bias"}, {"y"},
                         {{"num_groups", int64_t{2}}});
      model.graph().output("y");
      model.graph().initializer("bias", Tensor::zeros(DType::kFloat, {opset == 18 ? 2 : 4}));
      EXPECT_THAT(warnings_of(model), ElementsAre("one-element-scale"));
      EXPECT_EQ(load_error(model, strict), "");
      const Tensor all = opset == 18 ? floats({2, 3}) : floats({2, 2, 3, 3});
      EXPECT_THAT(run(model, {x, floats({2})})[0].tensor().to_doubles(),
                  testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 2, -2}));
      EXPECT_THAT(run(model, {x, all})[0].tensor().to_doubles(),
                  testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 3, -3}));
      EXPECT_THROW(run(model, {x, floats({1, 2, 3})}), Error);
    }
  }
}

// One number may come as a vector, whose length a run tells.
TEST(Leniency, AScaleOrZeroPointOfAnyLengthMayBeOne) {
  for (const bool is_scale : {false, true}) {
    ModelBuilder model(13);
    model.graph().input("x", DType::kFloat, {{2}});
    const std::vector<DimSpec> scalar, list{"k"};
    model.graph().input("scale", DType::kFloat, is_scale ? list : scalar);
    model.graph().input("zero", DType::kUInt8, is_scale ? scalar : list);
    model.graph().node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
    model.graph().output("y");
    const auto result_of = [&](const Shape& shape) {
      const Shape none;
      const Tensor scale = Tensor::of<float>({0.5f, 0.5f}, {2});
      const Tensor zero = Tensor::of<uint8_t>({3, 3}, {2});
      const auto part = [&](const Tensor& all, bool is_list) {
        return all.slice(0, is_list ? shape[0] : 1).reshaped(is_list ? shape : none);
      };
      return run(model, {floats({1, 2}), part(scale, is_scale), part(zero, !is_scale)});
    };
    EXPECT_THAT(result_of({1})[0].tensor().to_doubles(), ElementsAre(5, 7));
    EXPECT_THROW(result_of({2}), Error);
  }
}

}  // namespace
}  // namespace sardonyx
