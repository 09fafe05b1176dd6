#include "ir/core/memory/guard_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ir/core/sanitizers.h"

#ifdef SARDONYX_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace sardonyx {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t whole_pages(size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// The pages that are wholly within the range.
void protect(void* begin, size_t bytes, int access) {
  const auto from = whole_pages(reinterpret_cast<uintptr_t>(begin));
  const auto to = (reinterpret_cast<uintptr_t>(begin) + bytes) / page_bytes() * page_bytes();
  if (from < to) mprotect(reinterpret_cast<void*>(from), to - from, access);
}

}  // namespace

MemoryGuard memory_guard() {
  static const MemoryGuard guard = [] {
    const char* wanted = std::getenv("SARDONYX_GUARD_PAGES");
    if (wanted && std::string_view(wanted) == "1") return MemoryGuard::kPages;
    return kAddressSanitizer ? MemoryGuard::kPoison : MemoryGuard::kNone;
  }();
  return guard;
}

size_t guard_gap() {
  constexpr size_t kPoisoned = 128;
  switch (memory_guard()) {
    case MemoryGuard::kPoison:
      return kPoisoned;
    case MemoryGuard::kPages:
      return page_bytes();
    case MemoryGuard::kNone:
      break;
  }
  return 0;
}

// Maps one forbidden page, the buffer's pages, one forbidden page.
void* allocate_guarded(size_t bytes) {
  const size_t inner = whole_pages(bytes), outer = inner + 2 * page_bytes();
  if (inner < bytes || outer < inner) return nullptr;
  void* base = mmap(nullptr, outer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  std::byte* first = static_cast<std::byte*>(base) + page_bytes();
  if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, outer);
    return nullptr;
  }
  return first + (inner - bytes);
}

void free_guarded(void* data, size_t bytes) {
  const size_t inner = whole_pages(bytes);
  std::byte* base = static_cast<std::byte*>(data) - (inner - bytes) - page_bytes();
  munmap(base, inner + 2 * page_bytes());
}

void close_gap(void* begin, size_t bytes) {
  if (memory_guard() == MemoryGuard::kPages) protect(begin, bytes, PROT_NONE);
#ifdef SARDONYX_ADDRESS_SANITIZER
  if (memory_guard() == MemoryGuard::kPoison) ASAN_POISON_MEMORY_REGION(begin, bytes);
#endif
}

void open_gap(void* begin, size_t bytes) {
  if (memory_guard() == MemoryGuard::kPages) protect(begin, bytes, PROT_READ | PROT_WRITE);
#ifdef SARDONYX_ADDRESS_SANITIZER
  if (memory_guard() == MemoryGuard::kPoison) ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
#endif
}

}  // namespace sardonyx
