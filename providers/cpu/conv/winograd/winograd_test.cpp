// Winograd's algorithm: chosen where it is allowed and worth it, and nearly as exact as the direct
// sum.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/reference_evaluator.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

struct WinogradExample {
  int64_t in, out, height, width;
  std::string activation = "";
  std::vector<float> params = {};
  bool has_residual = false;
};

Tensor normal_floats(const Shape& shape, float deviation, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, deviation);
  for (float& value : tensor.mutable_values<float>())
    value = normal(generator);
  return tensor;
}

std::vector<Tensor> inputs_of(const WinogradExample& e) {
  const auto deviation = static_cast<float>(1 / std::sqrt(9.0 * static_cast<double>(e.in)));
  std::vector<Tensor> inputs{normal_floats({1, e.in, e.height, e.width}, 1, 1),
                             normal_floats({e.out, e.in, 3, 3}, deviation, 2),
                             normal_floats({e.out}, 1, 3)};
  if (e.has_residual) inputs.push_back(normal_floats({1, e.out, e.height, e.width}, 1, 4));
  return inputs;
}

AttrMap attrs_of(const WinogradExample& e) {
  return {
      {"pads", Ints{1, 1, 1, 1}}, {"activation", e.activation}, {"activation_params", e.params}};
}

// The same in float64.
std::vector<double> exact(const WinogradExample& e, const std::vector<Tensor>& inputs) {
  std::vector<Datum> wide;
  for (const Tensor& input : inputs)
    wide.emplace_back(Tensor::of(input.to_doubles(), input.shape()));
  const OpDef& op = op_named("sardonyx::FusedConv");
  return evaluate(op, Attrs::parse(*op.attrs, attrs_of(e)), wide, 1)[0].tensor().to_doubles();
}

struct Result {
  double error;  // the root of the mean square
  std::string implementation;
};

Result run(const WinogradExample& e, const std::vector<Tensor>& inputs,
           const std::vector<double>& expected, bool allowed, bool layouts) {
  const OpDef& op = op_named("sardonyx::FusedConv");
  AttrMap attrs = attrs_of(e);
  attrs["allows_winograd"] = int64_t{allowed};
  RunOptions options;
  options.layouts = layouts;
  options.constants = 0b110;
  PreparedRun made(op, Attrs::parse(*op.attrs, attrs), inputs,
                   {Type::tensor(DType::kFloat, to_dims({1, e.out, e.height, e.width}))}, options);
  made.run();
  const Tensor output = made.outputs()[0];
  const auto values = output.values<float>();
  double squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = values[i] - expected[i];
    squares += difference * difference;
  }
  return {std::sqrt(squares / static_cast<double>(expected.size())),
          made.prepared().implementation};
}

bool is_winograd(const std::string& implementation) {
  return implementation.find("wino") != std::string::npos;
}

TEST(Winograd, errs_at_most_four_times_as_much_as_the_direct_sum) {
  const WinogradExample examples[] = {
      {32, 32, 28, 28},
      {64, 64, 30, 30},
      {128, 128, 16, 16},
      {128, 32, 14, 14},
      {32, 64, 33, 47, "Relu"},
      {64, 32, 28, 28, "Relu", {}, true},
      {32, 64, 40, 24, "Elu", {1}},
      {32, 48, 40, 24, "Swish", {1}, true},
      {352, 352, 14, 14},  // by tiles of 2x2
  };
  for (const WinogradExample& e : examples) {
    SCOPED_TRACE(
        text(e.in, " to ", e.out, " channels, ", e.height, " x ", e.width, " ", e.activation));
    const std::vector<Tensor> inputs = inputs_of(e);
    const std::vector<double> expected = exact(e, inputs);
    const Result direct = run(e, inputs, expected, false, true);
    EXPECT_FALSE(is_winograd(direct.implementation)) << direct.implementation;
    const Result winograd = run(e, inputs, expected, true, true);
    EXPECT_LT(winograd.error, 4 * direct.error) << winograd.implementation;
    EXPECT_LT(winograd.error, 4e-6) << winograd.implementation;
  }
}

// Weights that change, as in training, leave it to oneDNN. Tiles of rows give what the whole
// would, whatever they end with.
TEST(Winograd, of_a_large_image_is_computed_in_bounded_memory) {
  for (const WinogradExample& e :
       {WinogradExample{128, 64, 500, 170}, WinogradExample{64, 128, 501, 171, "Elu", {0.5f}}}) {
    const std::vector<Tensor> inputs = inputs_of(e);
    const OpDef& op = op_named("sardonyx::FusedConv");
    std::vector<Tensor> results;
    for (const bool allowed : {false, true}) {
      AttrMap attrs = attrs_of(e);
      attrs["allows_winograd"] = int64_t{allowed};
      RunOptions options;
      options.layouts = true;
      PreparedRun made(op, Attrs::parse(*op.attrs, attrs), inputs,
                       {Type::tensor(DType::kFloat, to_dims({1, e.out, e.height, e.width}))},
                       options);
      made.run();
      results.push_back(made.outputs()[0]);
      const std::string& implementation = made.prepared().implementation;
      if (is_winograd(implementation)) {
        // Where a core's second-level cache is large oneDNN needs little memory for the whole.
        EXPECT_LT(made.prepared().kernel->scratch_bytes(), size_t{128} << 20) << implementation;
      }
    }
    const auto direct = results[0].values<float>(), tiles = results[1].values<float>();
    for (size_t i = 0; i < direct.size(); ++i)
      ASSERT_NEAR(tiles[i], direct[i], 2e-5f) << e.height << " x " << e.width << " at " << i;
  }
}

TEST(Winograd, is_left_alone_where_it_gains_nothing) {
  const std::vector<WinogradExample> examples = {{64, 64, 3, 3}, {256, 256, 4, 4}};
  for (const WinogradExample& e : examples) {
    const std::vector<Tensor> inputs = inputs_of(e);
    const Result result = run(e, inputs, exact(e, inputs), true, true);
    EXPECT_FALSE(is_winograd(result.implementation)) << result.implementation;
  }
}

// Transformed for tiles of 4x4, weights of 9 MB become 37 MB, which take as long to read as the
// sums of 16 tiles to compute.
TEST(Winograd, takes_smaller_tiles_where_weights_are_much) {
  const auto implementation = [](const WinogradExample& e) {
    AttrMap attrs = attrs_of(e);
    attrs["allows_winograd"] = int64_t{1};
    RunOptions options;
    options.layouts = true;
    options.constants = 0b110;
    const OpDef& op = op_named("sardonyx::FusedConv");
    return PreparedRun(op, Attrs::parse(*op.attrs, attrs), inputs_of(e),
                       {Type::tensor(DType::kFloat, to_dims({1, e.out, e.height, e.width}))},
                       options)
        .prepared()
        .implementation;
  };
  EXPECT_EQ(implementation({512, 512, 16, 16}), "winograd 2x3");
  EXPECT_EQ(implementation({512, 512, 20, 20}), "winograd 4x3");
  EXPECT_EQ(implementation({128, 128, 32, 32}), "winograd 4x3");
}

}  // namespace
}  // namespace sardonyx::onednn
