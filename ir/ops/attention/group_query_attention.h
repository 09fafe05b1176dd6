// com.microsoft::GroupQueryAttention: attributes, inputs, and how its cache is kept.
#pragma once

#include <optional>
#include <string>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct GroupedAttrs {
  bool causal = true, do_rotary = false;
  std::string k_quant_type = "NONE";
  int64_t kv_cache_bit_width = 0, kv_num_heads = 0, local_window_size = -1, num_heads = 0;
  float qk_norm_epsilon = 1e-6f;
  int64_t qk_output = 0;
  bool rotary_interleaved = false;
  std::optional<float> scale;
  bool sliding_window_cache = false;
  int64_t smooth_softmax = 0;
  float softcap = 0;
  std::string v_quant_type = "NONE";
  static auto fields() {
    using A = GroupedAttrs;
    return std::tuple{field("causal", &A::causal),
                      field("do_rotary", &A::do_rotary),
                      field("k_quant_type", &A::k_quant_type),
                      field("kv_cache_bit_width", &A::kv_cache_bit_width),
                      required("kv_num_heads", &A::kv_num_heads),
                      field("local_window_size", &A::local_window_size),
                      required("num_heads", &A::num_heads),
                      field("qk_norm_epsilon", &A::qk_norm_epsilon),
                      field("qk_output", &A::qk_output),
                      field("rotary_interleaved", &A::rotary_interleaved),
                      field("scale", &A::scale),
                      field("sliding_window_cache", &A::sliding_window_cache),
                      field("smooth_softmax", &A::smooth_softmax),
                      field("softcap", &A::softcap),
                      field("v_quant_type", &A::v_quant_type)};
  }
};

// Inputs, in order.
struct GroupedInput {
  enum InputIndex : size_t {
    kQuery,
    kKey,
    kValue,
    kPastKey,
    kPastValue,
    kLengths,
    kTotal,
    kCos,
    kSin,
    kPositions,
    kBias,
    kSink,
    kKeyScale,
    kValueScale,
    kQueryNorm,
    kKeyNorm
  };
};

// How elements of one cache are stored: as they are, or as integers or 8-bit floats times a scale.
// Of 4 bits, element 2 i is in the lower half of byte i; 8 stands for 0.
struct CacheForm {
  bool is_quantized = false;
  int bits = 0;                 // of an element where it is quantized
  bool is_per_channel = false;  // one scale for each head and channel, else one
};
// Throws kInvalidModel for what is no form.
CacheForm cache_form(const std::string& quant_type, const GroupedAttrs& attrs);

// Rows that a cache of `capacity` rows holds after `tokens`, with sliding_window_cache: the last
// ones, evicted in groups so that at least `window` are there.
int64_t resident_rows(int64_t tokens, int64_t capacity, int64_t window);

// Keys of one batch entry before and behind a call.
struct GroupedKeys {
  int64_t past, total;
};
// The keys of batch entry `entry`, whose seqlens_k is `given`, in a call of `length` queries with
// total_sequence_length `total` and a past of `past_length` rows. Throws kInvalidArgument where
// these do not fit.
GroupedKeys grouped_keys(const GroupedAttrs& attrs, int64_t entry, int64_t given, int64_t length,
                         int64_t total, int64_t past_length);

void grouped_reference(const KernelCall& call);
// Nothing flows through the rounding of a quantized cache; its scales have their gradients.
Vals grouped_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
