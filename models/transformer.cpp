#include "models/transformer.h"

#include <cmath>

#include "eager/functional/functional.h"

namespace sardonyx::models {

SelfAttention::SelfAttention(int64_t width, int64_t heads)
    : query(add("query", nn::Linear(width, width))),
      key(add("key", nn::Linear(width, width))),
      value(add("value", nn::Linear(width, width))),
      output(add("output", nn::Linear(width, width))),
      width_(width),
      heads_(heads) {}

// [batch, length, width] to [batch, heads, length, width / heads].
Tensor SelfAttention::split_heads(const Tensor& x) const {
  return x.reshape({x.size(0), x.size(1), heads_, width_ / heads_}).permute({0, 2, 1, 3});
}

Tensor SelfAttention::forward(const Tensor& x, const Tensor& mask) const {
  return forward(x, mask, KeyValue()).output;
}

Attended SelfAttention::forward(const Tensor& x, const Tensor& mask, const KeyValue& past) const {
  const Tensor q = split_heads(query(x));
  KeyValue now{split_heads(key(x)), split_heads(value(x))};
  if (past.key.defined())
    now = {eager::cat({past.key, now.key}, 2), eager::cat({past.value, now.value}, 2)};
  const double scale = 1 / std::sqrt(static_cast<double>(width_ / heads_));
  Tensor scores = matmul(q, now.key.transpose(-2, -1)) * scale;
  if (mask.defined()) scores = scores + mask;
  const Tensor context = matmul(softmax(scores, -1), now.value);
  return {output(context.permute({0, 2, 1, 3}).reshape({x.size(0), x.size(1), width_})), now};
}

TransformerBlock::TransformerBlock(int64_t width, int64_t heads, BlockOptions options)
    : attention(add("attention", SelfAttention(width, heads))),
      norm1(add("norm1", nn::LayerNorm(width, {.eps = options.eps}))),
      norm2(add("norm2", nn::LayerNorm(width, {.eps = options.eps}))),
      up(add("up", nn::Linear(width, options.expansion * width))),
      down(add("down", nn::Linear(options.expansion * width, width))),
      options_(options) {}

Tensor TransformerBlock::feed_forward(const Tensor& x) const {
  return down(gelu(up(x), options_.tanh_gelu ? "tanh" : "none"));
}

Tensor TransformerBlock::forward(const Tensor& x, const Tensor& mask) const {
  return forward(x, mask, KeyValue()).output;
}

Attended TransformerBlock::forward(const Tensor& x, const Tensor& mask,
                                   const KeyValue& past) const {
  if (options_.norm_first) {
    const Attended attended = attention(norm1(x), mask, past);
    const Tensor y = x + attended.output;
    return {y + feed_forward(norm2(y)), attended.present};
  }
  const Attended attended = attention(x, mask, past);
  const Tensor y = norm1(x + attended.output);
  return {norm2(y + feed_forward(y)), attended.present};
}

}  // namespace sardonyx::models
