// LabelEncoder and CategoryMapper: the table of their keys is made once, not for every run.
#include "ir/ops/ml/label_encoder.h"

#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class EncoderKernel : public Kernel {
 public:
  EncoderKernel(ops::ElementMap map, const KernelRequest& request)
      : map_(std::move(map)), count_(element_count(request.inputs[0].shape)) {}

  void run(const KernelArgs& args) const override {
    map_.apply(args.inputs[0], count_, args.outputs[0]);
  }

 private:
  ops::ElementMap map_;
  int64_t count_;
};

Prepared prepare_label_encoder(const KernelRequest& request) {
  return Prepared::accept(std::make_unique<EncoderKernel>(
                              ops::label_map(request.attrs<ops::LabelEncoderAttrs>()), request),
                          "table");
}

Prepared prepare_category_mapper(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::CategoryMapperAttrs>();
  return Prepared::accept(
      std::make_unique<EncoderKernel>(ops::category_map(attrs, request.inputs[0].dtype), request),
      "table");
}

constexpr KernelEntry kEncoderEntries[] = {
    {"ai.onnx.ml::LabelEncoder", "label_encoder", prepare_label_encoder},
    {"ai.onnx.ml::CategoryMapper", "label_encoder", prepare_category_mapper},
};

}  // namespace

std::span<const KernelEntry> label_encoder_kernels() {
  return kEncoderEntries;
}

}  // namespace sardonyx::cpu
