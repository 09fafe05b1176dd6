// Triangular factors by elimination, and systems solved by them.
#include "ir/ops/linalg/linalg_gradient.h"
#include "ir/ops/linalg/matrix_calls.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

void set_pivots(InferContext& c, const std::optional<MatrixDims>& dims) {
  if (c.output_count() < 2) return;
  if (!dims) return c.set(1, DType::kInt32, std::nullopt);
  Dims shape = dims->batch;
  shape.push_back(min(dims->rows, dims->columns));
  c.set(1, DType::kInt32, std::move(shape));
}
// Checks that the pivots, input 1, are as many as the factors of input 0 have; merges the batches
// of both.
void check_pivots(InferContext& c, MatrixDims& dims) {
  const Dims* pivots = c.shape(1);
  if (!pivots) return;
  merge_batch(c, dims, 1, 1);
  c.merged(pivots->back(), min(dims.rows, dims.columns),
           "pivots and the lesser side of the matrices");
}

void infer_lu(InferContext& c) {
  const auto dims = matrix_dims(c);
  set_output(c, 0, dims, dims ? Dims{dims->rows, dims->columns} : Dims());
  set_pivots(c, dims);
}
void infer_lu_unpack(InferContext& c) {
  auto dims = matrix_dims(c);
  if (dims) check_pivots(c, *dims);
  const Dim least = dims ? min(dims->rows, dims->columns) : Dim();
  set_output(c, 0, dims, dims ? Dims{dims->rows, dims->rows} : Dims());
  set_output(c, 1, dims, dims ? Dims{dims->rows, least} : Dims());
  set_output(c, 2, dims, dims ? Dims{least, dims->columns} : Dims());
}
void infer_lu_solve(InferContext& c) {
  auto dims = square_dims(c);
  const Dims* b = c.shape(2);
  if (!dims || !b) return c.set(0, c.dtype(0), b ? std::optional(*b) : std::nullopt);
  check_pivots(c, *dims);
  merge_batch(c, *dims, 2, 2);
  const Dim rows = c.merged(dims->rows, (*b)[b->size() - 2], "rows of the matrices and of B");
  set_output(c, 0, dims, {rows, b->back()});
}

// The pivots of the matrix of this index, counted from 0; throws for rows that the matrix does not
// have.
std::pmr::vector<int64_t> pivots_at(const TensorView& x, int64_t index, int64_t rows) {
  const int64_t count = x.shape.back();
  const auto* from = x.data<int32_t>() + index * count;
  std::pmr::vector<int64_t> pivots(static_cast<size_t>(count), scratch());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t pivot = from[i];
    if (pivot < 1 || pivot > rows) {
      fail(ErrorCode::kInvalidArgument, "input pivots: expected rows from 1 to ", rows, ", got ",
           pivot, "; Lu gives them");
    }
    pivots[static_cast<size_t>(i)] = pivot - 1;
  }
  return pivots;
}

void run_lu(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const LuFactors found = lu_factors(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, found.lu.values);
    if (!call.wants(1)) return;
    auto* to = call.outputs[1].data<int32_t>() + i * static_cast<int64_t>(found.pivots.size());
    for (const int64_t pivot : found.pivots)
      *to++ = static_cast<int32_t>(pivot + 1);
  });
}

void run_lu_unpack(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t index) {
    const Matrix lu = matrix_at<T>(call.inputs[0], index);
    const int64_t k = std::min(lu.rows, lu.columns);
    Matrix p(lu.rows, lu.rows), l(lu.rows, k), u(k, lu.columns);
    for (int64_t i = 0; i < lu.rows; ++i)
      p(i, i) = 1;
    exchange_rows(p, pivots_at(call.inputs[1], index, lu.rows), /*back=*/true);
    for (int64_t i = 0; i < lu.rows; ++i) {
      for (int64_t j = 0; j < lu.columns; ++j) {
        if (j < i && j < k) l(i, j) = lu(i, j);
        if (j >= i) u(i, j) = lu(i, j);
      }
      if (i < k) l(i, i) = 1;
    }
    write_at<T>(call, 0, index, p.values);
    write_at<T>(call, 1, index, l.values);
    write_at<T>(call, 2, index, u.values);
  });
}

void run_lu_solve(const KernelCall& call) {
  const bool is_transposed = call.attrs<LuSolveAttrs>().adjoint;
  each_matrix(call, [&]<typename T>(int64_t i) {
    const Matrix lu = matrix_at<T>(call.inputs[0], i);
    Matrix b = matrix_at<T>(call.inputs[2], i);
    lu_solve(lu, pivots_at(call.inputs[1], i, lu.rows), is_transposed, b);
    write_at<T>(call, 0, i, b.values);
  });
}

// --- samples: the second of the square ones exchanges rows ---

const std::vector<double> kFactors{4, 1, -0.5, 0.25, 3,    0.25, -0.25, 0.5,  2,
                                   2, 4, 0.25, 0.5,  -2.5, 1,    -0.5,  0.25, 3};
const std::vector<double> kOblong{1, 3, -1, 0.5, 2, 1.5};

std::vector<Sample> lu_samples() {
  const std::vector<double> squares{4, 1, -0.5, 0.75, 3, 0.25, -1,    0.5, 2,  //
                                    1, 2, 0.25, 4,    1, 0.5,  -0.25, 5,   3};
  return samples_of({{squares, {2, 3, 3}}, {kOblong, {3, 2}}, {kOblong, {2, 3}}, {{}, {2, 0}}}, 2);
}
Tensor pivots_of(std::vector<int32_t> pivots, Shape shape) {
  return Tensor::of(pivots, std::move(shape));
}
std::vector<Sample> with_pivots(std::vector<Sample> samples, const Tensor& pivots) {
  for (Sample& sample : samples)
    sample.inputs.push_back(given(pivots));
  return samples;
}
std::vector<Sample> lu_unpack_samples() {
  const Tensor square = pivots_of({1, 2, 3, 2, 3, 3}, {2, 3}), two = pivots_of({2, 2}, {2});
  std::vector<Sample> samples = with_pivots(samples_of({{kFactors, {2, 3, 3}}}, 3), square);
  samples = joined(samples, with_pivots(samples_of({{kOblong, {2, 3}}}, 3), two));
  return joined(samples, with_pivots(samples_of({{kOblong, {3, 2}}}, 3), pivots_of({3, 3}, {2})));
}
std::vector<Sample> lu_solve_samples() {
  const Tensor square = pivots_of({1, 2, 3, 2, 3, 3}, {2, 3});
  std::vector<Sample> samples = with_pivots(samples_of({{kFactors, {2, 3, 3}}}, 1), square);
  for (Sample& sample : samples)
    sample.inputs.push_back({.shape = {2, 3, 2}, .dtype = sample.inputs[0].value->dtype()});
  return joined(samples, with_attributes(samples, {{"adjoint", int64_t{1}}}));
}

}  // namespace

std::span<const OpDef> lu_ops() {
  static const auto solve_row = [] {
    OpDef row = matrix_row("LuSolve", "(LU: T, pivots: int32, B: T) -> (X: T)", infer_lu_solve,
                           run_lu_solve, lu_solve_gradient, lu_solve_samples);
    row.attrs = attr_schema<LuSolveAttrs>();
    return row;
  }();
  static const OpDef rows[] = {
      matrix_row("Lu", "(A: T) -> (LU: T, pivots: int32)", infer_lu, run_lu, lu_gradient,
                 lu_samples)
          .documented("The triangular factors of each matrix [..., M, N] with rows exchanged, L "
                      "below U in one, and the row that each of min(M, N) was exchanged with, "
                      "counted from 1."),
      matrix_row("LuUnpack", "(LU: T, pivots: int32) -> (P: T, L: T, U: T)", infer_lu_unpack,
                 run_lu_unpack, lu_unpack_gradient, lu_unpack_samples)
          .documented("P [..., M, M], L [..., M, K] and U [..., K, N], K = min(M, N), of what Lu "
                      "gives: A = P L U."),
      solve_row.documented("The X of A X = B, or of A' X = B where adjoint is 1, for each matrix A "
                           "[..., M, M] that Lu has factorised."),
  };
  return rows;
}

}  // namespace sardonyx::ops
