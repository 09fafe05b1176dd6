// Resize of float32 by blending neighbours (linear and cubic): one pass for each axis that changes,
// the last axis first.
#include <algorithm>

#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/resampling/resize_axis.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"

namespace sardonyx::cpu {
namespace {

// If the inner dims of an axis are few elements, lines along it are transposed, so that a vector
// holds one element of each line.
constexpr int64_t kMaxTransposedLine = 1 << 15, kMaxBehind = 15;

// [outer, in, inner] becomes [outer, out, inner].
struct AxisPass {
  AxisSplit split;
  int64_t out = 0;
  // Output i is made of parts [begins[i], begins[i + 1]).
  std::vector<int32_t> elements;
  std::vector<float> weights;
  std::vector<int64_t> begins;
  // The parts of each element of an output line, [part][element]; filled for transposed lines only.
  std::vector<int32_t> elements_by_part;
  std::vector<float> weights_by_part;

  int64_t count() const { return split.outer * out * split.inner; }
  // The parts of one output, on average, rounded down.
  int64_t parts() const {
    return static_cast<int64_t>(elements.size()) / std::max<int64_t>(out, 1);
  }
  bool is_transposed() const { return !elements_by_part.empty(); }
  // Elements of a line, inner dims included.
  int64_t in_line() const { return split.size * split.inner; }
  int64_t out_line() const { return out * split.inner; }
  // Elements of a thread's scratch memory.
  int64_t scratch_size() const {
    return is_transposed() ? in_line() * ChannelBlocks(split.outer).lanes : 0;
  }

  bool is_uniform() const {
    for (size_t i = 0; i < begins.size(); ++i) {
      if (begins[i] != static_cast<int64_t>(i) * parts()) return false;
    }
    return parts() > 0;
  }
  // Lists the parts transposed as well if lines are transposed.
  void list_by_part() {
    if (split.inner > kMaxBehind || split.outer < 4 || in_line() > kMaxTransposedLine) return;
    if (!is_uniform() || why_unsupported_tables({out_line() * parts()})) return;
    for (int64_t part = 0; part < parts(); ++part) {
      for (int64_t element = 0; element < out_line(); ++element) {
        const auto at = static_cast<size_t>(element / split.inner * parts() + part);
        const int64_t from = elements[at] * split.inner + element % split.inner;
        elements_by_part.push_back(static_cast<int32_t>(from));
        weights_by_part.push_back(weights[at]);
      }
    }
  }
};

void blend_row(const AxisPass& pass, const float* in, float* out, int64_t index, float fill) {
  const int64_t inner = pass.split.inner;
  const auto begin = static_cast<size_t>(pass.begins[static_cast<size_t>(index)]);
  const auto end = static_cast<size_t>(pass.begins[static_cast<size_t>(index) + 1]);
  if (begin == end) return std::fill_n(out, inner, fill), void();
  blend_lines(in, inner, pass.elements.data() + begin, pass.weights.data() + begin, end - begin,
              out, inner);
}

// Computes all outputs of a block of transposed lines.
void blend_transposed(const AxisPass& pass, const float* in, float* out, int64_t block,
                      float* pixels) {
  const ChannelBlocks blocks(pass.split.outer);
  const int64_t first = blocks.begin(block);
  planes_to_nhwc(in + first * pass.in_line(), pass.in_line(), blocks.lanes, pass.in_line(),
                 blocks.lanes, pixels);
  const auto elements = static_cast<size_t>(pass.out_line());
  interpolate_pixels({pass.elements_by_part.data(), pass.weights_by_part.data(),
                      static_cast<size_t>(pass.parts()), elements, elements},
                     pixels, blocks.lanes, blocks.lanes, out + first * pass.out_line(),
                     pass.out_line());
}

class ResizeKernel : public Kernel {
 public:
  ResizeKernel(std::vector<AxisPass> passes, float fill, int threads)
      : passes_(std::move(passes)), fill_(fill), threads_(threads) {
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (i + 1 < passes_.size()) largest_ = std::max(largest_, passes_[i].count());
      tiles_ = std::max(tiles_, passes_[i].scratch_size());
    }
  }

  // Scratch: two buffers between passes, used alternately, and transposed lines for each thread.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(2 * largest_ + threads_ * tiles_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[ops::ResizeInput::kX]);
    auto* between = reinterpret_cast<float*>(args.scratch);
    for (size_t i = 0; i < passes_.size(); ++i) {
      const bool is_last = i + 1 == passes_.size();
      float* out = is_last ? static_cast<float*>(args.outputs[0])
                           : between + static_cast<int64_t>(i % 2) * largest_;
      run_pass(passes_[i], in, out, between + 2 * largest_);
      in = out;
    }
  }

 private:
  void run_pass(const AxisPass& pass, const float* in, float* out, float* pixels) const {
    const auto wanted =
        static_cast<int>(std::min<int64_t>(threads_, pass.count() / kElementsPerThread + 1));
    if (pass.is_transposed()) {
      const ChannelBlocks blocks(pass.split.outer);
      const int64_t work = blocks.lanes * (pass.out_line() * pass.parts() + pass.in_line());
      // The last two blocks, which may overlap, are computed by one thread.
      const int64_t tasks = blocks.channels / blocks.lanes;
      for_each_task(tasks, wanted, work, [&](int64_t task, int64_t thread) {
        const int64_t end = task + 1 == tasks ? blocks.count : task + 1;
        for (int64_t block = task; block < end; ++block)
          blend_transposed(pass, in, out, block, pixels + thread * tiles_);
      });
      return;
    }
    for_each_task(pass.split.outer * pass.out, wanted, (pass.parts() + 1) * pass.split.inner,
                  [&](int64_t index) {
                    blend_row(pass, in + index / pass.out * pass.split.size * pass.split.inner,
                              out + index * pass.split.inner, index % pass.out, fill_);
                  });
  }

  std::vector<AxisPass> passes_;
  float fill_;
  int threads_;
  int64_t largest_ = 0, tiles_ = 0;
};

AxisPass pass_of(const ops::ResizeAttrs& attrs, const ops::ResizeAxis& axis, AxisSplit split) {
  AxisPass pass{split, axis.out, {}, {}, {0}, {}, {}};
  const ops::ResizeBlend blend = ops::blended_elements(attrs, axis);
  for (int64_t i = 0; i < axis.out; ++i) {
    if (i % (1 << 12) == 0) check_interrupted();
    for (const ops::ResizeBlend::WeightedElement& part : blend.of(i)) {
      pass.elements.push_back(static_cast<int32_t>(part.element));
      pass.weights.push_back(static_cast<float>(part.weight));
    }
    pass.begins.push_back(static_cast<int64_t>(pass.elements.size()));
  }
  pass.list_by_part();
  return pass;
}

std::vector<double> doubles_of(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return {};
  return request.inputs[input].constant->to_doubles();
}

Prepared prepare_resize(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::ResizeAttrs>();
  if (request.inputs[ops::ResizeInput::kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.mode == "nearest") return Prepared::refuse("only neighbours are blended here");
  for (const size_t input :
       {ops::ResizeInput::kRoi, ops::ResizeInput::kScales, ops::ResizeInput::kSizes}) {
    if (request.has(input) && !request.inputs[input].constant)
      return Prepared::refuse("the sizes are not known ahead");
  }
  if (element_count(request.outputs[0].shape) == 0)
    return Prepared::refuse("there are no elements");
  const std::vector<double> scales = doubles_of(request, ops::ResizeInput::kScales);
  const std::vector<float> float_scales(scales.begin(), scales.end());
  std::vector<int64_t> sizes;
  if (request.has(ops::ResizeInput::kSizes))
    sizes = request.inputs[ops::ResizeInput::kSizes].constant->to_int64s();
  Shape shape = request.inputs[ops::ResizeInput::kX].shape;
  const auto axes =
      ops::resize_axes(attrs, shape, request.outputs[0].shape,
                       doubles_of(request, ops::ResizeInput::kRoi), float_scales, sizes);
  std::vector<AxisPass> passes;
  for (size_t axis = axes.size(); axis-- > 0;) {
    if (axes[axis].is_identity()) continue;
    if (const char* why = why_unsupported_tables({shape[axis], axes[axis].out}))
      return Prepared::refuse(why);
    passes.push_back(pass_of(attrs, axes[axis], split_at(shape, axis)));
    shape[axis] = axes[axis].out;
  }
  if (passes.empty()) return Prepared::refuse("nothing changes");
  Prepared prepared = Prepared::accept(
      std::make_unique<ResizeKernel>(std::move(passes), attrs.extrapolation_value, request.threads),
      "interpolate");
  prepared.unread_inputs = ~1u;
  return prepared;
}

constexpr KernelEntry kResizeEntries[] = {{"Resize", "resize", prepare_resize}};

}  // namespace

std::span<const KernelEntry> resize_kernels() {
  return kResizeEntries;
}

}  // namespace sardonyx::cpu
