// A sentence on each op of other domains than ONNX's own is in contrib_summaries.cpp.
#include "tools/make-op-functions/summaries.h"

#include <algorithm>
#include <span>

namespace sardonyx::tool {
namespace {

constexpr OpSummary kOnnxSummaries[] = {
    {"Add", "A + B, element by element, broadcast to one shape."},
    {"Sub", "A - B, element by element, broadcast to one shape."},
    {"Mul", "A * B, element by element, broadcast to one shape."},
    {"Div",
     "A / B, element by element, broadcast to one shape; integers are truncated toward "
     "zero, and a divisor of 0 is refused."},
    {"Mod",
     "The remainder of A / B, broadcast to one shape: with the sign of the divisor, or "
     "with fmod = 1 that of the dividend, which floats need."},
    {"Pow", "X to the power of Y, broadcast to one shape, in the type of X."},
    {"Neg", "-X, element by element."},
    {"Abs", "The magnitude of each element."},
    {"Sign", "-1, 0 or 1 for each element."},
    {"Reciprocal", "1 / X, element by element."},
    {"Max",
     "The largest of the tensors' elements at each place, broadcast to one shape; NaN "
     "where one of them is."},
    {"Min",
     "The smallest of the tensors' elements at each place, broadcast to one shape; NaN "
     "where one of them is."},
    {"Sum", "The sum of all tensors, broadcast to one shape."},
    {"Mean", "The mean of all tensors, broadcast to one shape."},
    {"BitShift", "X shifted by Y bits, direction LEFT or RIGHT, broadcast to one shape."},
    {"BitwiseAnd", "The bits that are set in A and B, broadcast to one shape."},
    {"BitwiseOr", "The bits that are set in A or B, broadcast to one shape."},
    {"BitwiseXor", "The bits that differ between A and B, broadcast to one shape."},
    {"BitwiseNot", "All bits of each element inverted."},
    {"Sqrt", "The square root of each element; NaN where it is negative."},
    {"Exp", "e to the power of each element."},
    {"Log", "The natural logarithm of each element; NaN where it is negative."},
    {"Ceil", "Each element rounded up to an integer."},
    {"Floor", "Each element rounded down to an integer."},
    {"Round", "Each element rounded to the nearest integer, halves to the even one."},
    {"Erf", "The error function of each element."},
    {"Sin", "The sine of each element, in radians."},
    {"Cos", "The cosine of each element, in radians."},
    {"Tan", "The tangent of each element, in radians."},
    {"Asin", "The arc sine of each element, in radians; NaN outside of [-1, 1]."},
    {"Acos", "The arc cosine of each element, in radians; NaN outside of [-1, 1]."},
    {"Atan", "The arc tangent of each element, in radians."},
    {"Sinh", "The hyperbolic sine of each element."},
    {"Cosh", "The hyperbolic cosine of each element."},
    {"Tanh", "The hyperbolic tangent of each element."},
    {"Asinh", "The inverse of the hyperbolic sine of each element."},
    {"Acosh", "The inverse of the hyperbolic cosine of each element; NaN below 1."},
    {"Atanh", "The inverse of the hyperbolic tangent of each element; NaN outside of [-1, 1]."},
    {"IsNaN", "Which elements are not a number."},
    {"IsInf", "Which elements are infinite; the attributes leave one sign out."},
    {"Relu", "max(X, 0), element by element."},
    {"LeakyRelu", "X where it is not negative, else alpha * X."},
    {"PRelu",
     "X where it is not negative, else slope * X; the slope is broadcast to the shape of "
     "X."},
    {"Elu", "X where it is positive, else alpha * (exp(X) - 1)."},
    {"Selu", "gamma * X where X is positive, else gamma * alpha * (exp(X) - 1)."},
    {"Celu", "max(0, X) + min(0, alpha * (exp(X / alpha) - 1))."},
    {"Sigmoid", "1 / (1 + exp(-X)), element by element."},
    {"HardSigmoid", "max(0, min(1, alpha * X + beta)), element by element."},
    {"HardSwish", "X * max(0, min(1, X / 6 + 0.5)), element by element."},
    {"Mish", "X * tanh(softplus(X)), element by element."},
    {"Softplus", "log(1 + exp(X)), element by element."},
    {"Softsign", "X / (1 + |X|), element by element."},
    {"ThresholdedRelu", "X where it is above alpha, else 0."},
    {"Gelu",
     "X times the normal distribution's share below it; approximate: \"none\" or \"tanh\"."},
    {"Swish", "X * sigmoid(alpha * X), element by element."},
    {"Shrink", "X moved by bias toward 0 where |X| is above lambd, else 0."},
    {"Clip", "Each element limited to [min, max], scalars of which either may be left out."},
    {"Dropout",
     "In training mode zeros at random places, a share `ratio` of them, and the others "
     "scaled by 1 / (1 - ratio); else the data. The mask (bool) says what was kept."},
    {"And", "Whether both elements are true, broadcast to one shape."},
    {"Or", "Whether either element is true, broadcast to one shape."},
    {"Xor", "Whether exactly one element is true, broadcast to one shape."},
    {"Not", "Whether the element is false."},
    {"Equal", "Whether the elements are equal, broadcast to one shape; NaN equals nothing."},
    {"Greater", "Whether A is greater than B, broadcast to one shape."},
    {"GreaterOrEqual", "Whether A is greater than B or equal, broadcast to one shape."},
    {"Less", "Whether A is less than B, broadcast to one shape."},
    {"LessOrEqual", "Whether A is less than B or equal, broadcast to one shape."},
    {"Where", "X where the condition is true, else Y; all three are broadcast to one shape."},
    {"Cast",
     "The elements in the type `to`; floats are truncated to integers, strings are parsed, "
     "and small floats round to the nearest, saturating where `saturate` says so."},
    {"CastLike", "The elements in the type of the second input, as Cast does it."},
    {"BitCast", "The same bits seen as the type `to`, which must have elements of the same size."},
    {"QuantizeLinear",
     "x / y_scale rounded to the nearest even integer, plus the zero point, limited to the "
     "type of the output: one scale, one for each index of `axis`, or one for each block."},
    {"DequantizeLinear",
     "(x - x_zero_point) * x_scale: one scale, one for each index of `axis`, or one for "
     "each block."},
    {"DynamicQuantizeLinear",
     "x as uint8, with the scale and zero point that its smallest and largest element lead "
     "to."},
    {"Constant",
     "The value that is given by one of the attributes; a rank-0 tensor or a list for the "
     "others than `value`."},
    {"ConstantOfShape",
     "A tensor of the shape that the input lists, filled with `value` (default: float 0)."},
    {"Range",
     "start, start + delta, ... up to and without limit: rank 1, from three scalars of one "
     "type; delta must not be 0."},
    {"EyeLike",
     "Ones on the k-th diagonal and zeros elsewhere, in the shape of the input, which is a "
     "matrix."},
    {"BlackmanWindow", "A Blackman window of the length that the scalar `size` says: rank 1."},
    {"HammingWindow", "A Hamming window of the length that the scalar `size` says: rank 1."},
    {"HannWindow", "A Hann window of the length that the scalar `size` says: rank 1."},
    {"RandomNormal", "A tensor of the attribute's shape with normally distributed elements."},
    {"RandomUniform",
     "A tensor of the attribute's shape with elements distributed evenly over [low, high)."},
    {"RandomNormalLike", "Normally distributed elements in the shape of the input."},
    {"RandomUniformLike",
     "Elements distributed evenly over [low, high), in the shape of the input."},
    {"Bernoulli",
     "1 with the probability that the element is, else 0; probabilities are in [0, 1]."},
    {"Multinomial",
     "sample_size draws from each row of log-probabilities [batch, classes]: classes as "
     "integers [batch, sample_size]."},
    {"DFT",
     "The discrete Fourier transform along `axis`, which counts from 0; the last axis "
     "holds real parts alone (size 1) or real and imaginary parts (size 2)."},
    {"STFT",
     "The Fourier transform of windows of a signal [batch, length, 1 or 2], one each "
     "frame_step samples: [batch, frames, bins, 2]."},
    {"MelWeightMatrix",
     "The weights [bins of the spectrum, num_mel_bins] that sum a spectrum up on the mel "
     "scale; frequencies in Hz."},
    {"Conv",
     "The convolution of X [N, C, spatial...] with weights [M, C / group, kernel...] and a "
     "bias [M]: [N, M, spatial...]."},
    {"ConvTranspose",
     "The transposed convolution, a convolution's gradient, of X [N, C, spatial...] with "
     "weights [C, M / group, kernel...] and a bias [M]: [N, M, spatial...]."},
    {"ConvInteger",
     "The convolution of 8-bit integers less their zero points, summed up in int32; shapes "
     "as in Conv."},
    {"QLinearConv",
     "The convolution of quantised values, quantised again; weights may have a scale for "
     "each of the M channels, shapes are as in Conv."},
    {"DeformConv",
     "A convolution whose taps are moved by offsets [N, groups * taps * 2, out...] and "
     "scaled by a mask [N, groups * taps, out...]; other shapes as in Conv."},
    {"Col2Im",
     "Columns [N, C * block, blocks] added up into images [N, C, image_shape...], where "
     "blocks overlap."},
    {"CausalConvWithState",
     "A depthwise convolution [batch, channels, length] that sees the past alone; gives "
     "the last elements as the state of the next call."},
    {"AveragePool",
     "The mean of each window of X [N, C, spatial...]; padding counts where "
     "count_include_pad says so."},
    {"MaxPool",
     "The largest element of each window of X [N, C, spatial...], and where it is in the "
     "whole tensor (int64)."},
    {"LpPool", "The p-norm of each window of X [N, C, spatial...]."},
    {"GlobalAveragePool", "The mean over all spatial axes: [N, C, 1, ...]."},
    {"GlobalMaxPool", "The largest element over all spatial axes: [N, C, 1, ...]."},
    {"GlobalLpPool", "The p-norm over all spatial axes: [N, C, 1, ...]."},
    {"MaxUnpool",
     "Zeros but for the elements of X at the indices that MaxPool gave; the shape follows "
     "from the windows or from output_shape."},
    {"MaxRoiPool",
     "The largest elements of a grid of pooled_shape over each region [regions, 5] (image, "
     "x1, y1, x2, y2) of X [N, C, H, W]."},
    {"RoiAlign",
     "Interpolated samples of X [N, C, H, W] pooled over a grid for each region [regions, "
     "4] (x1, y1, x2, y2) of the image batch_indices says."},
    {"BatchNormalization",
     "X [N, C, ...] less the mean of its channel, divided by the standard deviation, times "
     "scale [C] plus B [C]; with training_mode = 1 by the batch's own statistics, and the "
     "running ones follow."},
    {"InstanceNormalization",
     "Each image's channels of X [N, C, ...] made of mean 0 and variance 1, times scale "
     "[C] plus B [C]."},
    {"GroupNormalization",
     "num_groups groups of channels of X [N, C, ...] made of mean 0 and variance 1, times "
     "scale [C] plus bias [C]."},
    {"MeanVarianceNormalization",
     "X less its mean over `axes`, divided by its standard deviation over them."},
    {"LRN",
     "Each element of X [N, C, ...] divided by (bias + alpha / size * sum of squares over "
     "`size` channels around) ^ beta."},
    {"LayerNormalization",
     "X made of mean 0 and variance 1 over the axes from `axis` on, times Scale plus B; "
     "mean and 1 / deviation come as well."},
    {"RMSNormalization",
     "X divided by its root mean square over the axes from `axis` on, times scale."},
    {"LpNormalization", "X divided by its norm of order p (1 or 2) along `axis`."},
    {"DepthToSpace",
     "Blocks of channels of [N, C, H, W] laid out in space: [N, C / b^2, H * b, W * b]."},
    {"SpaceToDepth",
     "Blocks of space of [N, C, H, W] laid out in channels: [N, C * b^2, H / b, W / b]."},
    {"CenterCropPad",
     "The middle of the input, or the input in the middle of zeros, in the sizes that "
     "`shape` lists for `axes`."},
    {"AffineGrid",
     "The grid of coordinates in [-1, 1] that theta [N, 2, 3] or [N, 3, 4] maps an image "
     "of `size` to: [N, H, W, 2] or [N, D, H, W, 3]."},
    {"Resize",
     "X sampled anew by `scales` or to `sizes`, one of which is given for all axes or for "
     "`axes`."},
    {"GridSample",
     "X [N, C, spatial...] sampled at the coordinates of a grid [N, out..., axes], which "
     "are in [-1, 1] across the image."},
    {"MatMul",
     "The matrix product of the last two axes, the others broadcast; rank 1 is a row on "
     "the left and a column on the right."},
    {"Gemm",
     "alpha * A' * B' + beta * C: matrices [M, K] and [K, N], transposed before where the "
     "attributes say so, and C broadcast to [M, N]."},
    {"MatMulInteger",
     "The matrix product of 8-bit integers less their zero points, summed up in int32."},
    {"QLinearMatMul", "The matrix product of quantised values, quantised again."},
    {"Det", "The determinant of the last two axes, which must be square."},
    {"Einsum",
     "The sum of products that the equation says; letters name axes, \"...\" broadcasts "
     "others."},
    {"RNN",
     "A recurrent layer over X [seq, batch, input]: Y [seq, directions, batch, hidden] and "
     "the last state [directions, batch, hidden]."},
    {"GRU",
     "A gated recurrent layer over X [seq, batch, input], gates in the order z, r, h: Y "
     "[seq, directions, batch, hidden] and the last state."},
    {"LSTM",
     "A long short-term memory over X [seq, batch, input], gates in the order i, o, f, c: "
     "Y [seq, directions, batch, hidden] and the last state and cell."},
    {"Attention",
     "softmax(Q K' * scale + mask) V for each head, of [batch, heads, length, size] or "
     "[batch, length, heads * size], with a cache of past keys and values."},
    {"RotaryEmbedding",
     "X with pairs of its last axis rotated by the angles whose cosines and sines are "
     "given for each position."},
    {"LinearAttention",
     "Attention whose state, keys times values, is carried along the sequence in place of "
     "all scores."},
    {"ReduceSum", "The sum over `axes`, all where none are given."},
    {"ReduceMean", "The mean over `axes`, all where none are given."},
    {"ReduceMax", "The largest element over `axes`, all where none are given."},
    {"ReduceMin", "The smallest element over `axes`, all where none are given."},
    {"ReduceProd", "The product over `axes`, all where none are given."},
    {"ReduceL1", "The sum of magnitudes over `axes`, all where none are given."},
    {"ReduceL2", "The root of the sum of squares over `axes`, all where none are given."},
    {"ReduceLogSum", "The logarithm of the sum over `axes`, all where none are given."},
    {"ReduceLogSumExp",
     "The logarithm of the sum of exponentials over `axes`, all where none are given, "
     "without overflow."},
    {"ReduceSumSquare", "The sum of squares over `axes`, all where none are given."},
    {"ArgMax",
     "The index along `axis` (int64) of the largest element, the first or the last such."},
    {"ArgMin",
     "The index along `axis` (int64) of the smallest element, the first or the last such."},
    {"TopK",
     "The K largest or smallest elements along `axis`, and their indices (int64); K must "
     "not exceed the axis."},
    {"CumSum",
     "Running sums along an axis, which may leave out the element itself and go backwards."},
    {"CumProd",
     "Running products along an axis, which may leave out the element itself and go "
     "backwards."},
    {"Trilu",
     "The upper or lower triangle of the last two axes from the k-th diagonal, zeros "
     "elsewhere."},
    {"Softmax", "exp(input) divided by its sum along `axis`, without overflow."},
    {"LogSoftmax", "The logarithm of Softmax along `axis`, without overflow."},
    {"Hardmax", "1 for the first largest element along `axis`, else 0."},
    {"NegativeLogLikelihoodLoss",
     "The negated log-probabilities [N, C, ...] of the classes [N, ...], weighted by class "
     "[C], reduced as `reduction` says; ignore_index counts for nothing."},
    {"SoftmaxCrossEntropyLoss",
     "The cross entropy of scores [N, C, ...] and classes [N, ...], weighted by class [C], "
     "reduced as `reduction` says; the log-probabilities come as well."},
    {"ai.onnx.preview::FlexAttention",
     "Attention of [batch, heads, length, size] whose scores a function of theirs may "
     "change."},
    {"Shape", "The sizes of the axes from `start` to `end`: int64, rank 1."},
    {"Size", "The number of elements: int64, rank 0."},
    {"Reshape",
     "The elements in another shape: 0 keeps an axis's size (unless allowzero), one -1 is "
     "what is left."},
    {"Flatten", "A matrix: the axes before `axis` as rows, those from it on as columns."},
    {"Squeeze", "Without the axes of size 1 that are listed, or all such."},
    {"Unsqueeze", "With axes of size 1 at the places of the result that are listed."},
    {"Transpose", "The axes in the order `perm`, reversed where none is given."},
    {"Expand", "Broadcast to the shape that is the common one of the input's and the given."},
    {"Identity", "The input itself."},
    {"Concat", "The tensors one behind another along `axis`; their other sizes must agree."},
    {"Split",
     "Parts along `axis`: of the sizes that are listed, or num_outputs of equal ones with "
     "a smaller last."},
    {"Tile", "The input repeated as often along each axis as `repeats` lists."},
    {"Slice",
     "Every `steps`-th element from `starts` to `ends`, for `axes`; negative counts from "
     "the end."},
    {"Pad",
     "More or fewer elements at the begin and end of each axis: a constant, the edge's, "
     "reflected or wrapped ones."},
    {"Gather",
     "The slices of `data` along `axis` at these indices: the axis becomes the indices' "
     "axes. Negative counts from the end, beyond is refused."},
    {"GatherElements",
     "data at the index that `indices` has along `axis`, in the shape of the indices."},
    {"GatherND",
     "The slices of `data` at tuples of indices, the last axis of `indices`, behind "
     "batch_dims axes in common."},
    {"OneHot", "values[1] at the index along a new axis of length depth, else values[0]."},
    {"Compress",
     "The slices along `axis` whose condition is true; of all elements in a row where no "
     "axis is given."},
    {"ReverseSequence",
     "The first sequence_lens[b] elements along time_axis in reverse, for each b of "
     "batch_axis."},
    {"ScatterElements",
     "A copy of `data` with the updates at the index that `indices` has along `axis`, put "
     "or combined as `reduction` says."},
    {"ScatterND",
     "A copy of `data` with the updates at tuples of indices, put or combined as "
     "`reduction` says."},
    {"TensorScatter",
     "The cache with the update written along `axis` from write_indices[batch] on, around "
     "its end in circular mode."},
    {"NonZero", "The indices of the elements that are not zero: int64 [rank, count]."},
    {"Unique",
     "The distinct elements, or slices along `axis`, sorted or in the order of the first; "
     "with first indices, inverse and counts."},
    {"NonMaxSuppression",
     "The boxes [batch, count, 4] that are kept, best scores [batch, classes, count] "
     "first, where they overlap others by no more than the threshold: [kept, 3] of batch, "
     "class and box."},
    {"SequenceAt", "The tensor at a position of a sequence; negative counts from the end."},
    {"SequenceConstruct", "A sequence of these tensors, which have one type."},
    {"SequenceEmpty", "A sequence of no tensors of the type dtype."},
    {"SequenceErase", "The sequence without the tensor at the position, by default the last."},
    {"SequenceInsert", "The sequence with the tensor before the position, by default at the end."},
    {"SequenceLength", "The number of tensors in the sequence: int64, rank 0."},
    {"ConcatFromSequence",
     "The tensors of a sequence joined along `axis`, an own one where new_axis = 1."},
    {"SplitToSequence",
     "Parts along `axis` as a sequence: of one length, of lengths that are listed, or "
     "single slices."},
    {"Optional", "An optional that holds the input, or an empty one of the type."},
    {"OptionalGetElement", "What the optional holds; an empty one is refused."},
    {"OptionalHasElement", "Whether the optional holds something: bool, rank 0."},
    {"StringConcat", "The strings of X and Y joined, broadcast to one shape."},
    {"StringSplit",
     "The parts of each string between delimiters, in a further axis that is filled up "
     "with \"\", and their number."},
    {"StringNormalizer", "Strings [C] or [1, C] in upper or lower case, without stop words."},
    {"RegexFullMatch", "Whether the whole string matches the pattern (RE2's syntax)."},
    {"TfIdfVectorizer",
     "How often the n-grams of a pool are in each row, by count, presence or weight."},
    {"ImageDecoder",
     "The image that the bytes of a file encode: uint8 [height, width, channels]; empty "
     "where they are damaged. Formats besides BMP and PNM need sardonyx::codecs to be "
     "linked."},
};

std::string_view find_summary(std::span<const OpSummary> summaries, std::string_view op) {
  const auto found = std::ranges::find(summaries, op, &OpSummary::op);
  return found == summaries.end() ? "" : found->sentence;
}

}  // namespace

std::string_view summary_of(std::string_view op) {
  const std::string_view sentence = find_summary(kOnnxSummaries, op);
  return sentence.empty() ? find_summary(contrib_summaries(), op) : sentence;
}

}  // namespace sardonyx::tool
