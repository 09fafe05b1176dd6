#include "ir/kernel.h"

#include <algorithm>

#include "ir/core/memory/scratch_arena.h"
#include "ir/float32_promotion.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

// Wraps a row's reference kernel. Only for shapes that infer knows.
class ReferenceKernel : public Kernel {
 public:
  explicit ReferenceKernel(const KernelRequest& request)
      : op_(request.op), attrs_(request.raw_attrs) {
    for (const KernelTensor& input : request.inputs)
      add(input);
    inputs_ = request.inputs.size();
    for (const KernelTensor& output : request.outputs)
      add(output);
  }

  void run(const KernelArgs& args) const override {
    const ScratchMark mark;
    std::pmr::vector<TensorView> views(tensors_.size(), scratch());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      void* data = i < inputs_ ? const_cast<void*>(args.inputs[i]) : args.outputs[i - inputs_];
      views[i] = {tensors_[i].dtype, tensors_[i].shape, data};
    }
    const std::span<const TensorView> all = views;
    const std::span<const TensorView> in = all.first(inputs_), out = all.subspan(inputs_);
    if (has_packed_)
      run_reference(op_, attrs_, in, out);
    else
      op_.reference({op_, attrs_, in, out});
  }

 private:
  struct TensorKey {
    DType dtype;
    Shape shape;
  };
  void add(const KernelTensor& tensor) {
    tensors_.push_back({tensor.dtype, tensor.shape});
    has_packed_ = has_packed_ || is_packed(tensor.dtype);
  }

  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorKey> tensors_;
  size_t inputs_ = 0;
  bool has_packed_ = false;
};

// Runs nodes whose results are all empty, so that no kernel has to handle sizes of 0, beside which
// the other dims may be of any size.
class NothingToDo : public Kernel {
 public:
  void run(const KernelArgs&) const override {}
};

// The answer of `asked`, after it asked `inner` itself.
KernelAttempt attempt_of(std::string asked, std::string_view entry, const Prepared& answer,
                         std::vector<KernelAttempt> inner) {
  if (!answer.kernel) return {std::move(asked), "", answer.refusal, std::move(inner)};
  const bool has_name = !answer.implementation.empty();
  return {std::move(asked), has_name ? answer.implementation : std::string(entry), "",
          std::move(inner)};
}

// The answer of `prepare` to the request; what it asks itself is noted within it.
template <typename Prepare>
Prepared ask(const KernelRequest& request, std::string_view provider, std::string_view name,
             const Prepare& prepare) {
  if (!request.attempts) return prepare(request);
  std::vector<KernelAttempt> inner;
  KernelRequest asked = request;
  asked.attempts = &inner;
  Prepared answer = prepare(asked);
  std::string full = provider.empty() ? std::string(name) : text(provider, "/", name);
  request.attempts->push_back(attempt_of(std::move(full), name, answer, std::move(inner)));
  return answer;
}

bool are_empty(std::span<const KernelTensor> tensors) {
  return std::ranges::all_of(tensors, [](const KernelTensor& tensor) {
    return tensor.dtype == DType::kUndefined || std::ranges::count(tensor.shape, 0) > 0;
  });
}

}  // namespace

std::vector<std::string> attempt_lines(std::span<const KernelAttempt> attempts) {
  std::vector<std::string> lines;
  for (const KernelAttempt& each : attempts) {
    const bool is_taken = !each.implementation.empty();
    lines.push_back(text(each.name, is_taken ? " taken: " : " refused: ",
                         is_taken ? each.implementation : each.refusal));
    for (const std::string& inner : attempt_lines(each.inner))
      lines.push_back("  " + inner);
  }
  return lines;
}

Prepared noted(const KernelRequest& request, std::string_view name, Prepared answer) {
  if (request.attempts)
    request.attempts->push_back(attempt_of(std::string(name), name, answer, {}));
  return answer;
}

Prepared prepare_reference(const KernelRequest& request) {
  if (!request.op.reference)
    return Prepared::refuse("the op has no reference kernel for preallocated outputs");
  return Prepared::accept(std::make_unique<ReferenceKernel>(request), "reference");
}

Prepared prepare_kernel(std::span<const Provider* const> providers, const KernelRequest& request) {
  if (are_empty(request.outputs))
    return Prepared::accept(std::make_unique<NothingToDo>(), "nothing to do");
  struct Refusal {
    const Provider* provider;
    const KernelEntry* entry;
    std::string why;
  };
  std::vector<Refusal> refusals;
  const std::string name = full_name(request.op);
  for (const Provider* provider : providers) {
    for (const KernelEntry& entry : provider->kernels) {
      if (entry.op != name) continue;
      Prepared prepared = ask(request, provider->name, entry.name, entry.prepare);
      if (prepared.kernel) {
        if (prepared.implementation.empty()) prepared.implementation = entry.name;
        return prepared;
      }
      refusals.push_back({provider, &entry, std::move(prepared.refusal)});
    }
  }
  Prepared widened = ask(request, "", "float32", [&](const KernelRequest& asked) {
    return prepare_as_float32(providers, asked);
  });
  if (widened.kernel) return widened;
  Prepared reference = ask(request, "", "reference", prepare_reference);
  if (reference.kernel) return reference;
  for (const auto& [provider, entry, why] : refusals)
    reference.refusal += text("\n  ", provider->name, "/", entry->name, ": ", why);
  return reference;
}

}  // namespace sardonyx
