#include "providers/cpu/resampling/resize_nearest.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kNearestPerThread = 1 << 15;

struct ResizeNearestParams {
  int64_t planes, channels;  // planes of contiguous pixels with `channels` channels each
  int64_t in_rows, in_width;
  std::vector<int64_t> rows;     // by row of the output: that of the input
  std::vector<int64_t> columns;  // by column
  int64_t out_rows() const { return static_cast<int64_t>(rows.size()); }
  int64_t out_width() const { return static_cast<int64_t>(columns.size()); }
  int64_t out_row() const { return out_width() * channels; }  // elements
};

class ResizeNearestKernel : public Kernel {
 public:
  ResizeNearestKernel(ResizeNearestParams form, int threads) : f_(std::move(form)) {
    const int64_t rows = f_.planes * f_.out_rows();
    threads_ = static_cast<int>(std::min(
        {static_cast<int64_t>(threads), rows, rows * f_.out_row() / kNearestPerThread + 1}));
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const int64_t all = f_.planes * f_.out_rows(), mask = poll_mask(f_.out_row());
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      const float* last = nullptr;  // the source row of the row before
      for (int64_t row = all * part / parts; row < all * (part + 1) / parts; ++row) {
        if ((row & mask) == 0 ? sign.ask() : sign.is_up()) return;
        const int64_t plane = row / f_.out_rows();
        const int64_t source = f_.rows[static_cast<size_t>(row % f_.out_rows())];
        const float* from = in + (plane * f_.in_rows + source) * f_.in_width * f_.channels;
        float* to = out + row * f_.out_row();
        if (from == last)
          std::copy_n(to - f_.out_row(), f_.out_row(), to);
        else
          spread(from, to);
        last = from;
      }
    });
  }

 private:
  void spread(const float* from, float* to) const {
    const auto copy = [&](auto bytes) {
      for (const int64_t column : f_.columns) {
        std::memcpy(to, from + column * f_.channels, bytes);
        to += f_.channels;
      }
    };
    if (f_.channels == 1) {
      for (const int64_t column : f_.columns)
        *to++ = from[column];
      return;
    }
    constexpr auto kBlock = std::integral_constant<size_t, kChannelBlock * sizeof(float)>();
    if (f_.channels == kChannelBlock) return copy(kBlock);
    copy(static_cast<size_t>(f_.channels) * sizeof(float));
  }

  ResizeNearestParams f_;
  int threads_ = 1;
};

// The elements of the product of all `axes`, the last axis fastest.
std::vector<int64_t> joined_elements(const ops::ResizeAttrs& attrs,
                                     std::span<const ops::ResizeAxis> axes) {
  std::vector<int64_t> joined{0};
  for (const ops::ResizeAxis& axis : axes) {
    std::vector<int64_t> next;
    for (const int64_t before : joined) {
      for (const int64_t element : ops::nearest_elements(attrs, axis))
        next.push_back(element < 0 || before < 0 ? -1 : before * axis.in + element);
    }
    joined = std::move(next);
  }
  return joined;
}

}  // namespace

Prepared prepare_resize_nearest(const KernelRequest& request, const ops::ResizeAttrs& attrs,
                                std::span<const ops::ResizeAxis> axes) {
  const KernelTensor& x = request.inputs[0];
  if (x.dtype != DType::kFloat) return Prepared::refuse("only float is moved here");
  const Shape& y = request.outputs[0].shape;
  if (element_count(x.shape) == 0 || element_count(y) == 0)
    return Prepared::refuse("there are no elements");
  const auto pixels = pixel_planes(x);
  if (!pixels) return Prepared::refuse("an unusual layout");
  if (!axes[0].is_identity() || !axes[1].is_identity())
    return Prepared::refuse("images or channels are resized");
  const int64_t out_rows = element_count(y) / (y[0] * y[1] * y.back());
  if (const char* why = why_unsupported_tables({out_rows, y.back()})) return Prepared::refuse(why);
  ResizeNearestParams form;
  form.channels = pixels->channels;
  form.planes = pixels->planes;
  form.in_width = x.shape.back();
  form.in_rows = element_count(x.shape) / (x.shape[0] * x.shape[1] * form.in_width);
  form.rows = joined_elements(attrs, axes.subspan(2, axes.size() - 3));
  form.columns = joined_elements(attrs, axes.last(1));
  for (const auto* places : {&form.rows, &form.columns}) {
    if (std::ranges::count(*places, -1) > 0) return Prepared::refuse("a part is extrapolated");
  }
  Prepared prepared = Prepared::accept(
      std::make_unique<ResizeNearestKernel>(std::move(form), request.threads), "resize_nearest");
  prepared.unread_inputs = ~1u;
  if (!x.layout) return prepared;
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = x.layout;
  prepared.output_layouts = {float_image_layout(y, pixels->in_blocks)};
  return prepared;
}

}  // namespace sardonyx::cpu
