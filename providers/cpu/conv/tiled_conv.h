// The driver of direct convolutions: threads share images, and each computes them tile by tile.
#pragma once

#include <memory>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/conv_params.h"

namespace sardonyx::cpu {

// Packed weights and bias, and the offset of each element of a window from its first one.
struct TiledConvWeights {
  std::vector<int32_t> offsets;
  std::shared_ptr<const Buffer> packed, bias;
};

class TiledConvKernel : public Kernel {
 public:
  TiledConvKernel(const ConvParams& form, TiledConvWeights weights, int threads,
                  bool may_share_outputs);
  void run(const KernelArgs& args) const final;
  size_t scratch_bytes() const final;
  bool may_alias(size_t output, size_t input) const final {
    return f_.has_residual && output == 0 && input == 3;
  }

 protected:
  struct TiledConvWork {
    const KernelArgs& args;
    const CancelFlag& sign;
    float* padded;
    float* results;      // of a tile, channels last, to be transposed
    IndexRange outputs;  // of a group
  };

  // Copies the rows of the input under the tile, of the group's channels, to `padded`.
  virtual void pad(const TiledConvWork& share, int64_t image, int64_t group,
                   const OutputTile& tile) const = 0;
  // Computes the windows of a tile. Returns false once the run is cancelled.
  virtual bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                        const OutputTile& tile) const = 0;
  // Applies the activation to the outputs of a tile.
  virtual void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const = 0;

  // The group's first channel at the first pixel of an image.
  const float* input(const TiledConvWork& share, int64_t image, int64_t group) const;
  // The first element of the tile's first window.
  const float* first_window(const TiledConvWork& share, int64_t image, int64_t group,
                            const OutputTile& tile) const;
  // The first output at the tile's first pixel, in elements from the first image.
  int64_t place_of(int64_t image, const OutputTile& tile) const;
  // Columns [begin, end) of a padded row are copies of the input's columns from `first` on.
  struct PaddedColumns {
    int64_t begin, end, first;
  };
  PaddedColumns padded_columns(const OutputTile& tile) const;

  static constexpr int64_t kProductsPerPoll = 1 << 28;

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
  void run_units(const TiledConvWork& share, int64_t begin, int64_t end) const;
  bool run_tile(const TiledConvWork& share, int64_t image, const OutputTile& tile) const;
  int64_t thread_scratch() const;

  const TiledConvWeights weights_;
  int64_t unit_ = 1, units_ = 0;  // rows or columns of a tile, and the number of tiles
  int threads_ = 1;
};

// The kernel, with the layouts of its images. Weights and bias have been packed.
Prepared accept_tiled(std::unique_ptr<Kernel> kernel, const char* implementation,
                      const ConvParams& form, const KernelRequest& request);

}  // namespace sardonyx::cpu
