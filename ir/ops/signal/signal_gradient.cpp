#include "ir/ops/signal/signal_gradient.h"

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {
namespace {

bool flag(const Attrs& attrs, std::string_view name) {
  return std::get<int64_t>(attrs.get(name).value()) != 0;
}

// An integer of one element as a list of one.
Val as_list(Emitter& e, const Val& number) {
  const Val wide =
      e.type(number).dtype == DType::kInt64
          ? number
          : call_folded(e, "Cast", {number}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  return call_folded(e, "Reshape", {wide, e.int64s({1})});
}

Val as_number(Emitter& e, const Val& list) {
  return call_folded(e, "Reshape", {list, e.int64s({})});
}

// The numbers 0 to `count` - 1, of a list of one.
Term range(Emitter& e, const Val& count) {
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  return {&e, call_folded(e, "Range", {zero, as_number(e, count), one})};
}

// x cut or filled with zeros along an axis, to the size in the list `wanted`.
Term fitted(const Term& x, int64_t axis, const Val& wanted) {
  Emitter& e = *x.e;
  const Val axes = e.int64s({axis});
  const Term cut{&e, e.call("Slice", {x, e.int64s({0}), wanted, axes})};
  const Val missing = call_folded(e, "Sub", {wanted, dims_of(e, cut, axis, axis + 1)});
  const Val pads = joined_lists(e, {e.int64s({0}), missing});
  return {&e, e.call("Pad", {cut, pads, {}, axes})};
}

// The real part of z where x is real.
Val as_real_as(const Val& x, const Term& z, size_t rank) {
  Emitter& e = *z.e;
  const auto last = static_cast<int64_t>(rank) - 1;
  const Val parts = dims_of(e, x, last, last + 1);
  return e.call("Slice", {z, e.int64s({0}), parts, e.int64s({last})});
}

struct Transform {
  int64_t axis;
  Val length;  // a list of one
  bool is_inverse;
};

Term transformed(const Term& x, const Transform& to, bool is_onesided = false) {
  Emitter& e = *x.e;
  return {&e, e.call("DFT", {x, as_number(e, to.length), e.scalar(DType::kInt64, to.axis)},
                     {{"inverse", int64_t{to.is_inverse}}, {"onesided", int64_t{is_onesided}}})};
}

// How often each bin of a one-sided spectrum counts in the real signal: the first once, and the
// last one of an even length; all others stand for two.
Term bin_weights(const Term& bins, size_t rank, const Transform& to) {
  Emitter& e = *bins.e;
  const Term index = range(e, dims_of(e, bins, to.axis, to.axis + 1));
  const Term is_single = apply("Or", equal(index, 0), equal(index * 2, Term{&e, to.length}));
  const Term weights =
      where(is_single, Term{&e, e.scalar_like(bins, 1)}, Term{&e, e.scalar_like(bins, 2)});
  std::vector<int64_t> axes;
  for (auto axis = to.axis + 1; axis < static_cast<int64_t>(rank); ++axis)
    axes.push_back(axis - to.axis);
  return {&e, e.call("Unsqueeze", {weights, e.int64s(axes)})};
}

// Frames [batch, frames, length, parts] of the signal, weighed and transformed.
Vals stft_decomposition(Emitter& e, const BodyCall& c) {
  const Val& signal = c.inputs[0];
  const Val samples = dims_of(e, signal, 1, 2);
  const Val step = as_list(e, c.inputs[1]);
  const Val length = c.has(3)   ? as_list(e, c.inputs[3])
                     : c.has(2) ? dims_of(e, c.inputs[2], 0, 1)
                                : samples;
  const Val frames = call_folded(
      e, "Add",
      {call_folded(e, "Div", {call_folded(e, "Sub", {samples, length}), step}), e.int64s({1})});
  const Term starts = range(e, frames) * Term{&e, step};
  const Val places =
      e.call("Add", {e.call("Unsqueeze", {starts, e.int64s({1})}), range(e, length)});
  Term framed{&e, e.call("Gather", {signal, places}, {{"axis", int64_t{1}}})};
  if (c.has(2)) framed = framed * Term{&e, e.call("Unsqueeze", {c.inputs[2], e.int64s({1})})};
  const Transform to{2, length, false};
  return {transformed(framed, to, flag(c.raw_attrs, "onesided"))};
}

}  // namespace

Vals dft_grad(Emitter& e, const GradCall& call) {
  const bool is_inverse = flag(call.raw_attrs, "inverse");
  const bool is_onesided = flag(call.raw_attrs, "onesided");
  const Val& x = call.inputs[0];
  const size_t rank = rank_of(e, x, call.op.name);
  int64_t axis = -2;
  if (call.has(2)) {
    const std::optional<Tensor> given = e.constant_value(call.inputs[2]);
    if (!given) fail(ErrorCode::kUnsupported, "DFT: its gradient takes an axis that is known");
    axis = given->to_int64s()[0];
  }
  if (axis < 0) axis += static_cast<int64_t>(rank);
  const Val size = dims_of(e, x, axis, axis + 1);
  Val length = size;
  if (call.has(1)) {
    length = as_list(e, call.inputs[1]);
  } else if (is_inverse && is_onesided) {
    length = call_folded(e, "Mul", {call_folded(e, "Sub", {size, e.int64s({1})}), e.int64s({2})});
  }
  const Term d_y = d_output(e, call, 0);
  const Term count = cast({&e, length}, d_y.dtype());
  // The inverse divides by the length, its opposite does not.
  const Transform back{axis, length, !is_inverse};
  Term d_x{&e, {}};
  if (is_inverse && is_onesided) {
    const Term spectrum = transformed(d_y, back, true);
    d_x = spectrum * bin_weights(spectrum, rank, back) / count;
  } else {
    d_x = is_inverse ? transformed(d_y, back) / count : transformed(d_y, back) * count;
  }
  return {as_real_as(x, fitted(d_x, axis, size), rank)};
}

Vals stft_grad(Emitter& e, const GradCall& call) {
  rank_of(e, call.inputs[0], call.op.name);
  return autodiff_body(e, call, stft_decomposition);
}

}  // namespace sardonyx::ops
