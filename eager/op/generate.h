// Ops that make tensors, and the steps of optimisers.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

struct ConstantAttrs {
  Tensor sparse_value = {};
  Tensor value = {};
  std::optional<float> value_float = {};
  OptionalList<float> value_floats = {};
  std::optional<int64_t> value_int = {};
  OptionalList<int64_t> value_ints = {};
  std::optional<std::string> value_string = {};
  OptionalList<std::string> value_strings = {};
};
// The value that is given by one of the attributes; a rank-0 tensor or a list for the others than
// `value`.
// () -> (output: T); T: any
Tensor Constant(const ConstantAttrs& attrs = {}, Loc loc = Loc::current());

struct ConstantOfShapeAttrs {
  Tensor value = {};
};
// A tensor of the shape that the input lists, filled with `value` (default: float 0).
// (input: T1) -> (output: T2); T1: int64; T2: integers, floats, 8-bit floats, 2- and 4-bit
//   integers, bool, float4e2m1, float8e8m0
Tensor ConstantOfShape(const Tensor& input, const ConstantOfShapeAttrs& attrs = {},
    Loc loc = Loc::current());

struct RangeAttrs {
  DType stash_type = DType::kFloat;
};
// start, start + delta, ... up to and without limit: rank 1, from three scalars of one type; delta
// must not be 0.
// (start: T, limit: T, delta: T) -> (output: T); T: floats, int16, int32, int64
Tensor Range(const Tensor& start, const Tensor& limit, const Tensor& delta,
    const RangeAttrs& attrs = {}, Loc loc = Loc::current());

struct EyeLikeAttrs {
  std::optional<DType> dtype = {};
  int64_t k = 0;
};
// Ones on the k-th diagonal and zeros elsewhere, in the shape of the input, which is a matrix.
// (input: T1) -> (output: T2); T1: integers, floats, bool; T2: integers, floats, bool
Tensor EyeLike(const Tensor& input, const EyeLikeAttrs& attrs = {}, Loc loc = Loc::current());

struct BlackmanWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// A Blackman window of the length that the scalar `size` says: rank 1.
// (size: T1) -> (output: T2); T1: int32, int64; T2: integers, floats
Tensor BlackmanWindow(const Tensor& size, const BlackmanWindowAttrs& attrs = {},
    Loc loc = Loc::current());

struct HammingWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// A Hamming window of the length that the scalar `size` says: rank 1.
// (size: T1) -> (output: T2); T1: int32, int64; T2: integers, floats
Tensor HammingWindow(const Tensor& size, const HammingWindowAttrs& attrs = {},
    Loc loc = Loc::current());

struct HannWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// A Hann window of the length that the scalar `size` says: rank 1.
// (size: T1) -> (output: T2); T1: int32, int64; T2: integers, floats
Tensor HannWindow(const Tensor& size, const HannWindowAttrs& attrs = {}, Loc loc = Loc::current());

struct RandomNormalAttrs {
  DType dtype = DType::kFloat;
  float mean = 0.f;
  float scale = 1.f;
  std::optional<float> seed = {};
  OptionalList<int64_t> shape = {};  // required
};
// A tensor of the attribute's shape with normally distributed elements.
// () -> (output: T); T: floats
Tensor RandomNormal(const RandomNormalAttrs& attrs, Loc loc = Loc::current());

struct RandomUniformAttrs {
  DType dtype = DType::kFloat;
  float high = 1.f;
  float low = 0.f;
  std::optional<float> seed = {};
  OptionalList<int64_t> shape = {};  // required
};
// A tensor of the attribute's shape with elements distributed evenly over [low, high).
// () -> (output: T); T: floats
Tensor RandomUniform(const RandomUniformAttrs& attrs, Loc loc = Loc::current());

struct RandomNormalLikeAttrs {
  std::optional<DType> dtype = {};
  float mean = 0.f;
  float scale = 1.f;
  std::optional<float> seed = {};
};
// Normally distributed elements in the shape of the input.
// (input: T1) -> (output: T2); T1: integers, floats, complex, string, bool; T2: floats
Tensor RandomNormalLike(const Tensor& input, const RandomNormalLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct RandomUniformLikeAttrs {
  std::optional<DType> dtype = {};
  float high = 1.f;
  float low = 0.f;
  std::optional<float> seed = {};
};
// Elements distributed evenly over [low, high), in the shape of the input.
// (input: T1) -> (output: T2); T1: integers, floats, complex, string, bool; T2: floats
Tensor RandomUniformLike(const Tensor& input, const RandomUniformLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct BernoulliAttrs {
  std::optional<DType> dtype = {};
  std::optional<float> seed = {};
};
// 1 with the probability that the element is, else 0; probabilities are in [0, 1].
// (input: T1) -> (output: T2); T1: floats; T2: integers, floats, bool
Tensor Bernoulli(const Tensor& input, const BernoulliAttrs& attrs = {}, Loc loc = Loc::current());

struct MultinomialAttrs {
  DType dtype = DType::kInt32;
  int64_t sample_size = 1;
  std::optional<float> seed = {};
};
// sample_size draws from each row of log-probabilities [batch, classes]: classes as integers
// [batch, sample_size].
// (input: T1) -> (output: T2); T1: floats; T2: int32, int64
Tensor Multinomial(const Tensor& input, const MultinomialAttrs& attrs = {},
    Loc loc = Loc::current());

struct DFTAttrs {
  int64_t inverse = 0;
  int64_t onesided = 0;
};
// The discrete Fourier transform along `axis`, which counts from 0; the last axis holds real parts
// alone (size 1) or real and imaginary parts (size 2).
// (input: T1, dft_length?: T2, axis?: int64) -> (output: T1); T1: floats; T2: int32, int64
Tensor DFT(const Tensor& input, const Tensor& dft_length = {}, const Tensor& axis = {},
    const DFTAttrs& attrs = {}, Loc loc = Loc::current());

struct STFTAttrs {
  int64_t onesided = 1;
};
// The Fourier transform of windows of a signal [batch, length, 1 or 2], one each frame_step
// samples: [batch, frames, bins, 2].
// (signal: T1, frame_step: T2, window?: T1, frame_length?: T2) -> (output: T1); T1: floats; T2:
//   int32, int64
Tensor STFT(const Tensor& signal, const Tensor& frame_step, const Tensor& window = {},
    const Tensor& frame_length = {}, const STFTAttrs& attrs = {}, Loc loc = Loc::current());

struct MelWeightMatrixAttrs {
  int64_t output_datatype = 1;
};
// The weights [bins of the spectrum, num_mel_bins] that sum a spectrum up on the mel scale;
// frequencies in Hz.
// (num_mel_bins: T1, dft_length: T1, sample_rate: T1, lower_edge_hertz: T2, upper_edge_hertz: T2)
//   -> (output: T3); T1: int32, int64; T2: floats; T3: integers, floats
Tensor MelWeightMatrix(const Tensor& num_mel_bins, const Tensor& dft_length,
    const Tensor& sample_rate, const Tensor& lower_edge_hertz, const Tensor& upper_edge_hertz,
    const MelWeightMatrixAttrs& attrs = {}, Loc loc = Loc::current());

namespace training {

struct AdagradAttrs {
  float decay_factor = 0.f;
  float epsilon = 1e-06f;
  float norm_coefficient = 0.f;
};
// A step of Adagrad for the tensors X, G and H of each parameter: the new X and H.
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*); T1: float, double; T2: int64; T3: float,
//   double
std::vector<Tensor> Adagrad(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdagradAttrs& attrs = {}, Loc loc = Loc::current());

struct AdamAttrs {
  float alpha = 0.9f;
  float beta = 0.999f;
  float epsilon = 1e-06f;
  float norm_coefficient = 0.f;
  float norm_coefficient_post = 0.f;
};
// A step of Adam for the tensors X, G, V and H of each parameter: the new X, V and H.
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*); T1: float, double; T2: int64; T3: float,
//   double
std::vector<Tensor> Adam(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdamAttrs& attrs = {}, Loc loc = Loc::current());

struct MomentumAttrs {
  std::optional<float> alpha = {};  // required
  std::optional<float> beta = {};  // required
  std::optional<std::string> mode = {};  // required
  std::optional<float> norm_coefficient = {};  // required
};
// A step of momentum or Nesterov's for the tensors X, G and V of each parameter: the new X and V.
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*); T1: float, double; T2: int64; T3: float,
//   double
std::vector<Tensor> Momentum(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const MomentumAttrs& attrs, Loc loc = Loc::current());


}  // namespace training


}  // namespace sardonyx::eager::op
