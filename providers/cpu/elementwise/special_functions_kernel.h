// Functions of float32 that fewer models use than those of elementwise_f32_kernel.h, on contiguous
// rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

enum class Function : uint8_t {
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kCelu,
  kCosh,
  kSelu,
  kShrink,
  kSign,
  kSinh,
  kSoftsign,
  kTan,
  kThresholdedRelu,
};

// The op's attributes: alpha of kCelu and kThresholdedRelu, gamma and gamma * alpha of kSelu, lambd
// and bias of kShrink.
struct FunctionParams {
  float a = 0, b = 0;
};

// out[i] = function(in[i]) for i < count. `out` may be `in`.
void function_row(Function function, FunctionParams params, const float* in, float* out,
                  size_t count);

}  // namespace sardonyx::cpu
