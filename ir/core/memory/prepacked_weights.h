// Weights in the form that a kernel wants: packed once, by the first `prepare` that asks for them.
//
//   packed_once (providers/cpu/packed_weights.h)   a kernel's prepare asks
//   PrepackedWeights::get                          one per session, shared by its plans
//   what is shared in the process                  sessions of one file, or those that share a
//                                                  container (executor/weights/weight_sharing.h)
//   PrepackStore                                   a file that outlasts the process
//                                                  (executor/weights/prepack_file_store.h)
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ir/core/tensor.h"

namespace sardonyx {

// Writes a packed weight: all bytes of it.
using FillPack = std::function<void(std::byte* to)>;

// A store that keeps packed weights for longer than a process.
class PrepackStore {
 public:
  virtual ~PrepackStore() = default;
  // The packed form that is kept of the elements of `weight` under `form`, `bytes` bytes aligned to
  // 64; where none is kept, the result of `make`, which the store may keep.
  virtual std::shared_ptr<const Buffer> get(
      const Tensor& weight, const std::string& form, size_t bytes,
      const std::function<std::shared_ptr<const Buffer>()>& make) = 0;
};

// Weights in the form that a kernel wants, made once for all plans that share the cache, and for
// all caches of the process where the tensor's origin is known: sessions of one file.
class PrepackedWeights {
 public:
  // `form` names the layout, of `bytes` bytes, all of which `fill` writes; two calls with the same
  // tensor and form get the same buffer, which counts for the memory of the session that made it.
  std::shared_ptr<const Buffer> get(const Tensor& weight, const std::string& form, size_t bytes,
                                    const FillPack& fill);
  size_t bytes() const;
  // Asked before anything is packed, from now on; must outlive the calls of `get`.
  void set_store(PrepackStore* store) { store_ = store; }

 private:
  struct Entry {
    std::shared_ptr<Buffer> source;  // keeps the key's address from being used again
    std::shared_ptr<const Buffer> packed;
  };
  std::shared_ptr<const Buffer> shared_or_made(const Tensor& weight, const std::string& key,
                                               size_t bytes, const FillPack& fill);

  mutable std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, Entry> entries_;
  PrepackStore* store_ = nullptr;
};

}  // namespace sardonyx
