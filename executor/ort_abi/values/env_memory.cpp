// Allocators that an environment shares among its sessions.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "executor/ort_abi/values/own_allocator.h"
#include "ir/core/memory/block_allocator.h"

namespace sardonyx::ort_abi {
namespace {

// Counts what is in use; a block has its size before it.
class Arena : public OwnAllocator {
 public:
  Arena(const OrtMemoryInfo& of, size_t limit)
      : OwnAllocator(of), limit_(limit > 0 ? limit : SIZE_MAX) {
    Alloc = Reserve = [](OrtAllocator* self, size_t size) {
      return static_cast<Arena*>(self)->allocate(size);
    };
    Free = [](OrtAllocator* self, void* block) { static_cast<Arena*>(self)->give_back(block); };
    GetStats = [](const OrtAllocator* self, OrtKeyValuePairs** out) {
      return guarded([&] {
        make_at(out, "out");
        static_cast<const Arena*>(self)->tell(**out);
      });
    };
  }

 private:
  void* allocate(size_t size) {
    if (size == 0 || size > SIZE_MAX - 2 * kAllocatorAlignment || !is_counted(size)) return nullptr;
    const size_t rounded = (size + kAllocatorAlignment - 1) & ~(kAllocatorAlignment - 1);
    void* begin = std::aligned_alloc(kAllocatorAlignment, kAllocatorAlignment + rounded);
    if (!begin) {
      in_use_ -= size;
      return nullptr;
    }
    *static_cast<size_t*>(begin) = size;
    ++allocations_;
    raise(largest_, size);
    return static_cast<std::byte*>(begin) + kAllocatorAlignment;
  }

  void give_back(void* block) {
    if (!block) return;
    void* begin = static_cast<std::byte*>(block) - kAllocatorAlignment;
    in_use_ -= *static_cast<size_t*>(begin);
    std::free(begin);
  }

  bool is_counted(size_t size) {
    size_t used = in_use_;
    do {
      if (size > limit_ || used > limit_ - size) return false;
    } while (!in_use_.compare_exchange_weak(used, used + size));
    raise(peak_, used + size);
    return true;
  }

  static void raise(std::atomic<size_t>& to, size_t value) {
    size_t known = to;
    while (known < value && !to.compare_exchange_weak(known, value)) {
    }
  }

  void tell(OrtKeyValuePairs& stats) const {
    const std::pair<const char*, size_t> numbers[] = {
        {"Limit", std::min<size_t>(limit_, INT64_MAX)},
        {"InUse", in_use_},
        {"TotalAllocated", in_use_},
        {"MaxInUse", peak_},
        {"NumAllocs", allocations_},
        {"NumReserves", 0},
        {"RequestedInUse", in_use_},
        {"NumArenaExtensions", 0},
        {"NumArenaShrinkages", 0},
        {"MaxAllocSize", largest_},
    };
    for (const auto& [name, number] : numbers)
      stats.add(name, std::to_string(number).c_str());
  }

  const size_t limit_;
  std::atomic<size_t> in_use_ = 0, peak_ = 0, allocations_ = 0, largest_ = 0;
};

struct Forwarding : OwnAllocator {
  explicit Forwarding(std::shared_ptr<OrtAllocator> to)
      : OwnAllocator(*to->Info(to.get())), target(std::move(to)) {
    Alloc = Reserve = [](OrtAllocator* self, size_t size) {
      OrtAllocator& target = *static_cast<Forwarding*>(self)->target;
      return target.Alloc(&target, size);
    };
    Free = [](OrtAllocator* self, void* block) {
      OrtAllocator& target = *static_cast<Forwarding*>(self)->target;
      target.Free(&target, block);
    };
    GetStats = [](const OrtAllocator* self, OrtKeyValuePairs** out) {
      return Functions::AllocatorGetStats(static_cast<const Forwarding*>(self)->target.get(), out);
    };
  }

  const std::shared_ptr<OrtAllocator> target;
};

// Programs' allocators give blocks of any alignment: the distance to the block that they gave is
// in the byte before the one that is used.
class AllocatorMemory : public MemorySource {
 public:
  explicit AllocatorMemory(std::shared_ptr<OrtAllocator> allocator)
      : allocator_(std::move(allocator)) {}

  void* allocate(size_t bytes) override {
    if (bytes > SIZE_MAX - kBlockAlignment) return nullptr;
    void* block = allocator_->Alloc(allocator_.get(), bytes + kBlockAlignment);
    if (!block) return nullptr;
    const size_t distance = kBlockAlignment - reinterpret_cast<uintptr_t>(block) % kBlockAlignment;
    std::byte* begin = static_cast<std::byte*>(block) + distance;
    begin[-1] = static_cast<std::byte>(distance);
    return begin;
  }

  void give_back(void* block, size_t) override {
    std::byte* begin = static_cast<std::byte*>(block);
    allocator_->Free(allocator_.get(), begin - std::to_integer<size_t>(begin[-1]));
  }

 private:
  const std::shared_ptr<OrtAllocator> allocator_;
};

}  // namespace

OrtAllocator* new_arena(const OrtMemoryInfo& info, size_t limit) {
  return new Arena(info, limit);
}

OrtAllocator* new_forwarding(std::shared_ptr<OrtAllocator> target) {
  return new Forwarding(std::move(target));
}

std::shared_ptr<MemorySource> memory_from(std::shared_ptr<OrtAllocator> allocator) {
  return std::make_shared<AllocatorMemory>(std::move(allocator));
}

}  // namespace sardonyx::ort_abi
