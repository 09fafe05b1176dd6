// Support vector machines of ai.onnx.ml on float32.
#include <algorithm>
#include <memory>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/ml/svm.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/ml/svm_kernel.h"

namespace sardonyx::cpu {
namespace {

// The kernel function's values of one row after the other.
class VectorKernels {
 public:
  VectorKernels(const KernelRequest& request, const ops::SvmAttrs& attrs,
                const ops::SvmVectors& vectors)
      : count_(static_cast<size_t>(vectors.count)) {
    const ops::FeatureTable table = ops::feature_table(request.inputs[0].shape);
    rows = static_cast<size_t>(table.rows);
    features_ = static_cast<size_t>(table.features);
    columns_ = (count_ + kVectorColumns - 1) / kVectorColumns * kVectorColumns;
    vectors_.assign(features_ * columns_, 0);
    for (size_t i = 0; i < count_; ++i) {
      for (size_t feature = 0; feature < features_; ++feature)
        vectors_[feature * columns_ + i] = vectors.rows[i * features_ + feature];
    }
    const auto [gamma, coef0, degree] = ops::svm_kernel_params(attrs);
    form_ = {kind_of(attrs, vectors), static_cast<float>(gamma), static_cast<float>(coef0),
             static_cast<float>(degree)};
  }

  size_t scratch_bytes() const { return columns_ * (sizeof(float) + sizeof(double)); }

  // Calls visit(row, values) for each row.
  template <typename Visit>
  void for_each_row(const KernelArgs& args, const Visit& visit) const {
    auto* wide = reinterpret_cast<double*>(args.scratch);
    auto* values = reinterpret_cast<float*>(args.scratch + columns_ * sizeof(double));
    const auto work = static_cast<int64_t>(columns_ * std::max<size_t>(features_, 1));
    for_each_task(static_cast<int64_t>(rows), 1, work, [&](int64_t row) {
      const ScratchMark mark;
      const auto at = static_cast<size_t>(row);
      const float* x = static_cast<const float*>(args.inputs[0]) + at * features_;
      vector_kernel_row(form_, x, features_, vectors_.data(), columns_, values);
      std::copy_n(values, count_, wide);
      visit(row, std::span<const double>(wide, count_));
    });
  }

  size_t rows = 0;

 private:
  static VectorKernel kind_of(const ops::SvmAttrs& attrs, const ops::SvmVectors& vectors) {
    if (vectors.are_coefficients || attrs.kernel_type == "LINEAR") return VectorKernel::kLinear;
    if (attrs.kernel_type == "POLY") return VectorKernel::kPolynomial;
    return attrs.kernel_type == "RBF" ? VectorKernel::kRadial : VectorKernel::kSigmoid;
  }

  size_t count_, columns_ = 0, features_ = 0;
  std::vector<float> vectors_;  // [features][columns], zeros behind the last one
  VectorKernelForm form_{};
};

class SvmRegressorKernel : public Kernel {
 public:
  SvmRegressorKernel(const KernelRequest& request, const ops::SvmRegressorAttrs& attrs)
      : attrs_(attrs), kernels_(request, attrs, ops::svm_vectors(attrs)) {}

  void run(const KernelArgs& args) const override {
    auto* out = static_cast<float*>(args.outputs[0]);
    kernels_.for_each_row(args, [&](int64_t row, std::span<const double> values) {
      out[row] = ops::finish_svm_regressor(attrs_, values);
    });
  }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(); }

 private:
  ops::SvmRegressorAttrs attrs_;
  VectorKernels kernels_;
};

class SvmClassifierKernel : public Kernel {
 public:
  SvmClassifierKernel(const KernelRequest& request, const ops::SvmClassifierAttrs& attrs)
      : attrs_(attrs),
        transform_(ops::post_transform_named(attrs.post_transform)),
        scores_(static_cast<size_t>(ops::svm_score_columns(attrs))),
        kernels_(request, attrs, ops::svm_vectors(attrs)) {
    outputs_.assign(request.outputs.begin(), request.outputs.end());
  }

  void run(const KernelArgs& args) const override {
    auto* out = reinterpret_cast<float*>(args.scratch + kernels_.scratch_bytes());
    const ops::ClassLabels labels = ops::svm_labels(attrs_);
    const bool wants_labels = !outputs_.empty() && outputs_[0];
    const bool wants_scores = outputs_.size() > 1 && outputs_[1];
    kernels_.for_each_row(args, [&](int64_t row, std::span<const double> values) {
      const size_t winner = ops::finish_svm_classifier(attrs_, values, transform_, {out, scores_});
      if (wants_labels)
        labels.write({outputs_[0].dtype, outputs_[0].shape, args.outputs[0]}, row, winner);
      if (wants_scores)
        std::copy_n(out, scores_,
                    static_cast<float*>(args.outputs[1]) + static_cast<size_t>(row) * scores_);
    });
  }
  size_t scratch_bytes() const override {
    return kernels_.scratch_bytes() + scores_ * sizeof(float);
  }

 private:
  ops::SvmClassifierAttrs attrs_;
  ops::PostTransform transform_;
  size_t scores_;
  std::vector<KernelTensor> outputs_;
  VectorKernels kernels_;
};

template <typename Kernel, typename Attrs>
Prepared prepare_svm(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<Kernel>(request, request.attrs<Attrs>()), "simd");
}

constexpr KernelEntry kSupportVectorEntries[] = {
    {"ai.onnx.ml::SVMClassifier", "svm", prepare_svm<SvmClassifierKernel, ops::SvmClassifierAttrs>},
    {"ai.onnx.ml::SVMRegressor", "svm", prepare_svm<SvmRegressorKernel, ops::SvmRegressorAttrs>}};

}  // namespace

std::span<const KernelEntry> svm_kernels() {
  return kSupportVectorEntries;
}

}  // namespace sardonyx::cpu
