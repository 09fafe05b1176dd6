#include "eager/functional/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::linalg {
namespace {

[[noreturn]] void refuse_matrix(const char* name, const std::string& why, const Tensor& x,
                                const Loc& loc) {
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": ", why, ", got ", x.type());
}

void check_matrices(const char* name, const Tensor& a, const Loc& loc) {
  require_defined(a, name, "a", loc);
  const bool is_real = a.dtype() == DType::kFloat || a.dtype() == DType::kDouble;
  if (!is_real) refuse_matrix(name, "expected float32 or float64", a, loc);
  if (a.rank() < 2) refuse_matrix(name, "expected matrices [..., rows, columns]", a, loc);
}

std::vector<Tensor> factors(const char* name, const OpDef& op, const Tensor& a, size_t count,
                            const Loc& loc) {
  check_matrices(name, a, loc);
  return apply_many(op, std::span(&a, 1), {}, count, loc);
}

// The shape that the batches of both broadcast to.
Dims broadcast_batches(const char* name, const Tensor& a, const Tensor& b, const Loc& loc) {
  const Dims of_a = a.shape(loc), of_b = b.shape(loc);
  const size_t rank = std::max(of_a.size(), of_b.size()) - 2;
  Dims batch;
  for (size_t i = 0; i < rank; ++i) {
    // Counted from the dims of the matrices.
    const size_t from_end = rank - i + 2;
    const sardonyx::Dim x = from_end <= of_a.size() ? of_a[of_a.size() - from_end] : 1;
    const sardonyx::Dim y = from_end <= of_b.size() ? of_b[of_b.size() - from_end] : 1;
    const bool x_is_one = Dim(x, loc) == 1;
    if (!x_is_one && !(Dim(y, loc) == 1) && !(Dim(x, loc) == Dim(y, loc))) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": batches of ", a.type(),
           " and ", b.type(), " do not fit");
    }
    batch.push_back(x_is_one ? y : x);
  }
  return batch;
}

Tensor with_batch(const Tensor& x, const Dims& batch, const Loc& loc) {
  Dims shape = batch;
  const Dims own = x.shape(loc);
  shape.insert(shape.end(), own.end() - 2, own.end());
  return own == shape ? x : x.expand(shape, loc);
}

void check_factors(const char* name, const Tensor& lu, const Tensor& pivots, const Loc& loc) {
  require_defined(pivots, name, "pivots", loc);
  check_matrices(name, lu, loc);
  if (pivots.dtype() != DType::kInt32 || pivots.rank() + 1 != lu.rank())
    refuse_matrix(name, "expected lu_factor's pivots, int32 [..., k]", pivots, loc);
}

double epsilon_of(DType dtype) {
  return dtype == DType::kDouble ? std::numeric_limits<double>::epsilon()
                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

// Singular values that count, as bools.
Tensor counted(const Tensor& a, const Tensor& s, std::optional<double> rtol, const Loc& loc) {
  const Tensor sides =
      maximum({dim_tensor(a.size(-1, loc), loc), loc}, dim_tensor(a.size(-2, loc), loc));
  const Tensor share = rtol ? full({}, *rtol, {.dtype = s.dtype()})
                            : sides.to(s.dtype(), loc) * epsilon_of(s.dtype());
  return Operand(s, loc) > s.amax({-1}, true, loc) * share;
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b, Loc loc) {
  require_defined(b, "solve", "b", loc);
  static const OpDef& op = op_named("sardonyx::Solve");
  check_matrices("solve", a, loc);
  const bool is_vector = b.rank() == 1;
  const Tensor columns = is_vector ? b.unsqueeze(-1, loc) : b;
  const Dims batch = broadcast_batches("solve", a, columns, loc);
  const Tensor x = apply(op, {with_batch(a, batch, loc), with_batch(columns, batch, loc)}, loc);
  return is_vector ? x.squeeze({-1}, loc) : x;
}

Tensor inv(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("com.microsoft::Inverse");
  check_matrices("inv", a, loc);
  return apply(op, {a}, loc);
}
Tensor det(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("Det");
  check_matrices("det", a, loc);
  return apply(op, {a}, loc);
}
SignLogDet slogdet(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::SlogDet");
  const std::vector<Tensor> found = factors("slogdet", op, a, 2, loc);
  return {found[0], found[1]};
}

Tensor cholesky(const Tensor& a, bool upper, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Cholesky");
  const Tensor l = factors("cholesky", op, a, 1, loc)[0];
  return upper ? l.t(loc) : l;
}
LUFactors lu_factor(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Lu");
  const std::vector<Tensor> found = factors("lu_factor", op, a, 2, loc);
  return {found[0], found[1]};
}
LU lu_unpack(const Tensor& lu, const Tensor& pivots, Loc loc) {
  static const OpDef& op = op_named("sardonyx::LuUnpack");
  check_factors("lu_unpack", lu, pivots, loc);
  const Tensor inputs[] = {lu, pivots};
  const std::vector<Tensor> found = apply_many(op, inputs, {}, 3, loc);
  return {found[0], found[1], found[2]};
}
LU lu(const Tensor& a, Loc loc) {
  check_matrices("lu", a, loc);
  const LUFactors found = lu_factor(a, loc);
  return lu_unpack(found.LU, found.pivots, loc);
}
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, LUSolveOptions options,
                Loc loc) {
  static const OpDef& op = op_named("sardonyx::LuSolve");
  check_factors("lu_solve", lu, pivots, loc);
  check_matrices("lu_solve", b, loc);
  // x a = b is a^T x^T = b^T.
  const Tensor columns = options.left ? b : b.t(loc);
  const bool is_transposed = options.adjoint == options.left;
  const Dims batch = broadcast_batches("lu_solve", lu, columns, loc);
  Dims of_pivots = batch;
  of_pivots.push_back(pivots.shape(loc).back());
  const Tensor all = pivots.shape(loc) == of_pivots ? pivots : pivots.expand(of_pivots, loc);
  const Tensor inputs[] = {with_batch(lu, batch, loc), all, with_batch(columns, batch, loc)};
  const Tensor x = apply_many(op, inputs, {{"adjoint", int64_t{is_transposed}}}, 1, loc)[0];
  return options.left ? x : x.t(loc);
}
QR qr(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Qr");
  const std::vector<Tensor> found = factors("qr", op, a, 2, loc);
  return {found[0], found[1]};
}
Eigen eigh(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Eigh");
  const std::vector<Tensor> found = factors("eigh", op, a, 2, loc);
  return {found[0], found[1]};
}
Tensor eigvalsh(const Tensor& a, Loc loc) {
  return eigh(a, loc).eigenvalues;
}
Eigen eig(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Eig");
  const std::vector<Tensor> found = factors("eig", op, a, 2, loc);
  return {found[0], found[1]};
}
Tensor eigvals(const Tensor& a, Loc loc) {
  return eig(a, loc).eigenvalues;
}
SVD svd(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::Svd");
  const std::vector<Tensor> found = factors("svd", op, a, 3, loc);
  return {found[0], found[1], found[2]};
}
Tensor svdvals(const Tensor& a, Loc loc) {
  return svd(a, loc).S;
}

Tensor lstsq(const Tensor& a, const Tensor& b, Loc loc) {
  require_defined(b, "lstsq", "b", loc);
  check_matrices("lstsq", a, loc);
  const bool is_vector = b.rank() == 1;
  const Tensor columns = is_vector ? b.unsqueeze(-1, loc) : b;
  const bool is_tall = a.size(-2, loc) >= a.size(-1, loc);
  const QR parts = qr(is_tall ? a : a.t(loc), loc);
  // r x = q^T b; or a^T = q r, so that x = q r^-T b is the shortest.
  const Tensor x = is_tall ? solve(parts.R, matmul(parts.Q.t(loc), columns, loc), loc)
                           : matmul(parts.Q, solve(parts.R.t(loc), columns, loc), loc);
  return is_vector ? x.squeeze({-1}, loc) : x;
}

Tensor pinv(const Tensor& a, std::optional<double> rtol, Loc loc) {
  const SVD parts = svd(a, loc);
  const Tensor counts = counted(a, parts.S, rtol, loc);
  const Tensor safe = where(counts, {parts.S, loc}, 1.0);
  const Tensor inverse = where(counts, 1.0 / Operand(safe, loc), 0.0);
  const Tensor left = mul({parts.Vh.t(loc), loc}, inverse.unsqueeze(-2, loc));
  return matmul(left, parts.U.t(loc), loc);
}
Tensor matrix_rank(const Tensor& a, std::optional<double> rtol, Loc loc) {
  const Tensor s = svdvals(a, loc);
  return counted(a, s, rtol, loc).to(DType::kInt64, loc).sum({-1}, false, loc);
}

Tensor vector_norm(const Tensor& x, double ord, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "vector_norm", "x", loc);
  if (!is_floating(x.dtype())) refuse_matrix("vector_norm", "expected floating elements", x, loc);
  if (std::isnan(ord)) refuse_matrix("vector_norm", "expected an order, not NaN", x, loc);
  return eager::norm(x, ord, axes, keepdim, loc);
}

Tensor matrix_norm(const Tensor& a, MatrixNorm ord, bool keepdim, Loc loc) {
  check_matrices("matrix_norm", a, loc);
  const auto of_sums = [&](int64_t summed, bool greatest) {
    const int64_t other = summed == -2 ? -1 : -2;
    const Tensor sums = abs(a, loc).sum({summed}, true, loc);
    const Tensor found = greatest ? sums.amax({other}, true, loc) : sums.amin({other}, true, loc);
    return keepdim ? found : found.squeeze({-2, -1}, loc);
  };
  const auto of_values = [&](const Tensor& one) {
    return keepdim ? one.unsqueeze(-1, loc).unsqueeze(-1, loc) : one;
  };
  switch (ord) {
    case MatrixNorm::kOne:
      return of_sums(-2, true);
    case MatrixNorm::kMinusOne:
      return of_sums(-2, false);
    case MatrixNorm::kInfinity:
      return of_sums(-1, true);
    case MatrixNorm::kMinusInfinity:
      return of_sums(-1, false);
    case MatrixNorm::kNuclear:
      return of_values(svdvals(a, loc).sum({-1}, false, loc));
    case MatrixNorm::kTwo:
      return of_values(svdvals(a, loc).amax({-1}, false, loc));
    case MatrixNorm::kMinusTwo:
      return of_values(svdvals(a, loc).amin({-1}, false, loc));
    case MatrixNorm::kFrobenius:
      break;
  }
  return vector_norm(a, 2, {-2, -1}, keepdim, loc);
}

Tensor norm(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  return vector_norm(x, 2, axes, keepdim, loc);
}
Tensor cond(const Tensor& a, Loc loc) {
  const Tensor s = svdvals(a, loc);
  return div({s.amax(-1, false, loc), loc}, s.amin(-1, false, loc));
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options, Loc loc) {
  check_matrices("solve_triangular", a, loc);
  Tensor half = options.upper ? triu(a, 0, loc) : tril(a, 0, loc);
  if (options.unitriangular) {
    half = options.upper ? triu(a, 1, loc) : tril(a, -1, loc);
    const Tensor one = ones({a.size(-1, loc)}, {.dtype = a.dtype()}, loc);
    half = add({half, loc}, diag_embed(one, 0, loc));
  }
  return solve(half, b, loc);
}
Tensor cholesky_solve(const Tensor& b, const Tensor& l, Loc loc) {
  const Tensor half = solve_triangular(l, b, {}, loc);
  return solve_triangular(l.t(loc), half, {.upper = true}, loc);
}
Tensor matrix_power(const Tensor& a, int64_t power, Loc loc) {
  return eager::matrix_power(a, power, loc);
}
Tensor matrix_exp(const Tensor& a, Loc loc) {
  static const OpDef& op = op_named("sardonyx::MatrixExp");
  return factors("matrix_exp", op, a, 1, loc)[0];
}
Tensor multi_dot(const std::vector<Tensor>& matrices, Loc loc) {
  if (matrices.empty())
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": multi_dot: expected some matrices");
  Tensor product = matrices[0];
  for (size_t i = 1; i < matrices.size(); ++i)
    product = matmul(product, matrices[i], loc);
  return product;
}
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis, Loc loc) {
  return eager::cross(a, b, axis, loc);
}
Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis, Loc loc) {
  return mul({a, loc}, b).sum(axis, false, loc);
}

Tensor vander(const Tensor& x, std::optional<int64_t> columns, Loc loc) {
  require_defined(x, "vander", "x", loc);
  if (x.rank() == 0) fail_at(loc, "vander: expected x [..., n], got ", x.type());
  if (columns && *columns < 1) fail_at(loc, "vander: expected at least 1 column, got ", *columns);
  const int64_t count = columns ? *columns : x.size(-1, loc).value();
  const Tensor values = is_floating(x.dtype()) ? x : x.to(DType::kInt64, loc);
  std::vector<Tensor> powers{ones_like(values, loc)};
  while (std::ssize(powers) < count)
    powers.push_back(mul({powers.back(), loc}, values));
  powers.resize(static_cast<size_t>(count));
  return stack(powers, -1, loc);
}

namespace {

int64_t product_of(const Shape& shape, size_t first, size_t last) {
  int64_t product = 1;
  for (size_t axis = first; axis < last; ++axis)
    product *= shape[axis];
  return product;
}

Shape known_sizes(const Tensor& a, const char* name, const Loc& loc) {
  require_defined(a, name, "a", loc);
  Shape sizes;
  for (const auto& dim : a.shape(loc))
    sizes.push_back(dim.value());
  return sizes;
}

}  // namespace

Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& axes, Loc loc) {
  require_defined(b, "tensorsolve", "b", loc);
  known_sizes(a, "tensorsolve", loc);
  std::vector<int64_t> behind;
  for (int64_t i = -std::ssize(axes); i < 0; ++i)
    behind.push_back(i);
  const Tensor moved = axes.empty() ? a : movedim(a, axes, behind, loc);
  const Shape sizes = known_sizes(moved, "tensorsolve", loc);
  const size_t rows_rank = b.rank();
  const Shape rows = known_sizes(b, "tensorsolve", loc);
  const bool fits =
      sizes.size() >= rows_rank && std::equal(rows.begin(), rows.end(), sizes.begin());
  const int64_t count = product_of(rows, 0, rows_rank);
  if (!fits || product_of(sizes, rows_rank, sizes.size()) != count) {
    fail_at(loc, "tensorsolve: expected a [b's shape..., as many elements...], got ", moved.type(),
            " and ", b.type());
  }
  const Tensor matrix = moved.reshape({count, count}, loc);
  const Tensor y = solve(matrix, b.reshape({count, 1}, loc), loc);
  return y.reshape(to_dims(Shape(sizes.begin() + static_cast<ptrdiff_t>(rows_rank), sizes.end())),
                   loc);
}
Tensor tensorinv(const Tensor& a, int64_t first, Loc loc) {
  const Shape sizes = known_sizes(a, "tensorinv", loc);
  if (first < 1 || first > std::ssize(sizes)) {
    fail_at(loc, "tensorinv: expected a count of axes within [1, ", sizes.size(), "], got ", first);
  }
  const auto rows_rank = static_cast<size_t>(first);
  const int64_t rows = product_of(sizes, 0, rows_rank);
  if (product_of(sizes, rows_rank, sizes.size()) != rows) {
    fail_at(loc, "tensorinv: expected as many elements in the first ", first,
            " axes as in the others, got ", a.type());
  }
  Shape shape(sizes.begin() + first, sizes.end());
  shape.insert(shape.end(), sizes.begin(), sizes.begin() + first);
  return inv(a.reshape({rows, rows}, loc), loc).reshape(to_dims(shape), loc);
}

}  // namespace sardonyx::eager::linalg
