#include "providers/onednn/post_op_eltwise.h"

#include <algorithm>

#include "providers/onednn/primitive/partition_axes.h"

namespace sardonyx::onednn {
namespace {

PostOp eltwise_op(algorithm op, float alpha, float beta) {
  return {PostOp::Kind::kEltwise, op, alpha, beta, {}};
}

// oneDNN's operation for an activation: op(alpha, beta) of the activation's params.
struct Eltwise {
  std::string_view name;
  algorithm op;
  bool is_slow = false;     // inside a primitive: slower than a pass of its own
  bool is_clipped = false;  // its result is clipped to [0, 1]
};
constexpr Eltwise kEltwise[] = {
    {"Relu", algorithm::eltwise_relu},
    {"LeakyRelu", algorithm::eltwise_relu},
    {"Clip", algorithm::eltwise_clip},
    {"Sigmoid", algorithm::eltwise_logistic},
    {"Tanh", algorithm::eltwise_tanh, /*is_slow=*/true},
    {"HardSigmoid", algorithm::eltwise_linear, /*is_slow=*/false, /*is_clipped=*/true},
    {"HardSwish", algorithm::eltwise_hardswish},
    {"Elu", algorithm::eltwise_elu},
    {"Swish", algorithm::eltwise_swish, /*is_slow=*/true},
    {"Gelu", algorithm::eltwise_gelu_erf, /*is_slow=*/true},
    {"GeluTanh", algorithm::eltwise_gelu_tanh, /*is_slow=*/true},
};

const Eltwise* find_eltwise(std::string_view name) {
  const auto* found = std::ranges::find(kEltwise, name, &Eltwise::name);
  return found == std::end(kEltwise) ? nullptr : found;
}

}  // namespace

bool is_slow_post_op(const ops::FusedActivation& activation) {
  const Eltwise* found = find_eltwise(activation.name);
  return found && found->is_slow;
}

std::optional<PostOps> find_post_ops(const ops::FusedActivation& activation) {
  if (!is_known(activation)) return std::nullopt;
  if (activation.name.empty()) return PostOps();
  const float alpha = activation.params.empty() ? 0 : activation.params[0];
  const float beta = activation.params.size() > 1 ? activation.params[1] : 0;
  const Eltwise* found = find_eltwise(activation.name);
  if (!found) return std::nullopt;
  PostOps chain{eltwise_op(found->op, alpha, beta)};
  if (found->is_clipped) chain.push_back(eltwise_op(algorithm::eltwise_clip, 0, 1));
  return chain;
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
