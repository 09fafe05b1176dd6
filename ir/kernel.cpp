#include "ir/kernel.h"

#include <algorithm>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/memory/packed_weight_arena.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/weak_registry.h"
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

// Of a step whose results have no element. The other dims of such results may be of any size, so no
// kernel should have to reckon with them.
class NothingToDo : public Kernel {
 public:
  void run(const KernelArgs&) const override {}
};

// What caches have packed of weights with an origin, while one of them holds it.
WeakRegistry<const Buffer>& shared_packs() {
  static auto& packs = *new WeakRegistry<const Buffer>;
  return packs;
}

// What `asked` has answered, after it asked `inner` itself.
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

void append_bytes(std::string& text, const auto& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Names what elements of which shape are packed as; not to be read.
std::string key_of_form(const std::string& form, const Tensor& weight) {
  std::string key;
  key.reserve(form.size() + (weight.rank() + 2) * sizeof(int64_t));
  key += form;
  key += '\0';
  key += static_cast<char>(weight.dtype());
  for (const int64_t dim : weight.shape())
    append_bytes(key, dim);
  return key;
}

}  // namespace

std::shared_ptr<const Buffer> PrepackedWeights::get(const Tensor& weight, const std::string& form,
                                                    size_t bytes, const FillPack& fill) {
  const std::string form_key = key_of_form(form, weight);
  std::string place = form_key;
  append_bytes(place, weight.byte_offset());
  const auto key = std::pair<const void*, std::string>(weight.buffer().get(), std::move(place));
  {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(key);
    if (at != entries_.end()) return at->second.packed;
  }
  const auto make = [&] { return shared_or_made(weight, form_key, bytes, fill); };
  const ScopedLoad look(weight);
  Entry entry{weight.buffer(), store_ ? store_->get(weight, form_key, bytes, make) : make()};
  const std::lock_guard lock(mutex_);
  return entries_.emplace(key, std::move(entry)).first->second.packed;
}

std::shared_ptr<const Buffer> PrepackedWeights::shared_or_made(const Tensor& weight,
                                                               const std::string& key, size_t bytes,
                                                               const FillPack& fill) {
  const std::string origin = weight.origin();
  const auto make = [&] {
    auto made = allocate_packed(bytes);
    fill(made->data());
    return made;
  };
  if (origin.empty()) return make();
  const std::string shared_key = key + origin;
  if (auto known = shared_packs().find(shared_key)) return known;
  return shared_packs().first_of(shared_key, make());
}

size_t PrepackedWeights::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [key, entry] : entries_)
    total += entry.packed->size();
  return total;
}

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
