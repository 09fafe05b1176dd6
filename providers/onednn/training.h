// Parts of this provider that only training uses.
#pragma once

#include <cstdint>

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// A convolution whose weights change with every run, so that its layout of weights must be cheap to
// reorder to.
MaybePrimitive convolution_of_new_weights(const ConvolutionSpec& spec,
                                          const dnnl::primitive_attr& attr);
// The windows in a batch from which Winograd's algorithm saves more than the transform of such
// weights costs.
constexpr int64_t kMinWinogradWindows = 256;

// c [m, n] = a [m, k] b [k, n] + beta * c, all row-major; a or b may be transposed.
struct MatrixProduct {
  bool a_transposed, b_transposed;
  int64_t m, n, k;
  const float *a, *b;
  float beta;
  float* c;
};
// Computes the product now, on up to `threads` threads. Throws kCancelled or kDeadlineExceeded.
void multiply(const MatrixProduct& product, int threads);

}  // namespace sardonyx::onednn
