#include "ir/kernel.h"

#include <algorithm>

#include "ir/evaluate.h"
#include "ir/held_objects.h"
#include "ir/pack_room.h"
#include "ir/reloadable_buffer.h"
#include "ir/scratch.h"

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
  struct Described {
    DType dtype;
    Shape shape;
  };
  void add(const KernelTensor& tensor) {
    tensors_.push_back({tensor.dtype, tensor.shape});
    has_packed_ = has_packed_ || is_packed(tensor.dtype);
  }

  const OpDef& op_;
  Attrs attrs_;
  std::vector<Described> tensors_;
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
HeldObjects<const Buffer>& shared_packs() {
  static auto& packs = *new HeldObjects<const Buffer>;
  return packs;
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

bool same_layout(const LayoutPtr& a, const LayoutPtr& b) {
  if (a == b) return true;
  return a && b && a->equals(*b);
}

std::shared_ptr<const Buffer> PackCache::get(const Tensor& weight, const std::string& form,
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
  const PassingLook look(weight);
  Entry entry{weight.buffer(), store_ ? store_->get(weight, form_key, bytes, make) : make()};
  const std::lock_guard lock(mutex_);
  return entries_.emplace(key, std::move(entry)).first->second.packed;
}

std::shared_ptr<const Buffer> PackCache::shared_or_made(const Tensor& weight,
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

size_t PackCache::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [key, entry] : entries_)
    total += entry.packed->size();
  return total;
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
      Prepared prepared = entry.prepare(request);
      if (prepared.kernel) {
        if (prepared.implementation.empty()) prepared.implementation = entry.name;
        return prepared;
      }
      refusals.push_back({provider, &entry, std::move(prepared.refusal)});
    }
  }
  Prepared reference = prepare_reference(request);
  if (reference.kernel) return reference;
  for (const auto& [provider, entry, why] : refusals)
    reference.refusal += text("\n  ", provider->name, "/", entry->name, ": ", why);
  return reference;
}

}  // namespace sardonyx
