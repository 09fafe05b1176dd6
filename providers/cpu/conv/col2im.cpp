// Col2Im of float32 in one and two dims: each row of the image is the sum of the rows of blocks
// that overlap it.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/conv_inference.h"
#include "providers/cpu/conv/add_shifted.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

struct Col2ImInput {
  enum : size_t { kX, kImageShape, kBlockShape };
};

// The outputs of one axis' windows whose element `at` at some tap is inside the image.
struct Span {
  int64_t first, last;  // windows, none where last < first
};

// Places at + window * stride for windows < windows, of which those in [0, size) count.
Span span_of(int64_t at, int64_t stride, int64_t windows, int64_t size) {
  const int64_t first = at >= 0 ? 0 : (-at + stride - 1) / stride;
  const int64_t last = at < size ? (size - 1 - at) / stride : -1;
  return {first, std::min(last, windows - 1)};
}

class Col2ImKernel : public Kernel {
 public:
  // A 1-D window is treated as one over an image of one row.
  Col2ImKernel(ops::Window window, int64_t planes, int threads)
      : window_(std::move(window)), planes_(planes) {
    if (window_.rank() == 1) {
      for (Shape* one :
           {&window_.in, &window_.kernel, &window_.strides, &window_.dilations, &window_.out})
        one->insert(one->begin(), 1);
      for (Shape* zero : {&window_.pads_begin, &window_.pads_end})
        zero->insert(zero->begin(), 0);
    }
    blocks_ = window_.out[0] * window_.out[1];
    taps_ = window_.kernel[0] * window_.kernel[1];
    const int64_t work = planes_ * taps_ * blocks_;
    threads_ = static_cast<int>(std::min<int64_t>(threads, work / kElementsPerThread + 1));
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[Col2ImInput::kX]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const int64_t height = window_.in[0], width = window_.in[1];
    for_each_task(planes_ * height, threads_, taps_ * window_.out[1], [&](int64_t row) {
      float* to = out + row * width;
      if (window_.strides[1] > 1) std::fill_n(to, width, 0.0f);
      add_row(in + row / height * taps_ * blocks_, row % height, to);
    });
  }

 private:
  // The shifted rows that are added up in one pass.
  struct Pile {
    ShiftedRow rows[16];
    size_t count = 0;
    bool goes_on = false;  // adds to the previous sums instead of writing
    bool is_full() const { return count == std::size(rows); }
  };

  // Adds up all blocks that overlap row `y` of a plane.
  void add_row(const float* plane, int64_t y, float* to) const {
    Pile pile;
    for (int64_t tap = 0; tap < window_.kernel[0]; ++tap) {
      const int64_t from = y + window_.pads_begin[0] - tap * window_.dilations[0];
      if (from < 0) break;
      if (from >= window_.out[0] * window_.strides[0] || from % window_.strides[0] != 0) continue;
      const float* row =
          plane +
          (tap * window_.kernel[1] * window_.out[0] + from / window_.strides[0]) * window_.out[1];
      if (window_.strides[1] == 1)
        add_near(row, to, pile);
      else
        add_apart(row, to);
    }
    if (window_.strides[1] == 1) add_pile(pile, to);
  }

  void add_pile(Pile& pile, float* to) const {
    add_shifted_rows(pile.rows, pile.count, pile.goes_on, to, window_.in[1]);
    pile.count = 0;
    pile.goes_on = true;
  }

  // Adds the rows of adjacent taps: `row` is that of the first tap, the others follow `blocks_`
  // elements apart.
  void add_near(const float* row, float* to, Pile& pile) const {
    for (int64_t tap = 0; tap < window_.kernel[1]; ++tap, row += blocks_) {
      const int64_t at = tap * window_.dilations[1] - window_.pads_begin[1];
      const Span span = span_of(at, 1, window_.out[1], window_.in[1]);
      if (span.first > span.last) continue;
      pile.rows[pile.count++] = {row - at, span.first + at, span.last + at + 1};
      if (pile.is_full()) add_pile(pile, to);
    }
  }

  void add_apart(const float* row, float* to) const {
    const int64_t stride = window_.strides[1];
    for (int64_t tap = 0; tap < window_.kernel[1]; ++tap, row += blocks_) {
      const int64_t at = tap * window_.dilations[1] - window_.pads_begin[1];
      const Span span = span_of(at, stride, window_.out[1], window_.in[1]);
      for (int64_t window = span.first; window <= span.last; ++window)
        to[at + window * stride] += row[window];
    }
  }

  ops::Window window_;
  int64_t planes_, blocks_, taps_;
  int threads_;
};

Prepared prepare_col2im(const KernelRequest& request) {
  const Shape& y = request.outputs[0].shape;
  if (request.inputs[Col2ImInput::kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (y.size() != 3 && y.size() != 4) return Prepared::refuse("only one or two dims");
  if (!request.inputs[Col2ImInput::kBlockShape].constant)
    return Prepared::refuse("the size of a block is not known ahead");
  if (element_count(y) == 0 || element_count(request.inputs[Col2ImInput::kX].shape) == 0)
    return Prepared::refuse("there are no elements");
  const std::vector<int64_t> block = request.inputs[Col2ImInput::kBlockShape].constant->to_int64s();
  Prepared prepared = Prepared::accept(
      std::make_unique<Col2ImKernel>(
          ops::make_window(ops::window_spec(request.op.name, request.attrs<ops::Col2ImAttrs>()),
                           ops::spatial_shape(y), Shape(block.begin(), block.end())),
          y[0] * y[1], request.threads),
      "col2im");
  prepared.unread_inputs = ~1u;
  return prepared;
}

constexpr KernelEntry kCol2ImEntries[] = {{"Col2Im", "col2im", prepare_col2im}};

}  // namespace

std::span<const KernelEntry> col2im_kernels() {
  return kCol2ImEntries;
}

}  // namespace sardonyx::cpu
