#include "models/builder.h"

#include <cmath>

#include "ir/random.h"

namespace sardonyx::models {

NetBuilder::NetBuilder(std::string name, uint64_t seed) : emitter_(*model_.graph), seed_(seed) {
  model_.graph->name = std::move(name);
  model_.producer_name = "sardonyx";
}

NetBuilder::Scope::Scope(NetBuilder& builder, const std::string& name)
    : builder_(builder), outer_(builder.scope_) {
  builder_.scope_ += (outer_.empty() ? "" : ".") + name;
}

NetBuilder::Scope::~Scope() {
  builder_.scope_ = outer_;
}

Val NetBuilder::input(const std::string& name, DType dtype, Dims shape) {
  return GraphEmitter::wrap(model_.graph->add_input(name, Type::tensor(dtype, std::move(shape))));
}

void NetBuilder::output(const std::string& name, const Val& value) {
  Value* result = GraphEmitter::unwrap(value);
  model_.graph->rename(*result, name);
  model_.graph->add_output(result);
}

Model NetBuilder::finish() {
  verify(*model_.graph);
  return std::move(model_);
}

Val NetBuilder::op(std::string_view name, std::initializer_list<Val> inputs, const AttrMap& attrs) {
  emitter_.set_origin(
      model_.graph->fresh_name((scope_.empty() ? "" : scope_ + ".") + std::string(name)), scope_,
      "");
  return emitter_.call(name, inputs, attrs);
}

int64_t NetBuilder::channels(const Val& value) const {
  return (*type(value).shape)[1].value();
}

Val NetBuilder::named(const std::string& name, Tensor value) {
  const std::string full = scope_.empty() ? name : scope_ + "." + name;
  return GraphEmitter::wrap(model_.graph->add_constant(full, std::move(value)));
}

Val NetBuilder::weight(const std::string& name, Shape shape, double bound) {
  const RandomStream stream(seed_ * 1000003 + ++weights_);
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  const auto values = tensor.mutable_values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((2 * stream.uniform(i) - 1) * bound);
  }
  return named(name, std::move(tensor));
}

Val NetBuilder::constant_weight(const std::string& name, Shape shape, float value) {
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  std::ranges::fill(tensor.mutable_values<float>(), value);
  return named(name, std::move(tensor));
}

// Bounds are He's for the uniform distribution (arXiv:1502.01852): they keep the scale of the
// activations through deep nets.
Val NetBuilder::conv2d(const Val& x, int64_t out_channels, const ConvOptions& o) {
  const int64_t in = channels(x) / o.groups;
  const double bound = std::sqrt(6.0 / static_cast<double>(in * o.kernel * o.kernel));
  const Val w = weight("weight", {out_channels, in, o.kernel, o.kernel}, bound);
  const Val b = o.bias ? weight("bias", {out_channels}, 0.1) : Val();
  const std::vector<int64_t> both{o.stride, o.stride};
  const std::vector<int64_t> pads(4, o.padding);
  return op("Conv", {x, w, b},
            {{"kernel_shape", std::vector<int64_t>{o.kernel, o.kernel}},
             {"strides", both},
             {"pads", pads},
             {"group", o.groups}});
}

Val NetBuilder::batch_norm(const Val& x) {
  const Shape shape{channels(x)};
  const Val scale = constant_weight("weight", shape, 1);
  const Val bias = weight("bias", shape, 0.1);
  const Val mean = weight("running_mean", shape, 0.1);
  const Val variance = constant_weight("running_var", shape, 1);
  return op("BatchNormalization", {x, scale, bias, mean, variance});
}

Val NetBuilder::linear(const Val& x, int64_t out_features, bool bias) {
  const int64_t in = type(x).shape->back().value();
  const double bound = std::sqrt(3.0 / static_cast<double>(in));
  const Val y = op("MatMul", {x, weight("weight", {in, out_features}, bound)});
  return bias ? op("Add", {y, weight("bias", {out_features}, 0.1)}) : y;
}

Val NetBuilder::layer_norm(const Val& x, float epsilon) {
  const Shape shape{type(x).shape->back().value()};
  const Val scale = constant_weight("weight", shape, 1);
  return op("LayerNormalization", {x, scale, weight("bias", shape, 0.1)}, {{"epsilon", epsilon}});
}

Val NetBuilder::embedding(const Val& ids, int64_t count, int64_t width) {
  return op("Gather", {weight("weight", {count, width}, 1), ids});
}

Val NetBuilder::max_pool(const Val& x, int64_t kernel, int64_t stride, int64_t padding) {
  return op("MaxPool", {x},
            {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
             {"strides", std::vector<int64_t>{stride, stride}},
             {"pads", std::vector<int64_t>(4, padding)}});
}

Val NetBuilder::global_average_pool(const Val& x) {
  return flatten(op("GlobalAveragePool", {x}));
}

Val NetBuilder::split_heads(const Val& x, int64_t heads) {
  const int64_t width = type(x).shape->back().value();
  const Val shape = emitter_.int64s({0, 0, heads, width / heads});
  return op("Transpose", {op("Reshape", {x, shape})}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

Val NetBuilder::merge_heads(const Val& x) {
  const Dims shape = *type(x).shape;
  const Val rows = op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return op("Reshape", {rows, emitter_.int64s({0, 0, shape[1].value() * shape[3].value()})});
}

}  // namespace sardonyx::models
