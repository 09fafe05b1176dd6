// Bytes that are read piece by piece: of a file, or of a member of a ZIP archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace sardonyx {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Exactly `bytes` bytes from `offset` on; they must be within size(). Not from two threads at
  // once. Throws kInvalidArgument naming the file.
  virtual void read(uint64_t offset, void* out, size_t bytes) = 0;
};

std::unique_ptr<ByteSource> file_source(const std::filesystem::path& path);

// A deflated member is unpacked on the way: quick where offsets rise, while a step back begins anew
// at its front. Its checksum is verified when the last byte was reached; that of a stored member,
// which is read where it stands, is not.
std::unique_ptr<ByteSource> zip_member_source(const std::filesystem::path& archive,
                                              const std::string& member);

}  // namespace sardonyx
