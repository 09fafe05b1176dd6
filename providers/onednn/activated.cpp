#include "providers/onednn/activated.h"

#include <algorithm>
#include <optional>

#include "providers/cpu/grid.h"
#include "providers/cpu/rows.h"

namespace sardonyx::onednn {
namespace {

using cpu::Unary;

// Of the output; what a core's second-level cache holds.
constexpr size_t kMostBytes = 2 << 20;

std::optional<Unary> row_function(const ops::FusedActivation& activation) {
  if (activation.name == "Swish") return Unary::kSwish;
  if (activation.name == "Gelu") return Unary::kGelu;
  if (activation.name == "GeluTanh") return Unary::kGeluTanh;
  if (activation.name == "Tanh") return Unary::kTanh;
  return std::nullopt;
}

class ActivatedKernel : public Kernel {
 public:
  ActivatedKernel(std::unique_ptr<Kernel> first, Unary op, cpu::UnaryParams params, int64_t count,
                  int threads)
      : first_(std::move(first)), op_(op), params_(params), threads_(threads) {
    grid_.length = count;
  }

  void run(const KernelArgs& args) const override {
    first_->run(args);
    auto* values = static_cast<float*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const cpu::RowGrid::Offsets&, int64_t begin, int64_t count) {
      cpu::unary_row(op_, params_, values + begin, values + begin, static_cast<size_t>(count));
    });
  }
  size_t scratch_bytes() const override { return first_->scratch_bytes(); }
  bool may_alias(size_t output, size_t input) const override {
    return first_->may_alias(output, input);
  }

 private:
  std::unique_ptr<Kernel> first_;
  Unary op_;
  cpu::UnaryParams params_;
  cpu::RowGrid grid_;
  int threads_;
};

}  // namespace

bool is_faster_after(const ops::FusedActivation& activation, const KernelRequest& request) {
  const KernelTensor& output = request.outputs[0];
  return row_function(activation) && output.dtype == DType::kFloat &&
         request.precision == Precision::kFloat32 &&
         bytes_for(DType::kFloat, element_count(output.shape)) <= kMostBytes;
}

Prepared with_activation_after(Prepared prepared, const ops::FusedActivation& activation,
                               const KernelRequest& request) {
  if (!prepared.kernel) return prepared;
  const LayoutPtr layout =
      prepared.output_layouts.empty() ? nullptr : prepared.output_layouts.front();
  const size_t bytes =
      layout ? layout->bytes() : bytes_for(DType::kFloat, element_count(request.outputs[0].shape));
  cpu::UnaryParams params;
  if (!activation.params.empty()) params.a = activation.params[0];
  prepared.kernel = std::make_unique<ActivatedKernel>(
      std::move(prepared.kernel), *row_function(activation), params,
      static_cast<int64_t>(bytes / sizeof(float)), request.threads);
  return prepared;
}

}  // namespace sardonyx::onednn
