// A cache of primitives that oneDNN has found: a network asks for the same primitive many times,
// and finding an implementation costs as much as generating its code.
#pragma once

#include <bit>
#include <mutex>
#include <string>
#include <unordered_map>

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// A cache key: all parameters of a primitive, as bytes.
class PrimitiveKey {
 public:
  PrimitiveKey& operator<<(const Desc& desc) {
    bytes_ += fingerprint(desc);
    return *this;
  }
  PrimitiveKey& operator<<(const Extents& dims) {
    *this << static_cast<int64_t>(dims.size());
    for (const int64_t dim : dims)
      *this << dim;
    return *this;
  }
  PrimitiveKey& operator<<(const PostOps& post_ops) {
    *this << static_cast<int64_t>(post_ops.size());
    for (const PostOp& op : post_ops) {
      *this << static_cast<int64_t>(op.kind) << static_cast<int64_t>(op.op) << op.alpha << op.beta
            << op.operand;
    }
    return *this;
  }
  PrimitiveKey& operator<<(int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  PrimitiveKey& operator<<(float number) {
    return *this << int64_t{std::bit_cast<uint32_t>(number)};
  }
  std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The cache of one kind of primitive. Thread-safe.
class PrimitiveCache {
 public:
  template <typename Ask>
  MaybePrimitive get(const PrimitiveKey& question, const Ask& ask) {
    std::string key = question.bytes();
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = known_.find(key); at != known_.end()) return at->second;
    }
    MaybePrimitive made = ask();
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMax) known_.clear();
    known_.emplace(std::move(key), made);
    return made;
  }

 private:
  static constexpr size_t kMax = 256;
  std::mutex mutex_;
  std::unordered_map<std::string, MaybePrimitive> known_;
};

}  // namespace sardonyx::onednn
