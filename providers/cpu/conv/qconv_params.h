// The parameters of quantized convolutions by our own kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/kernel.h"
#include "ir/ops/conv/window.h"
#include "providers/cpu/quantization/int8_weights.h"

namespace sardonyx::cpu {

// The input slots of the op; SIZE_MAX: it has no such input.
struct QConvInputs {
  size_t x, w, bias;
};

struct QConvCall {
  const KernelRequest& request;
  QConvInputs slots;
  const ops::Window& window;
  int64_t groups;
  const CenteredWeights& weights;  // int8 in the tensor's own order
  int32_t x_zero;                  // zero points
  int32_t y_zero;
  const std::vector<float>& scales;  // x_scale * w_scale / y_scale, one or one per output

  const Shape& x() const { return request.inputs[slots.x].shape; }
  const Shape& w() const { return request.inputs[slots.w].shape; }
  const Shape& y() const { return request.outputs[0].shape; }
  bool source_is_signed() const { return request.inputs[slots.x].dtype == DType::kInt8; }
  // The source's bytes are taken for uint8: 128 more where they are int8.
  int32_t source_zero() const { return x_zero + (source_is_signed() ? 128 : 0); }
  bool is_depthwise() const { return groups > 1 && groups == x()[1] && w()[0] == groups; }
};

// Why none of our own kernels supports the call, or null.
const char* why_unsupported(const QConvCall& call);

// The epilogue: requantization of int32 sums.
struct RequantizeParams {
  std::vector<int32_t> start;  // initial values of the sums
  std::vector<float> scales;
  int32_t zero;
  bool is_signed;
};

// The epilogue's parameters, padded to `places` entries: entry place(i) is that of output i modulo
// their number, for i < `count`. sum(output) is the sum of an output's weights.
RequantizeParams make_requantize(const QConvCall& call, int64_t count, int64_t places,
                                 const std::function<int64_t(int64_t)>& place,
                                 const std::function<int32_t(int64_t)>& sum);

// Accepts with NHWC input and output (`reads_planes`: the input is NCHW). The kernel keeps weights
// and bias, so the run does not read them.
Prepared accept_int8(const QConvCall& call, std::unique_ptr<Kernel> kernel,
                     std::string implementation, bool reads_planes = false);

}  // namespace sardonyx::cpu
