#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/ops/data_movement/space_depth.h"
#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

AttrMap attrs_of(const char* mode, const char* padding, bool align_corners) {
  return {{"mode", std::string(mode)},
          {"padding_mode", std::string(padding)},
          {"align_corners", int64_t{align_corners}}};
}

// An identity transform reads every element at its own place.
TEST(GridSample, OfAnIdentityGridIsTheImage) {
  const Shape shapes[] = {{1, 2, 3, 4}, {1, 1, 2, 3, 4}};
  for (const Shape& shape : shapes) {
    const size_t axes = shape.size() - 2;
    Tensor theta = Tensor::zeros(DType::kFloat,
                                 {1, static_cast<int64_t>(axes), static_cast<int64_t>(axes + 1)});
    for (size_t i = 0; i < axes; ++i)
      theta.mutable_values<float>()[i * (axes + 2)] = 1;
    Tensor x = Tensor::allocate(DType::kFloat, shape);
    for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) {
      x.mutable_values<float>()[i] = static_cast<float>(i * i % 11);
    }
    for (const bool align : {false, true}) {
      const auto grid =
          run_op("AffineGrid", {theta, Tensor::vector(shape)}, {{"align_corners", int64_t{align}}});
      for (const char* mode : {"nearest", "linear", "cubic"}) {
        for (const char* padding : {"zeros", "border", "reflection"}) {
          const auto y = run_op("GridSample", {x, grid[0]}, attrs_of(mode, padding, align));
          expect_near(y[0], x.to_doubles(), 2e-5);
        }
      }
    }
  }
}

// A row of four elements, read at coordinates that are outside. Columns are counted in elements.
TEST(GridSample, Paddings) {
  const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4}, {1, 1, 1, 4});
  struct Case {
    const char* mode;
    const char* padding;
    bool align;
    double column, expected;
  };
  const Case cases[] = {
      {"linear", "zeros", false, -0.5, 0.5},    {"linear", "zeros", false, 3.25, 3},
      {"linear", "zeros", false, -2, 0},        {"linear", "border", false, -7, 1},
      {"linear", "border", false, 9, 4},        {"linear", "reflection", true, -1, 2},
      {"linear", "reflection", true, 4.5, 2.5}, {"linear", "reflection", false, -1, 1},
      {"linear", "reflection", false, 5, 3},    {"linear", "reflection", true, -7, 2},
      {"nearest", "zeros", false, 0.5, 1},      {"nearest", "zeros", false, 1.5, 3},
      {"nearest", "zeros", false, -1, 0},       {"nearest", "border", false, -3, 1},
      {"nearest", "reflection", false, -2, 2},  {"cubic", "border", false, 1, 2},
      {"cubic", "zeros", false, 1.5, 2.5 + 0.0}};
  for (const Case& c : cases) {
    const double at = c.align ? c.column * 2 / 3 - 1 : (2 * c.column + 1) / 4 - 1;
    const Tensor grid = Tensor::of(std::vector<double>{at, 0}, {1, 1, 1, 2});
    const auto y = run_op("GridSample", {x, grid}, attrs_of(c.mode, c.padding, c.align));
    expect_near(y[0], {c.expected}, 1e-9);
  }
}

// `x` [1, 1, spatial...] with its edges repeated `wide` times on each side.
Tensor with_wide_edges(const Tensor& x, int64_t wide) {
  std::vector<int64_t> pads(2 * x.shape().size(), wide);
  for (const size_t axis : {size_t{0}, size_t{1}})
    pads[axis] = pads[axis + x.shape().size()] = 0;
  return run_op("Pad", {x, Tensor::vector(pads)}, {{"mode", std::string("edge")}})[0].tensor();
}

// Padding `border` is an image whose edges go on: of each point of a cubic, too, some of whose
// neighbours are inside.
TEST(GridSample, BorderRepeatsTheEdges) {
  constexpr int64_t kWide = 6;
  for (const Shape& shape : {Shape{1, 1, 4}, {1, 1, 4, 5}, {1, 1, 2, 3, 4}}) {
    const size_t axes = shape.size() - 2;
    Tensor x = Tensor::allocate(DType::kFloat, shape);
    for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i)
      x.mutable_values<float>()[i] = static_cast<float>((7 * i + 3) % 11);
    constexpr int64_t kPoints = 40;
    Shape grid_shape(axes + 2, 1);
    grid_shape[1] = kPoints;
    grid_shape.back() = static_cast<int64_t>(axes);
    for (const bool align : {false, true}) {
      Tensor near = Tensor::allocate(DType::kDouble, grid_shape), far = near.clone();
      for (size_t i = 0; i < kPoints * axes; ++i) {
        const auto size = static_cast<double>(shape[2 + axes - 1 - i % axes]);
        const double at =
            std::fmod(0.37 * static_cast<double>(i * i), size + 5) - 3;  // in elements
        const auto normal = [&](double place, double length) {
          return align ? 2 * place / (length - 1) - 1 : (2 * place + 1) / length - 1;
        };
        near.mutable_values<double>()[i] = normal(at, size);
        far.mutable_values<double>()[i] = normal(at + kWide, size + 2 * kWide);
      }
      for (const char* mode : {"linear", "cubic"}) {
        SCOPED_TRACE(testing::Message() << axes << " axes, " << mode << ' ' << align);
        const auto y = run_op("GridSample", {x, near}, attrs_of(mode, "border", align));
        const auto wide =
            run_op("GridSample", {with_wide_edges(x, kWide), far}, attrs_of(mode, "zeros", align));
        expect_near(y[0], wide[0].tensor().to_doubles(), 1e-5);
      }
    }
  }
}

TEST(GridSample, CoordinatesThatAreNoNumbers) {
  const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4}, {1, 1, 2, 2});
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor grid = Tensor::of(
      std::vector<float>{std::nanf(""), 0, infinity, 0, -infinity, 0, 3e38f, -3e38f}, {1, 1, 4, 2});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const float value :
           elements<float>(run_op("GridSample", {x, grid}, attrs_of(mode, padding, false))[0])) {
        EXPECT_TRUE(std::isfinite(value)) << mode << ' ' << padding;
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::ops
