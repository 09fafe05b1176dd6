// What allocators of the library's own have in common.
#pragma once

#include "executor/ort_abi/values/memory_info.h"

namespace sardonyx::ort_abi {

constexpr size_t kAllocatorAlignment = 64;

// Those who derive from it set `Alloc`, `Reserve` and `Free`.
struct OwnAllocator : OrtAllocator {
  explicit OwnAllocator(const OrtMemoryInfo& of);
  virtual ~OwnAllocator() = default;

  const OrtMemoryInfo info;
};

}  // namespace sardonyx::ort_abi
