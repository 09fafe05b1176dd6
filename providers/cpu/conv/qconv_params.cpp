#include "providers/cpu/conv/qconv_params.h"

namespace sardonyx::cpu {

const char* why_unsupported(const QConvCall& call) {
  constexpr int64_t kFewOutputs = 16;
  const KernelRequest& request = call.request;
  if (const char* why = unsupported_by_vnni(request.outputs[0].dtype, call.scales)) return why;
  if (!request.layouts) return "layouts are not free";
  if (call.x().size() != 3 && call.x().size() != 4)
    return "only images and lines are computed here";
  if (request.has(call.slots.bias) && !request.inputs[call.slots.bias].constant)
    return "the bias is no constant";
  if (call.is_depthwise()) return nullptr;
  return call.w()[0] / call.groups < kFewOutputs ? "there are few channels" : nullptr;
}

RequantizeParams make_requantize(const QConvCall& call, int64_t count, int64_t places,
                                 const std::function<int64_t(int64_t)>& place,
                                 const std::function<int32_t(int64_t)>& sum) {
  const KernelRequest& request = call.request;
  const int32_t* bias = request.has(call.slots.bias)
                            ? request.inputs[call.slots.bias].constant->values<int32_t>().data()
                            : nullptr;
  const std::vector<float>& scales = call.scales;
  const auto zero = static_cast<uint32_t>(call.source_zero());
  RequantizeParams finish;
  finish.start.resize(static_cast<size_t>(places));
  finish.scales.resize(static_cast<size_t>(places));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t output = i % call.w()[0];
    const auto at = static_cast<size_t>(place(i));
    // The compensation of the zero point in the products, modulo 2^32 like the reference's sums.
    const uint32_t begin =
        static_cast<uint32_t>(bias ? bias[output] : 0) - zero * static_cast<uint32_t>(sum(output));
    finish.start[at] = static_cast<int32_t>(begin);
    finish.scales[at] = scales[scales.size() > 1 ? static_cast<size_t>(output) : 0];
  }
  finish.zero = call.y_zero;
  finish.is_signed = request.outputs[0].dtype == DType::kInt8;
  return finish;
}

Prepared accept_int8(const QConvCall& call, std::unique_ptr<Kernel> kernel,
                     std::string implementation, bool reads_planes) {
  const KernelRequest& request = call.request;
  const auto channels_last = [](const KernelTensor& tensor) {
    return image_layout(Layout::Kind::kNHWC, tensor.dtype, tensor.shape);
  };
  Prepared prepared = Prepared::accept(std::move(kernel), std::move(implementation));
  prepared.input_layouts.resize(request.inputs.size());
  if (!reads_planes)
    prepared.input_layouts[call.slots.x] = channels_last(request.inputs[call.slots.x]);
  prepared.output_layouts = {channels_last(request.outputs[0])};
  prepared.unread_inputs = 1u << call.slots.w;
  if (request.has(call.slots.bias)) prepared.unread_inputs |= 1u << call.slots.bias;
  return prepared;
}

}  // namespace sardonyx::cpu
