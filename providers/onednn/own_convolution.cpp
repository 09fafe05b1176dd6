#include "providers/onednn/own_convolution.h"

#include "ir/reloadable_buffer.h"

namespace sardonyx::onednn {

std::optional<Finish> finish_of(const ops::FusedActivation& activation) {
  Finish finish;
  if (activation.name.empty()) return finish;
  if (activation.name == "Relu") {
    finish.low = 0;
  } else if (activation.name == "Clip") {
    finish.low = activation.params[0];
    finish.high = activation.params[1];
  } else {
    finish.function = cpu::row_activation(activation);
    if (!finish.function) return std::nullopt;
  }
  return finish;
}

const char* refusal_of_own(const KernelRequest& request, bool takes_lines) {
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1];
  const size_t rank = x.shape.size();
  if (!request.layouts) return "layouts are not free";
  if (x.dtype != DType::kFloat || !(rank == 4 || (takes_lines && rank == 3)))
    return "only images of float are computed here";
  if (!w.constant || (request.has(2) && !request.inputs[2].constant))
    return "the weights are not known ahead";
  return nullptr;
}

Shape image_shape(const Shape& shape) {
  if (shape.size() == 4) return shape;
  return {shape[0], shape[1], 1, shape[2]};
}

std::shared_ptr<const Buffer> packed_once(const KernelRequest& request, size_t input,
                                          const std::string& form,
                                          const std::function<std::shared_ptr<Buffer>()>& make) {
  if (!request.has(input)) return make();
  const Tensor& constant = *request.inputs[input].constant;
  const auto make_of_elements = [&] {
    bring(constant);
    return make();
  };
  return request.packs ? request.packs->get(constant, form, make_of_elements) : make_of_elements();
}

}  // namespace sardonyx::onednn
