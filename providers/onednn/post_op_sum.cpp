#include "providers/onednn/post_op_sum.h"

#include <algorithm>

namespace sardonyx::onednn {
namespace {

class ResidualKernel : public Kernel {
 public:
  ResidualKernel(size_t input, std::unique_ptr<Kernel> in_place, std::unique_ptr<Kernel> reading)
      : input_(input), in_place_(std::move(in_place)), reading_(std::move(reading)) {}
  void run(const KernelArgs& args) const override {
    (args.outputs[0] == args.inputs[input_] ? in_place_ : reading_)->run(args);
  }
  size_t scratch_bytes() const override {
    return std::max(in_place_->scratch_bytes(), reading_->scratch_bytes());
  }
  bool may_alias(size_t output, size_t input) const override {
    return output == 0 && input == input_;
  }

 private:
  size_t input_;
  std::unique_ptr<Kernel> in_place_, reading_;
};

}  // namespace

PostOps residual_post_ops(Residual residual, const Desc& dst) {
  switch (residual) {
    case Residual::kNone:
      return {};
    case Residual::kRead:
      return {{PostOp::Kind::kBinary, algorithm::binary_add, 0, 0, dst}};
    case Residual::kInPlace:
    case Residual::kCopied:
      return {{PostOp::Kind::kSum, {}, 0, 0, {}}};
  }
  return {};
}

Prepared prepare_with_residual(
    const KernelRequest& request, size_t input, const Desc& dst,
    const std::function<Prepared(const KernelRequest&, Residual)>& build) {
  PrepackedWeights own_packs;
  KernelRequest shared = request;
  if (!shared.packs) shared.packs = &own_packs;
  Prepared prepared = build(shared, Residual::kRead);
  if (!prepared.kernel || !(request.layouts || is_row_major(dst))) return prepared;
  Prepared in_place = build(shared, Residual::kInPlace);
  if (!in_place.kernel) return prepared;
  prepared.kernel = std::make_unique<ResidualKernel>(input, std::move(in_place.kernel),
                                                     std::move(prepared.kernel));
  return prepared;
}

}  // namespace sardonyx::onednn
