#include "providers/onednn/separate_activation.h"

#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/fused_activation.h"
#include "providers/onednn/post_op_eltwise.h"

namespace sardonyx::onednn {
namespace {

// Outputs above this size (a core's second-level cache) get the activation inside the primitive.
constexpr size_t kMaxBytes = 2 << 20;

class ActivatedKernel : public Kernel {
 public:
  ActivatedKernel(std::unique_ptr<Kernel> first, const cpu::RowActivation& activation,
                  int64_t count, int threads)
      : first_(std::move(first)), activation_(activation), threads_(threads) {
    grid_.length = count;
  }

  void run(const KernelArgs& args) const override {
    first_->run(args);
    auto* values = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const cpu::BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      cpu::unary_row(activation_.op, activation_.params, values + begin, values + begin,
                     static_cast<size_t>(count));
    });
  }
  size_t scratch_bytes() const override { return first_->scratch_bytes(); }
  bool may_alias(size_t output, size_t input) const override {
    return first_->may_alias(output, input);
  }

 private:
  std::unique_ptr<Kernel> first_;
  cpu::RowActivation activation_;
  cpu::BroadcastLoop grid_;
  int threads_;
};

}  // namespace

bool is_faster_after(const ops::FusedActivation& activation, const KernelRequest& request) {
  const KernelTensor& output = request.outputs[0];
  if (output.dtype != DType::kFloat || request.precision != Precision::kFloat32) return false;
  if (!find_post_ops(activation)) return cpu::row_activation(activation).has_value();
  return is_slow_post_op(activation) &&
         bytes_for(DType::kFloat, element_count(output.shape)) <= kMaxBytes;
}

Prepared with_activation_after(Prepared prepared, const ops::FusedActivation& activation,
                               const KernelRequest& request) {
  if (!prepared.kernel) return prepared;
  const LayoutPtr layout =
      prepared.output_layouts.empty() ? nullptr : prepared.output_layouts.front();
  const size_t bytes =
      layout ? layout->bytes() : bytes_for(DType::kFloat, element_count(request.outputs[0].shape));
  prepared.kernel = std::make_unique<ActivatedKernel>(
      std::move(prepared.kernel), *cpu::row_activation(activation),
      static_cast<int64_t>(bytes / sizeof(float)), request.threads);
  return prepared;
}

}  // namespace sardonyx::onednn
