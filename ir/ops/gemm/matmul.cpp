#include "ir/ops/gemm/matmul.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/gemm/matmul_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

std::optional<Dims> matmul_dims(InferContext& c, size_t a, size_t b) {
  if (rank_of(c, a) == 0 || rank_of(c, b) == 0) {
    c.fail_input(rank_of(c, a) == 0 ? a : b, "expected a vector or matrices, got a scalar");
  }
  if (!c.shape(a) || !c.shape(b)) return std::nullopt;
  Dims left = *c.shape(a), right = *c.shape(b);
  const bool is_row = left.size() == 1, is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), 1);
  if (is_column) right.push_back(1);
  if (!(left.back() == right[right.size() - 2])) {
    c.merged(left.back(), right[right.size() - 2],
             text("inner dims of ", c.input_label(a), " and ", c.input_label(b)));
  }
  const Dim m = left[left.size() - 2], n = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  std::optional<Dims> out = try_broadcast(left, right, c.fresh_symbol());
  if (!out) c.fail_input(b, "does not broadcast with ", c.input_label(a));
  if (!is_row) out->push_back(m);
  if (!is_column) out->push_back(n);
  return out;
}

MatMulGeometry matmul_geometry(std::span<const int64_t> a, std::span<const int64_t> b) {
  Shape left(a.begin(), a.end()), right(b.begin(), b.end());
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  MatMulGeometry geometry;
  geometry.m = left[left.size() - 2];
  geometry.k = left.back();
  geometry.n = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  const std::optional<Shape> batch = try_broadcast(left, right);
  SARDONYX_CHECK(batch.has_value());
  geometry.batch = *batch;
  geometry.a_strides = broadcast_strides(left, geometry.batch);
  geometry.b_strides = broadcast_strides(right, geometry.batch);
  return geometry;
}

namespace {

constexpr DTypeSet kWideNumbers =
    kFloats | DTypeSet{DType::kUInt32, DType::kUInt64, DType::kInt32, DType::kInt64};

// Multiplies batch by batch and row by row. `a(matrix, i, k)` and `b(matrix, k, j)` give elements
// in accumulators, where `matrix` counts the operand's own matrices; `write(place, i, row)` takes a
// finished row.
struct MatrixIndices {
  int64_t batch, a_matrix, b_matrix;
};
template <typename Acc, typename A, typename B, typename Write>
void multiply(const MatMulGeometry& g, A a, B b, Write write) {
  if (g.m == 0 || g.n == 0) return;
  std::vector<Acc> row(static_cast<size_t>(g.n));
  int64_t batch = 0;
  const Strides strides[] = {g.a_strides, g.b_strides};
  const RowWalk walk(g.batch, strides);
  walk.for_each([&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; ++i, ++batch) {
      const MatrixIndices place{batch, at[0] + i * walk.step(0), at[1] + i * walk.step(1)};
      for (int64_t y = 0; y < g.m; ++y) {
        check_interrupted();
        std::fill(row.begin(), row.end(), Acc{0});
        int64_t since_look = 0;
        for (int64_t k = 0; k < g.k; ++k) {
          if ((since_look += g.n) > kElementsInPiece) {
            check_interrupted();
            since_look = 0;
          }
          const Acc factor = a(place.a_matrix, y, k);
          for (int64_t x = 0; x < g.n; ++x) {
            row[static_cast<size_t>(x)] += factor * b(place.b_matrix, k, x);
          }
        }
        write(place, y, row.data());
      }
    }
  });
}

void infer_matmul(InferContext& c) {
  c.set(0, c.dtype(0), matmul_dims(c, 0, 1));
}

void run_matmul(const KernelCall& call) {
  const MatMulGeometry g = matmul_geometry(call.inputs[0].shape, call.inputs[1].shape);
  dispatch_numbers(call.outputs[0].dtype, [&]<typename T>() {
    using Acc = Accumulator<T>;
    const T* a = call.inputs[0].data<T>();
    const T* b = call.inputs[1].data<T>();
    T* out = call.outputs[0].data<T>();
    multiply<Acc>(
        g, [&](int64_t m, int64_t y, int64_t k) { return widened(a[(m * g.m + y) * g.k + k]); },
        [&](int64_t m, int64_t k, int64_t x) { return widened(b[(m * g.k + k) * g.n + x]); },
        [&](const MatrixIndices& place, int64_t y, const Acc* row) {
          T* to = out + (place.batch * g.m + y) * g.n;
          for (int64_t x = 0; x < g.n; ++x)
            to[x] = narrowed<T>(row[x]);
        });
  });
}

// ---- Gemm

void infer_gemm(InferContext& c) {
  const GemmAttrs& attrs = c.attrs<GemmAttrs>();
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Dims out{c.unknown(), c.unknown()};
  if (const Dims* a = c.shape(0)) out[0] = (*a)[attrs.transA ? 1 : 0];
  if (const Dims* b = c.shape(1)) out[1] = (*b)[attrs.transB ? 0 : 1];
  if (c.shape(0) && c.shape(1)) {
    const Dim &left = (*c.shape(0))[attrs.transA ? 0 : 1],
              &right = (*c.shape(1))[attrs.transB ? 1 : 0];
    if (!(left == right))
      c.merged(left, right, text("inner dims of ", c.input_label(0), " and ", c.input_label(1)));
  }
  if (const Dims* bias = c.has(2) ? c.shape(2) : nullptr) {
    bool fits = bias->size() <= 2;
    for (size_t i = 0; fits && i < bias->size(); ++i) {
      const Dim& dim = (*bias)[i];
      const Dim& wanted = out[2 - bias->size() + i];
      fits = !dim.is_known() || dim == 1 || !wanted.is_known() || dim == wanted;
    }
    if (!fits) c.fail_input(2, "does not broadcast to ", to_text(out));
  }
  c.set(0, c.dtype(0), std::move(out));
}

// sum * factor. A whole factor keeps integers exact (modulo 2^64); another one cuts the product.
template <typename T>
Accumulator<T> scaled(Accumulator<T> sum, float factor) {
  if constexpr (!std::is_integral_v<T>) {
    return sum * static_cast<double>(factor);
  } else {
    constexpr float kLimit = 9.2e18f;
    if (std::trunc(factor) == factor && std::fabs(factor) < kLimit) {
      return sum * static_cast<uint64_t>(static_cast<int64_t>(factor));
    }
    return widened(from_real<T>(static_cast<double>(static_cast<T>(sum)) * factor));
  }
}

template <typename T>
void run_gemm_as(const KernelCall& call) {
  using Acc = Accumulator<T>;
  const GemmAttrs& attrs = call.attrs<GemmAttrs>();
  const std::span<const int64_t> a_shape = call.inputs[0].shape, b_shape = call.inputs[1].shape;
  MatMulGeometry g;
  g.m = a_shape[attrs.transA ? 1 : 0];
  g.k = a_shape[attrs.transA ? 0 : 1];
  g.n = b_shape[attrs.transB ? 0 : 1];
  const T* a = call.inputs[0].data<T>();
  const T* b = call.inputs[1].data<T>();
  // With beta = 0 the elements of C, NaN included, do not affect the result.
  const T* bias = call.has(2) && attrs.beta != 0 ? call.inputs[2].data<T>() : nullptr;
  Strides bias_steps{0, 0};
  if (bias) bias_steps = broadcast_strides(call.inputs[2].shape, call.outputs[0].shape);
  T* out = call.outputs[0].data<T>();
  multiply<Acc>(
      g,
      [&](int64_t, int64_t y, int64_t k) {
        return widened(attrs.transA ? a[k * g.m + y] : a[y * g.k + k]);
      },
      [&](int64_t, int64_t k, int64_t x) {
        return widened(attrs.transB ? b[x * g.k + k] : b[k * g.n + x]);
      },
      [&](const MatrixIndices&, int64_t y, const Acc* row) {
        for (int64_t x = 0; x < g.n; ++x) {
          Acc sum = scaled<T>(row[x], attrs.alpha);
          if (bias) {
            sum += scaled<T>(widened(bias[y * bias_steps[0] + x * bias_steps[1]]), attrs.beta);
          }
          out[y * g.n + x] = narrowed<T>(sum);
        }
      });
}

void run_gemm(const KernelCall& call) {
  dispatch_numbers(call.outputs[0].dtype, [&]<typename T>() { run_gemm_as<T>(call); });
}

// ---- Quantized products

// A scale or zero point of a quantized tensor of shape `whole`: one for all, one for each line
// (row, or column with `columns`), or `whole` with 1 in place of the dim across the lines.
void check_quantization(const InferContext& c, size_t param, const std::optional<Dims>& whole,
                        bool columns = false) {
  const Dims* own = c.has(param) ? c.shape(param) : nullptr;
  const auto is_one = [](const Dim& dim) { return dim == 1; };
  if (!own || !whole || std::all_of(own->begin(), own->end(), is_one)) return;
  const auto differ = [](const Dim& a, const Dim& b) {
    return a.is_known() && b.is_known() && !(a == b);
  };
  const size_t rank = whole->size();
  bool fits = rank >= 2 && (own->size() == 1 || own->size() == rank);
  if (fits && own->size() == 1) fits = !differ((*own)[0], (*whole)[columns ? rank - 1 : rank - 2]);
  for (size_t i = 0; fits && own->size() > 1 && i < rank; ++i) {
    const size_t across = columns ? rank - 2 : rank - 1;
    fits = !differ((*own)[i], i == across ? Dim(1) : (*whole)[i]);
  }
  if (!fits) {
    c.fail_input(param, "expected one element, one for each ", columns ? "column" : "row", " of ",
                 to_text(*whole), ", or that shape with 1 for the dim across");
  }
}

// Reads such a parameter: values[at(matrix, line)], where `line` is a row or a column.
struct LineParam {
  std::vector<double> values;
  int64_t matrix_step = 0, line_step = 0;
  double at(int64_t matrix, int64_t line) const {
    return values[static_cast<size_t>(matrix * matrix_step + line * line_step)];
  }
};

LineParam line_param(const KernelCall& call, size_t input, int64_t lines, double otherwise) {
  LineParam param;
  if (!call.has(input)) {
    param.values = {otherwise};
    return param;
  }
  const TensorView& view = call.inputs[input];
  const auto read = [&]<typename T>() {
    for (int64_t i = 0; i < view.count(); ++i) {
      param.values.push_back(static_cast<double>(view.data<T>()[i]));
    }
  };
  detail::dispatch_among<float, Float16, BFloat16, int8_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ,
                         Float8E5M2, Float8E5M2FNUZ>(view.dtype, read);
  if (view.count() != 1) {
    param.line_step = 1;
    param.matrix_step = view.rank() > 1 ? lines : 0;
  }
  return param;
}

// Elements of a quantized operand as numbers, in scratch memory.
std::pmr::vector<double> real_values(const TensorView& view) {
  std::pmr::vector<double> values(scratch());
  values.reserve(static_cast<size_t>(view.count()));
  const auto read = [&]<typename T>() {
    in_pieces(view.count(), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        values.push_back(static_cast<double>(view.data<T>()[i]));
    });
  };
  detail::dispatch_among<int8_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>(
      view.dtype, read);
  return values;
}

void infer_matmul_integer(InferContext& c) {
  check_quantization(c, 2, shape_of(c, 0));
  check_quantization(c, 3, shape_of(c, 1), true);
  c.set(0, DType::kInt32, matmul_dims(c, 0, 1));
}

// Products of bytes are below 2^17, so sums of up to 2^35 of them are exact in double.
void run_matmul_integer(const KernelCall& call) {
  const MatMulGeometry g = matmul_geometry(call.inputs[0].shape, call.inputs[1].shape);
  const LineParam a_zero = line_param(call, 2, g.m, 0), b_zero = line_param(call, 3, g.n, 0);
  const ScratchMark mark;
  const auto a = real_values(call.inputs[0]), b = real_values(call.inputs[1]);
  auto* out = call.outputs[0].data<int32_t>();
  multiply<double>(
      g,
      [&](int64_t m, int64_t y, int64_t k) {
        return a[static_cast<size_t>((m * g.m + y) * g.k + k)] - a_zero.at(m, y);
      },
      [&](int64_t m, int64_t k, int64_t x) {
        return b[static_cast<size_t>((m * g.k + k) * g.n + x)] - b_zero.at(m, x);
      },
      [&](const MatrixIndices& place, int64_t y, const double* row) {
        int32_t* to = out + (place.batch * g.m + y) * g.n;
        for (int64_t x = 0; x < g.n; ++x) {
          to[x] = static_cast<int32_t>(static_cast<int64_t>(row[x]));
        }
      });
}

enum QLinearMatMulInput { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

void infer_qlinear_matmul(InferContext& c) {
  std::optional<Dims> out = matmul_dims(c, kA, kB);
  for (const size_t param : {kAScale, kAZero})
    check_quantization(c, param, shape_of(c, kA));
  for (const size_t param : {kBScale, kBZero})
    check_quantization(c, param, shape_of(c, kB), true);
  for (const size_t param : {kYScale, kYZero})
    check_quantization(c, param, out);
  c.set(0, c.dtype(kYZero), std::move(out));
}

// round(value) + zero in the range of T.
template <typename T>
T requantized(double value, double zero) {
  if constexpr (std::is_integral_v<T>)
    return from_real<T>(std::nearbyint(value) + zero);
  else
    return T(static_cast<float>(value + zero));
}

void run_qlinear_matmul(const KernelCall& call) {
  const MatMulGeometry g = matmul_geometry(call.inputs[kA].shape, call.inputs[kB].shape);
  const LineParam a_scale = line_param(call, kAScale, g.m, 1);
  const LineParam a_zero = line_param(call, kAZero, g.m, 0);
  const LineParam b_scale = line_param(call, kBScale, g.n, 1);
  const LineParam b_zero = line_param(call, kBZero, g.n, 0);
  const LineParam y_scale = line_param(call, kYScale, g.m, 1);
  const LineParam y_zero = line_param(call, kYZero, g.m, 0);
  const ScratchMark mark;
  const auto a = real_values(call.inputs[kA]), b = real_values(call.inputs[kB]);
  const TensorView& out = call.outputs[0];
  // Scales of a row are common to its sums; those of a column are applied to its elements.
  const auto run = [&]<typename T>() {
    multiply<double>(
        g,
        [&](int64_t m, int64_t y, int64_t k) {
          return (a[static_cast<size_t>((m * g.m + y) * g.k + k)] - a_zero.at(m, y));
        },
        [&](int64_t m, int64_t k, int64_t x) {
          return b[static_cast<size_t>((m * g.k + k) * g.n + x)] - b_zero.at(m, x);
        },
        [&](const MatrixIndices& at, int64_t y, const double* row) {
          T* to = out.data<T>() + (at.batch * g.m + y) * g.n;
          for (int64_t x = 0; x < g.n; ++x) {
            const double scale =
                a_scale.at(at.a_matrix, y) * b_scale.at(at.b_matrix, x) / y_scale.at(at.batch, y);
            to[x] = requantized<T>(row[x] * scale, y_zero.at(at.batch, y));
          }
        });
  };
  detail::dispatch_among<int8_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>(
      out.dtype, run);
}

// ---- Det

void infer_det(InferContext& c) {
  const Dims* shape = c.shape(0);
  if (!shape) return c.set(0, c.dtype(0), std::nullopt);
  if (shape->size() < 2) c.fail_input(0, "expected square matrices, got rank ", shape->size());
  c.merged((*shape)[shape->size() - 2], shape->back(),
           text("a square matrix is needed; rows and columns of ", c.input_label(0)));
  c.set(0, c.dtype(0), Dims(shape->begin(), shape->end() - 2));
}

// Gaussian elimination with partial pivoting; `matrix` is overwritten.
double determinant(std::span<double> matrix, size_t n) {
  double product = 1;
  for (size_t column = 0; column < n; ++column) {
    check_interrupted();
    size_t pivot = column;
    for (size_t y = column + 1; y < n; ++y) {
      if (std::fabs(matrix[y * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = y;
    }
    if (pivot != column) {
      product = -product;
      std::swap_ranges(&matrix[pivot * n], &matrix[pivot * n] + n, &matrix[column * n]);
    }
    const double head = matrix[column * n + column];
    product *= head;
    if (head == 0) return 0;
    for (size_t y = column + 1; y < n; ++y) {
      const double factor = matrix[y * n + column] / head;
      for (size_t x = column + 1; x < n; ++x)
        matrix[y * n + x] -= factor * matrix[column * n + x];
    }
  }
  return product;
}

void run_det(const KernelCall& call) {
  const auto n = static_cast<size_t>(call.inputs[0].shape.back());
  dispatch_floats(call.outputs[0].dtype, [&]<typename T>() {
    const T* in = call.inputs[0].data<T>();
    std::pmr::vector<double> matrix(n * n, scratch());
    for (int64_t i = 0; i < call.outputs[0].count(); ++i, in += n * n) {
      std::copy(in, in + n * n, matrix.begin());
      call.outputs[0].data<T>()[i] = narrowed<T>(determinant(matrix, n));
    }
  });
}

// ---- Samples

std::vector<Sample> matmul_samples() {
  return {
      {.inputs = {{.shape = {2, 3}}, {.shape = {3, 4}}}},
      {.inputs = {{.shape = {3}}, {.shape = {3}}}},
      {.inputs = {{.shape = {3}}, {.shape = {2, 3, 4}}}},
      {.inputs = {{.shape = {2, 4, 3}}, {.shape = {3}}}},
      {.inputs = {{.shape = {2, 1, 3, 4}}, {.shape = {5, 4, 2}}}},
      {.inputs = {{.shape = {2, 0}}, {.shape = {0, 3}}}},
      {.inputs = {{.shape = {0, 2, 3}}, {.shape = {3, 2}}}},
  };
}

std::vector<Sample> gemm_samples() {
  return {
      {.inputs = {{.shape = {2, 3}}, {.shape = {3, 4}}}},
      {.inputs = {{.shape = {2, 3}}, {.shape = {3, 4}}, {.shape = {4}}}},
      {.inputs = {{.shape = {3, 2}}, {.shape = {4, 3}}, {.shape = {2, 1}}},
       .attrs = {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 2.f}, {"beta", 3.f}}},
      {.inputs = {{.shape = {2, 3}}, {.shape = {3, 4}}, {.shape = {}}},
       .attrs = {{"alpha", 0.5f}, {"beta", 0.25f}}},
      {.inputs = {{.shape = {2, 0}}, {.shape = {0, 4}}, {.shape = {2, 4}}}},
  };
}

std::vector<Sample> matmul_integer_samples() {
  return {
      {.inputs = {{.shape = {2, 3}, .low = 0, .high = 100},
                  {.shape = {3, 4}, .low = 0, .high = 100}}},
      {.inputs = {{.shape = {2, 3}, .low = 0, .high = 100},
                  {.shape = {3, 4}, .low = 0, .high = 100},
                  {.shape = {}, .low = 0, .high = 100},
                  {.shape = {4}, .low = 0, .high = 100}}},
      {.inputs = {{.shape = {2, 2, 3}, .low = 0, .high = 100},
                  {.shape = {3, 4}, .low = 0, .high = 100},
                  {.shape = {2, 2, 1}, .low = 0, .high = 100}}},
  };
}

std::vector<Sample> qlinear_matmul_samples() {
  const SampleInput one_scale{.shape = {}, .low = 0.01, .high = 0.1};
  const SampleInput zero{.shape = {}, .low = 0, .high = 20};
  return {
      {.inputs = {{.shape = {2, 3}, .low = 0, .high = 100},
                  one_scale,
                  zero,
                  {.shape = {3, 4}, .low = 0, .high = 100},
                  one_scale,
                  zero,
                  one_scale,
                  zero}},
      {.inputs = {{.shape = {2, 2, 3}, .low = 0, .high = 100},
                  {.shape = {2}, .low = 0.01, .high = 0.1},
                  {.shape = {2}, .low = 0, .high = 20},
                  {.shape = {3, 4}, .low = 0, .high = 100},
                  {.shape = {4}, .low = 0.01, .high = 0.1},
                  {.shape = {4}, .low = 0, .high = 20},
                  one_scale,
                  zero}},
  };
}

std::vector<Sample> det_samples() {
  return {{.inputs = {{.shape = {3, 3}}}},
          {.inputs = {{.shape = {2, 2, 4, 4}}}},
          {.inputs = {{.shape = {2, 0, 0}}}}};
}

}  // namespace

std::span<const OpDef> matmul_ops() {
  constexpr DTypeSet kQuantized = kByteInts | kFloat8s;
  static const OpDef kOps[] = {
      {.name = "MatMul",
       .doc = "The matrix product of the last two axes, the others broadcast; rank 1 is a row on "
              "the left and a column on the right.",
       .since = 13,
       .signature = "(A: T, B: T) -> (Y: T)",
       .types = {{"T", kWideNumbers}},
       .infer = infer_matmul,
       .reference = run_matmul,
       .grad = matmul_gradient,
       .facts = kSmallInMixed | kProduct | kFloat32Kernels,
       .weight_inputs = 1u << 1,
       .samples = matmul_samples},
      {.name = "Gemm",
       .doc = "alpha * A' * B' + beta * C: matrices [M, K] and [K, N], transposed before where the "
              "attributes say so, and C broadcast to [M, N].",
       .since = 13,
       .signature = "(A: T, B: T, C?: T) -> (Y: T)",
       .types = {{"T", kWideNumbers}},
       .attrs = attr_schema<GemmAttrs>(),
       .infer = infer_gemm,
       .reference = run_gemm,
       .grad = gemm_gradient,
       .facts = kSmallInMixed | kProduct | kFloat32Kernels,
       .weight_inputs = 1u << 1,
       .samples = gemm_samples},
      {.name = "MatMulInteger",
       .doc = "The matrix product of 8-bit integers less their zero points, summed up in int32.",
       .since = 10,
       .signature = "(A: T1, B: T2, a_zero_point?: T1, b_zero_point?: T2) -> (Y: T3)",
       .types = {{"T1", kByteInts}, {"T2", kByteInts}, {"T3", DType::kInt32}},
       .infer = infer_matmul_integer,
       .reference = run_matmul_integer,
       .weight_inputs = 1u << 1,
       .samples = matmul_integer_samples},
      {.name = "QLinearMatMul",
       .doc = "The matrix product of quantised values, quantised again.",
       .since = 21,
       .signature = "(a: T1, a_scale: TS, a_zero_point: T1, b: T2, b_scale: TS, b_zero_point: T2, "
                    "y_scale: TS, y_zero_point: T3) -> (y: T3)",
       .types = {{"TS", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}},
                 {"T1", kQuantized},
                 {"T2", kQuantized},
                 {"T3", kQuantized}},
       .infer = infer_qlinear_matmul,
       .reference = run_qlinear_matmul,
       .weight_inputs = 1u << 3,
       .samples = qlinear_matmul_samples},
      {.name = "Det",
       .doc = "The determinant of the last two axes, which must be square.",
       .since = 22,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .infer = infer_det,
       .reference = run_det,
       .grad = det_gradient,
       .facts = kFloat32InMixed,
       .samples = det_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
