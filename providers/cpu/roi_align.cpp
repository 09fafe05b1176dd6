// RoiAlign of float32 that averages samples. What the bins of a region read is worked out once for
// all channels: samples of a bin are a grid, and neighbours among them share elements.
#include <algorithm>

#include "ir/ops/pool.h"
#include "ir/ops/roi_samples.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/tasks.h"
#include "providers/cpu/turned_picture.h"

namespace sardonyx::cpu {
namespace {

using ops::AxisSample;
using ops::RoiAxis;

enum Input { kX, kRois, kBatches };

// Lines that the bins along one axis read, in a thread's scratch memory.
struct BinTable {
  int64_t bins = 0, most = 0;  // lines of one bin at most
  int64_t reads = 0;           // lines of all bins at most
  int64_t samples = 0;

  BinTable() = default;
  BinTable(const ops::RoiAlignAttrs& attrs, int64_t bin_count, int64_t size)
      : bins(bin_count), most(size) {
    const bool is_adaptive = attrs.sampling_ratio == 0;
    if (!is_adaptive) most = std::min(most, 2 * attrs.sampling_ratio);
    // Adaptive bins lie side by side and share their outermost lines.
    reads = is_adaptive ? size + 3 * bins : lines();
    samples = is_adaptive ? reads : bins * attrs.sampling_ratio;
  }
  int64_t lines() const { return bins * most; }
  size_t bytes() const {
    return static_cast<size_t>(2 * lines() + bins + 1 + kPadding) / kPadding * kPadding *
           sizeof(float);
  }

  // Each weight is multiplied with `scale`.
  AxisBins fill(const RoiAxis<float>& axis, double scale, std::byte* memory) const {
    auto* at = reinterpret_cast<int32_t*>(memory);
    auto* weights = reinterpret_cast<float*>(at + lines());
    auto* begins = at + 2 * lines();
    int32_t count = 0;
    const auto add = [&](int64_t line, double weight) {
      if (line < 0 || line >= axis.size) return;
      at[count] = static_cast<int32_t>(line);
      weights[count++] = static_cast<float>(weight * scale);
    };
    for (int64_t bin = 0; bin < bins; ++bin) {
      begins[bin] = count;
      int64_t low = -2;  // the line whose weight is summed up; and that of the next one
      double low_weight = 0, high_weight = 0;
      axis.for_each_sample(bin, [&](const AxisSample& sample) {
        if (sample.low != low) {
          add(low, low_weight);
          const bool is_next = sample.low == low + 1;
          if (!is_next) add(low + 1, high_weight);
          low = sample.low;
          low_weight = is_next ? high_weight : 0;
          high_weight = 0;
        }
        low_weight += sample.low_weight;
        high_weight += sample.high_weight;
      });
      add(low, low_weight);
      add(low + 1, high_weight);
    }
    begins[bins] = count;
    return {at, weights, begins, bins};
  }

 private:
  static constexpr size_t kPadding = 16;
};

class RoiAlignKernel : public Kernel {
 public:
  explicit RoiAlignKernel(const KernelRequest& request)
      : attrs_(request.attrs<ops::RoiAlignAttrs>()) {
    const Shape &x = request.inputs[kX].shape, &y = request.outputs[0].shape;
    batch_ = x[0];
    channels_ = x[1];
    width_ = x[3];
    in_size_ = x[2] * x[3];
    regions_ = y[0];
    bins_ = y[2] * y[3];
    rows_ = BinTable(attrs_, y[2], x[2]);
    columns_ = BinTable(attrs_, y[3], x[3]);
    const int64_t reads = std::min(rows_.most, kUsualLines) * std::min(columns_.most, kUsualLines);
    const int64_t work = bins_ * channels_ * reads * regions_;
    threads_ = static_cast<int>(
        std::min<int64_t>({request.threads, work / kElementsPerThread + 1, regions_}));
    work_ = rows_.reads * columns_.reads * channels_;
    turned_ = TurnedPicture(channels_, in_size_, bins_ * reads * (regions_ / batch_ + 1));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_) * table_bytes() + turned_.scratch_bytes();
  }

  void run(const KernelArgs& args) const override {
    const auto* batches = static_cast<const int64_t*>(args.inputs[kBatches]);
    for (int64_t region = 0; region < regions_; ++region)
      ops::checked_batch("RoiAlign", "batch_indices", static_cast<double>(batches[region]), batch_);
    for (int64_t image = 0; image < batch_; ++image) {
      if (std::find(batches, batches + regions_, image) == batches + regions_) continue;
      const float* planes =
          static_cast<const float*>(args.inputs[kX]) + image * channels_ * in_size_;
      if (!turned_.is_worthwhile()) {
        align(args, image, [&](const AxisBins& rows, const AxisBins& columns, float* out) {
          for (int64_t channel = 0; channel < channels_; ++channel) {
            blend_bins(rows, columns, planes + channel * in_size_, width_, 1, 1,
                       out + channel * bins_, bins_);
          }
        });
        continue;
      }
      auto* memory =
          reinterpret_cast<float*>(args.scratch + static_cast<size_t>(threads_) * table_bytes());
      turned_.for_each_group(planes, memory, threads_, [&](const TurnedPicture::Group& group) {
        align(args, image, [&](const AxisBins& rows, const AxisBins& columns, float* out) {
          const ChannelBlocks& blocks = turned_.blocks();
          for (int64_t block = group.begin; block < group.end; ++block) {
            blend_bins(rows, columns, group.pixels(block), width_, blocks.lanes, blocks.used(),
                       out + blocks.begin(block) * bins_, bins_);
          }
        });
      });
    }
  }

 private:
  // Lines of a bin, where the samples are as many as the region is large.
  static constexpr int64_t kUsualLines = 4;

  size_t table_bytes() const { return rows_.bytes() + columns_.bytes(); }

  // Calls visit(rows, columns, output) for all regions of an image.
  template <typename Visit>
  void align(const KernelArgs& args, int64_t image, const Visit& visit) const {
    const auto* batches = static_cast<const int64_t*>(args.inputs[kBatches]);
    for_each_task(regions_, threads_, work_, [&](int64_t region) {
      if (batches[region] != image) return;
      const int thread = threads_ > 1 ? omp_get_thread_num() : 0;
      std::byte* memory = args.scratch + static_cast<size_t>(thread) * table_bytes();
      const float* roi = static_cast<const float*>(args.inputs[kRois]) + region * 4;
      const RoiAxis<float> height(roi[1], roi[3], attrs_, rows_.bins, in_size_ / width_);
      const RoiAxis<float> width(roi[0], roi[2], attrs_, columns_.bins, width_);
      const double scale = 1 / std::max(height.samples * width.samples, 1.0);
      const AxisBins rows = rows_.fill(height, scale, memory);
      const AxisBins columns = columns_.fill(width, 1, memory + rows_.bytes());
      visit(rows, columns, static_cast<float*>(args.outputs[0]) + region * channels_ * bins_);
    });
  }

  ops::RoiAlignAttrs attrs_;
  int64_t batch_, channels_, width_, in_size_, regions_, bins_, work_;
  BinTable rows_, columns_;
  TurnedPicture turned_;
  int threads_;
};

Prepared prepare_roi_align(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::RoiAlignAttrs>();
  const Shape &x = request.inputs[kX].shape, &y = request.outputs[0].shape;
  if (request.inputs[kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.mode != "avg") return Prepared::refuse("only averages are computed here");
  if (element_count(y) == 0 || element_count(x) == 0)
    return Prepared::refuse("there are no elements");
  if (x[2] * x[3] > kMostSampled)
    return Prepared::refuse("pictures of this size are left to the reference");
  // One region is worked out without a look at the clock.
  constexpr int64_t kMostBins = 1 << 16, kMostLines = 1 << 20, kMostReads = 1 << 28;
  if (y[2] > kMostBins || y[3] > kMostBins)
    return Prepared::refuse("so many bins are left to the reference");
  const BinTable rows(attrs, y[2], x[2]), columns(attrs, y[3], x[3]);
  if (std::max(rows.lines(), columns.lines()) > kMostLines ||
      std::max(rows.samples, columns.samples) > kMostLines ||
      rows.reads * columns.reads > kMostReads / ChannelBlocks(x[1]).count)
    return Prepared::refuse("so many samples are left to the reference");
  return Prepared::accept(std::make_unique<RoiAlignKernel>(request), "blend");
}

constexpr KernelEntry kRoiAlignEntries[] = {{"RoiAlign", "blend", prepare_roi_align}};

}  // namespace

std::span<const KernelEntry> roi_align_entries() {
  return kRoiAlignEntries;
}

}  // namespace sardonyx::cpu
