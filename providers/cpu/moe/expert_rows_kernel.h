// Work on rows between the layers of experts, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

#include "ir/ops/moe/swiglu.h"

namespace sardonyx::cpu {

enum class ExpertActivation : unsigned char { kIdentity, kRelu, kGelu, kSilu };
// out[i] = f(in[i]) for i < count; kGelu by tanh. `out` may be `in`.
void expert_activation_row(ExpertActivation f, const float* in, float* out, size_t count);

// out[i] = swiglu of gate[i] and linear[i] for i < count. `out` may be `gate` or `linear`.
void swiglu_row(const ops::SwiGlu& params, const float* gate, const float* linear, float* out,
                size_t count);
// The same of pairs[2 * i] and pairs[2 * i + 1]. `out` may be `pairs`.
void swiglu_pairs_row(const ops::SwiGlu& params, const float* pairs, float* out, size_t count);

// out[i] = share * in[i], or that added to it.
void set_scaled_row(float share, const float* in, float* out, size_t count);
void add_scaled_row(float share, const float* in, float* out, size_t count);

}  // namespace sardonyx::cpu
