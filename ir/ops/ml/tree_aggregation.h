// The ops of tree ensembles, ready to run: what they make of the votes for each row. Where the
// specification is silent (which of two scores a classifier with two classes gives, what a
// transform does to a single score), they do as ONNX Runtime does, whose answers users know.
#pragma once

#include <memory>
#include <span>

#include "ir/op_def.h"
#include "ir/ops/ml/tree_ensemble.h"

namespace sardonyx::ops {

template <typename T>
class TreeOp {
 public:
  TreeOp(TreeEnsembleModel<T> model, Aggregate aggregate)
      : model_(std::move(model)), aggregate_(aggregate) {}
  virtual ~TreeOp() = default;
  const TreeEnsembleModel<T>& model() const { return model_; }
  Aggregate aggregate() const { return aggregate_; }
  size_t targets() const { return static_cast<size_t>(model_.targets); }
  // Writes what the outputs give for row `row`. `row_scores` has an element for each target and is
  // changed. Outputs that are not wanted have no data.
  virtual void write(int64_t row, std::span<const TargetScore<T>> scores, std::span<T> row_scores,
                     std::span<const TensorView> outputs) const = 0;

 private:
  TreeEnsembleModel<T> model_;
  Aggregate aggregate_;
};

// Makes the kernel's form of a TreeEnsemble, TreeEnsembleRegressor or TreeEnsembleClassifier on X
// with so many features. Throws kInvalidModel.
template <typename T>
std::shared_ptr<const TreeOp<T>> make_tree_op(const OpDef& op, const Attrs& attrs,
                                              int64_t features);
// Whether the op sums in double for X of type `input`.
bool tree_op_is_wide(const OpDef& op, const Attrs& attrs, DType input);

}  // namespace sardonyx::ops
