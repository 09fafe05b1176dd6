// Shared by integer convolutions and integer matrix products: which inputs they have, and the
// epilogue from int32 sums to results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "providers/cpu/gemm/gemm_s16.h"

namespace sardonyx::cpu {

// The inputs of such an op; kNone where it has no such input.
struct IntegerSlots {
  static constexpr size_t kNone = SIZE_MAX;
  size_t x = 0, w = 1;
  size_t x_zero = kNone, w_zero = kNone;
  size_t x_scale = kNone, w_scale = kNone;  // both or none
  size_t y_scale = kNone, y_zero = kNone;
  size_t bias = kNone;    // int32
  size_t addend = kNone;  // float, added to a float result
};

// The scales, zero points and biases of one op, of whose result `channels` rows or columns may have
// scales and zero points of their own.
class IntegerCall {
 public:
  // `factor` multiplies all results.
  IntegerCall(const KernelRequest& request, const IntegerSlots& slots, int64_t channels,
              float factor = 1);
  const char* refusal() const { return refusal_; }  // nullptr: there is none

  bool x_is_signed() const { return x_is_signed_; }
  bool w_is_signed() const { return w_is_signed_; }
  size_t result_bytes() const { return result_bytes_; }
  // The zero point of x, where it has one for all.
  int32_t x_zero(const KernelArgs& args) const;
  // The zero point of row `row` of x, which may have one for each row.
  int32_t x_zero(const KernelArgs& args, int64_t row) const;
  // The zero point of a channel's weights. `zeros` is w_zeros_of() in a run, or the constant's
  // elements while the kernel is prepared; null: 0.
  int16_t w_zero(const void* zeros, int64_t channel) const;
  const void* w_zeros_of(const KernelArgs& args) const {
    return has(slots_.w_zero) ? args.inputs[slots_.w_zero] : nullptr;
  }
  bool x_has_zero_for_each_row() const { return x_zeros_ > 1; }

  size_t scale_count() const { return scales_; }
  // Computes the results' scales into `scales` (scale_count() of them).
  void read_scales(const KernelArgs& args, float* scales) const;
  // The epilogue of the results from `channel` on. `along` tells whether a row of sums runs along
  // the channels (columns of a product) or is one channel.
  RowFinish finish(const KernelArgs& args, const float* scales, int64_t channel, bool along) const;
  const IntegerSlots& slots() const { return slots_; }

 private:
  bool has(size_t slot) const { return slot < 32 && (present_ >> slot & 1u); }
  void judge(const KernelRequest& request, int64_t channels);

  IntegerSlots slots_;
  uint32_t present_ = 0;
  const char* refusal_ = nullptr;
  bool x_is_signed_ = false, w_is_signed_ = false, y_is_signed_ = false;
  int64_t x_zeros_ = 1, w_zeros_ = 1;
  size_t scales_ = 0;
  size_t result_bytes_ = 4;
  float factor_;
  SumType type_ = SumType::kInt32;
};

// Writes packed weights to `to`, from the weights and their zero points (null: 0).
using PackWeights = std::function<void(const void* weights, const void* zeros, int16_t* to)>;

// `bytes` of weights that `pack` writes, where the weights and their zero points are constants;
// null elsewhere. `form` is the prepack key: sessions of one file share weights of the same form.
std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request,
                                             const IntegerSlots& slots, size_t bytes,
                                             std::string form, const PackWeights& pack);

// Accepts with row-major tensors. `packed`: the run does not read the weights and their zero
// points.
Prepared accept_integer(const KernelRequest& request, const IntegerSlots& slots, bool packed,
                        std::unique_ptr<Kernel> kernel);

}  // namespace sardonyx::cpu
