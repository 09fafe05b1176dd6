// Pools of drawn shapes and attributes against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/core/error.h"
#include "ir/core/random.h"
#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "ir/ops/pooling/pool.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/pooling/pool_tiling.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;

struct Draw {
  explicit Draw(uint64_t seed) : stream(seed) {}
  int64_t below(int64_t end) {
    return static_cast<int64_t>(stream.uniform(next++) * static_cast<double>(end));
  }
  bool often() { return below(3) > 0; }
  RandomStream stream;
  uint64_t next = 0;
};

struct Case {
  Shape shape;
  AttrMap attrs;
};

// Rank 1 to 4; rows from shorter than a vector to longer than a task's.
Case drawn_case(Draw& draw, bool is_average, bool has_indices = false) {
  const auto rank = static_cast<size_t>(1 + draw.below(4));
  const bool is_long = rank == 1 && draw.often();
  Case drawn{{1 + draw.below(2), 1 + draw.below(4)}, {}};
  Ints kernel, strides, dilations, pads(2 * rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const bool is_last = axis + 1 == rank;
    const int64_t size = 1 + draw.below(!is_last  ? 10 - 2 * static_cast<int64_t>(rank)
                                        : is_long ? 5000
                                                  : 70);
    const bool is_covered = draw.below(5) == 0, is_wide = is_last && draw.below(5) == 0;
    kernel.push_back(is_covered ? size : 1 + draw.below(is_wide ? 70 : 4));
    strides.push_back(1 + draw.below(draw.often() ? 2 : 7));
    dilations.push_back(is_covered || draw.often() ? 1 : 1 + draw.below(3));
    for (const size_t end : {axis, rank + axis})
      pads[end] = draw.often() ? 0 : draw.below(kernel.back());
    drawn.shape.push_back(size);
  }
  drawn.attrs = {{"kernel_shape", kernel}, {"strides", strides}, {"dilations", dilations}};
  const int64_t padding = draw.below(4);
  if (padding == 3)
    drawn.attrs["auto_pad"] = std::string(draw.often() ? "SAME_UPPER" : "SAME_LOWER");
  else
    drawn.attrs["pads"] = pads;
  drawn.attrs["ceil_mode"] = draw.below(2);
  if (has_indices) drawn.attrs["storage_order"] = draw.below(2);
  if (is_average) drawn.attrs["count_include_pad"] = draw.below(2);
  return drawn;
}

// Numbers of few values, so that many are equal; with some NaN and infinities.
template <typename T>
Tensor drawn_elements(const Shape& shape, Draw& draw) {
  std::vector<T> values(static_cast<size_t>(element_count(shape)));
  const int64_t strange = draw.below(3);
  for (T& value : values) {
    value = static_cast<T>(draw.below(40)) - (std::is_signed_v<T> ? T(20) : T(0));
    if constexpr (std::is_floating_point_v<T>) {
      const int64_t kind = strange == 0 ? 9 : draw.below(strange == 1 ? 30 : 3);
      if (kind == 0) value = std::numeric_limits<T>::quiet_NaN();
      if (kind == 1) value = -std::numeric_limits<T>::infinity();
    }
  }
  return Tensor::of(values, shape);
}

void expect_same(const Tensor& got, const Tensor& expected) {
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
    ASSERT_NEAR(a[i], b[i], 1e-5) << "element " << i;
  }
}

std::string listed(const Ints& ints) {
  std::string text;
  for (const int64_t value : ints)
    text += " " + std::to_string(value);
  return text;
}

std::string described(const Case& drawn) {
  std::string text = "x" + listed(drawn.shape);
  for (const auto& [name, value] : drawn.attrs) {
    text += ", " + name + " ";
    if (const auto* ints = std::get_if<Ints>(&value)) text += listed(*ints);
    if (const auto* number = std::get_if<int64_t>(&value)) text += std::to_string(*number);
    if (const auto* word = std::get_if<std::string>(&value)) text += *word;
  }
  return text;
}

// How many kernels took it.
size_t check(std::string_view op_name, const Case& drawn, const Tensor& x, size_t outputs) {
  SCOPED_TRACE(described(drawn));
  const OpDef& op = op_named(op_name);
  const Attrs attrs = Attrs::parse(*op.attrs, drawn.attrs);
  std::vector<Datum> expected;
  try {
    expected = evaluate(op, attrs, std::vector<Datum>{x}, outputs);
  } catch (const Error&) {
    return 0;  // no such windows
  }
  size_t accepted = 0;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != op_name) continue;
    for (const int threads : {1, 3}) {
      const KernelTensor in{x.dtype(), x.shape()};
      std::vector<KernelTensor> out;
      std::vector<Tensor> made;
      std::vector<void*> targets;
      for (const Datum& output : expected) {
        out.push_back({output.tensor().dtype(), output.tensor().shape()});
        made.push_back(Tensor::allocate(out.back().dtype, out.back().shape));
        targets.push_back(made.back().raw());
      }
      KernelRequest request{op, attrs, {&in, 1}, out};
      request.threads = threads;
      const Prepared prepared = entry.prepare(request);
      if (!prepared.kernel) continue;
      const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
      const void* source = x.raw();
      prepared.kernel->run({&source, targets.data(), scratch->data()});
      for (size_t i = 0; i < made.size(); ++i)
        expect_same(made[i], expected[i].tensor());
      ++accepted;
    }
  }
  return accepted;
}

template <typename T>
void check_drawn(std::string_view op, int cases, size_t outputs = 1) {
  Draw draw(std::hash<std::string_view>()(op) + sizeof(T) + outputs);
  size_t accepted = 0;
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const Case drawn = drawn_case(draw, op == "AveragePool", outputs > 1);
    accepted += check(op, drawn, drawn_elements<T>(drawn.shape, draw), outputs);
  }
  EXPECT_GT(accepted, static_cast<size_t>(cases) / 2);
}

TEST(Pools, of_maxima_are_the_references) {
  check_drawn<float>("MaxPool", 300);
  check_drawn<double>("MaxPool", 100);
  check_drawn<int8_t>("MaxPool", 100);
  check_drawn<uint8_t>("MaxPool", 100);
}

TEST(Pools, of_maxima_with_indices_are_the_references) {
  check_drawn<float>("MaxPool", 300, 2);
  check_drawn<double>("MaxPool", 100, 2);
  check_drawn<int8_t>("MaxPool", 100, 2);
  check_drawn<uint8_t>("MaxPool", 100, 2);
}

TEST(Pools, of_averages_are_the_references) {
  check_drawn<float>("AveragePool", 200);
  check_drawn<double>("AveragePool", 100);
}

TEST(Pools, of_norms_are_the_references) {
  Draw draw(7);
  for (int64_t p = 1; p < 5; ++p) {
    for (int i = 0; i < 20; ++i) {
      Case drawn = drawn_case(draw, false);
      drawn.attrs["p"] = p;
      check("LpPool", drawn, drawn_tensor(DType::kFloat, drawn.shape, -2, 2, 3), 1);
      check("LpPool", drawn, drawn_tensor(DType::kDouble, drawn.shape, -2, 2, 3), 1);
    }
  }
}

TEST(Pools, of_everything_are_the_references) {
  Draw draw(8);
  for (const int64_t size : {1, 2, 3, 5, 8, 31, 40}) {
    for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) {
      for (const Shape& shape : {Shape{2, 70, size}, Shape{1, 5, size, size}}) {
        const Case drawn{shape, {}};
        EXPECT_GT(check(op, drawn, drawn_elements<float>(shape, draw), 1), 0u);
        EXPECT_GT(check(op, drawn, drawn_elements<double>(shape, draw), 1), 0u);
      }
    }
  }
}

// However rows are cut for the threads.
TEST(Pools, sum_in_one_order_on_any_number_of_threads) {
  const auto sums = [](std::string_view op_name, const Case& drawn, const Tensor& x, int threads) {
    const OpDef& op = op_named(op_name);
    const Attrs attrs = Attrs::parse(*op.attrs, drawn.attrs);
    const Tensor expected = evaluate(op, attrs, std::vector<Datum>{x}, 1)[0].tensor();
    const KernelTensor in{x.dtype(), x.shape()}, out{expected.dtype(), expected.shape()};
    KernelRequest request{op, attrs, {&in, 1}, {&out, 1}};
    request.threads = threads;
    const Prepared prepared = prepare_kernel(std::vector{&cpu_provider()}, request);
    Tensor y = Tensor::allocate(out.dtype, out.shape);
    if (!prepared.kernel) return expected;
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    const void* source = x.raw();
    void* target = y.raw();
    prepared.kernel->run({&source, &target, scratch->data()});
    return y;
  };
  const auto check_threads = [&](std::string_view op, const Case& drawn) {
    SCOPED_TRACE(described(drawn));
    for (const DType dtype : {DType::kFloat, DType::kDouble}) {
      const Tensor x = drawn_tensor(dtype, drawn.shape, -2, 2, 3);
      const Tensor alone = sums(op, drawn, x, 1);
      for (const int threads : {2, 3, 8})
        EXPECT_EQ(sums(op, drawn, x, threads), alone) << op << ", " << threads << " threads";
    }
  };
  for (const int64_t channels : {1, 7, 16, 40}) {
    for (const int64_t size : {2, 6, 9, 31}) {
      check_threads("GlobalAveragePool", {{2, channels, 8, size}, {}});
      check_threads("AveragePool", {{2, channels, 8 * size},
                                    {{"kernel_shape", Ints{size}}, {"strides", Ints{size}}}});
      check_threads("AveragePool", {{1, channels, 300}, {{"kernel_shape", Ints{size}}}});
      check_threads("LpPool", {{1, channels, 3, 100}, {{"kernel_shape", Ints{2, size}}}});
    }
  }
}

// Of more elements than a line may have.
TEST(Pools, of_large_images_are_the_references) {
  const Shape shape{1, 1, 1100, 1000};
  const Tensor x = drawn_tensor(DType::kFloat, shape, -2, 2, 5);
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"})
    EXPECT_GT(check(op, {shape, {}}, x, 1), 0u);
}

TEST(Pools, end_at_the_deadline) {
  const Tensor x = drawn_tensor(DType::kFloat, {1, 64, 200, 200}, -2, 2, 5);
  RunControl late;
  late.deadline = std::chrono::steady_clock::now();
  for (const size_t outputs : {1, 2}) {
    const KernelTensor in{x.dtype(), x.shape()};
    const KernelTensor out[] = {{DType::kFloat, {1, 64, 196, 196}},
                                {DType::kInt64, {1, 64, 196, 196}}};
    const OpDef& op = op_named("MaxPool");
    const Attrs attrs = Attrs::parse(*op.attrs, {{"kernel_shape", Ints{5, 5}}});
    KernelRequest request{op, attrs, {&in, 1}, std::span(out).first(outputs)};
    request.threads = 2;
    const Prepared prepared = prepare_kernel(std::vector{&cpu_provider()}, request);
    ASSERT_EQ(prepared.implementation, outputs == 1 ? "pool_nchw" : "max_pool_indices");
    const Tensor y = Tensor::allocate(out[0].dtype, out[0].shape);
    const Tensor indices = Tensor::allocate(out[1].dtype, out[1].shape);
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    const void* source = x.raw();
    void* targets[] = {y.raw(), indices.raw()};
    const ControlScope scope(late);
    try {
      prepared.kernel->run({&source, targets, scratch->data()});
      ADD_FAILURE() << "it does not end";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    }
  }
}

// Fewer axes, but the same windows.
TEST(PoolPlan, simplifies_what_is_covered_whole) {
  ops::PoolAttrs attrs;
  attrs.kernel_shape = {3, 7, 5};
  attrs.strides = Ints{2, 1, 1};
  const ops::Window window = ops::pool_window("MaxPool", attrs, Shape{2, 4, 9, 7, 5});
  const cpu::CollapsedWindow windows = cpu::simplified(window, 8);
  EXPECT_EQ(windows.channels, 8);
  EXPECT_EQ(windows.window.in, (Shape{9 * 35}));
  EXPECT_EQ(windows.window.kernel, (Shape{3 * 35}));
  EXPECT_EQ(windows.window.strides, (Shape{2 * 35}));
  attrs.kernel_shape = {9, 7, 5};
  const cpu::CollapsedWindow whole =
      cpu::simplified(ops::pool_window("MaxPool", attrs, Shape{2, 4, 9, 7, 5}), 8);
  EXPECT_EQ(whole.channels, 1);
  EXPECT_EQ(whole.window.out, (Shape{8}));
}

}  // namespace
}  // namespace sardonyx
