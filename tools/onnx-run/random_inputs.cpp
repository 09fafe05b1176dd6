#include "tools/onnx-run/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <set>

#include "ir/core/random.h"
#include "ir/reference_evaluator.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

std::optional<int64_t> dim_at(const Value* value, int64_t axis) {
  if (!value || !value->type.has_rank()) return std::nullopt;
  const auto rank = static_cast<int64_t>(value->type.rank());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return (*value->type.shape)[static_cast<size_t>(axis)].try_value();
}

// Of which table an op's input holds indices, and along which axis of it.
struct IndexUse {
  std::string_view op;
  size_t index_slot, table_slot;
  bool has_axis;
};
constexpr IndexUse kIndexUses[] = {
    {"Gather", 1, 0, true},
    {"GatherElements", 1, 0, true},
    {"GatherND", 1, 0, false},
    {"ScatterElements", 1, 0, true},
    {"ScatterND", 1, 0, false},
    {"com.microsoft::EmbedLayerNormalization", 0, 2, false},
    {"com.microsoft::EmbedLayerNormalization", 1, 4, false},
};
constexpr std::string_view kPassing[] = {"Cast",    "Identity", "Reshape", "Unsqueeze",
                                         "Squeeze", "Flatten",  "Expand",  "Transpose",
                                         "Concat",  "Slice",    "Split"};

// The size of the smallest thing that `value` is used to index, as far as it is known.
std::optional<int64_t> index_bound(const Value& value, int depth) {
  constexpr int kDeepest = 8;
  std::optional<int64_t> bound;
  const auto lower = [&](std::optional<int64_t> other) {
    if (other && (!bound || *other < *bound)) bound = other;
  };
  if (depth > kDeepest) return bound;
  for (const Use& use : value.uses) {
    const std::string op = full_name(*use.node->op);
    for (const IndexUse& known : kIndexUses) {
      if (known.op != op || known.index_slot != use.slot || !use.node->has_input(known.table_slot))
        continue;
      int64_t axis = 0;
      if (known.has_axis) {
        const auto given = use.node->attrs.get("axis");
        if (given) axis = std::get<int64_t>(*given);
      }
      lower(dim_at(use.node->inputs[known.table_slot], axis));
    }
    if (std::ranges::find(kPassing, op) == std::end(kPassing) || use.slot > 0) continue;
    for (const Value* output : use.node->outputs) {
      if (output) lower(index_bound(*output, depth + 1));
    }
  }
  return bound;
}

uint64_t key_of(const std::string& name, uint64_t seed) {
  uint64_t key = seed * 0x9e3779b97f4a7c15u + 0xcbf29ce484222325u;
  for (const char c : name)
    key = (key ^ static_cast<uint8_t>(c)) * 0x100000001b3u;  // FNV-1a
  return key;
}

using Draw = std::function<double(int64_t)>;  // element i, as a number in the range

template <typename Real>
Tensor draw_complex(const Shape& shape, const Draw& draw) {
  Tensor tensor = Tensor::allocate(dtype_of<std::complex<Real>>(), shape);
  int64_t index = 0;
  for (std::complex<Real>& x : tensor.mutable_values<std::complex<Real>>()) {
    const auto real = static_cast<Real>(draw(index++));
    x = {real, static_cast<Real>(draw(index++))};
  }
  return tensor;
}

// Everything else is drawn as double, or as int64 for whole numbers, and cast.
Tensor draw_real(DType dtype, const Shape& shape, const Draw& draw) {
  const bool whole = !is_floating(dtype);
  Tensor drawn = Tensor::allocate(whole ? DType::kInt64 : DType::kDouble, shape);
  for (int64_t i = 0; i < drawn.count(); ++i) {
    if (whole)
      drawn.mutable_values<int64_t>()[static_cast<size_t>(i)] =
          static_cast<int64_t>(std::floor(draw(i)));
    else
      drawn.mutable_values<double>()[static_cast<size_t>(i)] = draw(i);
  }
  const OpDef& cast = op_named("Cast");
  const Attrs attrs = Attrs::parse(*cast.attrs, {{"to", static_cast<int64_t>(dtype)}});
  const Datum inputs[] = {drawn};
  return evaluate(cast, attrs, inputs, 1).at(0).tensor();
}

std::pair<double, double> range_of(const ValueInfo& input, const Graph& graph,
                                   const RandomInputs& how) {
  if (const auto given = how.ranges.find(input.name); given != how.ranges.end())
    return given->second;
  const DType dtype = input.type.dtype;
  if (is_floating(dtype) || is_complex(dtype)) return how.range.value_or(std::pair(0., 1.));
  const Value* value = graph.find_value(input.name);
  const std::optional<int64_t> bound =
      value && is_integer(dtype) ? index_bound(*value, 0) : std::nullopt;
  if (!bound) return is_integer(dtype) && how.range ? *how.range : std::pair(0., 2.);
  const auto size = static_cast<double>(std::max<int64_t>(1, *bound));
  if (!how.range) return {0, size};
  const double low = std::clamp(how.range->first, 0., size - 1);
  return {low, std::clamp(how.range->second, low, size)};
}

}  // namespace

Shape shape_of(const ValueInfo& input, const RandomInputs& how) {
  if (const auto given = how.shapes.find(input.name); given != how.shapes.end())
    return given->second;
  if (!input.type.has_rank()) {
    fail_usage("input '", input.name, "' declares no rank; give it a shape: --shape '", input.name,
               ":1x2x3'");
  }
  Shape shape;
  for (const Dim& dim : *input.type.shape) {
    const Dim known = dim.substitute([&](std::string_view symbol) -> std::optional<Dim> {
      const auto given = how.dims.find(std::string(symbol));
      return Dim(given == how.dims.end() ? 1 : given->second);
    });
    if (!known.is_known() || known.value() < 0)
      fail_usage("input '", input.name, "': dimension ", dim, " has no value; give one by --dim");
    shape.push_back(known.value());
  }
  return shape;
}

void check_symbols(const std::map<std::string, int64_t>& dims, const Runner& runner) {
  std::set<std::string> known;
  for (const auto& inputs : {runner.inputs(), runner.optional_inputs()}) {
    for (const ValueInfo& input : inputs) {
      if (!input.type.has_rank()) continue;
      for (const Dim& dim : *input.type.shape) {
        dim.substitute([&](std::string_view symbol) -> std::optional<Dim> {
          known.emplace(symbol);
          return std::nullopt;
        });
      }
    }
  }
  for (const auto& given : dims) {
    if (known.contains(given.first)) continue;
    std::string list;
    for (const std::string& symbol : known)
      list += (list.empty() ? "'" : ", '") + symbol + "'";
    fail_usage("--dim: no input of the model has a dim '", given.first, "'; its symbols are ",
               list.empty() ? "none" : list);
  }
}

Datum random_datum(const ValueInfo& input, const Graph& graph, const RandomInputs& how) {
  if (!input.type.is_tensor()) {
    fail_usage("input '", input.name, "' is ", input.type,
               ", for which no value can be made up; give it a file: -i '", input.name,
               "=@file.pb'");
  }
  const Shape shape = shape_of(input, how);
  const RandomStream stream(key_of(input.name, how.seed));
  const auto [low, high] = range_of(input, graph, how);
  const Draw draw = [&, low = low, high = high](int64_t i) {
    return low + (high - low) * stream.uniform(static_cast<uint64_t>(i));
  };
  if (input.type.dtype == DType::kComplex64) return draw_complex<float>(shape, draw);
  if (input.type.dtype == DType::kComplex128) return draw_complex<double>(shape, draw);
  return draw_real(input.type.dtype, shape, draw);
}

}  // namespace sardonyx::tool
