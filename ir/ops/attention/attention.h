// Attention: attributes, and how a call's operands are.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct AttentionAttrs {
  bool is_causal = false;
  std::optional<int64_t> kv_num_heads;
  std::optional<int64_t> q_num_heads;
  int64_t qk_matmul_output_mode = 0;
  std::optional<float> scale;  // 1 / sqrt(head size) where not given
  float softcap = 0;
  std::optional<DType> softmax_precision;
  static auto fields() {
    return std::tuple{field("is_causal", &AttentionAttrs::is_causal),
                      field("kv_num_heads", &AttentionAttrs::kv_num_heads),
                      field("q_num_heads", &AttentionAttrs::q_num_heads),
                      field("qk_matmul_output_mode", &AttentionAttrs::qk_matmul_output_mode),
                      field("scale", &AttentionAttrs::scale),
                      field("softcap", &AttentionAttrs::softcap),
                      field("softmax_precision", &AttentionAttrs::softmax_precision)};
  }
};

// The stage of the scores that the output qk_matmul_output shows.
enum class ScoresShown : int64_t {
  kRaw = 0,      // q * k * scale
  kCapped = 1,   // after softcap
  kMasked = 2,   // after the mask was added
  kSoftmax = 3,  // the probabilities
};

enum AttentionInput { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kNonpadLengths };

// The sizes of a call whose shapes are known. Operands of rank 3, [batch, length, heads * size],
// are `packed`; else they are [batch, heads, length, size].
struct AttentionShape {
  int64_t batch, q_heads, kv_heads, q_length;
  int64_t new_length, past_length;  // keys that this call brings, and those of past_key
  int64_t head_size, v_head_size;
  bool packed;
  int64_t total_length() const { return past_length + new_length; }
  // Queries of head h share the keys and values of head h / group().
  int64_t group() const { return q_heads / kv_heads; }
};
AttentionShape attention_shape(const AttentionAttrs& attrs, std::span<const int64_t> query,
                               std::span<const int64_t> key, std::span<const int64_t> value,
                               std::span<const int64_t> past_key);

struct RotaryEmbeddingAttrs {
  bool interleaved = false;
  std::optional<int64_t> num_heads;
  int64_t rotary_embedding_dim = 0;  // 0: the whole head
  static auto fields() {
    return std::tuple{field("interleaved", &RotaryEmbeddingAttrs::interleaved),
                      field("num_heads", &RotaryEmbeddingAttrs::num_heads),
                      field("rotary_embedding_dim", &RotaryEmbeddingAttrs::rotary_embedding_dim)};
  }
};

struct LinearAttentionAttrs {
  int64_t chunk_size = 64;  // a hint for kernels; the result does not depend on it
  int64_t kv_num_heads = 0;
  int64_t q_num_heads = 0;
  float scale = 0;  // 0: 1 / sqrt(key size)
  std::string update_rule = "gated_delta";
  static auto fields() {
    return std::tuple{field("chunk_size", &LinearAttentionAttrs::chunk_size),
                      required("kv_num_heads", &LinearAttentionAttrs::kv_num_heads),
                      required("q_num_heads", &LinearAttentionAttrs::q_num_heads),
                      field("scale", &LinearAttentionAttrs::scale),
                      field("update_rule", &LinearAttentionAttrs::update_rule)};
  }
};

struct FlexAttentionAttrs {
  std::optional<GraphPtr> prob_mod;
  std::optional<float> scale;
  std::optional<GraphPtr> score_mod;
  std::optional<DType> softmax_precision;
  static auto fields() {
    return std::tuple{field("prob_mod", &FlexAttentionAttrs::prob_mod),
                      field("scale", &FlexAttentionAttrs::scale),
                      field("score_mod", &FlexAttentionAttrs::score_mod),
                      field("softmax_precision", &FlexAttentionAttrs::softmax_precision)};
  }
};

}  // namespace sardonyx::ops
