// Pools and nearest resizes of pixels whose channels are adjacent, against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

// What the kernel makes of `inputs`, the first of which comes in `layout`; of the others the values
// are known.
Tensor made_in(const LayoutPtr& layout, const OpDef& op, const Attrs& attrs,
               const std::vector<Tensor>& inputs, const Tensor& like, int threads) {
  RunOptions options;
  options.threads = threads;
  options.layouts = layout != nullptr;
  options.constants = ~1u;
  options.incoming = {layout};
  PreparedRun run(op, attrs, inputs, {Type::tensor(like.dtype(), to_dims(like.shape()))}, options);
  EXPECT_EQ(run.prepared().implementation, op.name == "Resize" ? "resize_nearest" : "pool_nhwc");
  run.run();
  return run.outputs()[0];
}

// Equal, or NaN on both sides.
void expect_same(const Tensor& got, const Tensor& expected, float tolerance) {
  const auto a = got.values<float>(), b = expected.values<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) || std::isinf(b[i])) {
      ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << i;
      ASSERT_TRUE(std::isnan(b[i]) || a[i] == b[i]) << i;
    } else {
      ASSERT_NEAR(a[i], b[i], tolerance) << i;
    }
  }
}

std::vector<LayoutPtr> layouts_of(const Shape& shape) {
  std::vector<LayoutPtr> layouts{channels_last_layout(shape)};
  if (shape[1] % 16 == 0) layouts.push_back(blocked_layout(shape));
  return layouts;
}

struct PoolCase {
  Shape shape;
  AttrMap attrs;
};

const PoolCase kPools[] = {
    {{2, 40, 15, 13}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}},
    {{1, 48, 14, 17}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}},
    {{1, 64, 9, 11}, {{"kernel_shape", Ints{5, 5}}, {"pads", Ints{2, 2, 2, 2}}}},
    {{1, 130, 8, 8}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}},
    {{1, 16, 12, 12},
     {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 3}}, {"ceil_mode", int64_t{1}}}},
    {{1, 32, 12, 13}, {{"kernel_shape", Ints{3, 3}}, {"dilations", Ints{2, 3}}}},
    {{3, 16, 31}, {{"kernel_shape", Ints{4}}, {"strides", Ints{3}}, {"pads", Ints{1, 2}}}},
    {{1, 32, 5, 6, 7}, {{"kernel_shape", Ints{2, 3, 3}}, {"strides", Ints{2, 1, 2}}}},
    {{1, 16, 1, 40}, {{"kernel_shape", Ints{1, 7}}, {"pads", Ints{0, 3, 0, 3}}}},
};

void check_pool(const char* name, const PoolCase& example, const Tensor& x, float tolerance) {
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, example.attrs);
  const Tensor expected = evaluate(op, attrs, std::vector<Datum>{x}, 1)[0].tensor();
  for (const LayoutPtr& layout : layouts_of(example.shape)) {
    for (const int threads : {1, 2})
      expect_same(made_in(layout, op, attrs, {x}, expected, threads), expected, tolerance);
  }
}

TEST(Pixels, are_pooled_as_the_reference_does) {
  for (const PoolCase& example : kPools) {
    SCOPED_TRACE(to_text(example.shape));
    const Tensor x = drawn_tensor(DType::kFloat, example.shape, -2, 2, 1);
    check_pool("MaxPool", example, x, 0);
    check_pool("AveragePool", example, x, 1e-6f);
    PoolCase with_pads = example;
    with_pads.attrs["count_include_pad"] = int64_t{1};
    check_pool("AveragePool", with_pads, x, 1e-6f);
  }
}

// NaN loses to every number, and to infinities; where there is nothing else it is the result.
TEST(Pixels, are_pooled_around_nan) {
  for (const PoolCase& example : kPools) {
    SCOPED_TRACE(to_text(example.shape));
    Tensor x = drawn_tensor(DType::kFloat, example.shape, -2, 2, 1);
    const auto values = x.mutable_values<float>();
    constexpr float kOdd[] = {NAN, NAN, -HUGE_VALF, NAN, HUGE_VALF};
    for (size_t i = 0; i < values.size(); ++i) {
      if (i / 7 % 3 != 0) values[i] = i % 11 < 8 ? NAN : kOdd[i % 5];
    }
    check_pool("MaxPool", example, x, 0);
  }
}

TEST(Pixels, are_resized_to_the_nearest) {
  for (const Shape& shape : {Shape{2, 40, 5, 6}, Shape{1, 32, 7, 4}, Shape{1, 16, 9}}) {
    const Tensor x = drawn_tensor(DType::kFloat, shape, -2, 2, 1);
    Shape sizes = shape;
    for (size_t axis = 2; axis < shape.size(); ++axis)
      sizes[axis] = shape[axis] * (axis == 2 ? 2 : 3) - static_cast<int64_t>(axis - 2);
    for (const char* mode : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (const char* coordinates : {"half_pixel", "align_corners", "asymmetric"}) {
        const OpDef& op = op_named("Resize");
        const Attrs attrs =
            Attrs::parse(*op.attrs, {{"nearest_mode", std::string(mode)},
                                     {"coordinate_transformation_mode", std::string(coordinates)}});
        const std::vector<Tensor> inputs{x, {}, {}, Tensor::vector(sizes)};
        const std::vector<Datum> data{x, {}, {}, inputs[3]};
        const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
        std::vector<LayoutPtr> layouts = layouts_of(shape);
        layouts.push_back(nullptr);
        for (const LayoutPtr& layout : layouts) {
          for (const int threads : {1, 2})
            EXPECT_EQ(made_in(layout, op, attrs, inputs, expected, threads), expected)
                << mode << " " << coordinates;
        }
      }
    }
  }
}

TEST(Pixels, end_at_the_deadline) {
  const OpDef& op = op_named("MaxPool");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"kernel_shape", Ints{3, 3}}});
  const Tensor x = Tensor::zeros(DType::kFloat, {1, 64, 200, 200});
  RunOptions options;
  options.layouts = true;
  options.threads = 2;
  options.incoming = {channels_last_layout(x.shape())};
  PreparedRun run(op, attrs, {x}, {Type::tensor(DType::kFloat, to_dims(Shape{1, 64, 198, 198}))},
                  options);
  const RunControl control{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(control);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { run.run(); });
}

}  // namespace
}  // namespace sardonyx::onednn
