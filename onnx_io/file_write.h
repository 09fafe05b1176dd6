// Writes files so that a reader sees the old or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sardonyx {

// A new file beside `path` that takes its place in commit(), and is removed where that is not
// reached. It gets the permission bits of the file that it replaces. Where `path` is a symbolic
// link, the link stays and its target is replaced. What exists and is no regular file (a device, a
// FIFO, /dev/stdout) is written straight into; a FIFO that nobody reads is waited for, 10 s. Every
// failure throws kInvalidArgument naming the file (kResourceExhausted where the disk is full).
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
  void create_beside(const std::filesystem::path& target, unsigned mode);
  bool is_kept_alive();

  std::filesystem::path path_;                // as given, for messages
  std::filesystem::path target_, temporary_;  // empty where it is written straight into
  int descriptor_ = -1;
  int lock_ = -1;          // the same file, open until it has its name
  size_t unfinished_ = 0;  // of unfinished_files.h
  uint64_t size_ = 0;
};

// Removes what writers of `path` left that were killed, on this machine or another one: temporary
// files beside it that nobody has locked. Reads the whole folder.
void remove_abandoned_beside(const std::filesystem::path& path);

void write_atomically(const std::filesystem::path& path, std::string_view bytes);

// Throws as AtomicFile does.
[[noreturn]] void fail_to_write(std::string_view name, std::string_view what, int error);

}  // namespace sardonyx
