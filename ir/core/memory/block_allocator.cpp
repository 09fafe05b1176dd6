#include "ir/core/memory/block_allocator.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <type_traits>

#include "ir/core/memory/guard_pages.h"
#include "ir/core/sanitizers.h"

namespace sardonyx {
namespace {

// Below, the heap serves well.
constexpr size_t kLarge = 256 << 10;
// Larger ones are not kept at first, unless keep_blocks() asks for that.
constexpr size_t kLargestKept = 32 << 20;
// From here on, fewer and larger pages are worth asking for: they are had five times as fast as the
// same bytes in small pages, and to run through them takes a few percent less. But where the system
// has none at hand (it must move others out of the way, or asks the host of a virtual machine for
// the memory) one takes twenty times as long. So they are taken one after the other, and after
// one that took too long only small ones for a while.
constexpr size_t kHuge = 4 << 20;
constexpr size_t kHugePage = 2 << 20;
// Larger blocks may be asked for in vain: of these the small pages are not taken ahead, and huge
// ones no further than this.
constexpr size_t kLargestTaken = 64 << 20;
constexpr size_t kMaxTaken = 512 << 20;
constexpr int64_t kSlowNanoseconds = 1'000'000;  // zeros for a page take a fifth of that
constexpr int64_t kSlowPeriod = 2'000'000'000;
// The bytes kept at first, and at most where blocks are allocated and freed in step.
constexpr size_t kKeptBytes = 8 << 20;
constexpr size_t kMaxKeptBytes = 64 << 20;
// At most so many bytes of larger blocks.
constexpr size_t kMaxKeptLargeBytes = 256 << 20;

constexpr bool kHeapOnly = kAddressSanitizer || kThreadSanitizer;  // there, blocks are watched

// Sizes in steps of an eighth of the next lower power of two, so that a block fits sizes nearby.
// The pages behind what is asked for are never touched.
size_t mapped_bytes(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// Blocks of no use at the moment, the last one given back at the end. To ask again for a size that
// there was no space for shows that more should be kept: to map a block anew costs more than to
// write it. Takes no memory itself, since blocks come back in destructors. Not thread-safe.
class BlockList {
 public:
  constexpr BlockList(size_t least, size_t most) : limit_(least), least_(least), most_(most) {}

  void* take(size_t bytes) {
    for (size_t i = count_; i-- > 0;) {
      if (blocks_[i].bytes == bytes) return remove(i).data;
    }
    const auto missed = std::find(missed_.begin(), missed_.end(), bytes);
    if (missed != missed_.end()) {
      *missed = 0;
      limit_ = std::max(limit_, std::min(limit_ + bytes, most_));
    }
    return nullptr;
  }

  void give_back(void* data, size_t bytes) {
    while (count_ > 0 && (total_ + bytes > limit_ || count_ == kMax))
      unmap(remove(0));
    if (bytes > limit_) return unmap({data, bytes});
    blocks_[count_++] = {data, bytes};
    total_ += bytes;
  }

  // Until no more than `bytes` are left.
  void shrink(size_t bytes) {
    while (count_ > 0 && total_ > bytes)
      unmap(remove(0));
  }

  void release() {
    shrink(0);
    missed_ = {};
    limit_ = least_;
  }

  // From now on between so many at first and so many at most.
  void keep(size_t least, size_t most) {
    least_ = limit_ = least;
    most_ = most;
    shrink(limit_);
  }

 private:
  static constexpr size_t kMax = 1024;
  struct FreeBlock {
    void* data;
    size_t bytes;
  };

  void unmap(FreeBlock block) {
    munmap(block.data, block.bytes);
    missed_[next_missed_++ % missed_.size()] = block.bytes;
  }

  FreeBlock remove(size_t index) {
    const FreeBlock removed = blocks_[index];
    std::copy(blocks_.begin() + index + 1, blocks_.begin() + count_, blocks_.begin() + index);
    --count_;
    total_ -= removed.bytes;
    return removed;
  }

  std::array<FreeBlock, kMax> blocks_{};
  size_t count_ = 0;
  size_t total_ = 0;
  size_t limit_;
  size_t least_;                     // that the limit starts from
  size_t most_;                      // that it grows to
  std::array<size_t, 64> missed_{};  // sizes of the last that were let go
  size_t next_missed_ = 0;
};

// Large blocks have a list of their own, which small ones do not push out of it. Where one is asked
// for of which none is kept, what is kept would only add to it: it goes first.
class KeptBlocks {
 public:
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes <= largest_) return blocks_.take(bytes);
    void* kept = large_.take(bytes);
    if (!kept) large_.shrink(0);
    return kept;
  }

  void give_back(void* data, size_t bytes) {
    const std::lock_guard lock(mutex_);
    (bytes <= largest_ ? blocks_ : large_).give_back(data, bytes);
  }

  void release() {
    const std::lock_guard lock(mutex_);
    blocks_.release();
    large_.release();
  }

  void keep(std::optional<size_t> bytes) {
    const std::lock_guard lock(mutex_);
    large_.release();
    largest_ = bytes.value_or(kLargestKept);
    blocks_.keep(bytes.value_or(kKeptBytes), bytes.value_or(kMaxKeptBytes));
    large_.keep(0, bytes ? 0 : kMaxKeptLargeBytes);
  }

 private:
  std::mutex mutex_;
  BlockList blocks_{kKeptBytes, kMaxKeptBytes};
  BlockList large_{0, kMaxKeptLargeBytes};
  size_t largest_ = kLargestKept;
};

// Never destroyed: buffers of static lifetime may come back after everything else is gone.
static_assert(std::is_trivially_destructible_v<KeptBlocks>);
constinit KeptBlocks g_kept_blocks;

int64_t nanoseconds_of(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::atomic<int64_t> g_small_pages_until = 0;

// Whether huge pages were had quickly when they were asked for last, or that is long ago.
bool huge_pages_are_quick() {
  return nanoseconds_of(CLOCK_MONOTONIC) > g_small_pages_until;
}

// A page for bytes that are in one huge page, and nobody has written to.
void take_huge_page(std::byte* begin, size_t bytes) {
  // The CPU time of this thread alone: others may keep it waiting.
  const int64_t before = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  madvise(begin, bytes, MADV_POPULATE_WRITE);
  if (nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - before > kSlowNanoseconds)
    g_small_pages_until = nanoseconds_of(CLOCK_MONOTONIC) + kSlowPeriod;
}

// From here to the next huge page.
size_t left_of_huge_page(const std::byte* at) {
  return kHugePage - reinterpret_cast<uintptr_t>(at) % kHugePage;
}

// Pages for the first `bytes` bytes of a block of `mapped` that nobody has written to.
void take_pages(std::byte* block, size_t bytes, size_t mapped) {
  madvise(block, mapped, MADV_HUGEPAGE);  // it may be refused
  const size_t most = std::min(bytes, kMaxTaken);
  size_t done = 0;
  while (done < most && huge_pages_are_quick()) {
    const size_t end = std::min(done + left_of_huge_page(block + done), most);
    take_huge_page(block + done, end - done);
    done = end;
  }
  if (done >= most) return;
  madvise(block + done, mapped - done, MADV_NOHUGEPAGE);
  if (bytes > kLargestTaken) return;
  // The system may join the small ones later.
  madvise(block + done, bytes - done, MADV_POPULATE_WRITE);
  madvise(block + done, mapped - done, MADV_HUGEPAGE);
}

// Rounded up, so that a kernel may load whole vectors at the end; 0 where that is too much.
size_t whole_lines(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return 0;
  return std::max(kBlockAlignment,
                  (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment);
}

}  // namespace

void* take_block(size_t bytes) {
  const size_t rounded = whole_lines(bytes);
  if (rounded == 0) return nullptr;
  if (memory_guard() == MemoryGuard::kPages) return allocate_guarded(rounded);
  if (kHeapOnly || bytes < kLarge) return std::aligned_alloc(kBlockAlignment, rounded);
  const size_t mapped = mapped_bytes(bytes);
  if (void* kept = g_kept_blocks.take(mapped)) return kept;
  void* made = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  if (mapped >= kHuge)
    take_pages(static_cast<std::byte*>(made), rounded, mapped);
  else
    madvise(made, rounded, MADV_POPULATE_WRITE);  // one call instead of a fault for each page
  return made;
}

void give_back_block(void* block, size_t bytes) {
  if (memory_guard() == MemoryGuard::kPages) return free_guarded(block, whole_lines(bytes));
  if (kHeapOnly || bytes < kLarge) return std::free(block);
  const size_t mapped = mapped_bytes(bytes);
  g_kept_blocks.give_back(block, mapped);
}

bool are_blocks_watched() {
  return kHeapOnly || memory_guard() != MemoryGuard::kNone;
}

void* reserve_addresses(size_t bytes) {
  void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  madvise(made, bytes, MADV_HUGEPAGE);
  return made;
}

size_t take_memory(void* begin, size_t bytes, size_t most) {
  auto* at = static_cast<std::byte*>(begin);
  size_t done = 0;
  while (done < bytes && huge_pages_are_quick()) {
    const size_t end = std::min(done + left_of_huge_page(at + done), most);
    take_huge_page(at + done, end - done);
    done = end;
  }
  if (done >= bytes) return done;
  constexpr size_t kPage = 4096;
  const size_t end = std::min((bytes + kPage - 1) / kPage * kPage, most);
  madvise(at + done, end - done, MADV_NOHUGEPAGE);
  madvise(at + done, end - done, MADV_POPULATE_WRITE);
  return end;
}

void give_back_addresses(void* begin, size_t bytes) {
  munmap(begin, bytes);
}

void keep_blocks(std::optional<size_t> bytes) {
  g_kept_blocks.keep(bytes);
}

void release_kept_blocks() {
  g_kept_blocks.release();
}

}  // namespace sardonyx
