// Convolutions over 1, 2 or 3 spatial axes.
#pragma once

#include "eager/nn/module.h"
#include "eager/nn/sizes.h"

namespace sardonyx::eager::nn {

// Sizes are in elements: one for all axes or one for each, of all sides alike. `groups` divides in
// and out: each group of outputs sees in/groups channels.
struct ConvOptions {
  Sizes stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  // Pads so that strides of 1 keep the size; `padding` is then not looked at.
  bool same = false;
  std::string padding_mode = "zeros";  // zeros, reflect, replicate, circular
};
// `output_padding` adds to one side of the result, whose size (size - 1) * stride - 2 * padding +
// dilation * (kernel - 1) + 1 does not tell which x it belongs to.
struct ConvTransposeOptions {
  Sizes stride = 1, padding = 0, output_padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

// x [N, in, spatial...] to [N, out, spatial...]. weight [out, in/groups, kernel...], bias [out];
// both U(-b, b) with b = 1/sqrt(in/groups * kernel size).
template <size_t axes>
class Conv : public Layer<Conv<axes>> {
  using Base = Layer<Conv>;

 public:
  // Throws kInvalidArgument where `groups` does not divide both channel counts, or a size is not
  // positive.
  Conv(int64_t in, int64_t out, Sizes kernel, ConvOptions options = {}, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;

 private:
  std::shared_ptr<const Attrs> attrs_;
  std::vector<int64_t> pads_;  // of pad() before the convolution; empty: zeros, by itself
  std::string pad_mode_;
};

// The gradient of a convolution as a layer. weight [in, out/groups, kernel...].
template <size_t axes>
class ConvTranspose : public Layer<ConvTranspose<axes>> {
  using Base = Layer<ConvTranspose>;

 public:
  // Throws as Conv does.
  ConvTranspose(int64_t in, int64_t out, Sizes kernel, ConvTransposeOptions options = {},
                Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;

 private:
  std::shared_ptr<const Attrs> attrs_;
};

// By the number of spatial axes.
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

// As functions of weights at hand: x [N, in, spatial...], weight [out, in/groups, kernel...] (of
// the transposed ones [in, out/groups, kernel...]), bias [out] or none.
// Fields as of ConvOptions and ConvTransposeOptions.
struct ConvolutionOptions {
  Sizes stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
};
struct TransposedConvolutionOptions {
  Sizes stride = 1, padding = 0, output_padding = 0, dilation = 1;
  int64_t groups = 1;
};
// x [N, in, L], weight [out, in/groups, k].
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              ConvolutionOptions options = {}, Loc loc = Loc::current());
// x [N, in, H, W], weight [out, in/groups, kh, kw].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              ConvolutionOptions options = {}, Loc loc = Loc::current());
// x [N, in, D, H, W], weight [out, in/groups, kd, kh, kw].
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              ConvolutionOptions options = {}, Loc loc = Loc::current());
// Gradients of the three with regard to x, as functions of their own.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        TransposedConvolutionOptions options = {}, Loc loc = Loc::current());
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        TransposedConvolutionOptions options = {}, Loc loc = Loc::current());
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        TransposedConvolutionOptions options = {}, Loc loc = Loc::current());

extern template class Conv<1>;
extern template class Conv<2>;
extern template class Conv<3>;
extern template class ConvTranspose<1>;
extern template class ConvTranspose<2>;
extern template class ConvTranspose<3>;

}  // namespace sardonyx::eager::nn
