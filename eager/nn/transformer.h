// Transformer layers and stacks of them, with torch's names and order of operations.
#pragma once

#include "eager/nn/attention.h"
#include "eager/nn/container.h"
#include "eager/nn/linear.h"
#include "eager/nn/normalization.h"

namespace sardonyx::eager::nn {

// feedforward: width of the hidden layer of the feed-forward part; dropout: probability, after
// attention, inside and after the feed-forward part; batch_first: x is [batch, time, embed], else
// [time, batch, embed].
struct TransformerOptions {
  int64_t feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  // relu, gelu
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // normalise before each part rather than after it
  bool bias = true;
};

// Self-attention and a feed-forward part, each with a shortcut and a LayerNorm.
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  // Throws kInvalidArgument for an unknown activation or sizes that do not divide.
  TransformerEncoderLayer(int64_t embed, int64_t heads, TransformerOptions options = {},
                          Loc loc = Loc::current());
  // x and the result [time, batch, embed] or, batch first, [batch, time, embed].
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {},
                    Loc loc = Loc::current()) const;
  Tensor forward(const Tensor& x, const AttentionMasks& masks) const;

 private:
  Tensor attend(const Tensor& x, const AttentionMasks& masks) const;
  Tensor feed(const Tensor& x) const;

  TransformerOptions options_;
  MultiheadAttention attention_;
  Linear linear1_, linear2_;
  LayerNorm norm1_, norm2_;
};

// Self-attention, attention to `memory` (an encoder's result), and a feed-forward part.
class TransformerDecoderLayer : public Layer<TransformerDecoderLayer> {
 public:
  // Throws as the encoder's layer does.
  TransformerDecoderLayer(int64_t embed, int64_t heads, TransformerOptions options = {},
                          Loc loc = Loc::current());
  // x as the encoder's; memory of the same batch and embed, with a time of its own; the result is
  // of x's shape. `masks` are of the self-attention, `memory_masks` of the attention to the memory.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {}, Loc loc = Loc::current()) const;
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                 const AttentionMasks& memory_masks) const;

 private:
  Tensor attend(const Tensor& x, const AttentionMasks& masks) const;
  Tensor attend_to(const Tensor& memory, const Tensor& x, const AttentionMasks& masks) const;
  Tensor feed(const Tensor& x) const;

  TransformerOptions options_;
  MultiheadAttention attention_, memory_attention_;
  Linear linear1_, linear2_;
  LayerNorm norm1_, norm2_, norm3_;
};

// `count` layers ("layers.0" ...), each with parameters of its own, and a LayerNorm ("norm") after
// them where asked for.
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  // Throws as its layers do.
  TransformerEncoder(int64_t count, int64_t embed, int64_t heads, TransformerOptions options = {},
                     bool final_norm = false, Loc loc = Loc::current());
  // Shapes as of one layer; all layers see the same masks.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {},
                    Loc loc = Loc::current()) const;
  Tensor forward(const Tensor& x, const AttentionMasks& masks) const;

 private:
  ModuleList<TransformerEncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};
// As TransformerEncoder; each layer sees the same `memory`.
class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  // Throws as its layers do.
  TransformerDecoder(int64_t count, int64_t embed, int64_t heads, TransformerOptions options = {},
                     bool final_norm = false, Loc loc = Loc::current());
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {}, Loc loc = Loc::current()) const;
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                 const AttentionMasks& memory_masks) const;

 private:
  ModuleList<TransformerDecoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

// embed: the width of source, target and result; heads must divide it.
struct TransformerSizes {
  int64_t embed = 512, heads = 8, encoder_layers = 6, decoder_layers = 6;
};
// Of the encoder's self-attention, of the decoder's, and of the decoder's attention to the
// encoder's result.
struct TransformerMasks {
  AttentionMasks source = {}, target = {}, memory = {};
};
// Encoder and decoder ("encoder", "decoder"), each with a LayerNorm after its layers; matrices are
// initialised by xavier_uniform.
class Transformer : public Layer<Transformer> {
 public:
  explicit Transformer(TransformerSizes sizes = {}, TransformerOptions options = {},
                       Loc loc = Loc::current());
  // source and target [time, batch, embed], or batch first; the result is of target's shape.
  Tensor operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks = {},
                    Loc loc = Loc::current()) const;
  // -infinity above the diagonal, 0 elsewhere: a mask under which no query sees later keys.
  static Tensor generate_square_subsequent_mask(const Dim& size, Loc loc = Loc::current());

 private:
  TransformerEncoder encoder_;
  TransformerDecoder decoder_;
};

}  // namespace sardonyx::eager::nn
