// RoiAlign of float32 with mode "avg". The lines and weights of a region's bins are computed once
// for all channels: the samples of a bin are a grid, and neighbouring samples share elements.
#include <algorithm>

#include "ir/ops/detection/roi_samples.h"
#include "ir/ops/pooling/pool.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/resampling/roi_interpolation.h"

namespace sardonyx::cpu {
namespace {

using ops::AxisSample;
using ops::RoiAxis;

struct RoiAlignInput {
  enum : size_t { kX, kRois, kBatches };
};

// The bins along one axis of regions.
struct RoiBins : BinTable {
  int64_t reads = 0;    // lines of all bins at most
  int64_t samples = 0;  // of all bins at most

  RoiBins(const ops::RoiAlignAttrs& attrs, int64_t bin_count, int64_t size)
      : BinTable{bin_count, size} {
    const bool is_adaptive = attrs.sampling_ratio == 0;
    if (!is_adaptive) most = std::min(most, 2 * attrs.sampling_ratio);
    // Adaptive bins are adjacent and share their outermost lines.
    reads = is_adaptive ? size + 3 * bins : lines();
    samples = is_adaptive ? reads : bins * attrs.sampling_ratio;
  }
  // The lines that a typical adaptive bin reads, whose sample count follows the region's size.
  int64_t usual_reads() const { return std::min<int64_t>(most, 4); }
};

// Calls add(line, weight * scale) once for each line that a sample of the bin interpolates.
template <typename Add>
void list_lines(const RoiAxis<float>& axis, int64_t bin, double scale, const Add& add) {
  int64_t low = -2;  // the line whose weight is summed up; and that of the next one
  double low_weight = 0, high_weight = 0;
  const auto flush = [&](int64_t line, double weight) {
    if (line >= 0 && line < axis.size) add(line, weight * scale);
  };
  axis.for_each_sample(bin, [&](const AxisSample& sample) {
    if (sample.low != low) {
      flush(low, low_weight);
      const bool is_next = sample.low == low + 1;
      if (!is_next) flush(low + 1, high_weight);
      low = sample.low;
      low_weight = is_next ? high_weight : 0;
      high_weight = 0;
    }
    low_weight += sample.low_weight;
    high_weight += sample.high_weight;
  });
  flush(low, low_weight);
  flush(low + 1, high_weight);
}

class RoiAlignKernel : public Kernel {
 public:
  RoiAlignKernel(const KernelRequest& request, const RoiBins& rows, const RoiBins& columns)
      : attrs_(request.attrs<ops::RoiAlignAttrs>()),
        blend_(request.inputs[RoiAlignInput::kX].shape, request.outputs[0].shape, rows, columns,
               rows.usual_reads() * columns.usual_reads(), rows.reads * columns.reads,
               request.threads) {}

  size_t scratch_bytes() const override { return blend_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* rois = static_cast<const float*>(args.inputs[RoiAlignInput::kRois]);
    const auto* batches = static_cast<const int64_t*>(args.inputs[RoiAlignInput::kBatches]);
    for (int64_t region = 0; region < blend_.regions(); ++region) {
      ops::checked_batch("RoiAlign", "batch_indices", static_cast<double>(batches[region]),
                         blend_.batch());
    }
    blend_.run(
        static_cast<const float*>(args.inputs[RoiAlignInput::kX]), batches,
        static_cast<float*>(args.outputs[0]), args.scratch,
        [&](int64_t region, std::byte* memory) { return tables_of(rois + region * 4, memory); },
        [](const RegionBlend::Tables&, float*, int64_t) {});
  }

 private:
  RegionBlend::Tables tables_of(const float* roi, std::byte* memory) const {
    const RoiAxis<float> height(roi[1], roi[3], attrs_, blend_.rows().bins, blend_.height());
    const RoiAxis<float> width(roi[0], roi[2], attrs_, blend_.columns().bins, blend_.width());
    const double scale = 1 / std::max(height.samples * width.samples, 1.0);
    return {blend_.rows().fill(
                memory, [&](int64_t bin, const auto& add) { list_lines(height, bin, scale, add); }),
            blend_.columns().fill(memory + blend_.columns_at(), [&](int64_t bin, const auto& add) {
              list_lines(width, bin, 1, add);
            })};
  }

  ops::RoiAlignAttrs attrs_;
  RegionBlend blend_;
};

Prepared prepare_roi_align(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::RoiAlignAttrs>();
  const Shape &x = request.inputs[RoiAlignInput::kX].shape, &y = request.outputs[0].shape;
  if (request.inputs[RoiAlignInput::kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.mode != "avg") return Prepared::refuse("only averages are computed here");
  if (const char* why = why_unsupported_regions(x, y)) return Prepared::refuse(why);
  const RoiBins rows(attrs, y[2], x[2]), columns(attrs, y[3], x[3]);
  if (std::max(rows.lines(), columns.lines()) > kMaxLines ||
      std::max(rows.samples, columns.samples) > kMaxLines ||
      rows.reads * columns.reads > kMaxReads / ChannelBlocks(x[1]).count)
    return Prepared::refuse("so many samples are left to the reference");
  return Prepared::accept(std::make_unique<RoiAlignKernel>(request, rows, columns), "interpolate");
}

constexpr KernelEntry kRoiAlignEntries[] = {{"RoiAlign", "roi_align", prepare_roi_align}};

}  // namespace

std::span<const KernelEntry> roi_align_kernels() {
  return kRoiAlignEntries;
}

}  // namespace sardonyx::cpu
