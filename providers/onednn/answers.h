// What oneDNN answered before: a network asks for the same primitive many times, and to find an
// implementation costs as much as to generate its code.
#pragma once

#include <omp.h>

#include <bit>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>

#include "providers/onednn/shim.h"

namespace sardonyx::onednn {

// Everything that an answer depends on, as text.
class Question {
 public:
  Question() { text_ << omp_get_max_threads() << ';'; }
  Question& operator<<(const Desc& desc) {
    text_ << fingerprint(desc) << ';';
    return *this;
  }
  Question& operator<<(const Extents& dims) {
    for (const int64_t dim : dims)
      text_ << dim << ',';
    text_ << ';';
    return *this;
  }
  Question& operator<<(const PostOps& post_ops) {
    for (const PostOp& op : post_ops) {
      *this << static_cast<int64_t>(op.kind) << static_cast<int64_t>(op.op) << op.alpha << op.beta
            << op.operand;
    }
    text_ << ';';
    return *this;
  }
  Question& operator<<(int64_t number) {
    text_ << number << ',';
    return *this;
  }
  Question& operator<<(float number) { return *this << int64_t{std::bit_cast<uint32_t>(number)}; }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

// For one kind of primitive; safe from many threads.
class Answers {
 public:
  template <typename Ask>
  MaybePrimitive get(const Question& question, const Ask& ask) {
    std::string key = question.text();
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
