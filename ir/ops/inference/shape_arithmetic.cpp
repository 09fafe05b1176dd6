#include "ir/ops/inference/shape_arithmetic.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::ops {

Val call_folded(Emitter& e, std::string_view op, std::initializer_list<Val> inputs,
                const AttrMap& attrs) {
  std::vector<Datum> known;
  for (const Val& input : inputs) {
    std::optional<Tensor> value = input ? e.constant_value(input) : std::nullopt;
    if (!value) return e.call(op, inputs, attrs);
    known.emplace_back(std::move(*value));
  }
  const OpDef& row = op_named(op);
  return e.constant(evaluate(row, Attrs::parse(*row.attrs, attrs), known, 1)[0].tensor());
}

Val dims_of(Emitter& e, const Val& x, int64_t begin, std::optional<int64_t> end) {
  const Type type = e.type(x);
  if (type.shape) {
    const auto rank = static_cast<int64_t>(type.rank());
    const auto first = type.shape->begin() + std::min(begin, rank);
    const auto last = type.shape->begin() + std::min(end.value_or(rank), rank);
    if (const auto known = known_shape(Dims(first, std::max(first, last)))) return e.int64s(*known);
  }
  AttrMap attrs{{"start", begin}};
  if (end) attrs.emplace("end", *end);
  return e.call("Shape", {x}, attrs);
}

Val part_of(Emitter& e, const Val& list, int64_t begin, std::optional<int64_t> end) {
  if (const std::optional<Dims> dims = e.dims_value(list)) {
    const auto size = static_cast<int64_t>(dims->size());
    const auto first = dims->begin() + std::min(begin, size);
    const auto last = dims->begin() + std::min(end.value_or(size), size);
    if (const auto known = known_shape(Dims(first, std::max(first, last)))) return e.int64s(*known);
  }
  const int64_t stop = end.value_or(std::numeric_limits<int64_t>::max());
  return call_folded(e, "Slice", {list, e.int64s({begin}), e.int64s({stop})});
}

Val joined_lists(Emitter& e, std::initializer_list<Val> lists) {
  return call_folded(e, "Concat", lists, {{"axis", int64_t{0}}});
}

std::optional<std::vector<int64_t>> known_list(const Emitter& e, const Val& list) {
  const std::optional<Dims> dims = e.dims_value(list);
  return dims ? known_shape(*dims) : std::nullopt;
}

size_t rank_of(const Emitter& e, const Val& x, std::string_view op) {
  const Type type = e.type(x);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, op, ": the rank of an input must be known to write the op in ",
         "others; declare its shape");
  }
  return type.rank();
}

std::vector<int64_t> axes_between(size_t begin, size_t end) {
  std::vector<int64_t> axes(end - begin);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(begin));
  return axes;
}

}  // namespace sardonyx::ops
