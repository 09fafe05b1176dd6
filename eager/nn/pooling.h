// Pooling over 1, 2 or 3 spatial axes of x [N, C, spatial...].
#pragma once

#include <optional>
#include <utility>

#include "eager/nn/module.h"
#include "eager/nn/sizes.h"

namespace sardonyx::eager::nn {

// Sizes are in elements: one for all axes or one for each. With `ceil_mode` a last window that
// begins inside x or its left padding counts though it ends outside.
struct MaxPoolOptions {
  std::optional<Sizes> stride = {};  // the kernel's size
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;
};
// The largest element of each window; padding never wins. x [N, C,
// spatial...] to [N, C, floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1
// ...].
template <size_t axes>
class MaxPool : public Layer<MaxPool<axes>> {
  using Base = Layer<MaxPool>;

 public:
  // Throws kInvalidArgument where a size is not positive or padding exceeds half of the kernel.
  explicit MaxPool(Sizes kernel, MaxPoolOptions options = {}, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  std::shared_ptr<const Attrs> attrs_;
};

// As MaxPoolOptions; count_include_pad: whether padding adds to a window's number of elements.
struct AvgPoolOptions {
  std::optional<Sizes> stride = {};  // the kernel's size
  Sizes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
};
// The mean of each window, sizes as with MaxPool.
template <size_t axes>
class AvgPool : public Layer<AvgPool<axes>> {
  using Base = Layer<AvgPool>;

 public:
  explicit AvgPool(Sizes kernel, AvgPoolOptions options = {}, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  std::shared_ptr<const Attrs> attrs_;
};

// To a fixed size whatever x's is: window i covers [floor(i*in/out), ceil((i+1)*in/out)). Sizes of
// x may be open in a trace.
template <size_t axes>
class AdaptiveAvgPool : public Layer<AdaptiveAvgPool<axes>> {
  using Base = Layer<AdaptiveAvgPool>;

 public:
  explicit AdaptiveAvgPool(Sizes size, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  std::vector<int64_t> size_;
};
// The same windows, their largest elements.
template <size_t axes>
class AdaptiveMaxPool : public Layer<AdaptiveMaxPool<axes>> {
  using Base = Layer<AdaptiveMaxPool>;

 public:
  explicit AdaptiveMaxPool(Sizes size, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  std::vector<int64_t> size_;
};

// The mean (greatest) of all spatial elements: [N, C, 1...]. Any number of axes.
class GlobalAvgPool : public Layer<GlobalAvgPool> {
 public:
  Tensor forward(const Tensor& x) const;
};
// The largest of all spatial elements: [N, C, 1...].
class GlobalMaxPool : public Layer<GlobalMaxPool> {
 public:
  Tensor forward(const Tensor& x) const;
};

// By the number of spatial axes.
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>;
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>;

// Functions, for forward() without a member.
Tensor max_pool1d(const Tensor& x, Sizes kernel, MaxPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor avg_pool1d(const Tensor& x, Sizes kernel, AvgPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor adaptive_avg_pool1d(const Tensor& x, Sizes size, Loc loc = Loc::current());
Tensor adaptive_max_pool1d(const Tensor& x, Sizes size, Loc loc = Loc::current());
Tensor max_pool2d(const Tensor& x, Sizes kernel, MaxPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor avg_pool2d(const Tensor& x, Sizes kernel, AvgPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor adaptive_avg_pool2d(const Tensor& x, Sizes size, Loc loc = Loc::current());
Tensor adaptive_max_pool2d(const Tensor& x, Sizes size, Loc loc = Loc::current());
Tensor max_pool3d(const Tensor& x, Sizes kernel, MaxPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor avg_pool3d(const Tensor& x, Sizes kernel, AvgPoolOptions options = {},
                  Loc loc = Loc::current());
Tensor adaptive_avg_pool3d(const Tensor& x, Sizes size, Loc loc = Loc::current());
Tensor adaptive_max_pool3d(const Tensor& x, Sizes size, Loc loc = Loc::current());

// max_pool1d() to 3d() with the place of each element, int64 in the result's shape: in its channel
// of x, whose spatial axes are counted as one.
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, Sizes kernel,
                                                  const MaxPoolOptions& options = {},
                                                  Loc loc = Loc::current());
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, Sizes kernel,
                                                  const MaxPoolOptions& options = {},
                                                  Loc loc = Loc::current());
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, Sizes kernel,
                                                  const MaxPoolOptions& options = {},
                                                  Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
