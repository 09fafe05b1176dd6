// Gradients of linear algebra by Giles, "An extended collection of matrix derivative results",
// 2008; that of Qr by Walter and Lehmann, "Algorithmic differentiation of linear algebra
// functions", 2018. Where values coincide (Eigh, Eig, Svd) or a factor is singular, gradients are
// infinite, as they are in torch.
#include "ir/ops/linalg/linalg_gradient.h"

#include "ir/ops/gradient/gradient_rules.h"

namespace sardonyx::ops {
namespace {

struct TransposedInputs {
  bool a = false, b = false;
};

Term product(const Term& a, const Term& b, TransposedInputs transpose = {}) {
  return apply("sardonyx::FusedMatMul", a, b,
               {{"transA", int64_t{transpose.a}}, {"transB", int64_t{transpose.b}}});
}

Term transposed(const Term& x) {
  const Type type = x.e->type(x);
  if (!type.has_rank())
    fail(ErrorCode::kUnsupported, "the rank of the matrices must be known to differentiate");
  std::vector<int64_t> order(type.rank());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return apply("Transpose", x, {{"perm", order}});
}

Term unsqueezed(const Term& x, int64_t at) {
  return apply("Unsqueeze", x, int64s(*x.e, {at}));
}

// Ones on the diagonal of the last two dims of x, zeros beside it: [n, n].
Term unit_like(const Term& x) {
  return apply("EyeLike", apply("Expand", x.number(0), sizes_of(x, -2)));
}
Term on_diagonal(const Term& x) {
  return unit_like(x) > 0.5;
}
Term lower(const Term& x) {
  return apply("Trilu", x, {{"upper", int64_t{0}}});
}
Term upper(const Term& x) {
  return apply("Trilu", x);
}
Term strictly_lower(const Term& x) {
  return where(on_diagonal(x), 0, lower(x));
}
Term symmetric(const Term& x) {
  return (x + transposed(x)) * 0.5;
}
Term skew(const Term& x) {
  return x - transposed(x);
}
// a^-1 b and b a^-T
Term solved(const Term& a, const Term& b) {
  return apply("sardonyx::Solve", a, b);
}
Term divided(const Term& b, const Term& a) {
  return transposed(solved(a, transposed(b)));
}

// Columns or rows [begin, end), and matrices beside and above each other.
Term part_of(const Term& x, const Term& begin, const Term& end, int64_t axis) {
  return {x.e, x.e->call("Slice", {x, begin, end, x.e->int64s({axis})})};
}
Term columns_of(const Term& x, const Term& begin, const Term& end) {
  return part_of(x, begin, end, -1);
}
Term rows_of(const Term& x, const Term& begin, const Term& end) {
  return part_of(x, begin, end, -2);
}
Term beside(const Term& left, const Term& right) {
  return apply("Concat", left, right, {{"axis", int64_t{-1}}});
}
Term above(const Term& upper, const Term& lower) {
  return apply("Concat", upper, lower, {{"axis", int64_t{-2}}});
}

// The gradient of an output, zeros where none flows.
Term d_or_zeros(Emitter& e, const GradCall& c, size_t index) {
  return c.has_d(index) ? d_output(e, c, index) : zeros_like(output(e, c, index));
}

// The form of the matrices of x, as far as it is known before the run.
enum class MatrixForm { kTall, kWide, kSquare, kUnknown };
MatrixForm form_of(const Term& x) {
  const Type type = x.e->type(x);
  if (!type.has_rank()) return MatrixForm::kUnknown;
  const Dim &rows = (*type.shape)[type.rank() - 2], &columns = type.shape->back();
  if (rows == columns) return MatrixForm::kSquare;
  if (!rows.is_known() || !columns.is_known()) return MatrixForm::kUnknown;
  return rows.value() > columns.value() ? MatrixForm::kTall : MatrixForm::kWide;
}

}  // namespace

Vals solve_gradient(Emitter& e, const GradCall& c) {
  const Term a = input(e, c, 0), x = output(e, c, 0);
  const Term d_b = solved(transposed(a), d_output(e, c, 0));
  return {c.wants(0) ? Val(-product(d_b, x, {.b = true})) : Val(), d_b};
}

// The gradient of a matrix function f(a) is the upper right block of f([[a^T, d], [0, a^T]])
// (Mathias, "A chain rule for matrix functions and applications", 1996).
Vals matrix_exp_gradient(Emitter& e, const GradCall& c) {
  const Term a = transposed(input(e, c, 0)), d = d_output(e, c, 0);
  const Term zero = int64s(e, {0}), middle = sizes_of(a, -1), end = middle + middle;
  const Term blocks = apply("sardonyx::MatrixExp", above(beside(a, d), beside(zeros_like(a), a)));
  return {rows_of(columns_of(blocks, middle, end), zero, middle)};
}

Vals slogdet_gradient(Emitter& e, const GradCall& c) {
  if (!c.has_d(1)) return {};  // the sign stays
  const Term a = input(e, c, 0);
  const Term d = unsqueezed(unsqueezed(d_output(e, c, 1), -1), -1);
  const Term unit = apply("Expand", unit_like(a), sizes_of(a, 0));
  return {d * solved(transposed(a), unit)};
}

Vals cholesky_gradient(Emitter& e, const GradCall& c) {
  const Term l = output(e, c, 0);
  const Term inner = lower(product(l, d_output(e, c, 0), {.a = true}));
  const Term halved = where(on_diagonal(inner), inner * 0.5, inner);
  const Term l_t = transposed(l);
  return {symmetric(divided(solved(l_t, halved), l_t))};
}

namespace {

// The gradient of Qr for a matrix that is not wide.
Term tall_qr_gradient(const Term& q, const Term& r, const Term& d_q, const Term& d_r) {
  const Term m = product(r, d_r, {.b = true}) - product(d_q, q, {.a = true});
  const Term mirrored = lower(m) + transposed(strictly_lower(m));
  return divided(d_q + product(q, mirrored), r);
}

}  // namespace

Vals qr_gradient(Emitter& e, const GradCall& c) {
  const Term a = input(e, c, 0), q = output(e, c, 0), r = output(e, c, 1);
  const Term d_q = d_or_zeros(e, c, 0), d_r = d_or_zeros(e, c, 1);
  const MatrixForm form = form_of(a);
  if (form == MatrixForm::kTall || form == MatrixForm::kSquare)
    return {tall_qr_gradient(q, r, d_q, d_r)};
  // a = [x y], r = [u v] where x and u have as many columns as q: x = q u, and v = q^T y. Of a
  // matrix that is not wide y and v are empty.
  const Term zero = int64s(e, {0}), middle = sizes_of(q, -1), end = sizes_of(a, -1);
  const Term y = columns_of(a, middle, end), d_v = columns_of(d_r, middle, end);
  const Term d_x =
      tall_qr_gradient(q, columns_of(r, zero, middle), d_q + product(y, d_v, {.b = true}),
                       columns_of(d_r, zero, middle));
  return {beside(d_x, product(q, d_v))};
}

namespace {

struct UnpackedLu {
  Term p, l, u;
};
UnpackedLu unpacked(Emitter& e, const Val& lu, const Val& pivots) {
  const Val inputs[] = {lu, pivots};
  const Vals parts = e.call_many("sardonyx::LuUnpack", inputs, {}, 3);
  return {{&e, parts[0]}, {&e, parts[1]}, {&e, parts[2]}};
}

}  // namespace

// a = p l u in blocks of k = min(m, n): of l [l1; l2], of u [u1 u2]. Those beside the square ones
// are empty but for l2 of a tall a, or u2 of a wide one.
Vals lu_gradient(Emitter& e, const GradCall& c) {
  if (!c.has_d(0)) return {};
  const Term a = input(e, c, 0), d = d_output(e, c, 0);
  const auto [p, l, u] = unpacked(e, c.outputs[0], c.outputs[1]);
  if (form_of(a) == MatrixForm::kSquare) {
    const Term inner = strictly_lower(product(l, strictly_lower(d), {.a = true})) +
                       upper(product(upper(d), u, {.b = true}));
    return {product(p, divided(solved(transposed(l), inner), u))};
  }
  const Term zero = int64s(e, {0}), k = sizes_of(l, -1), m = sizes_of(a, -2, -1);
  const Term n = sizes_of(a, -1);
  const Term l1 = rows_of(l, zero, k), l2 = rows_of(l, k, m);
  const Term u1 = columns_of(u, zero, k), u2 = columns_of(u, k, n);
  const Term d_above = rows_of(d, zero, k), d_l2 = columns_of(rows_of(d, k, m), zero, k);
  const Term d_middle = columns_of(d_above, zero, k), d_u2 = columns_of(d_above, k, n);
  const Term inner =
      strictly_lower(product(l1, strictly_lower(d_middle), {.a = true}) -
                     product(d_u2, u2, {.b = true})) +
      upper(product(upper(d_middle), u1, {.b = true}) - product(l2, d_l2, {.a = true}));
  const Term l1_t = transposed(l1);
  const Term d_left = divided(solved(l1_t, inner), u1), d_right = solved(l1_t, d_u2);
  const Term d_below = beside(divided(d_l2, u1), product(d_l2, d_u2));
  return {product(p, above(beside(d_left, d_right), d_below))};
}

Vals lu_unpack_gradient(Emitter& e, const GradCall& c) {
  const Term lu = input(e, c, 0), l = output(e, c, 1);
  const Term d_l = strictly_lower(d_or_zeros(e, c, 1)), d_u = upper(d_or_zeros(e, c, 2));
  if (form_of(lu) == MatrixForm::kSquare) return {d_l + d_u};
  const Term none = zeros_like(lu), k = sizes_of(l, -1);
  return {beside(d_l, columns_of(none, k, sizes_of(lu, -1))) +
          above(d_u, rows_of(none, k, sizes_of(lu, -2, -1)))};
}

// x = a^-1 b, and d_b = a^-T d. With z = p^T d_b the gradient of u is -(l^T z) x^T, that of l
// -z (u x)^T. Of x = a^-T b both are the same with x and d_b exchanged.
Vals lu_solve_gradient(Emitter& e, const GradCall& c) {
  const bool is_transposed = c.attrs<LuSolveAttrs>().adjoint;
  const Term x = output(e, c, 0);
  const Term d_b{&e, e.call("sardonyx::LuSolve", {c.inputs[0], c.inputs[1], c.d_outputs[0]},
                            {{"adjoint", int64_t{!is_transposed}}})};
  if (!c.wants(0)) return {Val(), Val(), d_b};
  const auto [p, l, u] = unpacked(e, c.inputs[0], c.inputs[1]);
  const Term &left = is_transposed ? x : d_b, &right = is_transposed ? d_b : x;
  const Term z = product(p, left, {.a = true});
  const Term d_u = product(product(l, z, {.a = true}), right, {.b = true});
  const Term d_l = product(z, product(u, right), {.b = true});
  return {-(upper(d_u) + strictly_lower(d_l)), Val(), d_b};
}

Vals eigh_gradient(Emitter& e, const GradCall& c) {
  const Term values = output(e, c, 0), vectors = output(e, c, 1);
  const Term is_diagonal = on_diagonal(vectors);
  const Term gaps = unsqueezed(values, -2) - unsqueezed(values, -1);
  const Term rotations =
      product(vectors, d_or_zeros(e, c, 1), {.a = true}) / where(is_diagonal, 1, gaps);
  const Term inner = where(is_diagonal, unsqueezed(d_or_zeros(e, c, 0), -1), rotations);
  return {symmetric(product(product(vectors, inner), vectors, {.b = true}))};
}

namespace {

// Complex numbers of pairs along the last dim, part by part.
struct ComplexTerm {
  static ComplexTerm of_pairs(const Term& x) {
    const auto part = [&](int64_t at) {
      const Term pair = part_of(x, int64s(*x.e, {at}), int64s(*x.e, {at + 1}), -1);
      return apply("Squeeze", pair, int64s(*x.e, {-1}));
    };
    return {part(0), part(1)};
  }
  Term re, im;
};
// a^H b and a b^H
ComplexTerm adjoint_product(const ComplexTerm& a, const ComplexTerm& b) {
  return {product(a.re, b.re, {.a = true}) + product(a.im, b.im, {.a = true}),
          product(a.re, b.im, {.a = true}) - product(a.im, b.re, {.a = true})};
}
ComplexTerm product_by_adjoint(const ComplexTerm& a, const ComplexTerm& b) {
  return {product(a.re, b.re, {.b = true}) + product(a.im, b.im, {.b = true}),
          product(a.im, b.re, {.b = true}) - product(a.re, b.im, {.b = true})};
}
// The real part of a^-H b.
Term real_of_adjoint_solved(const ComplexTerm& a, const ComplexTerm& b) {
  const Term re = transposed(a.re), im = transposed(a.im);
  const Term x = solved(above(beside(re, im), beside(-im, re)), above(b.re, b.im));
  return rows_of(x, int64s(*x.e, {0}), sizes_of(b.re, -2, -1));
}
// a / conj(b) for each element; nothing under- or overflows that the result does not.
ComplexTerm divided_by_conjugate(const ComplexTerm& a, const ComplexTerm& b) {
  const Term size = apply("Max", apply("Abs", b.re), apply("Abs", b.im));
  const Term re = b.re / size, im = b.im / size, square_of_size = size * (square(re) + square(im));
  return {(a.re * re - a.im * im) / square_of_size, (a.re * im + a.im * re) / square_of_size};
}

Term column_sums(const Term& x) {
  return apply("ReduceSum", x, int64s(*x.e, {-2}));
}

// Projects d onto changes that keep the vectors' length, and their greatest element real: the
// part of d along a vector is left out, and that of a rotation by i goes to this element.
ComplexTerm within_the_norm(const ComplexTerm& vectors, const ComplexTerm& d) {
  const Term is_real = equal(vectors.im, 0);
  const Term reals = where(is_real, vectors.re, -1);
  const Term is_greatest = equal(reals, apply("ReduceMax", reals, int64s(*reals.e, {-2})));
  const Term ones = where(is_greatest, 1, zeros_like(reals));
  const Term rotation = column_sums(vectors.im * d.re - vectors.re * d.im);
  const Term im = d.im + ones * rotation / (column_sums(ones) * where(is_greatest, vectors.re, 1));
  const Term along = column_sums(vectors.re * d.re + vectors.im * im);
  return {d.re - vectors.re * along, im - vectors.im * along};
}

}  // namespace

// With p = v^-1 d(a) v the values change by the diagonal of p, and the vectors by v times what is
// beside it, each element (i, j) over the gap from value i to value j.
Vals eig_gradient(Emitter& e, const GradCall& c) {
  const ComplexTerm vectors = ComplexTerm::of_pairs(output(e, c, 1));
  const Term is_diagonal = on_diagonal(vectors.re);
  const auto on_columns = [&](const Term& diagonal, const Term& beside) {
    return where(is_diagonal, unsqueezed(diagonal, -2), beside);
  };
  const ComplexTerm d_values = ComplexTerm::of_pairs(d_or_zeros(e, c, 0));
  ComplexTerm inner{zeros_like(vectors.re), zeros_like(vectors.re)};
  if (c.has_d(1)) {
    const ComplexTerm values = ComplexTerm::of_pairs(output(e, c, 0));
    const auto gaps = [](const Term& x) { return unsqueezed(x, -2) - unsqueezed(x, -1); };
    const ComplexTerm of_values{where(is_diagonal, 1, gaps(values.re)), gaps(values.im)};
    const ComplexTerm d = within_the_norm(vectors, ComplexTerm::of_pairs(d_output(e, c, 1)));
    inner = divided_by_conjugate(adjoint_product(vectors, d), of_values);
  }
  inner = {on_columns(d_values.re, inner.re), on_columns(d_values.im, inner.im)};
  return {real_of_adjoint_solved(vectors, product_by_adjoint(inner, vectors))};
}

Vals svd_gradient(Emitter& e, const GradCall& c) {
  const Term u = output(e, c, 0), s = output(e, c, 1), vh = output(e, c, 2);
  const Term d_u = d_or_zeros(e, c, 0), d_s = d_or_zeros(e, c, 1), d_vh = d_or_zeros(e, c, 2);
  const Term row = unsqueezed(s, -2), column = unsqueezed(s, -1);
  const Term left = product(u, d_u, {.a = true}), right = product(vh, d_vh, {.b = true});
  const Term is_diagonal = on_diagonal(left);
  const Term gaps = where(is_diagonal, 1, square(row) - square(column));
  const Term rotations = skew(left) / gaps * row + column * (skew(right) / gaps);
  const Term inner = where(is_diagonal, unsqueezed(d_s, -1), rotations);
  Term d = product(product(u, inner), vh);
  // The rotation of vectors out of the space that they span; zero if they span everything.
  const Term a = input(e, c, 0);
  const MatrixForm form = form_of(a);
  const Term rows = sizes_of(a, -2, -1), columns = sizes_of(a, -1);
  if (form == MatrixForm::kTall || form == MatrixForm::kUnknown) {
    const Term out = product((d_u - product(u, left)) / row, vh);
    d = d + (form == MatrixForm::kTall ? out : where(rows > columns, out, 0));
  }
  if (form == MatrixForm::kWide || form == MatrixForm::kUnknown) {
    const Term out = product(u / row, d_vh - product(right, vh, {.a = true}));
    d = d + (form == MatrixForm::kWide ? out : where(rows < columns, out, 0));
  }
  return {d};
}

}  // namespace sardonyx::ops
