// Gradients of the matrix products. What must be transposed is transposed by the product's
// attributes, which kernels take in without a copy.
#include "ir/ops/gemm/matmul_gradient.h"

#include "ir/ops/gemm/matmul.h"
#include "ir/ops/gradient/gradient_rules.h"

namespace sardonyx::ops {
namespace {

size_t rank_of(const Term& x) {
  const Type type = x.e->type(x);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, "the ranks of the operands must be known to differentiate");
  }
  return type.rank();
}

struct Transposed {
  bool a = false, b = false;
};

// The product of two matrices.
Term gemm(const Term& a, const Term& b, Transposed transposed, double alpha = 1) {
  return apply("Gemm", a, b,
               {{"transA", int64_t{transposed.a}},
                {"transB", int64_t{transposed.b}},
                {"alpha", static_cast<float>(alpha)}});
}

// The product of batches of matrices.
Term batch_product(const Term& a, const Term& b, Transposed transposed) {
  if (rank_of(a) == 2 && rank_of(b) == 2) return gemm(a, b, transposed);
  return apply("sardonyx::FusedMatMul", a, b,
               {{"transA", int64_t{transposed.a}}, {"transB", int64_t{transposed.b}}});
}

// All dims but the last one as one: many rows.
Term rows_of(const Term& x) {
  return rank_of(x) == 2 ? x : apply("Flatten", x, {{"axis", int64_t{-1}}});
}

Term with_dim(const Term& x, int64_t at) {
  return apply("Unsqueeze", x, int64s(*x.e, {at}));
}

Term summed_to(const Term& gradient, const Term& x) {
  return {x.e, sum_to(*x.e, gradient, x)};
}

}  // namespace

// One matrix B for all rows of A is the common case: it is a single product of matrices. Otherwise
// a vector is a matrix of one row (A) or column (B), and what was broadcast is summed.
Vals matmul_gradient(Emitter& e, const GradCall& c) {
  const Term a = input(e, c, 0), b = input(e, c, 1), d = d_output(e, c, 0);
  if (rank_of(a) >= 2 && rank_of(b) == 2) {
    Vals gradients(2);
    if (c.wants(0)) gradients[0] = reshape_like(e, gemm(rows_of(d), b, {.b = true}), a);
    if (c.wants(1)) gradients[1] = gemm(rows_of(a), rows_of(d), {.a = true});
    return gradients;
  }
  const bool a_is_vector = rank_of(a) == 1, b_is_vector = rank_of(b) == 1;
  const Term left = a_is_vector ? with_dim(a, 0) : a;
  const Term right = b_is_vector ? with_dim(b, 1) : b;
  Term wide = b_is_vector ? with_dim(d, -1) : d;
  if (a_is_vector) wide = with_dim(wide, -2);
  Vals gradients(2);
  if (c.wants(0)) {
    const Term product = batch_product(wide, right, {.b = true});
    gradients[0] = reshape_like(e, summed_to(product, left), a);
  }
  if (c.wants(1)) {
    const Term product = batch_product(left, wide, {.a = true});
    gradients[1] = reshape_like(e, summed_to(product, right), b);
  }
  return gradients;
}

Vals gemm_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<GemmAttrs>();
  const Term a = input(e, c, 0), b = input(e, c, 1), d = d_output(e, c, 0);
  Vals gradients(c.inputs.size());
  if (c.wants(0)) {
    gradients[0] = attrs.transA ? gemm(b, d, {attrs.transB, true}, attrs.alpha)
                                : gemm(d, b, {false, !attrs.transB}, attrs.alpha);
  }
  if (c.wants(1)) {
    gradients[1] = attrs.transB ? gemm(d, a, {true, attrs.transA}, attrs.alpha)
                                : gemm(a, d, {!attrs.transA, false}, attrs.alpha);
  }
  if (c.wants(2)) {
    const Term sum = summed_to(d, input(e, c, 2));
    gradients[2] = attrs.beta == 1 ? sum : sum * attrs.beta;
  }
  return gradients;
}

// The slope by an element is its cofactor: the determinant of what is left without its row and
// column, with a sign. Exact for singular matrices too, where an inverse would fail; takes the
// square of a matrix's elements in memory.
Vals det_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0);
  const auto rank = static_cast<int64_t>(rank_of(x));
  const Term size = apply("Squeeze", sizes_of(x, -1));
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  const auto range = [&](const Term& end) { return Term{&e, e.call("Range", {zero, end, one})}; };
  const Term i = with_dim(range(size), 1), k = range(size - 1);
  const Term others = k + cast(k >= i, DType::kInt64);  // row i: all numbers but i
  const Term rows = apply("Gather", x, others, {{"axis", rank - 2}});
  const Term minors = apply("Gather", rows, others, {{"axis", rank}});  // [.., i, n-1, j, n-1]
  std::vector<int64_t> order(static_cast<size_t>(rank + 2));
  for (int64_t dim = 0; dim < rank + 2; ++dim)
    order[static_cast<size_t>(dim)] = dim;
  std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank)]);
  const Term minor = apply("Det", apply("Transpose", minors, {{"perm", order}}));
  const Term is_odd =
      cast(apply("Mod", i + range(size), Term{&e, e.scalar(DType::kInt64, 2)}), x.dtype());
  const Term d = with_dim(with_dim(d_output(e, c, 0), -1), -1);
  return {d * minor * (1 - is_odd * 2)};
}

}  // namespace sardonyx::ops
