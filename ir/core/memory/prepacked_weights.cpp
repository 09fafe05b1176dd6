#include "ir/core/memory/prepacked_weights.h"

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/memory/packed_weight_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/weak_registry.h"

namespace sardonyx {
namespace {

// Packed weights with an origin, while some cache holds them.
WeakRegistry<const Buffer>& shared_packs() {
  static auto& packs = *new WeakRegistry<const Buffer>;
  return packs;
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
  check_interrupted();  // what was packed until now is kept for the next plan
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
  // Memory of a program's own may be gone with the session that it was made for.
  if (origin.empty() || current_memory_source()) return make();
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

}  // namespace sardonyx
