#include "tests/graphs/graph_builder.h"

#include <algorithm>
#include <cmath>

namespace sardonyx::graph_test {

Tensor drawn_floats(const Shape& shape, double low, double high, Draw& draw) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  for (float& element : tensor.mutable_values<float>())
    element = static_cast<float>(draw.real(low, high));
  return tensor;
}

namespace {

template <typename T>
Tensor drawn_as(const Shape& shape, int64_t low, int64_t high, Draw& draw) {
  std::vector<T> values(static_cast<size_t>(element_count(shape)));
  for (T& value : values)
    value = static_cast<T>(draw.between(low, high));
  return Tensor::of(values, shape);
}

}  // namespace

Tensor drawn_integers(DType dtype, const Shape& shape, int64_t low, int64_t high, Draw& draw) {
  switch (dtype) {
    case DType::kInt64:
      return drawn_as<int64_t>(shape, low, high, draw);
    case DType::kInt32:
      return drawn_as<int32_t>(shape, low, high, draw);
    case DType::kUInt8:
      return drawn_as<uint8_t>(shape, low, high, draw);
    case DType::kInt8:
      return drawn_as<int8_t>(shape, low, high, draw);
    case DType::kUInt16:
      return drawn_as<uint16_t>(shape, low, high, draw);
    case DType::kInt16:
      return drawn_as<int16_t>(shape, low, high, draw);
    case DType::kBool: {
      Tensor tensor = Tensor::allocate(dtype, shape);
      for (bool& element : tensor.mutable_values<bool>())
        element = draw.between(low, high) != 0;
      return tensor;
    }
    default:
      fail(ErrorCode::kInvalidArgument, "drawn_integers: no integers of type ", name_of(dtype));
  }
}

void GraphBuilder::note(std::string_view motif) {
  made.motifs += (made.motifs.empty() ? "" : ", ") + std::string(motif);
}

Dim GraphBuilder::dim(const std::string& name, const Ints& sizes) {
  if (draw.one_in(3)) return sizes[0];
  sizes_.emplace(name, sizes);
  return Dim::symbol(name);
}

Val GraphBuilder::input(const std::string& name, DType dtype, const Dims& dims, Values values) {
  const Type type = Type::tensor(dtype, dims);
  inputs_.push_back({type, std::move(values)});
  return GraphEmitter::wrap(made.model.graph->add_input(name, type));
}

Val GraphBuilder::floats(const std::string& name, const Dims& dims, double low, double high) {
  return input(name, DType::kFloat, dims,
               [low, high](const Shape& shape, Draw& from, const Sizes&) {
                 return drawn_floats(shape, low, high, from);
               });
}

Val GraphBuilder::integers(const std::string& name, DType dtype, const Dims& dims, int64_t low,
                           int64_t high) {
  return input(name, dtype, dims, [dtype, low, high](const Shape& shape, Draw& from, const Sizes&) {
    return drawn_integers(dtype, shape, low, high, from);
  });
}

Val GraphBuilder::weight(const Shape& shape, int64_t fan_in) {
  const double bound = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(1, fan_in)));
  return constant(shape, -bound, bound);
}

Val GraphBuilder::constant(const Shape& shape, double low, double high) {
  return emitter.constant(drawn_floats(shape, low, high, draw));
}

void GraphBuilder::output(const Val& val) {
  Graph& graph = *made.model.graph;
  Value* value = GraphEmitter::unwrap(val);
  if (!graph.is_output(*value) && value->producer) {
    graph.rename(*value, text("out", graph.outputs().size()));
    graph.add_output(value);
  } else {
    output(call("Identity", {val}));
  }
}

GraphCase GraphBuilder::finish(size_t count) {
  for (size_t run = 0; run < count; ++run) {
    Sizes sizes;
    for (const auto& [name, all] : sizes_)
      sizes[name] = run == 0 ? all[0] : draw.pick(all);
    std::vector<Datum>& given = made.inputs.emplace_back();
    for (const Input& input : inputs_) {
      Shape shape;
      for (const Dim& dim : *input.type.shape)
        shape.push_back(dim.is_known() ? dim.value() : sizes.at(dim.text()));
      given.emplace_back(input.values(shape, draw, sizes));
    }
  }
  return std::move(made);
}

Inner::Inner(const GraphBuilder& around, const Vals& captured) {
  for (const Val& val : captured)
    captures_.push_back(
        GraphEmitter::wrap(graph->add_capture(GraphEmitter::unwrap(val)->name, around.type(val))));
}

Val Inner::input(const std::string& name, const Type& type) {
  return GraphEmitter::wrap(graph->add_input(name, type));
}

Vals control(GraphBuilder& builder, std::string_view op, Vals inputs, const AttrMap& attrs,
             const Vals& captured, size_t outputs) {
  const OpDef& row = op_named(op);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return builder.emitter.emit(row, inputs, Attrs::parse(*row.attrs, attrs), outputs,
                              captured.size());
}

}  // namespace sardonyx::graph_test
