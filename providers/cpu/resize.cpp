// Resize of float32 by blending neighbours (linear and cubic): one pass for each axis that changes,
// the last axis first.
#include "ir/ops/image.h"
#include "ir/ops/resize_axis.h"
#include "ir/strides.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/tables.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

enum Input { kX, kRoi, kScales, kSizes };

// [outer, in, inner] becomes [outer, out, inner].
struct AxisPass {
  AxisSplit split;
  int64_t out = 0;
  std::vector<int64_t> elements;
  std::vector<float> weights;
  std::vector<int64_t> begins;  // output i is made of parts [begins[i], begins[i + 1])

  int64_t count() const { return split.outer * out * split.inner; }
};

void blend_row(const AxisPass& pass, const float* in, float* out, int64_t index, float fill) {
  const int64_t inner = pass.split.inner;
  const int64_t begin = pass.begins[static_cast<size_t>(index)];
  const int64_t end = pass.begins[static_cast<size_t>(index) + 1];
  if (begin == end) return std::fill_n(out, inner, fill), void();
  if (end - begin == 2) {
    const float* first = in + pass.elements[static_cast<size_t>(begin)] * inner;
    const float* second = in + pass.elements[static_cast<size_t>(begin) + 1] * inner;
    const float a = pass.weights[static_cast<size_t>(begin)];
    const float b = pass.weights[static_cast<size_t>(begin) + 1];
    for (int64_t k = 0; k < inner; ++k)
      out[k] = a * first[k] + b * second[k];
    return;
  }
  for (int64_t part = begin; part < end; ++part) {
    const float* from = in + pass.elements[static_cast<size_t>(part)] * inner;
    const float weight = pass.weights[static_cast<size_t>(part)];
    for (int64_t k = 0; k < inner; ++k)
      out[k] = part == begin ? weight * from[k] : out[k] + weight * from[k];
  }
}

class ResizeKernel : public Kernel {
 public:
  ResizeKernel(std::vector<AxisPass> passes, float fill, int threads)
      : passes_(std::move(passes)), fill_(fill), threads_(threads) {
    for (size_t i = 0; i + 1 < passes_.size(); ++i)
      largest_ = std::max(largest_, passes_[i].count());
  }

  // What lies between passes, in turns.
  size_t scratch_bytes() const override {
    return 2 * static_cast<size_t>(largest_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[kX]);
    auto* between = reinterpret_cast<float*>(args.scratch);
    for (size_t i = 0; i < passes_.size(); ++i) {
      const bool is_last = i + 1 == passes_.size();
      float* out = is_last ? static_cast<float*>(args.outputs[0])
                           : between + static_cast<int64_t>(i % 2) * largest_;
      run_pass(passes_[i], in, out);
      in = out;
    }
  }

 private:
  void run_pass(const AxisPass& pass, const float* in, float* out) const {
    const int64_t rows = pass.split.outer * pass.out;
    const auto wanted =
        static_cast<int>(std::min<int64_t>(threads_, pass.count() / kElementsPerThread + 1));
    const auto row = [&](int64_t index) {
      blend_row(pass, in + index / pass.out * pass.split.size * pass.split.inner,
                out + index * pass.split.inner, index % pass.out, fill_);
    };
    const auto parts = static_cast<int64_t>(pass.elements.size()) / std::max<int64_t>(pass.out, 1);
    for_each_task(rows, wanted, (parts + 1) * pass.split.inner, row);
  }

  std::vector<AxisPass> passes_;
  float fill_;
  int threads_;
  int64_t largest_ = 0;
};

AxisPass pass_of(const ops::ResizeAttrs& attrs, const ops::ResizeAxis& axis, AxisSplit split) {
  AxisPass pass{split, axis.out, {}, {}, {0}};
  const ops::ResizeBlend blend = ops::blended_elements(attrs, axis);
  for (int64_t i = 0; i < axis.out; ++i) {
    for (const ops::ResizeBlend::Part& part : blend.of(i)) {
      pass.elements.push_back(part.element);
      pass.weights.push_back(static_cast<float>(part.weight));
    }
    pass.begins.push_back(static_cast<int64_t>(pass.elements.size()));
  }
  return pass;
}

std::vector<double> doubles_of(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return {};
  return request.inputs[input].constant->to_doubles();
}

Prepared prepare_resize(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::ResizeAttrs>();
  if (request.inputs[kX].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.mode == "nearest") return Prepared::refuse("only neighbours are blended here");
  for (const size_t input : {kRoi, kScales, kSizes}) {
    if (request.has(input) && !request.inputs[input].constant)
      return Prepared::refuse("the sizes are not known ahead");
  }
  if (element_count(request.outputs[0].shape) == 0)
    return Prepared::refuse("there are no elements");
  const std::vector<double> scales = doubles_of(request, kScales);
  const std::vector<float> float_scales(scales.begin(), scales.end());
  std::vector<int64_t> sizes;
  if (request.has(kSizes)) sizes = request.inputs[kSizes].constant->to_int64s();
  Shape shape = request.inputs[kX].shape;
  const auto axes = ops::resize_axes(attrs, shape, request.outputs[0].shape,
                                     doubles_of(request, kRoi), float_scales, sizes);
  std::vector<AxisPass> passes;
  for (size_t axis = axes.size(); axis-- > 0;) {
    if (axes[axis].is_identity()) continue;
    if (const char* why = refusal_of_tables({shape[axis], axes[axis].out}))
      return Prepared::refuse(why);
    passes.push_back(pass_of(attrs, axes[axis], split_at(shape, axis)));
    shape[axis] = axes[axis].out;
  }
  if (passes.empty()) return Prepared::refuse("nothing changes");
  Prepared prepared = Prepared::accept(
      std::make_unique<ResizeKernel>(std::move(passes), attrs.extrapolation_value, request.threads),
      "blend");
  prepared.unread_inputs = ~1u;
  return prepared;
}

constexpr KernelEntry kResizeEntries[] = {{"Resize", "blend", prepare_resize}};

}  // namespace

std::span<const KernelEntry> resize_entries() {
  return kResizeEntries;
}

}  // namespace sardonyx::cpu
