// Archives of arrays as numpy's savez writes them: a ZIP file with one NAME.npy for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/core/tensor.h"
#include "onnx_io/zip/zip_reader.h"
#include "onnx_io/zip/zip_writer.h"

namespace sardonyx {

// Throws kInvalidArgument naming file and member.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path) : zip_(path, "an archive of arrays") {}

  // The names of the arrays without ".npy", in the order of the archive.
  std::vector<std::string> names() const;
  Tensor read(const std::string& name) const;

 private:
  ZipReader zip_;
};

// Writes one array after the other, so that only one is in memory; the file takes its name in
// close(), and nothing is left where that is not reached. Members are stored, and bear no date:
// the same arrays give the same bytes.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path) : zip_(path) {}
  void add(const std::string& name, const Tensor& tensor);
  void close();

 private:
  ZipWriter zip_;
};

}  // namespace sardonyx
