#include "providers/cpu/gemm/quantized_params.h"

#include "ir/core/memory/evictable_buffer.h"
#include "providers/cpu/packed_weights.h"

namespace sardonyx::cpu {
namespace {

int32_t byte_at(const void* bytes, bool is_signed, int64_t index) {
  return is_signed ? static_cast<const int8_t*>(bytes)[index]
                   : static_cast<const uint8_t*>(bytes)[index];
}

}  // namespace

IntegerCall::IntegerCall(const KernelRequest& request, const IntegerSlots& slots, int64_t channels,
                         float factor)
    : slots_(slots), factor_(factor) {
  for (size_t slot = 0; slot < request.inputs.size() && slot < 32; ++slot)
    present_ |= static_cast<uint32_t>(request.has(slot)) << slot;
  x_is_signed_ = request.inputs[slots.x].dtype == DType::kInt8;
  w_is_signed_ = request.inputs[slots.w].dtype == DType::kInt8;
  const auto count = [&](size_t slot) {
    return has(slot) ? element_count(request.inputs[slot].shape) : 1;
  };
  x_zeros_ = count(slots.x_zero);
  w_zeros_ = count(slots.w_zero);
  scales_ = has(slots.w_scale) ? static_cast<size_t>(count(slots.w_scale)) : 0;
  switch (request.outputs[0].dtype) {
    case DType::kInt32:
      break;
    case DType::kFloat:
      type_ = SumType::kFloat;
      break;
    case DType::kUInt8:
      type_ = SumType::kUInt8;
      result_bytes_ = 1;
      break;
    case DType::kInt8:
      type_ = SumType::kInt8;
      result_bytes_ = 1;
      break;
    default:
      refusal_ = "another type than int32, float and bytes is not made here";
  }
  y_is_signed_ = type_ == SumType::kInt8;
  judge(request, channels);
}

void IntegerCall::judge(const KernelRequest& request, int64_t channels) {
  if (refusal_) return;
  if (!is_byte(request.inputs[slots_.x].dtype) || !is_byte(request.inputs[slots_.w].dtype)) {
    refusal_ = "no bytes";
    return;
  }
  for (const size_t slot : {slots_.x_scale, slots_.w_scale, slots_.y_scale, slots_.addend}) {
    if (has(slot) && request.inputs[slot].dtype != DType::kFloat) {
      refusal_ = "only scales of type float";
    }
  }
  for (const size_t slot : {slots_.x_scale, slots_.y_scale, slots_.y_zero}) {
    if (has(slot) && element_count(request.inputs[slot].shape) != 1) {
      refusal_ = "more than one scale or zero point of the source or the result";
    }
  }
  const auto fits = [&](int64_t count) { return count == 1 || count == channels; };
  if (!fits(w_zeros_) || (scales_ > 0 && !fits(static_cast<int64_t>(scales_)))) {
    refusal_ = "scales or zero points of the weights that differ between matrices";
  }
  for (const KernelTensor& tensor :
       {request.inputs[slots_.x], request.inputs[slots_.w], request.outputs[0]}) {
    if (element_count(tensor.shape) == 0) refusal_ = "a tensor has no elements";
  }
}

int32_t IntegerCall::x_zero(const KernelArgs& args) const {
  return has(slots_.x_zero) ? byte_at(args.inputs[slots_.x_zero], x_is_signed_, 0) : 0;
}

int32_t IntegerCall::x_zero(const KernelArgs& args, int64_t row) const {
  if (!has(slots_.x_zero)) return 0;
  return byte_at(args.inputs[slots_.x_zero], x_is_signed_, x_zeros_ == 1 ? 0 : row);
}

int16_t IntegerCall::w_zero(const void* zeros, int64_t channel) const {
  if (!zeros) return 0;
  return static_cast<int16_t>(byte_at(zeros, w_is_signed_, w_zeros_ == 1 ? 0 : channel));
}

void IntegerCall::read_scales(const KernelArgs& args, float* scales) const {
  const auto value = [&](size_t slot) { return static_cast<const float*>(args.inputs[slot]); };
  for (size_t i = 0; i < scales_; ++i) {
    scales[i] = *value(slots_.x_scale) * value(slots_.w_scale)[i] * factor_;
    if (has(slots_.y_scale)) scales[i] /= *value(slots_.y_scale);
  }
}

RowFinish IntegerCall::finish(const KernelArgs& args, const float* scales, int64_t channel,
                              bool along) const {
  RowFinish finish;
  finish.type = type_;
  finish.scale_steps = along && scales_ > 1;
  if (scales_ > 0) finish.scale = scales + (scales_ > 1 ? channel : 0);
  if (has(slots_.bias)) {
    finish.bias = static_cast<const int32_t*>(args.inputs[slots_.bias]) + channel;
    finish.bias_steps = along;
  }
  if (has(slots_.addend)) {
    finish.addend = static_cast<const float*>(args.inputs[slots_.addend]) + channel;
  }
  if (has(slots_.y_zero)) finish.zero = byte_at(args.inputs[slots_.y_zero], y_is_signed_, 0);
  return finish;
}

std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request,
                                             const IntegerSlots& slots, size_t bytes,
                                             std::string form, const PackWeights& pack) {
  const Tensor* weights = request.inputs[slots.w].constant;
  const bool has_zeros = request.has(slots.w_zero);
  const Tensor* zeros = has_zeros ? request.inputs[slots.w_zero].constant : nullptr;
  if (!weights || (has_zeros && !zeros)) return nullptr;
  const auto fill = [&](std::byte* to) {
    pack(peek(*weights), zeros ? zeros->raw() : nullptr, reinterpret_cast<int16_t*>(to));
  };
  if (zeros) {
    for (const int64_t zero : zeros->to_int64s())
      form += text(":", zero);
  }
  return packed_once(request, slots.w, form, bytes, fill);
}

Prepared accept_integer(const KernelRequest& request, const IntegerSlots& slots, bool packed,
                        std::unique_ptr<Kernel> kernel) {
  Prepared prepared = Prepared::accept(std::move(kernel), "simd");
  if (packed) {
    prepared.unread_inputs = 1u << slots.w;
    if (request.has(slots.w_zero)) prepared.unread_inputs |= 1u << slots.w_zero;
  }
  return prepared;
}

}  // namespace sardonyx::cpu
