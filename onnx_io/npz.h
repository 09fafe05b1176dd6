// Archives of arrays as numpy's savez writes them: a ZIP file with one NAME.npy for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"

namespace sardonyx {

// Members are stored or deflated; ZIP64 where needed; encrypted archives are refused. Throws
// kInvalidArgument naming file and member. Sizes and checksums are verified.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path);

  // Without ".npy", in the order of the archive.
  std::vector<std::string> names() const;
  Tensor read(const std::string& name) const;

 private:
  struct Member {
    std::string name;
    uint64_t offset = 0, packed_bytes = 0, bytes = 0;
    uint32_t checksum = 0;
    uint16_t method = 0;
  };
  void read_directory();
  void read_member(const std::byte* at, const Member& partial, size_t extra_bytes);
  [[noreturn]] void refuse(const std::string& why) const;

  OpenFile file_;
  std::vector<Member> members_;
};

// Writes one array after the other, so that only one is in memory; the file takes its name in
// close(), and nothing is left where that is not reached. Members are stored, and bear no date:
// the same arrays give the same bytes.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path) : file_(path) {}
  void add(const std::string& name, const Tensor& tensor);
  void close();

 private:
  struct Member {
    std::string name;
    uint64_t offset, bytes;
    uint32_t checksum;
  };
  AtomicFile file_;
  std::vector<Member> members_;
};

}  // namespace sardonyx
