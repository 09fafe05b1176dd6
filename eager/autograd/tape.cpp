#include "eager/autograd/tape.h"

#include "eager/trace/frame.h"

namespace sardonyx::eager::detail {
namespace {

thread_local bool t_grad_enabled = true;
thread_local uint64_t t_sequence = 0;

}  // namespace

bool grad_enabled() {
  return t_grad_enabled;
}
void set_grad_enabled(bool enabled) {
  t_grad_enabled = enabled;
}

// A long chain of nodes must not be destroyed by recursion: those that only this one holds are
// taken apart one after another.
TapeNode::~TapeNode() {
  std::vector<std::shared_ptr<TapeNode>> orphans;
  const auto take_creators = [&](TapeNode& node) {
    for (ImplPtr& input : node.inputs) {
      if (input && input.use_count() == 1 && input->creator)
        orphans.push_back(std::move(input->creator));
    }
    node.inputs.clear();
  };
  take_creators(*this);
  while (!orphans.empty()) {
    const std::shared_ptr<TapeNode> node = std::move(orphans.back());
    orphans.pop_back();
    if (node.use_count() == 1) take_creators(*node);
  }
}

void record(const OpDef& op, const Attrs& attrs, std::span<const Tensor> inputs, size_t captures,
            std::span<Tensor> outputs, std::shared_ptr<const RecordedStep::Rule> rule,
            const Loc& loc) {
  auto node = std::make_shared<TapeNode>();
  node->sequence = ++t_sequence;
  node->op = &op;
  node->attrs = attrs;
  node->captures = captures;
  node->rule = std::move(rule);
  node->loc = loc;
  node->scope = ScopeName::current();
  node->inputs.reserve(inputs.size());
  node->versions.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    node->inputs.push_back(input.impl());
    node->versions.push_back(input.defined() ? input.impl()->version : 0);
  }
  node->outputs.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    TapeNode::Output& kept = node->outputs.emplace_back();
    if (!outputs[i].defined()) continue;
    const ImplPtr& impl = outputs[i].impl();
    kept = {impl, impl->value, impl->symbol, impl->frame};
    impl->creator = node;
    impl->creator_output = static_cast<uint32_t>(i);
  }
}

}  // namespace sardonyx::eager::detail
