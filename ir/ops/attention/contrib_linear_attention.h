// com.microsoft's operators of layers with linear attention (Qwen3-Next, Mamba, Jamba), and of
// attention on packed tokens.
#pragma once

#include <span>

#include "ir/op_def.h"

namespace sardonyx::ops {

std::span<const OpDef> contrib_linear_attention_ops();
std::span<const OpDef> contrib_stream_ops();            // CausalConvWithState
std::span<const OpDef> contrib_packed_attention_ops();  // PackedMultiHeadAttention

// States are kept for up to this many of the last positions, so that a speculative decoder can go
// back to one of them.
constexpr int64_t kMaxStateWindow = 8;
void check_state_window(int64_t window);
// The states after the last `states.size()` of `length` (int64 [1]) positions, each with a leading
// dim before its own; zeros where there is no such position.
Val state_window_of(Emitter& e, const Vals& states, const Val& length);

}  // namespace sardonyx::ops
