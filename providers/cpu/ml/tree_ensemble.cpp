// Tree ensembles of ai.onnx.ml on float and double.
#include <algorithm>
#include <memory>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/ml/tree_aggregation.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/ml/tree_traversal.h"

namespace sardonyx::cpu {
namespace {

// Steps of walks that are worth another thread.
constexpr int64_t kStepsPerThread = 1 << 14;

template <typename T>
class TreeKernel : public Kernel {
 public:
  TreeKernel(const KernelRequest& request, std::shared_ptr<const ops::TreeOp<T>> op,
             TreeTraversal<T> walk)
      : op_(std::move(op)), walk_(std::move(walk)) {
    const ops::FeatureTable table = ops::feature_table(request.inputs[0].shape);
    rows_ = static_cast<size_t>(table.rows);
    features_ = static_cast<size_t>(table.features);
    outputs_.assign(request.outputs.begin(), request.outputs.end());
    steps_ = static_cast<int64_t>(walk_.trees()) * std::max(walk_.depth(), 1);
    const auto rows = static_cast<int64_t>(rows_);
    threads_ = static_cast<int>(std::clamp<int64_t>(rows * steps_ / kStepsPerThread, 1,
                                                    std::min<int64_t>(request.threads, rows)));
    const auto most = static_cast<int64_t>(TreeTraversal<T>::kRowsAtOnce);
    rows_per_task_ = std::clamp<int64_t>((rows + threads_ - 1) / threads_, 1, most);
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads_) * share_bytes(); }

  void run(const KernelArgs& args) const override {
    TensorView views[2];
    for (size_t i = 0; i < outputs_.size(); ++i)
      views[i] = {outputs_[i].dtype, outputs_[i].shape, args.outputs[i]};
    const std::span<const TensorView> outputs(views, outputs_.size());
    const int64_t rows = static_cast<int64_t>(rows_);
    for_each_task((rows + rows_per_task_ - 1) / rows_per_task_, threads_, rows_per_task_ * steps_,
                  [&](int64_t block, size_t thread) {
                    const auto first = static_cast<size_t>(block * rows_per_task_);
                    const size_t count =
                        std::min(static_cast<size_t>(rows_per_task_), rows_ - first);
                    run_block(static_cast<const T*>(args.inputs[0]), first, count,
                              args.scratch + thread * share_bytes(), outputs);
                  });
  }

 private:
  // Scratch: scores of a block of rows, and the outputs of one row, each in whole cache
  // lines.
  size_t score_bytes() const {
    const size_t bytes =
        static_cast<size_t>(rows_per_task_) * op_->targets() * sizeof(ops::TargetScore<T>);
    return (bytes + 63) / 64 * 64;
  }
  size_t row_bytes() const { return (op_->targets() * sizeof(T) + 63) / 64 * 64; }
  size_t share_bytes() const {
    const auto rows = static_cast<size_t>(rows_per_task_);
    return score_bytes() + row_bytes() + walk_.scratch_floats(features_, rows) * sizeof(float);
  }

  void run_block(const T* x, size_t first, size_t count, std::byte* scratch,
                 std::span<const TensorView> outputs) const {
    auto* scores = reinterpret_cast<ops::TargetScore<T>*>(scratch);
    auto* row_scores = reinterpret_cast<T*>(scratch + score_bytes());
    const size_t targets = op_->targets();
    auto* own = reinterpret_cast<float*>(scratch + score_bytes() + row_bytes());
    walk_.score(x + first * features_, features_, count, op_->aggregate(), targets, scores, own);
    for (size_t row = 0; row < count; ++row) {
      op_->write(static_cast<int64_t>(first + row), {scores + row * targets, targets},
                 {row_scores, targets}, outputs);
    }
  }

  std::shared_ptr<const ops::TreeOp<T>> op_;
  TreeTraversal<T> walk_;
  size_t rows_ = 0, features_ = 0;
  std::vector<KernelTensor> outputs_;
  int64_t steps_ = 1, rows_per_task_ = 1;
  int threads_ = 1;
};

template <typename T>
Prepared prepare_trees_as(const KernelRequest& request) {
  const int64_t features = ops::feature_table(request.inputs[0].shape).features;
  auto op = ops::make_tree_op<T>(request.op, request.raw_attrs, features);
  if (op->targets() == 0) return Prepared::refuse("there is no target");
  auto walk = TreeTraversal<T>::of(op->model());
  if (!walk) return Prepared::refuse("comparisons for equality are left to the reference");
  return Prepared::accept(std::make_unique<TreeKernel<T>>(request, std::move(op), std::move(*walk)),
                          "tree_traversal");
}

Prepared prepare_trees(const KernelRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  const bool wide = ops::tree_op_is_wide(request.op, request.raw_attrs, dtype);
  if (dtype == DType::kDouble) return prepare_trees_as<double>(request);
  if (dtype == DType::kFloat && !wide) return prepare_trees_as<float>(request);
  return Prepared::refuse("features are converted by the reference");
}

constexpr KernelEntry kTreeEntries[] = {
    {"ai.onnx.ml::TreeEnsemble", "tree_ensemble", prepare_trees},
    {"ai.onnx.ml::TreeEnsembleClassifier", "tree_ensemble", prepare_trees},
    {"ai.onnx.ml::TreeEnsembleRegressor", "tree_ensemble", prepare_trees}};

}  // namespace

std::span<const KernelEntry> tree_ensemble_kernels() {
  return kTreeEntries;
}

}  // namespace sardonyx::cpu
