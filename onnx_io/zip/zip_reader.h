// Reads ZIP archives (PKWARE's APPNOTE 6.3) without trusting them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ir/core/tensor.h"
#include "onnx_io/file_access.h"

namespace sardonyx {

// Members are stored or deflated; ZIP64 where needed; encrypted archives are refused. Sizes and
// checksums are verified. Throws kInvalidArgument "FILE: not WHAT: ..." naming the member.
class ZipReader {
 public:
  ZipReader(const std::filesystem::path& path, std::string what);

  const std::string& file_name() const { return file_.name; }
  // The names of the members, in the order of the archive.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  // The size in bytes of the unpacked member, as the archive says.
  uint64_t size_of(const std::string& name) const;
  std::shared_ptr<Buffer> read(const std::string& name) const;
  // The place of a member's packed bytes in the file.
  struct Extent {
    uint64_t begin = 0, packed_bytes = 0, bytes = 0;
    uint32_t checksum = 0;
    bool is_deflated = false;
  };
  Extent extent_of(const std::string& name) const;
  const OpenFile& file() const { return file_; }
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Member {
    std::string name;
    uint64_t offset = 0, packed_bytes = 0, bytes = 0;
    uint32_t checksum = 0;
    uint16_t method = 0;
  };
  const Member& member_named(const std::string& name) const;
  void read_directory();
  void read_member(const std::byte* at, const Member& partial, size_t extra_bytes);

  OpenFile file_;
  std::string what_;
  std::vector<Member> members_;
};

}  // namespace sardonyx
