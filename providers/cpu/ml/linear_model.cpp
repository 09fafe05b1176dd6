// Linear models of ai.onnx.ml on float32. The coefficients are packed for GEMV.
#include "ir/ops/ml/linear_model.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "ir/ops/ml/post_transform.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemv_f32.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/softmax_kernel.h"

namespace sardonyx::cpu {
namespace {

// The sums of products of [rows, features] with each of the rows of coefficients.
class LinearSums {
 public:
  LinearSums(const KernelRequest& request, const std::vector<float>& coefficients,
             const std::vector<float>& intercepts, int64_t targets)
      : coefficients_(coefficients), intercepts_(intercepts), targets_(targets) {
    const ops::FeatureTable table = ops::feature_table(request.inputs[0].shape);
    rows_ = table.rows;
    features_ = table.features;
  }

  size_t scratch_bytes() const { return static_cast<size_t>(rows_ * targets_) * sizeof(float); }

  std::span<float> run(const KernelArgs& args) const {
    auto* sums = reinterpret_cast<float*>(args.scratch);
    const auto targets = static_cast<size_t>(targets_), features = static_cast<size_t>(features_);
    gemv_transposed({static_cast<const float*>(args.inputs[0]), features, coefficients_.data(),
                     features, sums, targets, static_cast<size_t>(rows_), features, targets});
    for (int64_t row = 0; row < rows_ && !intercepts_.empty(); ++row) {
      for (size_t target = 0; target < targets; ++target)
        sums[static_cast<size_t>(row) * targets + target] += intercepts_[target];
    }
    return {sums, static_cast<size_t>(rows_) * targets};
  }

 private:
  std::vector<float> coefficients_, intercepts_;
  int64_t targets_, rows_ = 0, features_ = 0;
};

class ClassifierKernel : public Kernel {
 public:
  ClassifierKernel(const KernelRequest& request, const ops::LinearClassifierAttrs& attrs)
      : attrs_(attrs),
        columns_(static_cast<size_t>(ops::coefficient_rows(attrs))),
        sums_(request, attrs.coefficients, attrs.intercepts, ops::coefficient_rows(attrs)) {
    takes_softmax_ = columns_ > 1 && ops::post_transform_named(attrs.post_transform) ==
                                         ops::PostTransform::kSoftmax;
    for (const KernelTensor& output : request.outputs)
      outputs_.push_back(output);
  }

  void run(const KernelArgs& args) const override {
    TensorView views[2];
    for (size_t i = 0; i < outputs_.size(); ++i)
      views[i] = {outputs_[i].dtype, outputs_[i].shape, args.outputs[i]};
    const std::span<float> sums = sums_.run(args);
    const bool is_finished_here = takes_softmax_ && outputs_.size() > 1 && args.outputs[1];
    ops::finish_linear_classifier(attrs_, sums, {views, is_finished_here ? 1 : outputs_.size()});
    if (is_finished_here) write_softmax(sums, static_cast<float*>(args.outputs[1]));
  }
  size_t scratch_bytes() const override { return sums_.scratch_bytes(); }

 private:
  // Rows of classes are as short as those of the op Softmax may be, and take its vectors.
  void write_softmax(std::span<const float> sums, float* out) const {
    if (columns_ <= kLongestShortRow)
      return softmax_short_rows(sums.data(), out, sums.size() / columns_, columns_);
    for (size_t begin = 0; begin < sums.size(); begin += columns_)
      softmax_row(sums.data() + begin, out + begin, columns_);
  }

  ops::LinearClassifierAttrs attrs_;
  size_t columns_;
  bool takes_softmax_ = false;
  LinearSums sums_;
  std::vector<KernelTensor> outputs_;
};

class RegressorKernel : public Kernel {
 public:
  RegressorKernel(const KernelRequest& request, const ops::LinearRegressorAttrs& attrs)
      : attrs_(attrs), sums_(request, attrs.coefficients, attrs.intercepts, attrs.targets) {}

  void run(const KernelArgs& args) const override {
    ops::finish_linear_regressor(attrs_, sums_.run(args), static_cast<float*>(args.outputs[0]));
  }
  size_t scratch_bytes() const override { return sums_.scratch_bytes(); }

 private:
  ops::LinearRegressorAttrs attrs_;
  LinearSums sums_;
};

// (x - offset) * scale in double, as the reference has it.
class ScalerKernel : public Kernel {
 public:
  ScalerKernel(const KernelRequest& request, const ops::ScalerAttrs& attrs)
      : count_(element_count(request.inputs[0].shape)), threads_(request.threads) {
    const size_t period =
        std::lcm(std::max<size_t>(attrs.offset.size(), 1), std::max<size_t>(attrs.scale.size(), 1));
    // Coefficients are repeated to whole vectors, since a few features do not fill one.
    const size_t length = (kVector + period - 1) / period * period;
    for (size_t i = 0; i < length; ++i) {
      offsets_.push_back(attrs.offset.empty() ? 0 : attrs.offset[i % attrs.offset.size()]);
      scales_.push_back(attrs.scale.empty() ? 1 : attrs.scale[i % attrs.scale.size()]);
    }
  }

  void run(const KernelArgs& args) const override {
    const auto length = static_cast<int64_t>(scales_.size());
    const int64_t rows = (count_ + length - 1) / length;
    const auto wanted =
        static_cast<int>(std::min<int64_t>(threads_, count_ / kElementsPerThread + 1));
    for_each_task(rows, wanted, length, [&](int64_t row) {
      const float* in = static_cast<const float*>(args.inputs[0]) + row * length;
      float* out = static_cast<float*>(args.outputs[0]) + row * length;
      const auto count = static_cast<size_t>(std::min(length, count_ - row * length));
      for (size_t i = 0; i < count; ++i)
        out[i] = static_cast<float>((in[i] - offsets_[i]) * scales_[i]);
    });
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  static constexpr size_t kVector = 64;
  std::vector<double> offsets_, scales_;
  int64_t count_;
  int threads_;
};

template <typename Kernel, typename Attrs>
Prepared prepare(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<Kernel>(request, request.attrs<Attrs>()), "simd");
}

constexpr KernelEntry kLinearModelEntries[] = {
    {"ai.onnx.ml::LinearClassifier", "linear_model",
     prepare<ClassifierKernel, ops::LinearClassifierAttrs>},
    {"ai.onnx.ml::LinearRegressor", "linear_model",
     prepare<RegressorKernel, ops::LinearRegressorAttrs>},
    {"ai.onnx.ml::Scaler", "linear_model", prepare<ScalerKernel, ops::ScalerAttrs>}};

}  // namespace

std::span<const KernelEntry> linear_model_kernels() {
  return kLinearModelEntries;
}

}  // namespace sardonyx::cpu
