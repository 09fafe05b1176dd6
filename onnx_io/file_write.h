// Writes files so that a reader sees the old or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sardonyx {

// A new file beside `path` that takes its place in commit(), and is removed where that is not
// reached. Every failure throws kInvalidArgument naming the file (kResourceExhausted where the disk
// is full).
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Zero bytes up to a multiple of `alignment`.
  void pad_to(uint64_t alignment);
  uint64_t size() const { return size_; }
  // Brings everything to the disk, then renames.
  void commit();

 private:
  [[noreturn]] void fail_write(std::string_view what, int error) const;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace sardonyx
