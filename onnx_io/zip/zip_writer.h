// Writes ZIP archives (PKWARE's APPNOTE 6.3) whose members are stored as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "onnx_io/file_write.h"

namespace sardonyx {

// One member after the other, so that only one is in memory; the file takes its name in close(),
// and nothing is left where that is not reached. Members bear no date: the same ones give the same
// bytes.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}
  // The data begins at a multiple of `alignment`. Throws kInvalidArgument for a name of 64 KiB.
  void add(const std::string& name, std::span<const std::byte> data, uint64_t alignment = 1);
  void close();

 private:
  struct WrittenMember {
    std::string name;
    uint64_t offset, bytes;
    uint32_t checksum;
  };
  AtomicFile file_;
  std::vector<WrittenMember> members_;
};

}  // namespace sardonyx
