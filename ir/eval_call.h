// Calls of ops whose outputs' shapes depend on data, or that are no tensors, made again and again
// by the same step of a plan.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/buffer_pool.h"
#include "ir/core/inline_vector.h"
#include "ir/op_def.h"

namespace sardonyx {

class Graph;

// Values that are in several places; null stands for an omitted one.
class DatumRefs {
 public:
  DatumRefs() = default;
  DatumRefs(std::span<const Datum* const> data) : data_(data) {}

  // Values, the omitted ones included.
  size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }
  const Datum& operator[](size_t index) const { return data_[index] ? *data_[index] : kOmitted; }
  // The values before `count`, or from `begin` on.
  DatumRefs first(size_t count) const { return data_.first(count); }
  DatumRefs subspan(size_t begin) const { return data_.subspan(begin); }
  std::span<const Datum* const> pointers() const { return data_; }
  // Handles that share the values.
  std::vector<Datum> copies() const;

 private:
  static const Datum kOmitted;
  std::span<const Datum* const> data_;
};

// The same of values that are adjacent. Few of them cost no allocation.
class DatumPointers {
 public:
  explicit DatumPointers(std::span<const Datum> data) {
    for (const Datum& datum : data)
      pointers_.push_back(&datum);
  }
  operator DatumRefs() const { return {{pointers_.data(), pointers_.size()}}; }

 private:
  InlineVector<const Datum*, 16> pointers_;
};

// Runs a subgraph of a node: `graph`'s formal inputs first, then the node's captures. Sets
// `outputs`, in memory of what they hold only where nobody else holds that.
using SubgraphRunner = std::function<void(const Graph& graph, DatumRefs inputs, DatumRefs captures,
                                          std::span<Datum> outputs)>;

// State that an evaluator keeps from one call to the next of the same step.
class StepMemory {
 public:
  virtual ~StepMemory() = default;
};

// One call of a row's evaluator.
struct EvalCall {
  const OpDef& op;
  const Attrs& raw_attrs;
  DatumRefs inputs;    // formal ones
  DatumRefs captures;  // of its subgraphs
  // To be set or cleared, all of them. They hold what an earlier call gave, as far as nobody else
  // does, whose memory serves again: renewed_tensor() and renewed() are made over it.
  std::span<Datum> outputs;
  const SubgraphRunner& run_subgraph;
  BufferPool* buffers = nullptr;                  // null: there is no next call
  std::unique_ptr<StepMemory>* memory = nullptr;  // the same
  template <typename S>
  const S& attrs() const {
    return raw_attrs.as<S>();
  }
  bool has(size_t input) const { return input < inputs.size() && inputs[input].defined(); }
  // Output `index`, to be written.
  Tensor& tensor(size_t index, DType dtype, std::span<const int64_t> shape) const {
    return renewed_tensor(outputs[index], dtype, shape, buffers);
  }
  // The same for a sequence, whose items are to be written over.
  Sequence& sequence(size_t index, const Type& element, size_t size) const;
  // Makes `slot` a tensor of rank 0.
  template <typename T>
  void set_scalar(Datum& slot, T value) const {
    *static_cast<T*>(renewed_tensor(slot, dtype_of<T>(), {}, buffers).raw()) = value;
  }
  // For slots in memory that is kept: see recycle().
  void recycle(Datum& slot) const {
    if (buffers) sardonyx::recycle(slot, *buffers);
  }
};

// The memory of type T (derived from StepMemory) that belongs to a call's step: made by the first
// call, or for this call alone where there is no next.
template <typename T>
class KeptMemory {
 public:
  explicit KeptMemory(const EvalCall& call) {
    if (call.memory && !*call.memory) *call.memory = std::make_unique<T>();
    if (!call.memory) own_ = std::make_unique<T>();
    used_ = call.memory ? static_cast<T*>(call.memory->get()) : own_.get();
  }
  T* operator->() const { return used_; }
  T& operator*() const { return *used_; }

 private:
  std::unique_ptr<T> own_;
  T* used_;
};

// Makes an `OpDef::evaluate` of an evaluator that makes all values anew at each call. Where it
// gives fewer than there are outputs, the rest is omitted.
template <std::vector<Datum> (*evaluator)(const EvalCall&)>
void evaluate_anew(const EvalCall& call) {
  std::vector<Datum> results = evaluator(call);
  results.resize(call.outputs.size());
  std::move(results.begin(), results.end(), call.outputs.begin());
}

}  // namespace sardonyx
