// QuantizeLinear and DequantizeLinear between float32 and 8 bits.
#include <cmath>
#include <type_traits>

#include "ir/core/strides.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"

namespace sardonyx::cpu {
namespace {

// One scale and zero point for the whole tensor, or for each index along an axis.
template <typename From, typename To>
class ScaleKernel : public Kernel {
  // The narrow side holds the zero point's type.
  using Narrow = std::conditional_t<std::is_same_v<From, float>, To, From>;

 public:
  ScaleKernel(AxisSplit split, bool per_axis, bool has_zero, int threads)
      : split_(split), per_axis_(per_axis), has_zero_(has_zero), threads_(threads) {
    grid_.length = per_axis ? split.inner : split.outer * split.size * split.inner;
    grid_.rows = per_axis ? split.outer * split.size : 1;
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const From*>(args.inputs[0]);
    const auto* scales = static_cast<const float*>(args.inputs[1]);
    const auto* zeros = has_zero_ ? static_cast<const Narrow*>(args.inputs[2]) : nullptr;
    auto* out = static_cast<To*>(args.outputs[0]);
    grid_.for_each(threads_, [&](const BroadcastLoop::Offsets&, int64_t begin, int64_t count) {
      const int64_t index = per_axis_ ? begin / split_.inner % split_.size : 0;
      const int32_t zero = zeros ? zeros[index] : 0;
      const auto length = static_cast<size_t>(count);
      if constexpr (std::is_same_v<From, float>)
        quantize_row(in + begin, scales[index], zero, out + begin, length);
      else
        dequantize_row(in + begin, scales[index], zero, out + begin, length);
    });
  }

 private:
  BroadcastLoop grid_;
  AxisSplit split_;
  bool per_axis_, has_zero_;
  int threads_;
};

int64_t integer(const KernelRequest& request, std::string_view name, int64_t otherwise) {
  const auto value = request.raw_attrs.get(name);
  return value ? std::get<int64_t>(*value) : otherwise;
}

template <typename From, typename To>
Prepared accept_scale(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const int64_t scales = element_count(request.inputs[1].shape);
  const bool per_axis = scales != 1;
  if (integer(request, "block_size", 0) != 0)
    return Prepared::refuse("blocks are left to the reference");
  if (per_axis && request.inputs[1].shape.size() != 1)
    return Prepared::refuse("blocks are left to the reference");
  if (shape.empty() && per_axis) return Prepared::refuse("a scalar has no axis");
  AxisSplit split;
  if (per_axis)  // a vector has one axis, whatever the attribute says
    split =
        split_at(shape, shape.size() == 1 ? 0 : axis_of(integer(request, "axis", 1), shape.size()));
  else
    split.inner = element_count(shape);
  return Prepared::accept(
      std::make_unique<ScaleKernel<From, To>>(split, per_axis, request.has(2), request.threads),
      "simd");
}

Prepared prepare_quantize(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat || request.inputs[1].dtype != DType::kFloat) {
    return Prepared::refuse("only float is quantized here");
  }
  const auto precision = static_cast<DType>(integer(request, "precision", 0));
  if (precision != DType::kUndefined && precision != DType::kFloat) {
    return Prepared::refuse("only float precision is computed here");
  }
  if (request.outputs[0].dtype == DType::kUInt8) return accept_scale<float, uint8_t>(request);
  if (request.outputs[0].dtype == DType::kInt8) return accept_scale<float, int8_t>(request);
  return Prepared::refuse("only 8-bit integers are made here");
}

Prepared prepare_dequantize(const KernelRequest& request) {
  if (request.outputs[0].dtype != DType::kFloat || request.inputs[1].dtype != DType::kFloat) {
    return Prepared::refuse("only float is made here");
  }
  if (request.inputs[0].dtype == DType::kUInt8) return accept_scale<uint8_t, float>(request);
  if (request.inputs[0].dtype == DType::kInt8) return accept_scale<int8_t, float>(request);
  return Prepared::refuse("only 8-bit integers are dequantized here");
}

constexpr KernelEntry kConvertEntries[] = {
    {"QuantizeLinear", "quantize_linear", prepare_quantize},
    {"DequantizeLinear", "quantize_linear", prepare_dequantize},
};

}  // namespace

std::span<const KernelEntry> quantize_linear_kernels() {
  return kConvertEntries;
}

}  // namespace sardonyx::cpu
