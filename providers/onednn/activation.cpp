#include "providers/onednn/activation.h"

#include "providers/onednn/divided_work.h"

namespace sardonyx::onednn {
namespace {

PostOp eltwise_op(algorithm op, float alpha = 0, float beta = 0) {
  return {PostOp::Kind::kEltwise, op, alpha, beta, {}};
}

}  // namespace

PostOps post_ops_of(const ops::FusedActivation& activation) {
  const std::string& name = activation.name;
  const std::vector<float>& params = activation.params;
  if (name.empty()) return {};
  if (name == "Relu") return {eltwise_op(algorithm::eltwise_relu)};
  if (name == "LeakyRelu") return {eltwise_op(algorithm::eltwise_relu, params[0])};
  if (name == "Clip") return {eltwise_op(algorithm::eltwise_clip, params[0], params[1])};
  if (name == "Sigmoid") return {eltwise_op(algorithm::eltwise_logistic)};
  if (name == "Tanh") return {eltwise_op(algorithm::eltwise_tanh)};
  if (name == "HardSwish") return {eltwise_op(algorithm::eltwise_hardswish)};
  if (name == "HardSigmoid") {
    return {eltwise_op(algorithm::eltwise_linear, params[0], params[1]),
            eltwise_op(algorithm::eltwise_clip, 0, 1)};
  }
  if (name == "Elu") return {eltwise_op(algorithm::eltwise_elu, params[0])};
  if (name == "Swish") return {eltwise_op(algorithm::eltwise_swish, params[0])};
  if (name == "Gelu") return {eltwise_op(algorithm::eltwise_gelu_erf)};
  if (name == "GeluTanh") return {eltwise_op(algorithm::eltwise_gelu_tanh)};
  fail(ErrorCode::kInternal, "no activation \"", name, "\"");
}

bool add_eltwise(ProgramBuilder& builder, const PostOps& chain, const Desc& data,
                 ProgramBuilder::Place from, ProgramBuilder::Place to) {
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
