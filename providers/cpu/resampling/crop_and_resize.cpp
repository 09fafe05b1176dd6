// com.microsoft CropAndResize of float32: rows and columns of a crop are between two of the
// image's.
#include "ir/ops/detection/crop_and_resize.h"
#include "ir/ops/detection/roi_samples.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/resampling/roi_interpolation.h"

namespace sardonyx::cpu {
namespace {

using ops::CropPlace;

enum CropInput { kX, kRois, kBatches };

class CropKernel : public Kernel {
 public:
  explicit CropKernel(const KernelRequest& request)
      : attrs_(request.attrs<ops::CropAttrs>()),
        blend_(request.inputs[kX].shape, request.outputs[0].shape, {request.outputs[0].shape[2], 2},
               {request.outputs[0].shape[3], 2}, 4,
               4 * request.outputs[0].shape[2] * request.outputs[0].shape[3], request.threads) {}

  size_t scratch_bytes() const override { return blend_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* rois = static_cast<const float*>(args.inputs[kRois]);
    const auto* batches = static_cast<const int32_t*>(args.inputs[kBatches]);
    for (int64_t region = 0; region < blend_.regions(); ++region)
      ops::checked_crop_batch(batches[region], blend_.batch());
    blend_.run(
        static_cast<const float*>(args.inputs[kX]), batches, static_cast<float*>(args.outputs[0]),
        args.scratch,
        [&](int64_t region, std::byte* memory) { return tables_of(rois + region * 4, memory); },
        [&](const RegionBlend::Tables& tables, float* out, int64_t channels) {
          if (attrs_.extrapolation_value != 0) extrapolate(tables, out, channels);
        });
  }

 private:
  AxisBins lines_of(const BinTable& table, float begin, float end, int64_t length,
                    std::byte* memory) const {
    return table.fill(memory, [&](int64_t bin, const auto& add) {
      const CropPlace place =
          ops::crop_place(begin, end, bin, table.bins, length, attrs_.mode == "nearest");
      if (!place.is_inside) return;
      add(place.low, 1 - place.ratio);
      // A sample exactly on an element takes it alone: its neighbour may be infinite, and 0 * inf
      // is NaN.
      if (place.ratio != 0) add(place.high, place.ratio);
    });
  }

  RegionBlend::Tables tables_of(const float* box, std::byte* memory) const {
    return {
        lines_of(blend_.rows(), box[0], box[2], blend_.height(), memory),
        lines_of(blend_.columns(), box[1], box[3], blend_.width(), memory + blend_.columns_at())};
  }

  // Bins without lines are outside the image.
  void extrapolate(const RegionBlend::Tables& tables, float* out, int64_t channels) const {
    const auto is_outside = [](const AxisBins& bins, int64_t bin) {
      return bins.begins[bin] == bins.begins[bin + 1];
    };
    for (int64_t row = 0; row < tables.rows.count; ++row) {
      for (int64_t column = 0; column < tables.columns.count; ++column) {
        if (!is_outside(tables.rows, row) && !is_outside(tables.columns, column)) continue;
        const int64_t at = row * tables.columns.count + column;
        for (int64_t channel = 0; channel < channels; ++channel)
          out[channel * blend_.bins() + at] = attrs_.extrapolation_value;
      }
    }
  }

  ops::CropAttrs attrs_;
  RegionBlend blend_;
};

Prepared prepare_crop(const KernelRequest& request) {
  const Shape &x = request.inputs[kX].shape, &y = request.outputs[0].shape;
  if (request.inputs[kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (const char* why = why_unsupported_regions(x, y)) return Prepared::refuse(why);
  if (4 * y[2] * y[3] > kMaxReads / ChannelBlocks(x[1]).count)
    return Prepared::refuse("crops of this size are left to the reference");
  return Prepared::accept(std::make_unique<CropKernel>(request), "interpolate");
}

constexpr KernelEntry kCropEntries[] = {
    {"com.microsoft::CropAndResize", "crop_and_resize", prepare_crop}};

}  // namespace

std::span<const KernelEntry> crop_and_resize_kernels() {
  return kCropEntries;
}

}  // namespace sardonyx::cpu
