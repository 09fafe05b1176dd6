#include "eager/functional/products.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/arrange.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/functional/reduce.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

void check_ranks(const char* what, const Tensor& a, size_t a_rank, const Tensor& b, size_t b_rank,
                 const Loc& loc) {
  require_defined(a, what, "a", loc);
  require_defined(b, what, "b", loc);
  if (a.rank() == a_rank && b.rank() == b_rank) return;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", what, ": expected tensors of ", a_rank,
       " and ", b_rank, " axes, got ", a.type(), " and ", b.type(), "; matmul() takes any");
}

Tensor scaled_sum(const Tensor& x, const Tensor& product, ScaledProduct scales, const Loc& loc) {
  require_defined(x, "a sum with a product", "x", loc);
  const Tensor term = scales.alpha.is(1) ? product : mul({product, loc}, scales.alpha);
  if (scales.beta.is(0)) return term;
  return add({scales.beta.is(1) ? x : mul({x, loc}, scales.beta), loc}, term);
}

// Axes that are not among `taken`, in order.
std::vector<int64_t> others(size_t rank, const std::vector<int64_t>& taken) {
  std::vector<bool> is_taken(rank, false);
  for (const int64_t axis : taken)
    is_taken[static_cast<size_t>(axis)] = true;
  std::vector<int64_t> left;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (!is_taken[axis]) left.push_back(static_cast<int64_t>(axis));
  }
  return left;
}

std::vector<int64_t> normalized_axes(const std::vector<int64_t>& axes, const Tensor& x,
                                     const Loc& loc) {
  std::vector<int64_t> positive;
  std::vector<bool> seen(x.rank(), false);
  for (const int64_t axis : axes) {
    const auto rank = static_cast<int64_t>(x.rank());
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank || seen[static_cast<size_t>(at)]) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": tensordot: expected different axes of ",
           x.type(), ", got ", axis);
    }
    seen[static_cast<size_t>(at)] = true;
    positive.push_back(at);
  }
  return positive;
}

Dim product_of(const Dims& dims, const std::vector<int64_t>& axes) {
  sardonyx::Dim product = 1;
  for (const int64_t axis : axes)
    product = product * dims[static_cast<size_t>(axis)];
  return product;
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b, Loc loc) {
  check_ranks("mm", a, 2, b, 2, loc);
  return matmul(a, b, loc);
}
Tensor bmm(const Tensor& a, const Tensor& b, Loc loc) {
  check_ranks("bmm", a, 3, b, 3, loc);
  return matmul(a, b, loc);
}
Tensor mv(const Tensor& a, const Tensor& b, Loc loc) {
  check_ranks("mv", a, 2, b, 1, loc);
  return matmul(a, b, loc);
}
Tensor dot(const Tensor& a, const Tensor& b, Loc loc) {
  check_ranks("dot", a, 1, b, 1, loc);
  return matmul(a, b, loc);
}
Tensor outer(const Tensor& a, const Tensor& b, Loc loc) {
  check_ranks("outer", a, 1, b, 1, loc);
  return mul({a.unsqueeze(1, loc), loc}, b.unsqueeze(0, loc));
}
Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) {
  return scaled_sum(x, mm(a, b, loc), scales, loc);
}
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) {
  return scaled_sum(x, bmm(a, b, loc), scales, loc);
}
Tensor inner(const Tensor& a, const Tensor& b, Loc loc) {
  require_defined(a, "inner", "a", loc);
  require_defined(b, "inner", "b", loc);
  if (a.rank() == 0 || b.rank() == 0) return mul({a, loc}, b);
  return tensordot(a, b, {-1}, {-1}, loc);
}
Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) {
  return scaled_sum(x, mv(a, b, loc), scales, loc);
}
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales, Loc loc) {
  return scaled_sum(x, bmm(a, b, loc).sum(0, false, loc), scales, loc);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count, Loc loc) {
  require_defined(a, "tensordot", "a", loc);
  require_defined(b, "tensordot", "b", loc);
  if (count < 0 || static_cast<size_t>(count) > std::min(a.rank(), b.rank())) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": tensordot: expected at most ",
         std::min(a.rank(), b.rank()), " axes to sum over, got ", count);
  }
  std::vector<int64_t> a_axes, b_axes;
  for (int64_t i = 0; i < count; ++i) {
    a_axes.push_back(static_cast<int64_t>(a.rank()) - count + i);
    b_axes.push_back(i);
  }
  return tensordot(a, b, a_axes, b_axes, loc);
}
Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes,
                 const std::vector<int64_t>& b_axes, Loc loc) {
  require_defined(a, "tensordot", "a", loc);
  require_defined(b, "tensordot", "b", loc);
  if (a_axes.size() != b_axes.size()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": tensordot: expected as many axes of a as of b, got ", a_axes.size(), " and ",
         b_axes.size());
  }
  const std::vector<int64_t> a_summed = normalized_axes(a_axes, a, loc);
  const std::vector<int64_t> b_summed = normalized_axes(b_axes, b, loc);
  const std::vector<int64_t> a_kept = others(a.rank(), a_summed),
                             b_kept = others(b.rank(), b_summed);
  std::vector<int64_t> a_order = a_kept, b_order = b_summed;
  a_order.insert(a_order.end(), a_summed.begin(), a_summed.end());
  b_order.insert(b_order.end(), b_kept.begin(), b_kept.end());
  const Dims a_dims = a.shape(loc), b_dims = b.shape(loc);
  const Tensor left = a.permute(a_order, loc)
                          .reshape({product_of(a_dims, a_kept), product_of(a_dims, a_summed)}, loc);
  const Tensor right =
      b.permute(b_order, loc)
          .reshape({product_of(b_dims, b_summed), product_of(b_dims, b_kept)}, loc);
  Dims shape;
  for (const int64_t axis : a_kept)
    shape.push_back(a_dims[static_cast<size_t>(axis)]);
  for (const int64_t axis : b_kept)
    shape.push_back(b_dims[static_cast<size_t>(axis)]);
  return matmul(left, right, loc).reshape(shape, loc);
}
Tensor kron(const Tensor& a, const Tensor& b, Loc loc) {
  require_defined(a, "kron", "a", loc);
  require_defined(b, "kron", "b", loc);
  if (a.rank() != b.rank()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": kron: expected tensors of one rank, got ",
         a.type(), " and ", b.type());
  }
  const Dims a_dims = a.shape(loc), b_dims = b.shape(loc);
  Dims a_spread, b_spread, joined;
  for (size_t i = 0; i < a_dims.size(); ++i) {
    a_spread.insert(a_spread.end(), {a_dims[i], 1});
    b_spread.insert(b_spread.end(), {1, b_dims[i]});
    joined.push_back(a_dims[i] * b_dims[i]);
  }
  return mul({a.reshape(a_spread, loc), loc}, b.reshape(b_spread, loc)).reshape(joined, loc);
}
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis, Loc loc) {
  require_defined(a, "cross", "a", loc);
  require_defined(b, "cross", "b", loc);
  for (const Tensor* one : {&a, &b}) {
    if (detail::sizes_agree(one->size(axis, loc), 3, loc)) continue;
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": cross: expected 3 elements along axis ",
         axis, ", got ", one->type());
  }
  const auto rotated = [&](const Tensor& x, int64_t by) { return roll(x, {by}, {axis}, loc); };
  return sub({mul({rotated(a, -1), loc}, rotated(b, 1)), loc},
             mul({rotated(a, 1), loc}, rotated(b, -1)));
}
Tensor trace(const Tensor& x, Loc loc) {
  require_defined(x, "trace", "x", loc);
  if (x.rank() != 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": trace: expected a matrix, got ", x.type());
  }
  return diagonal(x, 0, 0, 1, loc).sum({}, false, loc);
}
Tensor matrix_power(const Tensor& x, int64_t power, Loc loc) {
  require_defined(x, "matrix_power", "x", loc);
  if (x.rank() < 2) fail_at(loc, "matrix_power: expected matrices [..., n, n], got ", x.type());
  // By squaring: the bits of the power say which squares count.
  Tensor square = power < 0 ? linalg::inv(x, loc) : x;
  Tensor found;
  const uint64_t bits = static_cast<uint64_t>(power);
  for (uint64_t left = power < 0 ? 0 - bits : bits; left > 0; left /= 2) {
    if (left % 2 == 1) found = found.defined() ? matmul(found, square, loc) : square;
    if (left > 1) square = matmul(square, square, loc);
  }
  if (found.defined()) return found;
  const Tensor ones_on = diag_embed(ones({x.size(-1, loc)}, {.dtype = x.dtype()}, loc), 0, loc);
  return ones_on.expand(x.shape(loc), loc);
}
Tensor cdist(const Tensor& a, const Tensor& b, double p, Loc loc) {
  require_defined(a, "cdist", "a", loc);
  require_defined(b, "cdist", "b", loc);
  if (a.rank() < 2 || b.rank() < 2 || p < 0) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": cdist: expected rows [..., n, d] and [..., m, d] and p of at least 0, got ", a.type(),
         ", ", b.type(), " and ", p);
  }
  return row_norms(sub({a.unsqueeze(-2, loc), loc}, b.unsqueeze(-3, loc)), p, loc);
}
Tensor row_norms(const Tensor& difference, double p, Loc loc) {
  if (p == 0 || p == 1 || std::isinf(p)) return norm(difference, p, {-1}, false, loc);
  // Roots have no gradient at 0, so they are taken of ones there.
  const Tensor powers = p == 2 ? square(difference, loc).sum({-1}, false, loc)
                               : pow({abs(difference, loc), loc}, p).sum({-1}, false, loc);
  const Tensor is_apart = Operand(powers, loc) > 0;
  const Tensor safe = where(is_apart, {powers, loc}, 1);
  const Tensor roots = p == 2 ? sqrt(safe, loc) : pow({safe, loc}, 1 / p);
  return where(is_apart, {roots, loc}, 0);
}

}  // namespace sardonyx::eager
