#include "providers/onednn/post_op_eltwise.h"

#include "providers/onednn/primitive/partition_axes.h"

namespace sardonyx::onednn {
namespace {

PostOp eltwise_op(algorithm op, float alpha, float beta) {
  return {PostOp::Kind::kEltwise, op, alpha, beta, {}};
}

}  // namespace

std::optional<PostOps> find_post_ops(const ops::FusedActivation& activation) {
  struct Eltwise {
    std::string_view name;
    algorithm op;
  };
  static constexpr Eltwise kEltwise[] = {
      {"Relu", algorithm::eltwise_relu},     {"LeakyRelu", algorithm::eltwise_relu},
      {"Clip", algorithm::eltwise_clip},     {"Sigmoid", algorithm::eltwise_logistic},
      {"Tanh", algorithm::eltwise_tanh},     {"HardSwish", algorithm::eltwise_hardswish},
      {"Elu", algorithm::eltwise_elu},       {"Swish", algorithm::eltwise_swish},
      {"Gelu", algorithm::eltwise_gelu_erf}, {"GeluTanh", algorithm::eltwise_gelu_tanh},
  };
  if (!is_known(activation)) return std::nullopt;
  if (activation.name.empty()) return PostOps();
  const float alpha = activation.params.empty() ? 0 : activation.params[0];
  const float beta = activation.params.size() > 1 ? activation.params[1] : 0;
  if (activation.name == "HardSigmoid") {
    return PostOps{eltwise_op(algorithm::eltwise_linear, alpha, beta),
                   eltwise_op(algorithm::eltwise_clip, 0, 1)};
  }
  for (const Eltwise& each : kEltwise) {
    if (each.name == activation.name) return PostOps{eltwise_op(each.op, alpha, beta)};
  }
  return std::nullopt;
}

PostOps post_ops_of(const ops::FusedActivation& activation) {
  auto found = find_post_ops(activation);
  if (!found) fail(ErrorCode::kInternal, "no activation \"", activation.name, "\" in oneDNN");
  return *std::move(found);
}

bool add_eltwise(SequenceBuilder& builder, const PostOps& chain, const Desc& data,
                 SequenceBuilder::Place from, SequenceBuilder::Place to) {
  for (const PostOp& op : chain) {
    const auto make = [op](const Desc& desc) {
      return eltwise(op.op, op.alpha, op.beta, desc, attributes());
    };
    const MaybePrimitive primitive = make(data);
    if (!primitive) return false;
    const Work work =
        work_of_elements({{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}}, data,
                         [make](const ArgumentDescs& own) { return make(own.at(DNNL_ARG_SRC)); });
    builder.step(*primitive, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, work);
    from = to;
  }
  return true;
}

}  // namespace sardonyx::onednn
