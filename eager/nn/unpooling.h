// What puts the elements of max pools back in their places (decoders of SegNet's kind). Over 1, 2
// or 3 spatial axes of x [N, C, spatial...].
#pragma once

#include <optional>

#include "eager/nn/pooling.h"

namespace sardonyx::eager::nn {

// The pool's own sizes. Without an output size: (size - 1) * stride - 2 * padding + kernel.
struct MaxUnpoolOptions {
  std::optional<Sizes> stride = {};  // the kernel's size
  Sizes padding = 0;
  std::optional<Sizes> output_size = {};  // of the spatial axes: of several that a pool makes alike
};
// Zeros but for the elements of x at `indices`, which max_pool*_with_indices() gave, in its shape.
// Of elements that share a place the last one counts; their gradients are all that of the place. A
// place outside of the result is an error where there are values.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, Sizes kernel,
                    const MaxUnpoolOptions& options = {}, Loc loc = Loc::current());
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, Sizes kernel,
                    const MaxUnpoolOptions& options = {}, Loc loc = Loc::current());
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, Sizes kernel,
                    const MaxUnpoolOptions& options = {}, Loc loc = Loc::current());

// max_unpool1d() to 3d() as a layer.
template <size_t axes>
class MaxUnpool : public Layer<MaxUnpool<axes>> {
 public:
  explicit MaxUnpool(Sizes kernel, MaxUnpoolOptions options = {});
  // `output_size` in place of the layer's own.
  Tensor forward(const Tensor& x, const Tensor& indices,
                 const std::optional<Sizes>& output_size = {}) const;

 private:
  Sizes kernel_;
  MaxUnpoolOptions options_;
};
using MaxUnpool1d = MaxUnpool<1>;
using MaxUnpool2d = MaxUnpool<2>;
using MaxUnpool3d = MaxUnpool<3>;

}  // namespace sardonyx::eager::nn
