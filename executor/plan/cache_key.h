// Keys of the planner's caches: everything that a part of a plan depends on, as numbers. Parts with
// equal keys are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/core/inline_vector.h"

namespace sardonyx {

// References that keep the objects in a key alive, so that their addresses are not reused.
using HeldByKey = std::vector<std::shared_ptr<const void>>;

// A sequence of numbers and addresses. HeldByKey keeps what the addresses point to alive.
class CacheKey {
 public:
  void add(uint64_t word) {
    words_.push_back(word);
    // The multiplier is odd and has bits everywhere, so that each word moves all of the upper ones.
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
  }
  void add(const void* address) { add(reinterpret_cast<uintptr_t>(address)); }
  size_t hash() const { return hash_; }
  bool operator==(const CacheKey& other) const {
    return hash_ == other.hash_ && words_ == other.words_;
  }

  struct Hash {
    size_t operator()(const CacheKey& key) const { return key.hash(); }
  };

 private:
  InlineVector<uint64_t, 10> words_;
  size_t hash_ = 0;
};

}  // namespace sardonyx
