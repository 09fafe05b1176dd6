// Windows of images as columns (im2col), and back.
#pragma once

#include "eager/nn/module.h"
#include "eager/nn/sizes.h"

namespace sardonyx::eager::nn {

// In pixels, one for both axes or {vertical, horizontal}.
struct FoldOptions {
  Sizes dilation = 1, padding = 0, stride = 1;
};
// x [N, C, H, W] to [N, C * kernel's elements, windows]: column i holds the elements of window i,
// windows in row-major order.
Tensor unfold(const Tensor& x, const Sizes& kernel, const FoldOptions& options = {},
              Loc loc = Loc::current());
// The sum of what all windows hold at each place: [N, C * kernel's elements, windows] to
// [N, C, output size]. ONNX has the op (Col2Im) from opset 18 on.
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel,
            const FoldOptions& options = {}, Loc loc = Loc::current());

// unfold() as a layer.
class Unfold : public Layer<Unfold> {
 public:
  explicit Unfold(Sizes kernel, FoldOptions options = {})
      : kernel_(std::move(kernel)), options_(std::move(options)) {}
  Tensor forward(const Tensor& x) const { return unfold(x, kernel_, options_, caller()); }

 private:
  Sizes kernel_;
  FoldOptions options_;
};
// fold() as a layer.
class Fold : public Layer<Fold> {
 public:
  Fold(Sizes output_size, Sizes kernel, FoldOptions options = {})
      : output_size_(std::move(output_size)),
        kernel_(std::move(kernel)),
        options_(std::move(options)) {}
  Tensor forward(const Tensor& x) const {
    return fold(x, output_size_, kernel_, options_, caller());
  }

 private:
  Sizes output_size_, kernel_;
  FoldOptions options_;
};

}  // namespace sardonyx::eager::nn
