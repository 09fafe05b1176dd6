#include "ir/constant_folding.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

// With fewer the reference is done before a kernel is prepared.
constexpr int64_t kManyElements = 1 << 16;
// Fewer bytes stay in memory.
constexpr size_t kManyBytes = 1 << 16;

const Folding kByReference;
thread_local const Folding* t_folding = &kByReference;

// nullopt where they are not known, or have other elements than whole bytes.
std::optional<std::vector<KernelTensor>> described(const std::vector<Value*>& values) {
  std::vector<KernelTensor> all;
  for (const Value* value : values) {
    KernelTensor& one = all.emplace_back();
    if (!value) continue;
    const std::optional<Shape> shape = value->type.known_shape();
    const DType dtype = value->type.dtype;
    if (!value->type.is_tensor() || !shape || dtype == DType::kString || bits_of(dtype) < 8)
      return std::nullopt;
    one = {dtype, *shape, nullptr, value->constant.get()};
  }
  return all;
}

int64_t max_elements(std::span<const KernelTensor> tensors) {
  int64_t most = 0;
  for (const KernelTensor& tensor : tensors) {
    if (tensor) most = std::max(most, element_count(tensor.shape));
  }
  return most;
}

// nullopt where there are few elements, or no kernel.
std::optional<std::vector<Datum>> by_kernel(const Node& node, const std::vector<Datum>& inputs) {
  if (t_folding->providers.empty()) return std::nullopt;
  const auto in = described(node.inputs), out = described(node.outputs);
  if (!in || !out || std::max(max_elements(*in), max_elements(*out)) < kManyElements)
    return std::nullopt;
  const Prepared prepared = prepare_kernel(t_folding->providers, {*node.op, node.attrs, *in, *out});
  if (!prepared.kernel) return std::nullopt;
  std::vector<Datum> results;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Datum& input : inputs)
    sources.push_back(input.defined() ? input.tensor().raw() : nullptr);
  for (const KernelTensor& output : *out) {
    Datum& made = results.emplace_back();
    if (output) made = Tensor::allocate(output.dtype, output.shape);
    targets.push_back(output ? made.tensor().raw() : nullptr);
  }
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  prepared.kernel->run({sources.data(), targets.data(), scratch->data()});
  return results;
}

// Calls body(inputs) while the elements of `inputs` are in memory; those that were not go again,
// but for what the results are in.
template <typename Body>
std::vector<Datum> with_elements(const std::vector<Datum>& inputs, const Body& body) {
  std::deque<ScopedLoad> looks;
  for (const Datum& input : inputs) {
    if (!input.defined()) continue;
    looks.emplace_back(input.tensor());
    load_weight(input.tensor());
  }
  std::vector<Datum> results = body(inputs);
  for (const Datum& result : results) {
    if (!result.is_tensor()) continue;
    for (ScopedLoad& look : looks)
      look.keep_for(result.tensor());
  }
  return results;
}

bool is_reloadable(const Tensor& tensor) {
  return dynamic_cast<const EvictableBuffer*>(tensor.buffer().get());
}

// Are elements only moved or filled in, from what need not be kept for it?
bool can_come_again(const Node& node, const std::vector<Datum>& inputs) {
  const Type& type = node.outputs[0]->type;
  const std::optional<Shape> shape = type.known_shape();
  if (!node.op->is(kPassesValues) || node.op->is(kView) || !node.op->reference ||
      node.outputs.size() != 1 || !shape || type.dtype == DType::kString ||
      bytes_for(type.dtype, element_count(*shape)) < kManyBytes) {
    return false;
  }
  constexpr size_t kFewBytes = 4096;
  return std::ranges::all_of(inputs, [&](const Datum& input) {
    return !input.defined() || input.tensor().bytes() <= kFewBytes ||
           (is_reloadable(input.tensor()) && input.tensor().count() <= element_count(*shape));
  });
}

EvictableBuffer::Read computing(const Node& node, const std::vector<Datum>& inputs) {
  const Type& type = node.outputs[0]->type;
  return [&op = *node.op, attrs = node.attrs, inputs, dtype = type.dtype,
          shape = *type.known_shape()](std::byte* to) {
    with_elements(inputs, [&](const std::vector<Datum>& elements) {
      std::vector<TensorView> views;
      for (const Datum& input : elements)
        views.push_back(input.defined() ? input.tensor().view() : TensorView{});
      const TensorView out{dtype, shape, to};
      run_reference(op, attrs, views, {&out, 1});
      return std::vector<Datum>();
    });
  };
}

bool need_not_be_there(const Graph& graph, const Value& value) {
  return t_folding->may_evict_weights && !graph.is_output(value) &&
         std::ranges::all_of(value.uses, [](const Use& use) {
           return has_bit(use.node->op->weight_inputs, use.slot);
         });
}

// Elements that are moved by what shapes say alone: so it can't fail when it is computed late.
bool depends_on_shapes_alone(const Node& node) {
  size_t others = 0;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    if (node.inputs[slot] && !has_bit(node.op->shape_inputs, slot)) ++others;
  }
  return others <= 1;
}

}  // namespace

FoldingScope::FoldingScope(const Folding& folding) : own_(folding), previous_(t_folding) {
  t_folding = &own_;
}

FoldingScope::~FoldingScope() {
  t_folding = previous_;
}

std::vector<Datum> fold(const Graph& graph, const Node& node) {
  std::vector<Datum> inputs;
  for (const Value* input : node.inputs)
    inputs.push_back(input ? Datum(*input->constant) : Datum());
  const bool again = can_come_again(node, inputs);
  const bool evictable = again && need_not_be_there(graph, *node.outputs[0]);
  if (evictable && depends_on_shapes_alone(node)) {
    const Type& type = node.outputs[0]->type;
    const Shape shape = *type.known_shape();
    const size_t bytes = bytes_for(type.dtype, element_count(shape));
    return {Tensor(type.dtype, shape,
                   std::make_shared<EvictableBuffer>(bytes, computing(node, inputs)))};
  }
  std::vector<Datum> results = with_elements(inputs, [&](const std::vector<Datum>& elements) {
    auto made = by_kernel(node, elements);
    return made ? std::move(*made) : evaluate(*node.op, node.attrs, elements, node.outputs.size());
  });
  if (!again) return results;
  const Tensor& made = results[0].tensor();
  auto buffer = std::make_shared<EvictableBuffer>(made.buffer(), computing(node, inputs));
  if (evictable) buffer->release();
  return {Tensor(made.dtype(), made.shape(), std::move(buffer))};
}

}  // namespace sardonyx
