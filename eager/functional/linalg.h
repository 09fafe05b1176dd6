// Linear algebra of matrices [..., rows, columns], after torch.linalg. Elements are float32 or
// float64 and factorised in float64; batches broadcast where two are taken. All have gradients
// (infinite or NaN where values coincide, as torch's). Functions marked (file) can be exported; the
// others run at once and compiled, since ONNX has no form of them. A singular matrix, or one that
// is not positive definite, gives infinities or NaN where torch throws.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::linalg {

// a x = b, of columns b [..., n, k] or of one vector b [n].
Tensor solve(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor inv(const Tensor& a, Loc loc = Loc::current());  // (file, as com.microsoft's Inverse)
Tensor det(const Tensor& a, Loc loc = Loc::current());  // (file)
struct SignLogDet {
  Tensor sign, logabsdet;
};
SignLogDet slogdet(const Tensor& a, Loc loc = Loc::current());

// a = l l^T of a symmetric a (else of its symmetric part); l is lower triangular, or l^T for
// `upper`.
Tensor cholesky(const Tensor& a, bool upper = false, Loc loc = Loc::current());
// a [m, n] = P [m, m] L [m, k] U [k, n], k = min(m, n): L is lower triangular with ones on its
// diagonal, U upper triangular, P exchanges rows so that each pivot is the largest of its column.
struct LU {
  Tensor P, L, U;
};
LU lu(const Tensor& a, Loc loc = Loc::current());
// The same in one matrix [m, n] (U, and L below its diagonal), and the rows exchanged: int32 [k],
// counted from 1 as LAPACK does.
struct LUFactors {
  Tensor LU, pivots;
};
LUFactors lu_factor(const Tensor& a, Loc loc = Loc::current());
LU lu_unpack(const Tensor& lu, const Tensor& pivots, Loc loc = Loc::current());
// a x = b [..., n, k] of lu_factor(a), of a^T with `adjoint`; x a = b [..., k, n] where not `left`.
struct LUSolveOptions {
  bool left = true;
  bool adjoint = false;
};
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b,
                LUSolveOptions options = {}, Loc loc = Loc::current());
// a [m, n] = q [m, k] r [k, n], k = min(m, n) (torch's mode "reduced"), with LAPACK's signs.
struct QR {
  Tensor Q, R;
};
QR qr(const Tensor& a, Loc loc = Loc::current());
// Of a symmetric a (else of its symmetric part): values in ascending order, vectors as columns. Of
// each vector the element of the greatest magnitude is positive.
struct Eigen {
  Tensor eigenvalues, eigenvectors;
};
Eigen eigh(const Tensor& a, Loc loc = Loc::current());
Tensor eigvalsh(const Tensor& a, Loc loc = Loc::current());
// Of any square a, complex numbers as pairs (eager/functional/fft.h): values [..., n, 2] and, as
// columns, vectors [..., n, n, 2] of length 1, of which the element of the greatest magnitude is
// real and positive: gradients keep it so, where torch refuses a loss that depends on the phases of
// vectors. Of a pair of complex values the one with the positive imaginary part comes first.
Eigen eig(const Tensor& a, Loc loc = Loc::current());
Tensor eigvals(const Tensor& a, Loc loc = Loc::current());
// a [m, n] = U [m, k] diag(S) Vh [k, n], k = min(m, n) (full_matrices = false), S in descending
// order. Of each column of U the element of the greatest magnitude is positive.
struct SVD {
  Tensor U, S, Vh;
};
SVD svd(const Tensor& a, Loc loc = Loc::current());
Tensor svdvals(const Tensor& a, Loc loc = Loc::current());

// The x of the least |a x - b|, and of these the shortest; of a with full rank, by Qr.
Tensor lstsq(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
// By Svd; values below rtol times the greatest count as 0. rtol: the greater side times the type's
// epsilon unless given.
Tensor pinv(const Tensor& a, std::optional<double> rtol = {}, Loc loc = Loc::current());
Tensor matrix_rank(const Tensor& a, std::optional<double> rtol = {}, Loc loc = Loc::current());

// (sum |x|^ord)^(1 / ord); ord may be infinite (the greatest), -infinite (the least) and 0 (how
// many are not 0). Over all elements where no axes are given. (file)
Tensor vector_norm(const Tensor& x, double ord = 2, const Axes& axes = {}, bool keepdim = false,
                   Loc loc = Loc::current());
Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
            Loc loc = Loc::current());  // vector_norm of order 2
enum class MatrixNorm {
  kFrobenius,  // (file)
  kNuclear,    // the sum of singular values
  kOne,        // the greatest sum of a column's magnitudes; (file)
  kMinusOne,   // the least; (file)
  kInfinity,   // the same of rows; (file)
  kMinusInfinity,
  kTwo,  // the greatest singular value
  kMinusTwo,
};
// Of the last two axes.
Tensor matrix_norm(const Tensor& a, MatrixNorm ord = MatrixNorm::kFrobenius, bool keepdim = false,
                   Loc loc = Loc::current());

// The greatest singular value over the least.
Tensor cond(const Tensor& a, Loc loc = Loc::current());

// a x = b of a triangular a; the other side of its diagonal is not looked at.
struct TriangularOptions {
  bool upper = false;
  bool unitriangular = false;  // the diagonal counts as ones
};
Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options = {},
                        Loc loc = Loc::current());
// l l^T x = b, of cholesky()'s l.
Tensor cholesky_solve(const Tensor& b, const Tensor& l, Loc loc = Loc::current());
Tensor matrix_power(const Tensor& a, int64_t power, Loc loc = Loc::current());
Tensor matrix_exp(const Tensor& a, Loc loc = Loc::current());  // sum of a^k / k!
Tensor multi_dot(const std::vector<Tensor>& matrices, Loc loc = Loc::current());
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1, Loc loc = Loc::current());
// [1, x, x^2, ...] of each element of x [..., n]: [..., n, columns], columns n unless given.
Tensor vander(const Tensor& x, std::optional<int64_t> columns = {}, Loc loc = Loc::current());
// The y [last axes of a...] with tensordot(a, y) = b, of a [b's shape..., last axes...] after
// `axes` have been moved behind the others; and the inverse of a, whose first `first` axes count as
// the rows: [last axes..., first axes...].
Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& axes = {},
                   Loc loc = Loc::current());
Tensor tensorinv(const Tensor& a, int64_t first = 2, Loc loc = Loc::current());
// The sum of products along an axis.
Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis = -1, Loc loc = Loc::current());

}  // namespace sardonyx::eager::linalg
