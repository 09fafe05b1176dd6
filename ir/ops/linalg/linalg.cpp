// Factorisations of matrices; sardonyx's own rows, since ONNX has none. They have no body in other
// ops, so files that are for other runtimes cannot hold them.
#include "ir/ops/linalg/linalg_gradient.h"
#include "ir/ops/linalg/matrix_calls.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

void infer_solve(InferContext& c) {
  const std::optional<MatrixDims> dims = square_dims(c);
  const Dims* b = c.shape(1);
  if (!dims || !b) return c.set(0, c.dtype(0), b ? std::optional(*b) : std::nullopt);
  MatrixDims out = *dims;
  merge_batch(c, out, 1, 2);
  const Dim rows = c.merged(dims->rows, (*b)[b->size() - 2], "rows of both inputs");
  set_output(c, 0, out, {rows, b->back()});
}
void infer_square(InferContext& c) {
  const auto dims = square_dims(c);
  set_output(c, 0, dims, dims ? Dims{dims->rows, dims->columns} : Dims());
}
void infer_slogdet(InferContext& c) {
  const auto dims = square_dims(c);
  set_output(c, 0, dims, {});
  set_output(c, 1, dims, {});
}
void infer_qr(InferContext& c) {
  const auto dims = matrix_dims(c);
  const Dim least = dims ? min(dims->rows, dims->columns) : Dim();
  set_output(c, 0, dims, dims ? Dims{dims->rows, least} : Dims());
  set_output(c, 1, dims, dims ? Dims{least, dims->columns} : Dims());
}
void infer_eigh(InferContext& c) {
  const auto dims = square_dims(c);
  set_output(c, 0, dims, dims ? Dims{dims->rows} : Dims());
  set_output(c, 1, dims, dims ? Dims{dims->rows, dims->rows} : Dims());
}
void infer_eig(InferContext& c) {
  const auto dims = square_dims(c);
  set_output(c, 0, dims, dims ? Dims{dims->rows, 2} : Dims());
  set_output(c, 1, dims, dims ? Dims{dims->rows, dims->rows, 2} : Dims());
}
void infer_svd(InferContext& c) {
  const auto dims = matrix_dims(c);
  const Dim least = dims ? min(dims->rows, dims->columns) : Dim();
  set_output(c, 0, dims, dims ? Dims{dims->rows, least} : Dims());
  set_output(c, 1, dims, dims ? Dims{least} : Dims());
  set_output(c, 2, dims, dims ? Dims{least, dims->columns} : Dims());
}

// --- kernels ---

void run_solve(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    Matrix b = matrix_at<T>(call.inputs[1], i);
    solve(matrix_at<T>(call.inputs[0], i), b);
    write_at<T>(call, 0, i, b.values);
  });
}
void run_cholesky(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    write_at<T>(call, 0, i, cholesky(matrix_at<T>(call.inputs[0], i)).values);
  });
}
void run_matrix_exp(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    write_at<T>(call, 0, i, matrix_exp(matrix_at<T>(call.inputs[0], i)).values);
  });
}
void run_slogdet(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const SignedLog found = log_determinant(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, std::span(&found.sign, 1));
    write_at<T>(call, 1, i, std::span(&found.log, 1));
  });
}
void run_qr(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const QrFactors found = qr_factors(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, found.q.values);
    write_at<T>(call, 1, i, found.r.values);
  });
}
void run_eigh(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const EighFactors found = eigh_factors(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, found.values);
    write_at<T>(call, 1, i, found.vectors.values);
  });
}
void run_eig(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const EigFactors found = eig_factors(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, found.values.values);
    write_at<T>(call, 1, i, found.vectors.values);
  });
}
void run_svd(const KernelCall& call) {
  each_matrix(call, [&]<typename T>(int64_t i) {
    const SvdFactors found = svd_factors(matrix_at<T>(call.inputs[0], i));
    write_at<T>(call, 0, i, found.u.values);
    write_at<T>(call, 1, i, found.s);
    write_at<T>(call, 2, i, found.vh.values);
  });
}

// --- samples: matrices whose values are far from each other ---

const std::vector<double> kSquares{4, 1,   -0.5, 0.75, 3, 0.25, -1,    0.5, 2,  //
                                   2, 0.5, 0.25, 0.5,  5, 1,    -0.25, 1,   3};

std::vector<Sample> square_samples(size_t outputs) {
  return samples_of({{kSquares, {2, 3, 3}}, {{4, 1, 1, 3}, {2, 2}}, {{}, {0, 2, 2}}}, outputs);
}
std::vector<Sample> one_output_samples() {
  return square_samples(1);
}
std::vector<Sample> pair_samples() {
  return square_samples(2);
}
std::vector<Sample> solve_samples() {
  std::vector<Sample> samples = square_samples(1);
  for (Sample& sample : samples) {
    Shape shape = sample.inputs[0].value->shape();
    shape.back() = 2;
    sample.inputs.push_back({.shape = shape, .dtype = sample.inputs[0].value->dtype()});
  }
  return samples;
}
std::vector<Sample> oblong_samples(size_t outputs) {
  const std::vector<double> six{3, 1, -1, 0.5, 2, 1.5};
  return samples_of({{kSquares, {2, 3, 3}}, {six, {3, 2}}, {six, {2, 3}}, {{}, {2, 0}}}, outputs);
}
std::vector<Sample> qr_samples() {
  return oblong_samples(2);
}
std::vector<Sample> svd_samples() {
  return oblong_samples(3);
}

}  // namespace

std::span<const OpDef> linear_algebra_ops() {
  static const OpDef rows[] = {
      matrix_row("Solve", "(A: T, B: T) -> (X: T)", infer_solve, run_solve, solve_gradient,
                 solve_samples)
          .documented("The X of A X = B for each matrix A [..., M, M]; infinite or NaN where A is "
                      "singular."),
      matrix_row("Cholesky", "(A: T) -> (L: T)", infer_square, run_cholesky, cholesky_gradient,
                 one_output_samples)
          .documented("The lower triangular L of each symmetric positive definite matrix [..., M, "
                      "M] with X = L L'."),
      matrix_row("MatrixExp", "(A: T) -> (Y: T)", infer_square, run_matrix_exp, matrix_exp_gradient,
                 one_output_samples)
          .documented(
              "The exponential of each matrix [..., M, M]: the sum of its powers A^k / k!."),
      matrix_row("SlogDet", "(A: T) -> (sign: T, log: T)", infer_slogdet, run_slogdet,
                 slogdet_gradient, pair_samples)
          .documented("The sign and the logarithm of the magnitude of each matrix's determinant: "
                      "[...] each."),
      matrix_row("Qr", "(A: T) -> (Q: T, R: T)", infer_qr, run_qr, qr_gradient, qr_samples)
          .documented("The reduced QR factorisation of each matrix [..., M, N]: Q [..., M, K] and "
                      "R [..., K, N], K = min(M, N)."),
      matrix_row("Eigh", "(A: T) -> (values: T, vectors: T)", infer_eigh, run_eigh, eigh_gradient,
                 pair_samples)
          .documented("Eigenvalues [..., M] in ascending order and eigenvectors [..., M, M] of "
                      "symmetric matrices."),
      matrix_row("Eig", "(A: T) -> (values: T, vectors: T)", infer_eig, run_eig, eig_gradient,
                 pair_samples)
          .documented("Eigenvalues [..., M, 2] and eigenvectors [..., M, M, 2] of any matrices, as "
                      "pairs of a real and an imaginary part."),
      matrix_row("Svd", "(A: T) -> (U: T, S: T, Vh: T)", infer_svd, run_svd, svd_gradient,
                 svd_samples)
          .documented("The reduced singular value decomposition of each matrix [..., M, N]: U, S "
                      "descending, and V'."),
  };
  return rows;
}

}  // namespace sardonyx::ops
