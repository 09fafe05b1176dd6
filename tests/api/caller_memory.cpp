#include "tests/api/caller_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace sardonyx::api_test {
namespace {

constexpr std::byte kCanaryByte{0xA5}, kFreshByte{0x5B}, kFreedByte{0xDD};

bool is_all(std::span<const std::byte> bytes, std::byte value) {
  return std::ranges::all_of(bytes, [=](std::byte byte) { return byte == value; });
}

}  // namespace

CallerMemory::CallerMemory(size_t bytes) : expected_(bytes, kFreshByte) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = (all().size() + page - 1) / page * page;
  void* made = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(made);
  std::ranges::fill(all(), kCanaryByte);
  std::fill_n(data(), size(), kFreshByte);
}

CallerMemory::~CallerMemory() {
  munmap(begin_, mapped_);
}

Tensor CallerMemory::tensor(DType dtype, const Shape& shape, size_t offset) const {
  const size_t bytes = bytes_for(dtype, element_count(shape));
  return Tensor(dtype, shape, Buffer::borrow(data() + offset, bytes, nullptr));
}

void CallerMemory::write(size_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, data() + offset);
  accept(offset, bytes.size());
}

void CallerMemory::accept(size_t offset, size_t bytes) {
  if (bytes > 0) std::memcpy(expected_.data() + offset, data() + offset, bytes);
}

bool CallerMemory::is_intact() const {
  if (is_gone_) return true;
  return std::ranges::equal(std::span(data(), size()), expected_) &&
         is_all(all().first(kCanary), kCanaryByte) && is_all(all().last(kCanary), kCanaryByte);
}

void CallerMemory::release(bool unmap) {
  if (is_gone_) return;
  std::fill_n(data(), size(), kFreedByte);
  std::ranges::fill(expected_, kFreedByte);
  // The addresses stay taken, so that no other mapping gets them.
  if (unmap) is_gone_ = mprotect(begin_, mapped_, PROT_NONE) == 0;
}

}  // namespace sardonyx::api_test
