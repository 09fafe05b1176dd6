// Gradients of the ops that write elements by index.
#include <functional>

#include "ir/ops/data_movement/gather.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/gradient/index_gradient.h"

namespace sardonyx::ops {
namespace {

// A call's elements: `write` puts updates into data as the call does, with another
// reduction; `read` picks what is where the updates go.
struct SlotMap {
  std::function<Term(const Term& data, const Term& updates, const char* reduction)> write;
  std::function<Term(const Term& data)> read;
};

// Every update's factor is the product of all others that go to its place, 0 where one of these is.
Term gradient_of_factors(const SlotMap& places, const Term& data, const Term& updates,
                         const Term& d) {
  const Term is_zero = equal(updates, 0);
  const Term own_zero = cast(is_zero, d.dtype()), factors = where(is_zero, 1, updates);
  const Term zeros = places.read(places.write(zeros_like(data), own_zero, "add"));
  const Term product = places.write(data, factors, "mul");
  return where(zeros > own_zero, 0, places.read(d * product) / factors);
}

// Gradients of a Scatter by max or min: elements that are equal to the extreme share them.
Vals extreme_gradients(const SlotMap& places, const Term& data, const Term& updates, const Term& y,
                       const Term& d) {
  const Term stays = equal(data, y), wins = equal(updates, places.read(y));
  const Term count = places.write(cast(stays, d.dtype()), cast(wins, d.dtype()), "add");
  const Term part = d / count;
  return {where(stays, part, 0), where(wins, places.read(part), 0)};
}

// Gradients of data and updates.
Vals scatter_gradients(Emitter& e, const GradCall& c, ScatterReduction reduction,
                       const SlotMap& places) {
  const Term data = input(e, c, 0), updates = input(e, c, 2), d = d_output(e, c, 0);
  switch (reduction) {
    case ScatterReduction::kNone:
      return {c.wants(0) ? places.write(d, zeros_like(updates), "none") : Val(),
              c.wants(2) ? places.read(d) : Val()};
    case ScatterReduction::kAdd:
      return {d, c.wants(2) ? places.read(d) : Val()};
    case ScatterReduction::kMul:
      return {c.wants(0) ? places.write(d, updates, "mul") : Val(),
              c.wants(2) ? gradient_of_factors(places, data, updates, d) : Val()};
    default:
      return extreme_gradients(places, data, updates, output(e, c, 0), d);
  }
}

}  // namespace

Vals scatter_elements_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<ScatterElementsAttrs>();
  const Term indices = input(e, c, 1);
  const SlotMap places{
      [&](const Term& data, const Term& updates, const char* reduction) {
        return Term{&e, e.call("ScatterElements", {data, indices, updates},
                               {{"axis", attrs.axis}, {"reduction", std::string(reduction)}})};
      },
      [&](const Term& data) {
        return apply("GatherElements", data, indices, {{"axis", attrs.axis}});
      }};
  const Vals found = scatter_gradients(e, c, reduction_named(attrs.reduction), places);
  return {found[0], Val(), found[1]};
}

Vals scatter_nd_gradient(Emitter& e, const GradCall& c) {
  const Term indices = input(e, c, 1);
  const SlotMap places{[&](const Term& data, const Term& updates, const char* reduction) {
                         return Term{&e, e.call("ScatterND", {data, indices, updates},
                                                {{"reduction", std::string(reduction)}})};
                       },
                       [&](const Term& data) { return apply("GatherND", data, indices); }};
  const ScatterReduction reduction = reduction_named(c.attrs<ScatterNDAttrs>().reduction);
  const Vals found = scatter_gradients(e, c, reduction, places);
  return {found[0], Val(), found[1]};
}

// The update's gradient: each sequence's steps are from its start on, circular in that mode.
Vals tensor_scatter_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<TensorScatterAttrs>();
  const Term update = input(e, c, 1), d = d_output(e, c, 0);
  const Val starts = c.has(2) ? c.inputs[2] : Val();
  Vals gradients(c.inputs.size());
  if (c.wants(0)) {
    gradients[0] = e.call("TensorScatter", {d, zeros_like(update), starts}, c.raw_attrs.to_map());
  }
  if (!c.wants(1)) return gradients;
  const Type type = e.type(update);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, "the rank of update must be known to differentiate");
  }
  const auto rank = static_cast<int64_t>(type.rank());
  const int64_t axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
  const auto all_but = [&](int64_t dim) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim) others.push_back(i);
    return int64s(e, others);
  };
  const auto size_of = [&](const Term& x) {
    return apply("Gather", Term{&e, sardonyx::shape_of(e, x)},
                 Term{&e, e.scalar(DType::kInt64, static_cast<double>(axis))});
  };
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  const Term steps{&e, e.call("Range", {zero, size_of(update), one})};
  Term at = apply("Unsqueeze", steps, all_but(axis));
  if (starts) at = at + apply("Unsqueeze", Term{&e, starts}, all_but(0));
  if (attrs.mode == "circular") at = apply("Mod", at, size_of(d));
  const Term places = apply("Expand", at, Term{&e, sardonyx::shape_of(e, update)});
  gradients[1] = apply("GatherElements", d, places, {{"axis", axis}});
  return gradients;
}

}  // namespace sardonyx::ops
