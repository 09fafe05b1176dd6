#include "eager/nn/transformer.h"

#include <cmath>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/placed.h"

namespace sardonyx::eager::nn {
namespace {

AttentionOptions attention_options(const TransformerOptions& options) {
  return {.dropout = options.dropout, .bias = options.bias, .batch_first = options.batch_first};
}

LayerNorm norm_of(int64_t embed, const TransformerOptions& options, const Loc& loc) {
  return LayerNorm(embed, {.eps = options.layer_norm_eps, .bias = options.bias}, loc);
}

void check_activation(const std::string& activation) {
  if (activation == "relu" || activation == "gelu") return;
  fail(ErrorCode::kInvalidArgument, "transformer layer: expected activation relu or gelu, got ",
       activation);
}

Tensor feed_forward(const Tensor& x, const Linear& first, const Linear& second,
                    const TransformerOptions& options, bool is_training, const Loc& loc) {
  const Tensor wide = first(x, loc);
  const Tensor active = options.activation == "relu" ? relu(wide, loc) : gelu(wide, "none", loc);
  const Tensor narrow = second(dropout(active, options.dropout, is_training, loc), loc);
  return dropout(narrow, options.dropout, is_training, loc);
}

size_t checked_count(int64_t count) {
  if (count > 0) return static_cast<size_t>(count);
  fail(ErrorCode::kInvalidArgument, "transformer: expected at least one layer, got ", count);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t embed, int64_t heads,
                                                 TransformerOptions options, Loc loc) try
    : options_(options),
      attention_(
          add("self_attn", MultiheadAttention(embed, heads, attention_options(options), loc))),
      linear1_(add("linear1", Linear(embed, options.feedforward, {.bias = options.bias}, loc))),
      linear2_(add("linear2", Linear(options.feedforward, embed, {.bias = options.bias}, loc))),
      norm1_(add("norm1", norm_of(embed, options, loc))),
      norm2_(add("norm2", norm_of(embed, options, loc))) {
  check_activation(options.activation);
} catch (const Error& error) {
  throw placed(error, loc);
}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const AttentionMasks& masks) const {
  return dropout(attention_(x, x, x, masks, caller()), options_.dropout, is_training(), caller());
}
Tensor TransformerEncoderLayer::feed(const Tensor& x) const {
  return feed_forward(x, linear1_, linear2_, options_, is_training(), caller());
}
Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMasks& masks) const {
  const Loc loc = caller();
  if (options_.norm_first) {
    const Tensor y = eager::add({x, loc}, attend(norm1_(x, loc), masks));
    return eager::add({y, loc}, feed(norm2_(y, loc)));
  }
  const Tensor y = norm1_(eager::add({x, loc}, attend(x, masks)), loc);
  return norm2_(eager::add({y, loc}, feed(y)), loc);
}
Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionMasks& masks,
                                           Loc loc) const {
  return call(
      loc, [&](const Tensor& in) { return forward(in, masks); }, x);
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t embed, int64_t heads,
                                                 TransformerOptions options, Loc loc) try
    : options_(options),
      attention_(
          add("self_attn", MultiheadAttention(embed, heads, attention_options(options), loc))),
      memory_attention_(
          add("multihead_attn", MultiheadAttention(embed, heads, attention_options(options), loc))),
      linear1_(add("linear1", Linear(embed, options.feedforward, {.bias = options.bias}, loc))),
      linear2_(add("linear2", Linear(options.feedforward, embed, {.bias = options.bias}, loc))),
      norm1_(add("norm1", norm_of(embed, options, loc))),
      norm2_(add("norm2", norm_of(embed, options, loc))),
      norm3_(add("norm3", norm_of(embed, options, loc))) {
  check_activation(options.activation);
} catch (const Error& error) {
  throw placed(error, loc);
}

Tensor TransformerDecoderLayer::attend(const Tensor& x, const AttentionMasks& masks) const {
  return dropout(attention_(x, x, x, masks, caller()), options_.dropout, is_training(), caller());
}
Tensor TransformerDecoderLayer::attend_to(const Tensor& memory, const Tensor& x,
                                          const AttentionMasks& masks) const {
  return dropout(memory_attention_(x, memory, memory, masks, caller()), options_.dropout,
                 is_training(), caller());
}
Tensor TransformerDecoderLayer::feed(const Tensor& x) const {
  return feed_forward(x, linear1_, linear2_, options_, is_training(), caller());
}
Tensor TransformerDecoderLayer::forward(const Tensor& x, const Tensor& memory,
                                        const AttentionMasks& masks,
                                        const AttentionMasks& memory_masks) const {
  const Loc loc = caller();
  if (options_.norm_first) {
    const Tensor y = eager::add({x, loc}, attend(norm1_(x, loc), masks));
    const Tensor z = eager::add({y, loc}, attend_to(memory, norm2_(y, loc), memory_masks));
    return eager::add({z, loc}, feed(norm3_(z, loc)));
  }
  const Tensor y = norm1_(eager::add({x, loc}, attend(x, masks)), loc);
  const Tensor z = norm2_(eager::add({y, loc}, attend_to(memory, y, memory_masks)), loc);
  return norm3_(eager::add({z, loc}, feed(z)), loc);
}
Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const AttentionMasks& masks,
                                           const AttentionMasks& memory_masks, Loc loc) const {
  const auto run = [&](const Tensor& in, const Tensor& read) {
    return forward(in, read, masks, memory_masks);
  };
  return call(loc, run, x, memory);
}

TransformerEncoder::TransformerEncoder(int64_t count, int64_t embed, int64_t heads,
                                       TransformerOptions options, bool final_norm, Loc loc) try
    : layers_(add("layers", ModuleList<TransformerEncoderLayer>(checked_count(count), [&](size_t) {
                    return TransformerEncoderLayer(embed, heads, options, loc);
                  }))) {
  if (final_norm) norm_ = add("norm", norm_of(embed, options, loc));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks, Loc loc) const {
  return call(
      loc, [&](const Tensor& in) { return forward(in, masks); }, x);
}
Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMasks& masks) const {
  const Loc loc = caller();
  Tensor value = x;
  for (const TransformerEncoderLayer& layer : layers_)
    value = layer(value, masks, loc);
  return norm_ ? (*norm_)(value, loc) : value;
}

TransformerDecoder::TransformerDecoder(int64_t count, int64_t embed, int64_t heads,
                                       TransformerOptions options, bool final_norm, Loc loc) try
    : layers_(add("layers", ModuleList<TransformerDecoderLayer>(checked_count(count), [&](size_t) {
                    return TransformerDecoderLayer(embed, heads, options, loc);
                  }))) {
  if (final_norm) norm_ = add("norm", norm_of(embed, options, loc));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory,
                                      const AttentionMasks& masks,
                                      const AttentionMasks& memory_masks, Loc loc) const {
  const auto run = [&](const Tensor& in, const Tensor& read) {
    return forward(in, read, masks, memory_masks);
  };
  return call(loc, run, x, memory);
}
Tensor TransformerDecoder::forward(const Tensor& x, const Tensor& memory,
                                   const AttentionMasks& masks,
                                   const AttentionMasks& memory_masks) const {
  const Loc loc = caller();
  Tensor value = x;
  for (const TransformerDecoderLayer& layer : layers_)
    value = layer(value, memory, masks, memory_masks, loc);
  return norm_ ? (*norm_)(value, loc) : value;
}

Transformer::Transformer(TransformerSizes sizes, TransformerOptions options, Loc loc) try
    : encoder_(add("encoder", TransformerEncoder(sizes.encoder_layers, sizes.embed, sizes.heads,
                                                 options, true, loc))),
      decoder_(add("decoder", TransformerDecoder(sizes.decoder_layers, sizes.embed, sizes.heads,
                                                 options, true, loc))) {
  for (const Tensor& parameter : parameters()) {
    if (parameter.rank() > 1) init::xavier_uniform(parameter);
  }
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor Transformer::operator()(const Tensor& source, const Tensor& target,
                               const TransformerMasks& masks, Loc loc) const {
  const auto run = [&](const Tensor& from, const Tensor& to) {
    return decoder_(to, encoder_(from, masks.source, loc), masks.target, masks.memory, loc);
  };
  return call(loc, run, source, target);
}
Tensor Transformer::generate_square_subsequent_mask(const Dim& size, Loc loc) {
  const Tensor places = arange(size, {.dtype = DType::kInt64}, loc);
  const Tensor is_later = Operand(places.unsqueeze(0, loc), loc) > places.unsqueeze(1, loc);
  return masked_fill(zeros({size, size}, {}, loc), is_later, {-INFINITY, loc});
}

}  // namespace sardonyx::eager::nn
