#include "ir/ops/conv/window_taps.h"

namespace sardonyx::ops {

namespace {

// Every tap listed so far, followed by every tap of one more axis.
class TapProduct {
 public:
  explicit TapProduct(std::vector<Tap>& taps) : taps_(taps) { taps_.assign(1, {0, 0}); }
  void add(const std::vector<Tap>& axis_taps, int64_t kernel, int64_t size) {
    next_.clear();
    for (const Tap& tap : taps_) {
      for (const Tap& inner : axis_taps) {
        next_.push_back({tap.kernel * kernel + inner.kernel, tap.element * size + inner.element});
      }
    }
    taps_.swap(next_);
  }

 private:
  std::vector<Tap>& taps_;
  std::vector<Tap> next_;
};

}  // namespace

void list_taps(const Window& window, std::span<const int64_t> position, std::vector<Tap>& taps) {
  TapProduct product(taps);
  std::vector<Tap> axis_taps;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t start = window.start(axis, position[axis]);
    const int64_t dilation = window.dilations[axis];
    const TapRange range = taps_inside(start, window.kernel[axis], dilation, window.in[axis]);
    axis_taps.clear();
    for (int64_t k = range.begin; k < range.end; ++k) {
      axis_taps.push_back({k, start + k * dilation});
    }
    product.add(axis_taps, window.kernel[axis], window.in[axis]);
  }
}

void list_transposed_taps(const Window& window, std::span<const int64_t> position,
                          std::vector<Tap>& taps) {
  TapProduct product(taps);
  std::vector<Tap> axis_taps;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t stride = window.strides[axis];
    const int64_t at = position[axis] + window.pads_begin[axis];
    axis_taps.clear();
    for (int64_t k = 0; k < window.kernel[axis]; ++k) {
      const int64_t scaled = at - k * window.dilations[axis];
      if (scaled < 0) break;
      if (scaled % stride == 0 && scaled / stride < window.in[axis]) {
        axis_taps.push_back({k, scaled / stride});
      }
    }
    product.add(axis_taps, window.kernel[axis], window.in[axis]);
  }
}

void next_position(std::span<int64_t> index, std::span<const int64_t> shape) {
  for (size_t axis = shape.size(); axis > 0; --axis) {
    if (++index[axis - 1] < shape[axis - 1]) return;
    index[axis - 1] = 0;
  }
}

}  // namespace sardonyx::ops
