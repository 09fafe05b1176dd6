// What backward() walks: the ops that were called while gradients were enabled.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "eager/tensor_impl.h"

namespace sardonyx::eager::detail {

struct TapeNode {
  // An output is held weakly, since it holds this node; its value is kept for the rule.
  struct Output {
    std::weak_ptr<TensorImpl> impl;
    Datum value;
    Value* symbol = nullptr;
    std::shared_ptr<TraceContext> frame;
  };

  ~TapeNode();

  uint64_t sequence = 0;
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<ImplPtr> inputs;
  std::vector<uint32_t> versions;  // of the inputs when the op ran
  size_t captures = 0;
  std::vector<Output> outputs;
  std::mutex reviving;  // of outputs' `impl`, which several threads' walks may meet
  std::shared_ptr<const RecordedStep::Rule> rule;
  Loc loc;
  std::string scope;
  bool is_freed = false;
};

bool grad_enabled();
void set_grad_enabled(bool enabled);

// Notes an op whose results depend on tracked inputs.
void record(const OpDef& op, const Attrs& attrs, std::span<const Tensor> inputs, size_t captures,
            std::span<Tensor> outputs, std::shared_ptr<const RecordedStep::Rule> rule,
            const Loc& loc);

}  // namespace sardonyx::eager::detail
