#include "executor/ort_abi/values/allocator.h"

#include <cstdlib>
#include <cstring>

#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/own_allocator.h"

namespace sardonyx::ort_abi {
namespace {

struct CpuAllocator : OwnAllocator {
  explicit CpuAllocator(const OrtMemoryInfo& of) : OwnAllocator(of) {
    Alloc = Reserve = allocate_block;
    Free = free_block;
  }
  static void* allocate_block(OrtAllocator*, size_t size) {
    if (size == 0 || size > SIZE_MAX - kAllocatorAlignment) return nullptr;
    const size_t rounded = (size + kAllocatorAlignment - 1) & ~(kAllocatorAlignment - 1);
    return std::aligned_alloc(kAllocatorAlignment, rounded);
  }
  static void free_block(OrtAllocator*, void* block) { std::free(block); }
};

}  // namespace

OwnAllocator::OwnAllocator(const OrtMemoryInfo& of) : OrtAllocator{}, info(of) {
  version = ORT_API_VERSION;
  Info = [](const OrtAllocator* self) { return &static_cast<const OwnAllocator*>(self)->info; };
  GetStats = [](const OrtAllocator*, OrtKeyValuePairs** out) {
    return guarded([&] { make_at(out, "out"); });
  };
}

OrtAllocator* default_allocator() {
  static CpuAllocator* const allocator = new CpuAllocator(cpu_memory_info());
  return allocator;
}

bool is_own(const OrtAllocator& allocator) {
  return allocator.Alloc == CpuAllocator::allocate_block;
}

OrtAllocator* new_allocator(const OrtMemoryInfo& info) {
  return new CpuAllocator(info);
}

void* allocate(OrtAllocator& allocator, size_t bytes) {
  void* block = allocator.Alloc ? allocator.Alloc(&allocator, bytes) : nullptr;
  if (!block && bytes > 0) refuse(ORT_FAIL, "the allocator has no ", bytes, " bytes");
  return block;
}

char* copied_string(OrtAllocator* allocator, const char* text) {
  const size_t bytes = std::strlen(text) + 1;
  auto* copy = static_cast<char*>(allocate(require(allocator, "allocator"), bytes));
  std::memcpy(copy, text, bytes);
  return copy;
}

OrtStatus* Functions::GetAllocatorWithDefaultOptions(OrtAllocator** out) {
  return guarded([&] { require_place(out, "out") = default_allocator(); });
}

OrtStatus* Functions::AllocatorAlloc(OrtAllocator* ort_allocator, size_t size, void** out) {
  return guarded([&] {
    void*& place = require_place(out, "out");
    OrtAllocator& allocator = require(ort_allocator, "allocator");
    require(allocator.Alloc, "Alloc");
    place = allocator.Alloc(&allocator, size);
    if (!place && size > 0 && is_own(allocator)) {
      const bool is_arena = allocator.Info(&allocator)->type == OrtArenaAllocator;
      refuse(is_arena ? ORT_FAIL : ORT_RUNTIME_EXCEPTION,
             "Failed to allocate memory for requested buffer of size ", size);
    }
  });
}

OrtStatus* Functions::AllocatorFree(OrtAllocator* ort_allocator, void* p) {
  return guarded([&] {
    OrtAllocator& allocator = require(ort_allocator, "allocator");
    require(allocator.Free, "Free")(&allocator, p);
  });
}

OrtStatus* Functions::AllocatorGetInfo(const OrtAllocator* ort_allocator,
                                       const OrtMemoryInfo** out) {
  return guarded([&] {
    const OrtMemoryInfo*& place = require_place(out, "out");
    const OrtAllocator& allocator = require(ort_allocator, "allocator");
    place = require(allocator.Info, "Info")(&allocator);
  });
}

OrtStatus* Functions::AllocatorGetStats(const OrtAllocator* ort_allocator, OrtKeyValuePairs** out) {
  constexpr uint32_t kFirstWithStats = 23;
  OrtStatus* status = nullptr;
  OrtStatus* refused = guarded([&] {
    OrtKeyValuePairs*& place = require_place(out, "out");
    const OrtAllocator& allocator = require(ort_allocator, "allocator");
    if (allocator.version >= kFirstWithStats && allocator.GetStats)
      status = allocator.GetStats(&allocator, &place);
    else
      place = new OrtKeyValuePairs;
  });
  return refused ? refused : status;
}

void Functions::ReleaseAllocator(OrtAllocator* input) {
  if (input && input != default_allocator()) delete static_cast<OwnAllocator*>(input);
}

}  // namespace sardonyx::ort_abi
