#include "ir/ops/gradient/gradient_rules.h"

#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

Term apply(std::string_view op, const Term& x, const AttrMap& attrs) {
  return {x.e, x.e->call(op, {x.val}, attrs)};
}
Term apply(std::string_view op, const Term& a, const Term& b, const AttrMap& attrs) {
  return {a.e, a.e->call(op, {a.val, b.val}, attrs)};
}
Term apply(std::string_view op, const Term& a, const Term& b, const Term& c) {
  return {a.e, a.e->call(op, {a.val, b.val, c.val})};
}

Term cast(const Term& x, DType to) {
  return x.dtype() == to ? x : apply("Cast", x, {{"to", static_cast<int64_t>(to)}});
}

Term sizes_of(const Term& x, int64_t begin, int64_t end) {
  const Type type = x.e->type(x);
  if (type.has_rank()) {
    const auto rank = static_cast<int64_t>(type.rank());
    const Dims& dims = *type.shape;
    const Dims part(dims.begin() + (begin < 0 ? begin + rank : begin),
                    dims.begin() + (end <= 0 ? end + rank : end));
    if (const std::optional<Shape> known = known_shape(part)) return int64s(*x.e, *known);
  }
  AttrMap attrs{{"start", begin}};
  if (end != 0) attrs["end"] = end;
  return apply("Shape", x, attrs);
}

Term joined(Emitter& e, const std::vector<Term>& parts) {
  std::optional<Dims> all = Dims();
  Vals vals;
  for (const Term& part : parts) {
    const std::optional<Dims> dims = e.dims_value(part);
    if (!dims) all.reset();
    if (all) all->insert(all->end(), dims->begin(), dims->end());
    vals.push_back(part);
  }
  if (const std::optional<Shape> known = all ? known_shape(*all) : std::nullopt) {
    return int64s(e, *known);
  }
  return {&e, e.call_many("Concat", vals, {{"axis", int64_t{0}}}, 1)[0]};
}

Val reshaped(Emitter& e, const Val& x, const Val& shape) {
  return e.call("Reshape", {x, shape}, {{"allowzero", int64_t{1}}});
}

Term reshaped(const Term& x, const Term& shape) {
  return {x.e, reshaped(*x.e, x.val, shape.val)};
}

Val product_of(Emitter& e, const Val& list) {
  return call_folded(e, "ReduceProd", {list}, {{"keepdims", int64_t{1}}});
}

Term positions(const Term& x) {
  Emitter& e = *x.e;
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  return {&e, reshape_like(e, e.call("Range", {zero, e.call("Size", {x}), one}), x)};
}

Term scattered_back(const Term& x, const Term& from, const Term& d) {
  Emitter& e = *x.e;
  const Term flat = int64s(e, {-1});
  const Term zeros = apply("Expand", d.number(0), apply("Reshape", apply("Size", x), flat));
  const Term sums{&e, e.call("ScatterElements",
                             {zeros, e.call("Reshape", {from, flat}), e.call("Reshape", {d, flat})},
                             {{"reduction", std::string("add")}})};
  return {&e, reshape_like(e, sums, x)};
}

}  // namespace sardonyx::ops
