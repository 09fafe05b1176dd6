// Opens files for reading without trusting their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx {

// A file descriptor that is closed with its owner.
class FileHandle {
 public:
  explicit FileHandle(int descriptor = -1) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(other.release()) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();
  int get() const { return descriptor_; }
  int release();

 private:
  int descriptor_;
};

// An open regular file.
struct OpenFile {
  FileHandle handle;
  uint64_t size = 0;
  std::string name;  // for messages
};

// A text that differs for other files, and for the same one after it was written to; "" where the
// system does not say, or may not tell the next change from the last one.
std::string identity_of(const OpenFile& file);

// Throws kInvalidArgument naming the path where it is no regular file or can't be opened.
OpenFile open_regular(const std::filesystem::path& path);

// A folder that nothing may leave. Every component is opened by itself, relative to the one before,
// so that neither
// "..", links nor a rename in between lead out; links that stay inside are followed.
class Sandbox {
 public:
  // `root` must be a folder that holds `base` (or is it); names are relative to `base`.
  Sandbox(const std::filesystem::path& root, const std::filesystem::path& base);
  // Throws kInvalidModel naming the location.
  OpenFile open(std::string_view location) const;

 private:
  std::vector<std::string> base_;  // components from the root down to the base folder
  FileHandle root_;
};

// The whole file (not empty) as a read-only mapping.
std::shared_ptr<Buffer> map_file(const OpenFile& file);
// Takes what is in `bytes` bytes of such a mapping out of the process's memory; a look brings it
// back from the file.
void forget_pages(const std::byte* begin, size_t bytes);
// Reads exactly `bytes` bytes from `offset` on; throws kInvalidArgument where the file ends before
// or fails.
void read_exactly(const OpenFile& file, uint64_t offset, void* out, size_t bytes);

}  // namespace sardonyx
