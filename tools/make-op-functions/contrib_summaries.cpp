#include "tools/make-op-functions/summaries.h"

namespace sardonyx::tool {
namespace {

constexpr OpSummary kContribSummaries[] = {
    {"ai.onnx.ml::TreeEnsemble",
     "The aggregated leaf values of trees for each row of X [N, F]: [N, targets]."},
    {"ai.onnx.ml::TreeEnsembleClassifier",
     "The class of each row of X [N, F] by a vote of trees, and the scores [N, classes]."},
    {"ai.onnx.ml::TreeEnsembleRegressor",
     "The aggregated values of trees for each row of X [N, F]: [N, n_targets]."},
    {"ai.onnx.ml::Binarizer", "1 where the element is above the threshold, else 0."},
    {"ai.onnx.ml::Imputer",
     "X with a given value in place of missing ones, for each feature or all."},
    {"ai.onnx.ml::LinearClassifier",
     "The class of each row of X [N, F] by linear scores, and the scores [N, classes]."},
    {"ai.onnx.ml::LinearRegressor", "X [N, F] times coefficients plus intercepts: [N, targets]."},
    {"ai.onnx.ml::Normalizer", "Each row divided by its norm: MAX, L1 or L2."},
    {"ai.onnx.ml::Scaler", "(X - offset) * scale, for each feature or all."},
    {"ai.onnx.ml::SVMClassifier",
     "The class of each row of X [N, F] by support vectors, and the scores."},
    {"ai.onnx.ml::SVMRegressor", "The value of each row of X [N, F] by support vectors: [N, 1]."},
    {"ai.onnx.ml::ArrayFeatureExtractor", "The elements of the last axis of X at the indices Y."},
    {"ai.onnx.ml::CategoryMapper",
     "Strings as their integers, or integers as their strings; defaults for those that are "
     "not listed."},
    {"ai.onnx.ml::FeatureVectorizer", "The inputs [N, C] joined as floats: [N, sum of C]."},
    {"ai.onnx.ml::LabelEncoder",
     "Each element replaced by its value in a table of keys and values."},
    {"ai.onnx.ml::OneHotEncoder",
     "Ones at each element's category in a further axis, zeros elsewhere."},
    {"ai.onnx.ml::CastMap",
     "The values of a map from integers as a tensor [1, N], dense or sparse."},
    {"ai.onnx.ml::DictVectorizer",
     "The values of a map in the order of a vocabulary: [1, N], zeros for what it lacks."},
    {"ai.onnx.ml::ZipMap", "The rows [N, classes] as a sequence of maps from class to value."},
    {"ai.onnx.preview.training::Adagrad",
     "A step of Adagrad for the tensors X, G and H of each parameter: the new X and H."},
    {"ai.onnx.preview.training::Adam",
     "A step of Adam for the tensors X, G, V and H of each parameter: the new X, V and H."},
    {"ai.onnx.preview.training::Momentum",
     "A step of momentum or Nesterov's for the tensors X, G and V of each parameter: the "
     "new X and V."},
    {"com.microsoft::FusedConv", "Conv, a residual Z added and an activation; shapes as in Conv."},
    {"com.microsoft::NhwcConv", "Conv of X [N, spatial..., C] to [N, spatial..., M]."},
    {"com.microsoft::NhwcFusedConv", "FusedConv of X [N, spatial..., C] to [N, spatial..., M]."},
    {"com.microsoft::FusedMatMul",
     "alpha * A' * B' of the last two axes, transposed before where the attributes say so, "
     "the others broadcast."},
    {"com.microsoft::TransposeMatMul", "FusedMatMul by its former name."},
    {"com.microsoft::FusedGemm", "Gemm and an activation."},
    {"com.microsoft::Gelu", "X times the normal distribution's share below it."},
    {"com.microsoft::BiasGelu", "Gelu of A + B, B a row for the last axis."},
    {"com.microsoft::FastGelu", "Gelu by tanh of X + bias, the bias a row for the last axis."},
    {"com.microsoft::QuickGelu", "X * sigmoid(alpha * X), element by element."},
    {"com.microsoft::SkipLayerNormalization",
     "LayerNormalization of input + skip + bias over the last axis; the sum comes as well."},
    {"com.microsoft::SkipSimplifiedLayerNormalization",
     "RMS normalization of input + skip + bias over the last axis; the sum comes as well."},
    {"com.microsoft::SimplifiedLayerNormalization",
     "X divided by its root mean square over the axes from `axis` on, times scale."},
    {"com.microsoft::LayerNormalization",
     "X made of mean 0 and variance 1 over the axes from `axis` on, times scale plus bias."},
    {"com.microsoft::EmbedLayerNormalization",
     "The sum of word, position and segment embeddings of ids [batch, length], normalised; "
     "and each row's number of ids that count."},
    {"com.microsoft::Attention",
     "Self-attention of input [batch, length, hidden] with weights and bias of query, key "
     "and value joined."},
    {"com.microsoft::MultiHeadAttention",
     "Attention of query [batch, length, hidden] to key and value, which may come packed "
     "or from a cache."},
    {"com.microsoft::RotaryEmbedding",
     "The input with pairs of its last axis rotated by the angles of its positions."},
    {"com.microsoft::GroupQueryAttention",
     "Causal attention whose heads share keys and values in groups, with a cache of past "
     "ones."},
    {"com.microsoft::Tokenizer",
     "The strings of X [C] or [N, C] cut into tokens, in a further axis filled up with "
     "pad_value."},
    {"com.microsoft::WordConvEmbedding",
     "Embeddings of words [words, characters] by a convolution over their characters and a "
     "maximum: [words, size]."},
    {"com.microsoft::Trilu",
     "The upper or lower triangle of the last two axes from the k-th diagonal, zeros "
     "elsewhere."},
    {"com.microsoft::Unique",
     "The distinct elements of x [N] in the order of their first, with inverse indices and "
     "counts."},
    {"com.microsoft::Pad",
     "More elements at the begin and end of each axis, as many as `pads` [2 * rank] lists."},
    {"com.microsoft::ExpandDims",
     "X with an axis of size 1 at the place that the scalar `axis` says."},
    {"com.microsoft::GridSample",
     "X [N, C, H, W] sampled at the coordinates of a grid [N, h, w, 2], which are in [-1, "
     "1] across the image."},
    {"com.microsoft::CDist",
     "The distances, or their squares, between all rows of A [M, K] and B [N, K]: [M, N]."},
    {"com.microsoft::Inverse", "The inverse of the last two axes, which must be square."},
    {"com.microsoft::CropAndResize",
     "Each box of rois [boxes, 4] of the image its index says, resized to crop_size: "
     "[boxes, C, h, w]."},
    {"com.microsoft::QLinearAdd",
     "The sum of quantised tensors, quantised again, broadcast to one shape."},
    {"com.microsoft::QLinearMul",
     "The product of quantised tensors, quantised again, broadcast to one shape."},
    {"com.microsoft::QLinearSigmoid", "Sigmoid of quantised elements, quantised again."},
    {"com.microsoft::QLinearLeakyRelu", "LeakyRelu of quantised elements, quantised again."},
    {"com.microsoft::QLinearSoftmax",
     "Softmax of quantised elements along `axis`, quantised again."},
    {"com.microsoft::QLinearReduceMean",
     "The mean of quantised elements over `axes`, quantised again."},
    {"com.microsoft::QLinearAveragePool", "AveragePool of quantised elements, quantised again."},
    {"com.microsoft::QLinearGlobalAveragePool",
     "GlobalAveragePool of quantised elements, quantised again."},
    {"com.microsoft::QLinearWhere",
     "Where of quantised tensors, each with its own scale, quantised again."},
    {"com.microsoft::QLinearConcat",
     "Quantised tensors, each with its own scale, joined along `axis` in one scale."},
    {"com.microsoft::MatMulIntegerToFloat",
     "The matrix product of 8-bit integers, times the scales of both and with a bias, in "
     "floats."},
    {"com.microsoft::DynamicQuantizeMatMul",
     "The matrix product of floats that are quantised for it and quantised weights, in "
     "floats."},
    {"com.microsoft::QGemm", "Gemm of quantised matrices, in floats or quantised again."},
    {"com.microsoft::QAttention", "Self-attention whose input and weights are quantised."},
    {"com.microsoft::QuantizeLinear", "ONNX's QuantizeLinear by its name here."},
    {"com.microsoft::DequantizeLinear", "ONNX's DequantizeLinear by its name here."},
    {"com.microsoft::MatMulNBits",
     "The product of A [..., K] and weights [N, K] of 2 to 8 bits in blocks with a scale "
     "each: [..., N]."},
    {"com.microsoft::GatherBlockQuantized",
     "Gather of data that is quantised in blocks, as floats."},
    {"com.microsoft::DynamicQuantizeLSTM",
     "LSTM whose weights are quantised, and its inputs for each product."},
};

}  // namespace

std::span<const OpSummary> contrib_summaries() {
  return kContribSummaries;
}

}  // namespace sardonyx::tool
