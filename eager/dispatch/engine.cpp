#include "eager/dispatch/engine.h"

#include <array>
#include <atomic>
#include <cstring>
#include <unordered_map>

#include "eager/dispatch/part_views.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/cpu_limits.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/eval_call.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/reference_evaluator.h"
#include "providers/providers.h"

namespace sardonyx::eager {
namespace {

// Beyond this many prepared kernels a thread's cache starts anew: programs whose shapes change all
// the time must not grow without bound.
constexpr size_t kMaxKernels = 4096;
// A larger scratch is given back after the op.
constexpr size_t kKeptScratch = size_t{64} << 20;
constexpr size_t kStackSlots = 16;  // of inputs and outputs, without a heap allocation

std::atomic<int> g_threads{0};

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash;
}

// Values that decide shapes are part of a call's key; larger ones than this are not cached.
constexpr int64_t kMaxKeyValues = 64;

bool decides_shape(const OpDef& op, size_t input) {
  return input < 32 && (op.shape_inputs >> input & 1u);
}

// A call as the cache sees it.
struct Key {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const Datum* const> inputs;
  size_t outputs;
  int threads;

  // False where the call cannot be cached.
  bool hash(uint64_t& result) const {
    uint64_t hash = reinterpret_cast<uintptr_t>(&op) ^ outputs ^ uint64_t(threads) << 32;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i] || !inputs[i]->defined()) {
        hash = mix(hash, 1);
        continue;
      }
      if (!inputs[i]->is_tensor()) return false;
      const sardonyx::Tensor& tensor = inputs[i]->tensor();
      hash = mix(hash, static_cast<uint64_t>(tensor.dtype()) << 8 | tensor.rank());
      for (const int64_t dim : tensor.shape())
        hash = mix(hash, static_cast<uint64_t>(dim));
      if (!decides_shape(op, i)) continue;
      if (tensor.count() > kMaxKeyValues || tensor.dtype() == DType::kString) return false;
      const auto* bytes = static_cast<const unsigned char*>(tensor.raw());
      for (size_t at = 0; at < tensor.bytes(); ++at)
        hash = mix(hash, bytes[at]);
    }
    result = hash;
    return true;
  }
};

// A kernel, prepared for one cache key.
class PreparedOp {
 public:
  // Without a kernel, outputs begin at `offsets` within input 0.
  PreparedOp(const Key& key, std::vector<Type> output_types, std::unique_ptr<Kernel> kernel,
             std::vector<size_t> offsets = {})
      : op_(&key.op),
        attrs_(key.attrs),
        threads_(key.threads),
        output_types_(std::move(output_types)),
        kernel_(std::move(kernel)),
        offsets_(std::move(offsets)) {
    for (const Type& type : output_types_)
      output_shapes_.push_back(*type.known_shape());
    for (size_t i = 0; i < key.inputs.size(); ++i) {
      const Datum* datum = key.inputs[i];
      PlannedInput& input = inputs_.emplace_back();
      if (!datum || !datum->defined()) continue;
      const sardonyx::Tensor& tensor = datum->tensor();
      input = {tensor.dtype(), tensor.shape(), {}};
      if (decides_shape(key.op, i)) input.value = tensor;
    }
    scratch_bytes_ = kernel_ ? kernel_->scratch_bytes() : 0;
  }

  bool matches(const Key& key) const {
    if (op_ != &key.op || inputs_.size() != key.inputs.size() || threads_ != key.threads ||
        output_types_.size() != key.outputs || !(attrs_ == key.attrs)) {
      return false;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Datum* datum = key.inputs[i];
      const bool given = datum && datum->defined();
      if (given != (inputs_[i].dtype != DType::kUndefined)) return false;
      if (!given) continue;
      const sardonyx::Tensor& tensor = datum->tensor();
      if (tensor.dtype() != inputs_[i].dtype || tensor.shape() != inputs_[i].shape) return false;
      const sardonyx::Tensor& value = inputs_[i].value;
      if (value.defined() && std::memcmp(value.raw(), tensor.raw(), value.bytes()) != 0)
        return false;
    }
    return true;
  }

  bool is_view() const { return kernel_ == nullptr; }
  const Shape& output_shape(size_t output) const { return output_shapes_[output]; }
  DType output_dtype(size_t output) const { return output_types_[output].dtype; }
  const Kernel& kernel() const { return *kernel_; }
  sardonyx::Tensor view(const sardonyx::Tensor& whole, size_t output) const {
    if (offsets_.size() == 1 && offsets_[0] == 0 &&
        element_count(output_shapes_[0]) == whole.count())
      return whole.reshaped(output_shapes_[0]);
    return {whole.dtype(), output_shapes_[output], whole.buffer(),
            whole.byte_offset() + offsets_[output]};
  }
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  struct PlannedInput {
    DType dtype = DType::kUndefined;
    Shape shape;
    sardonyx::Tensor value;  // of one that decides shapes
  };
  const OpDef* op_;
  Attrs attrs_;
  int threads_;
  std::vector<PlannedInput> inputs_;
  std::vector<Type> output_types_;
  std::vector<Shape> output_shapes_;
  std::unique_ptr<Kernel> kernel_;  // null: outputs are views of input 0
  std::vector<size_t> offsets_;
  size_t scratch_bytes_ = 0;
};

// One thread's kernels and scratch memory.
struct Engine {
  std::unordered_multimap<uint64_t, std::shared_ptr<const PreparedOp>> prepared;
  std::shared_ptr<Buffer> scratch;
  size_t hits = 0, misses = 0;
};
Engine& engine() {
  thread_local Engine one;
  return one;
}

Dim next_unknown() {
  thread_local uint64_t count = 0;
  return Dim::symbol("?r" + std::to_string(count++));
}

// Infers and asks the providers; null where the op has to be evaluated instead.
std::shared_ptr<const PreparedOp> prepare(const Key& key) {
  std::vector<InferInput> seen;
  std::vector<KernelTensor> inputs, outputs;
  for (size_t i = 0; i < key.inputs.size(); ++i) {
    const Datum* datum = key.inputs[i];
    InferInput& input = seen.emplace_back();
    KernelTensor& described = inputs.emplace_back();
    if (!datum || !datum->defined()) continue;
    const sardonyx::Tensor& tensor = datum->tensor();
    input.type = datum->type();
    if (decides_shape(key.op, i)) input.constant = &tensor;
    described = {tensor.dtype(), tensor.shape(), nullptr, input.constant};
  }
  std::vector<Type> types;
  for (InferOutput& output :
       infer(key.op, key.attrs, seen, seen.size(), key.outputs, next_unknown)) {
    const std::optional<Shape> shape = output.type.known_shape();
    if (!output.type.is_tensor() || !shape) return nullptr;
    outputs.push_back({output.type.dtype, *shape, nullptr, nullptr});
    types.push_back(std::move(output.type));
  }
  const bool is_view = key.op.is(kView) && key.outputs == 1 && inputs[0].dtype == types[0].dtype;
  const auto parts = is_view ? std::optional(std::vector<size_t>{0})
                             : offsets_of_parts(key.op, key.attrs, inputs, outputs);
  if (parts) return std::make_shared<PreparedOp>(key, std::move(types), nullptr, *parts);
  const KernelRequest request{key.op, key.attrs, inputs, outputs, key.threads};
  Prepared found = prepare_kernel(all_providers(), request);
  if (!found.kernel) return nullptr;
  return std::make_shared<PreparedOp>(key, std::move(types), std::move(found.kernel));
}

std::byte* scratch_of(Engine& own, size_t bytes) {
  if (bytes == 0) return nullptr;
  if (!own.scratch || own.scratch->size() < bytes) own.scratch = Buffer::allocate(bytes);
  return own.scratch->data();
}

void run_prepared(Engine& own, const PreparedOp& prepared, std::span<const Datum* const> inputs,
                  std::span<Datum> outputs, bool may_overwrite_first) {
  if (prepared.is_view()) {
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = prepared.view(inputs[0]->tensor(), i);
    return;
  }
  std::array<void*, kStackSlots> few;
  std::vector<void*> many;
  void** pointers = few.data();
  if (inputs.size() + outputs.size() > kStackSlots) {
    many.resize(inputs.size() + outputs.size());
    pointers = many.data();
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    pointers[i] = inputs[i] && inputs[i]->defined() ? inputs[i]->tensor().raw() : nullptr;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_over = i == 0 && may_overwrite_first && prepared.kernel().may_alias(0, 0);
    sardonyx::Tensor made =
        is_over ? inputs[0]->tensor()
                : sardonyx::Tensor::allocate(prepared.output_dtype(i), prepared.output_shape(i));
    pointers[inputs.size() + i] = made.raw();
    outputs[i] = std::move(made);
  }
  std::byte* scratch = scratch_of(own, prepared.scratch_bytes());
  prepared.kernel().run({pointers, pointers + inputs.size(), scratch});
  if (own.scratch && own.scratch->size() > kKeptScratch) own.scratch.reset();
}

// Emits into this engine: how bodies and subgraphs of evaluated ops run on fast kernels too.
class EngineEmitter : public ReferenceEmitter {
 public:
  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override {
    std::vector<const Datum*> formal;
    std::vector<Datum> captured, results(outputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i + captures >= inputs.size())
        captured.push_back(unwrap(inputs[i]));
      else
        formal.push_back(inputs[i] ? &unwrap(inputs[i]) : nullptr);
    }
    run_op(op, attrs, formal, captured, results);
    Vals vals;
    for (Datum& result : results)
      vals.push_back(wrap(std::move(result)));
    return vals;
  }
};

void run_graph(const Graph& graph, DatumRefs inputs, DatumRefs captures, std::span<Datum> outputs) {
  EngineEmitter emitter;
  Vals in, captured;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(ReferenceEmitter::wrap(inputs[i]));
  for (size_t i = 0; i < captures.size(); ++i)
    captured.push_back(ReferenceEmitter::wrap(captures[i]));
  const Vals results = replay(graph, emitter, in, captured);
  for (size_t i = 0; i < results.size(); ++i)
    outputs[i] = results[i] ? ReferenceEmitter::unwrap(results[i]) : Datum();
}

void run_body(const OpDef& op, const Attrs& attrs, std::span<const Datum* const> inputs,
              std::span<Datum> outputs) {
  EngineEmitter emitter;
  Vals vals;
  for (const Datum* input : inputs)
    vals.push_back(input ? ReferenceEmitter::wrap(*input) : Val());
  const Vals results = op.body(emitter, {op, attrs, vals, outputs.size()});
  for (size_t i = 0; i < results.size() && i < outputs.size(); ++i)
    outputs[i] = results[i] ? ReferenceEmitter::unwrap(results[i]) : Datum();
}

// Ops whose shapes depend on data, that are no tensors, or that are known by their body alone.
void evaluate_op(const OpDef& op, const Attrs& attrs, std::span<const Datum* const> inputs,
                 std::span<const Datum> captures, std::span<Datum> outputs) {
  if (!op.reference && !op.evaluate) return run_body(op, attrs, inputs, outputs);
  if (op.evaluate) {
    static const SubgraphRunner run = run_graph;
    const DatumPointers captured(captures);
    return op.evaluate({op, attrs, inputs, captured, outputs, run});
  }
  std::vector<Datum> results =
      evaluate(op, attrs, DatumRefs(inputs).copies(), outputs.size(), captures);
  for (size_t i = 0; i < results.size() && i < outputs.size(); ++i)
    outputs[i] = std::move(results[i]);
}

// Types are checked even where nothing is prepared: evaluators rely on it.
void check_types(const OpDef& op, const Attrs& attrs, std::span<const Datum* const> inputs,
                 std::span<const Datum> captures, size_t outputs) {
  std::vector<InferInput> seen;
  for (const Datum* input : inputs) {
    InferInput& one = seen.emplace_back();
    if (!input || !input->defined()) continue;
    one = {input->type(), input->is_tensor() ? &input->tensor() : nullptr, nullptr};
  }
  for (const Datum& datum : captures)
    seen.push_back({datum.type(), datum.is_tensor() ? &datum.tensor() : nullptr, nullptr});
  infer(op, attrs, seen, inputs.size(), outputs, next_unknown);
}

}  // namespace

void run_op(const OpDef& op, const Attrs& attrs, std::span<const Datum* const> inputs,
            std::span<const Datum> captures, std::span<Datum> outputs, bool may_overwrite_first) {
  check_interrupted();
  Engine& own = engine();
  const int threads = num_threads();
  const Key key{op, attrs, inputs, outputs.size(), threads};
  uint64_t hash = 0;
  if (!op.evaluate && captures.empty() && key.hash(hash)) {
    const auto [first, last] = own.prepared.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (!at->second->matches(key)) continue;
      ++own.hits;
      const ThreadScope scope(threads);
      return run_prepared(own, *at->second, inputs, outputs, may_overwrite_first);
    }
    ++own.misses;
    if (const std::shared_ptr<const PreparedOp> made = prepare(key)) {
      if (own.prepared.size() >= kMaxKernels) own.prepared.clear();
      own.prepared.emplace(hash, made);
      const ThreadScope scope(threads);
      return run_prepared(own, *made, inputs, outputs, may_overwrite_first);
    }
  }
  check_types(op, attrs, inputs, captures, outputs.size());
  const ThreadScope scope(threads);
  evaluate_op(op, attrs, inputs, captures, outputs);
}

void set_num_threads(int threads) {
  g_threads = thread_count(threads);
}

int num_threads() {
  int threads = g_threads.load(std::memory_order_relaxed);
  if (threads == 0) g_threads = threads = thread_count(0);
  return threads;
}

EngineStats engine_stats() {
  const Engine& own = engine();
  return {own.hits, own.misses, own.prepared.size()};
}

}  // namespace sardonyx::eager
