// LayerNormalizationGrad on float32.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

int threads_for(int threads, int64_t parts, int64_t elements) {
  return static_cast<int>(
      std::min({static_cast<int64_t>(threads), parts, elements / kElementsPerThread + 1}));
}

constexpr int64_t kBlock = 256;

// The sum of term(i) below `count`: single precision within short blocks, double between them.
template <typename Term>
double sum_of(int64_t count, const Term& term) {
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; ++i)
      sum += term(i);
    total += double{sum};
  }
  return total;
}

// The sums of a(i) and of a(i) * b(i), in the same way.
template <typename A, typename B>
std::pair<double, double> sums_of(int64_t count, const A& a, const B& b) {
  double total = 0, products = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (int64_t i = begin; i < end; ++i) {
      const float term = a(i);
      sum += term;
      product += term * b(i);
    }
    total += double{sum};
    products += double{product};
  }
  return {total, products};
}

// ---- Layer normalization: X as [rows, length], a scale for each element of a row

class LayerNormalizationGrad : public Kernel {
 public:
  LayerNormalizationGrad(int64_t rows, int64_t length, const ops::RowNormalizationGradAttrs& attrs,
                         int threads)
      : rows_(rows),
        length_(length),
        epsilon_(attrs.epsilon),
        is_centered_(attrs.is_centered),
        threads_(threads_for(threads, rows, rows * length)) {}

  // Each part's own sum for the scale: which rows are summed, and so the result, does
  // not depend on which thread takes them.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * length_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* sums = reinterpret_cast<float*>(args.scratch);
    std::fill_n(sums, threads_ * length_, 0.f);
    const int64_t mask = poll_mask(4 * length_);
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      for (int64_t row = rows_ * part / parts; row < rows_ * (part + 1) / parts; ++row) {
        if ((row & mask) == 0 && sign.ask()) return;
        one(args, row, sums + part * length_);
      }
    });
    auto* d_scale = static_cast<float*>(args.outputs[1]);
    std::copy_n(sums, length_, d_scale);
    for (int part = 1; part < threads_; ++part) {
      for (int64_t i = 0; i < length_; ++i)
        d_scale[i] += sums[part * length_ + i];
    }
  }

 private:
  void one(const KernelArgs& args, int64_t row, float* d_scale) const {
    const auto* d_y = static_cast<const float*>(args.inputs[0]) + row * length_;
    const auto* x = static_cast<const float*>(args.inputs[1]) + row * length_;
    const auto* scale = static_cast<const float*>(args.inputs[2]);
    auto* d_x = static_cast<float*>(args.outputs[0]) + row * length_;
    const auto length = static_cast<double>(length_);
    const auto mean = static_cast<float>(
        is_centered_ ? sum_of(length_, [&](int64_t i) { return x[i]; }) / length : 0);
    const auto square = [&](int64_t i) { return (x[i] - mean) * (x[i] - mean); };
    const double root = std::sqrt(sum_of(length_, square) / length + double{epsilon_});
    const auto inverse = static_cast<float>(1 / root);
    const auto scaled = [&](int64_t i) { return d_y[i] * scale[i]; };
    const auto distance = [&](int64_t i) { return x[i] - mean; };
    const auto [sum, product] = sums_of(length_, scaled, distance);
    const auto shift = static_cast<float>(is_centered_ ? sum / length : 0);
    const auto pull = static_cast<float>(product / length / root / root);
#pragma omp simd
    for (int64_t i = 0; i < length_; ++i) {
      d_scale[i] += d_y[i] * distance(i) * inverse;
      d_x[i] = inverse * (scaled(i) - shift - distance(i) * pull);
    }
  }

  int64_t rows_, length_;
  float epsilon_;
  bool is_centered_;
  int threads_;
};

Prepared prepare_layer(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const auto& attrs = request.attrs<ops::RowNormalizationGradAttrs>();
  const Shape &x = request.inputs[1].shape, &scale = request.inputs[2].shape;
  if (element_count(x) == 0) return Prepared::refuse("there are no elements");
  const auto rank = static_cast<int64_t>(x.size());
  const auto first = static_cast<std::ptrdiff_t>(attrs.axis < 0 ? attrs.axis + rank : attrs.axis);
  if (!std::equal(x.begin() + first, x.end(), scale.begin(), scale.end())) {
    return Prepared::refuse("the scale has not the shape of a row");
  }
  const int64_t length = element_count(scale);
  return Prepared::accept(std::make_unique<LayerNormalizationGrad>(element_count(x) / length,
                                                                   length, attrs, request.threads),
                          "portable");
}

constexpr KernelEntry kNormalizationGradientEntries[] = {
    {"sardonyx::LayerNormalizationGrad", "layer_norm_grad", prepare_layer},
};

}  // namespace

std::span<const KernelEntry> layer_norm_grad_kernels() {
  return kNormalizationGradientEntries;
}

}  // namespace sardonyx::cpu
