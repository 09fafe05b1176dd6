// What kernels of direct convolution have in common: how threads share images, strip by strip.
#pragma once

#include <memory>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/conv_params.h"

namespace sardonyx::cpu {

// What windows are multiplied with, and where their elements lie from the first one.
struct StripWeights {
  std::vector<int32_t> offsets;
  std::shared_ptr<const Buffer> packed, bias;
};

class TiledConvKernel : public Kernel {
 public:
  TiledConvKernel(const ConvParams& form, StripWeights weights, int threads,
                  bool may_share_outputs);
  void run(const KernelArgs& args) const final;
  size_t scratch_bytes() const final;
  bool may_alias(size_t output, size_t input) const final {
    return f_.has_residual && output == 0 && input == 3;
  }

 protected:
  struct Share {
    const KernelArgs& args;
    const CancelFlag& sign;
    float* padded;
    Portion outputs;  // of a group
  };

  // Copies the rows of the input under the strip, of the group's channels, to `padded`.
  virtual void pad(const Share& share, int64_t image, int64_t group,
                   const OutputTile& strip) const = 0;
  // False where it is to stop.
  virtual bool convolve(const Share& share, int64_t image, int64_t group,
                        const OutputTile& strip) const = 0;
  // The function behind the sums.
  virtual void apply(const Share& share, int64_t image, const OutputTile& strip) const = 0;

  // The group's first channel, at the first pixel.
  const float* input(const Share& share, int64_t image, int64_t group) const;
  // The strip's first window.
  const float* first_window(const Share& share, int64_t image, int64_t group,
                            const OutputTile& strip) const;
  // The first output at the strip's first pixel, in elements from the first image.
  int64_t place_of(int64_t image, const OutputTile& strip) const;
  // Columns [begin, end) of a padded row come from column `first` of the input and those behind it.
  struct PaddedColumns {
    int64_t begin, end, first;
  };
  PaddedColumns padded_columns(const OutputTile& strip) const;

  static constexpr int64_t kProductsBetweenLooks = 1 << 28;

  const float* weights() const { return reinterpret_cast<const float*>(weights_.packed->data()); }
  const float* bias() const { return reinterpret_cast<const float*>(weights_.bias->data()); }
  // Elements of a group.
  int64_t weights_size() const {
    return static_cast<int64_t>(weights_.packed->size() / sizeof(float)) / f_.groups;
  }
  const std::vector<int32_t>& offsets() const { return weights_.offsets; }

  const ConvParams f_;
  bool shares_outputs_ = false;

 private:
  void run_units(const Share& share, int64_t begin, int64_t end) const;
  bool run_strip(const Share& share, int64_t image, const OutputTile& strip) const;
  int64_t thread_scratch() const;

  const StripWeights weights_;
  int64_t unit_ = 1, units_ = 0;  // rows or columns that are shared out together, and their number
  int threads_ = 1;
};

}  // namespace sardonyx::cpu
