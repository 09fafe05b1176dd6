// GridSample of float32. The elements and weights of a point are computed once for all channels.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/data_movement/space_depth.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/resampling/interpolation_weights.h"
#include "providers/cpu/resampling/nchw_to_nhwc_tiles.h"

namespace sardonyx::cpu {
namespace {

struct GridSampleInput {
  enum : size_t { kX, kGrid };
};

constexpr size_t kMaxAxes = 3;

class GridSampleKernel : public Kernel {
 public:
  explicit GridSampleKernel(const KernelRequest& request) {
    const auto& attrs = request.attrs<ops::GridSampleAttrs>();
    const Shape &x = request.inputs[GridSampleInput::kX].shape, &y = request.outputs[0].shape;
    batch_ = x[0];
    channels_ = x[1];
    rank_ = x.size() - 2;
    points_ = element_count(y) / batch_ / channels_;
    for (size_t axis = 0; axis < rank_; ++axis) {
      axes_[axis] = {x[axis + 2], attrs.align_corners, padding_of(attrs), mode_of(attrs)};
      parts_ *= static_cast<int64_t>(axes_[axis].neighbours());
      in_size_ *= x[axis + 2];
    }
    const int64_t work = points_ * channels_ * parts_;
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
    tiles_ = NhwcTiles(channels_, in_size_, points_ * parts_);
  }

  size_t scratch_bytes() const override { return tiles_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* x = static_cast<const float*>(args.inputs[GridSampleInput::kX]);
    const auto* grid = static_cast<const float*>(args.inputs[GridSampleInput::kGrid]);
    auto* y = static_cast<float*>(args.outputs[0]);
    auto* pixels = reinterpret_cast<float*>(args.scratch);
    for (int64_t image = 0; image < batch_; ++image) {
      const float* coordinates = grid + image * points_ * static_cast<int64_t>(rank_);
      const float* planes = x + image * channels_ * in_size_;
      float* out = y + image * channels_ * points_;
      if (!tiles_.is_worthwhile()) {
        for_points(coordinates, channels_, [&](const PointParts& parts, int64_t first) {
          for (int64_t channel = 0; channel < channels_; ++channel)
            blend_plane(parts, planes + channel * in_size_, out + channel * points_ + first);
        });
        continue;
      }
      tiles_.for_each_group(planes, pixels, threads_, [&](const NhwcTiles::BlockGroup& group) {
        const int64_t channels = (group.end - group.begin) * tiles_.blocks().lanes;
        for_points(coordinates, channels, [&](const PointParts& parts, int64_t first) {
          for (int64_t block = group.begin; block < group.end; ++block) {
            interpolate_pixels(parts, group.pixels(block), tiles_.blocks().lanes,
                               tiles_.blocks().used(),
                               out + tiles_.blocks().begin(block) * points_ + first, points_);
          }
        });
      });
    }
  }

 private:
  static SampleMode mode_of(const ops::GridSampleAttrs& attrs) {
    if (attrs.mode == "nearest") return SampleMode::kNearest;
    return attrs.mode == "cubic" ? SampleMode::kCubic : SampleMode::kLinear;
  }
  static SamplePadding padding_of(const ops::GridSampleAttrs& attrs) {
    if (attrs.padding_mode == "zeros") return SamplePadding::kZeros;
    return attrs.padding_mode == "border" ? SamplePadding::kBorder : SamplePadding::kReflection;
  }

  // Calls visit(parts, first point) for all points, a tile at a time.
  template <typename Visit>
  void for_points(const float* grid, int64_t channels, const Visit& visit) const {
    constexpr auto kTilePoints = static_cast<int64_t>(kPointsPerTile);
    for_each_task((points_ + kTilePoints - 1) / kTilePoints, threads_,
                  kTilePoints * parts_ * channels, [&](int64_t task) {
                    const int64_t first = task * kTilePoints;
                    const int64_t count = std::min(points_ - first, kTilePoints);
                    PointList lists[2];
                    const PointList& list = listed(grid + first * static_cast<int64_t>(rank_),
                                                   static_cast<size_t>(count), lists);
                    visit(list.of(static_cast<size_t>(count)), first);
                  });
  }

  const PointList& listed(const float* grid, size_t count, PointList* lists) const {
    lists[0].start();
    for (size_t axis = 0; axis < rank_; ++axis) {
      alignas(64) float coordinates[kPointsPerTile] = {};
      for (size_t i = 0; i < count; ++i)  // the grid names the last axis first
        coordinates[i] = grid[i * rank_ + rank_ - 1 - axis];
      place_on_axis(axes_[axis], coordinates);
      add_axis(axes_[axis], coordinates, lists[axis % 2], lists[(axis + 1) % 2]);
    }
    return lists[rank_ % 2];
  }

  int64_t batch_, channels_, points_, in_size_ = 1, parts_ = 1;
  size_t rank_;
  SampledAxis axes_[kMaxAxes];
  NhwcTiles tiles_;
  int threads_;
};

Prepared prepare_grid_sample(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GridSampleAttrs>();
  const Shape& x = request.inputs[GridSampleInput::kX].shape;
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (x.size() - 2 > (attrs.mode == "cubic" ? 2 : kMaxAxes))
    return Prepared::refuse("points of so many neighbours are left to the reference");
  if (element_count(request.outputs[0].shape) == 0 || element_count(x) == 0)
    return Prepared::refuse("there are no elements");
  if (element_count(x) / x[0] / x[1] > kMaxSampled)
    return Prepared::refuse("images of this size are left to the reference");
  return Prepared::accept(std::make_unique<GridSampleKernel>(request), "interpolate");
}

constexpr KernelEntry kGridSampleEntries[] = {{"GridSample", "grid_sample", prepare_grid_sample}};

}  // namespace

std::span<const KernelEntry> grid_sample_kernels() {
  return kGridSampleEntries;
}

}  // namespace sardonyx::cpu
