// The family tables that make up the op table; op_table.cpp joins them.
#pragma once

#include <span>

#include "ir/op_def.h"

namespace sardonyx::ops {

std::span<const OpDef> arithmetic_ops();  // Add, Mul, Pow, Mod, Max, Sum, BitShift ...
std::span<const OpDef> math_ops();        // Exp, Erf, Round, IsNaN ...
std::span<const OpDef> activation_ops();  // Relu, Gelu, Clip ...
std::span<const OpDef> dropout_ops();     // Dropout
std::span<const OpDef> logic_ops();       // And, Equal, Where ...
std::span<const OpDef> cast_ops();        // Cast, CastLike, BitCast
std::span<const OpDef> quantize_ops();    // QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear
std::span<const OpDef> generator_ops();   // Constant, ConstantOfShape, Range, EyeLike, windows
std::span<const OpDef> random_ops();
std::span<const OpDef> training_ops();     // ai.onnx.preview.training: Adagrad, Adam, Momentum
std::span<const OpDef> optimizer_ops();    // our own domain: SgdStep, AdamStep ...
std::span<const OpDef> convolution_ops();  // Conv, ConvTranspose, ConvInteger, QLinearConv
std::span<const OpDef> irregular_convolution_ops();  // DeformConv, Col2Im, CausalConvWithState
std::span<const OpDef> pool_ops();                   // AveragePool, MaxPool, LpPool, Global*
std::span<const OpDef> region_ops();                 // MaxUnpool, MaxRoiPool, RoiAlign
std::span<const OpDef> normalization_ops();          // Batch-, Instance-, Group- ..., LRN
std::span<const OpDef> row_normalization_ops();      // Layer-, RMS-, LpNormalization
std::span<const OpDef> image_ops();        // AffineGrid, CenterCropPad, DepthToSpace, SpaceToDepth
std::span<const OpDef> resize_ops();       // Resize
std::span<const OpDef> grid_sample_ops();  // GridSample
std::span<const OpDef> matmul_ops();       // MatMul, Gemm, MatMulInteger, QLinearMatMul, Det
std::span<const OpDef> einsum_ops();
std::span<const OpDef> linear_algebra_ops();    // our own domain: Solve, Cholesky, Qr, Svd ...
std::span<const OpDef> lu_ops();                // our own domain: Lu, LuUnpack, LuSolve
std::span<const OpDef> recurrent_ops();         // RNN, GRU, LSTM
std::span<const OpDef> attention_ops();         // Attention, RotaryEmbedding
std::span<const OpDef> linear_attention_ops();  // LinearAttention, FlexAttention
std::span<const OpDef> reduce_ops();
std::span<const OpDef> order_ops();       // ArgMax, ArgMin, TopK
std::span<const OpDef> cumulative_ops();  // CumSum, CumProd, Trilu
std::span<const OpDef> softmax_ops();     // Softmax, LogSoftmax, Hardmax
std::span<const OpDef> loss_ops();        // NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
std::span<const OpDef> signal_ops();      // DFT, STFT, MelWeightMatrix
std::span<const OpDef> shape_ops();  // Shape, Reshape, Transpose, Squeeze, Expand, Identity ...
std::span<const OpDef> join_ops();   // Concat, Split, Tile
std::span<const OpDef> slice_ops();
std::span<const OpDef> pad_ops();
std::span<const OpDef> gather_ops();          // Gather*, OneHot, Compress, ReverseSequence
std::span<const OpDef> scatter_ops();         // Scatter*, TensorScatter
std::span<const OpDef> select_ops();          // NonZero, Unique
std::span<const OpDef> suppression_ops();     // NonMaxSuppression
std::span<const OpDef> sequence_ops();        // Sequence*, SplitToSequence
std::span<const OpDef> optional_ops();        // Optional*
std::span<const OpDef> control_ops();         // If, Loop
std::span<const OpDef> scan_ops();            // Scan, SequenceMap
std::span<const OpDef> text_ops();            // StringNormalizer, RegexFullMatch ...
std::span<const OpDef> ngram_ops();           // TfIdfVectorizer
std::span<const OpDef> image_decoder_ops();   // ImageDecoder
std::span<const OpDef> tree_ops();            // ai.onnx.ml tree ensembles
std::span<const OpDef> linear_model_ops();    // ai.onnx.ml linear models, Scaler, Normalizer ...
std::span<const OpDef> support_vector_ops();  // ai.onnx.ml SVMs
std::span<const OpDef> encoder_ops();         // ai.onnx.ml encoders to tensors
std::span<const OpDef> feature_map_ops();     // ai.onnx.ml ops on maps
std::span<const OpDef> contrib_ops();  // com.microsoft: fused products and convolutions, Gelu
std::span<const OpDef> contrib_normalization_ops();
std::span<const OpDef> contrib_attention_ops();
std::span<const OpDef> contrib_grouped_ops();   // GroupQueryAttention
std::span<const OpDef> contrib_decoding_ops();  // DecoderMaskedMultiHeadAttention
std::span<const OpDef> contrib_sparse_attention_ops();
std::span<const OpDef> contrib_text_ops();
std::span<const OpDef> contrib_tensor_ops();
std::span<const OpDef> contrib_quantized_ops();
std::span<const OpDef> contrib_weight_ops();     // weights in few bits
std::span<const OpDef> contrib_recurrent_ops();  // DynamicQuantizeLSTM
std::span<const OpDef> contrib_generation_ops();
std::span<const OpDef> contrib_token_ops();  // hashes and searches of tokens
std::span<const OpDef> fused_ops();          // our own domain: what passes write
std::span<const OpDef> group_ops();          // our own domain: FusedElementwise

}  // namespace sardonyx::ops
