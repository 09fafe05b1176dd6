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
// () -> (output: T)
Tensor Constant(const ConstantAttrs& attrs = {}, Loc loc = Loc::current());

struct ConstantOfShapeAttrs {
  Tensor value = {};
};
// (input: T1) -> (output: T2)
Tensor ConstantOfShape(const Tensor& input, const ConstantOfShapeAttrs& attrs = {},
    Loc loc = Loc::current());

struct RangeAttrs {
  DType stash_type = DType::kFloat;
};
// (start: T, limit: T, delta: T) -> (output: T)
Tensor Range(const Tensor& start, const Tensor& limit, const Tensor& delta,
    const RangeAttrs& attrs = {}, Loc loc = Loc::current());

struct EyeLikeAttrs {
  std::optional<DType> dtype = {};
  int64_t k = 0;
};
// (input: T1) -> (output: T2)
Tensor EyeLike(const Tensor& input, const EyeLikeAttrs& attrs = {}, Loc loc = Loc::current());

struct BlackmanWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// (size: T1) -> (output: T2)
Tensor BlackmanWindow(const Tensor& size, const BlackmanWindowAttrs& attrs = {},
    Loc loc = Loc::current());

struct HammingWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// (size: T1) -> (output: T2)
Tensor HammingWindow(const Tensor& size, const HammingWindowAttrs& attrs = {},
    Loc loc = Loc::current());

struct HannWindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};
// (size: T1) -> (output: T2)
Tensor HannWindow(const Tensor& size, const HannWindowAttrs& attrs = {}, Loc loc = Loc::current());

struct RandomNormalAttrs {
  DType dtype = DType::kFloat;
  float mean = 0.f;
  float scale = 1.f;
  std::optional<float> seed = {};
  OptionalList<int64_t> shape = {};  // required
};
// () -> (output: T)
Tensor RandomNormal(const RandomNormalAttrs& attrs, Loc loc = Loc::current());

struct RandomUniformAttrs {
  DType dtype = DType::kFloat;
  float high = 1.f;
  float low = 0.f;
  std::optional<float> seed = {};
  OptionalList<int64_t> shape = {};  // required
};
// () -> (output: T)
Tensor RandomUniform(const RandomUniformAttrs& attrs, Loc loc = Loc::current());

struct RandomNormalLikeAttrs {
  std::optional<DType> dtype = {};
  float mean = 0.f;
  float scale = 1.f;
  std::optional<float> seed = {};
};
// (input: T1) -> (output: T2)
Tensor RandomNormalLike(const Tensor& input, const RandomNormalLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct RandomUniformLikeAttrs {
  std::optional<DType> dtype = {};
  float high = 1.f;
  float low = 0.f;
  std::optional<float> seed = {};
};
// (input: T1) -> (output: T2)
Tensor RandomUniformLike(const Tensor& input, const RandomUniformLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct BernoulliAttrs {
  std::optional<DType> dtype = {};
  std::optional<float> seed = {};
};
// (input: T1) -> (output: T2)
Tensor Bernoulli(const Tensor& input, const BernoulliAttrs& attrs = {}, Loc loc = Loc::current());

struct MultinomialAttrs {
  DType dtype = DType::kInt32;
  int64_t sample_size = 1;
  std::optional<float> seed = {};
};
// (input: T1) -> (output: T2)
Tensor Multinomial(const Tensor& input, const MultinomialAttrs& attrs = {},
    Loc loc = Loc::current());

struct DFTAttrs {
  int64_t inverse = 0;
  int64_t onesided = 0;
};
// (input: T1, dft_length?: T2, axis?: int64) -> (output: T1)
Tensor DFT(const Tensor& input, const Tensor& dft_length = {}, const Tensor& axis = {},
    const DFTAttrs& attrs = {}, Loc loc = Loc::current());

struct STFTAttrs {
  int64_t onesided = 1;
};
// (signal: T1, frame_step: T2, window?: T1, frame_length?: T2) -> (output: T1)
Tensor STFT(const Tensor& signal, const Tensor& frame_step, const Tensor& window = {},
    const Tensor& frame_length = {}, const STFTAttrs& attrs = {}, Loc loc = Loc::current());

struct MelWeightMatrixAttrs {
  int64_t output_datatype = 1;
};
// (num_mel_bins: T1, dft_length: T1, sample_rate: T1, lower_edge_hertz: T2, upper_edge_hertz: T2)
//   -> (output: T3)
Tensor MelWeightMatrix(const Tensor& num_mel_bins, const Tensor& dft_length,
    const Tensor& sample_rate, const Tensor& lower_edge_hertz, const Tensor& upper_edge_hertz,
    const MelWeightMatrixAttrs& attrs = {}, Loc loc = Loc::current());

namespace training {

struct AdagradAttrs {
  float decay_factor = 0.f;
  float epsilon = 1e-06f;
  float norm_coefficient = 0.f;
};
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*)
std::vector<Tensor> Adagrad(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdagradAttrs& attrs = {}, Loc loc = Loc::current());

struct AdamAttrs {
  float alpha = 0.9f;
  float beta = 0.999f;
  float epsilon = 1e-06f;
  float norm_coefficient = 0.f;
  float norm_coefficient_post = 0.f;
};
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*)
std::vector<Tensor> Adam(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdamAttrs& attrs = {}, Loc loc = Loc::current());

struct MomentumAttrs {
  std::optional<float> alpha = {};  // required
  std::optional<float> beta = {};  // required
  std::optional<std::string> mode = {};  // required
  std::optional<float> norm_coefficient = {};  // required
};
// (R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*)
std::vector<Tensor> Momentum(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const MomentumAttrs& attrs, Loc loc = Loc::current());


}  // namespace training


}  // namespace sardonyx::eager::op
