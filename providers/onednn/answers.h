// What oneDNN answered before: a network asks for the same primitive many times, and to find an
// implementation costs as much as to generate its code.
#pragma once

#include <bit>
#include <mutex>
#include <string>
#include <unordered_map>

#include "providers/onednn/shim.h"

namespace sardonyx::onednn {

// Everything that an answer depends on, as bytes.
class Question {
 public:
  Question& operator<<(const Desc& desc) {
    bytes_ += fingerprint(desc);
    return *this;
  }
  Question& operator<<(const Extents& dims) {
    *this << static_cast<int64_t>(dims.size());
    for (const int64_t dim : dims)
      *this << dim;
    return *this;
  }
  Question& operator<<(const PostOps& post_ops) {
    *this << static_cast<int64_t>(post_ops.size());
    for (const PostOp& op : post_ops) {
      *this << static_cast<int64_t>(op.kind) << static_cast<int64_t>(op.op) << op.alpha << op.beta
            << op.operand;
    }
    return *this;
  }
  Question& operator<<(int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Question& operator<<(float number) { return *this << int64_t{std::bit_cast<uint32_t>(number)}; }
  std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// For one kind of primitive; safe from many threads.
class Answers {
 public:
  template <typename Ask>
  MaybePrimitive get(const Question& question, const Ask& ask) {
    std::string key = question.bytes();
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = known_.find(key); at != known_.end()) return at->second;
    }
    MaybePrimitive made = ask();
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(std::move(key), made);
    return made;
  }

 private:
  static constexpr size_t kMost = 256;
  std::mutex mutex_;
  std::unordered_map<std::string, MaybePrimitive> known_;
};

}  // namespace sardonyx::onednn
