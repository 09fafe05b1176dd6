// Rows of an array in numpy's format, a few at a time, for arrays that are larger than memory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ir/core/tensor.h"
#include "onnx_io/arrays/byte_source.h"
#include "onnx_io/arrays/npy_header.h"

namespace sardonyx {

// Rows are the elements of the first dim. Element types, byte orders and the order of dims are
// those of parse_npy. Throws kInvalidArgument where the file is no array of at least one dim.
class NpyRows {
 public:
  explicit NpyRows(const std::filesystem::path& path);
  // NAME.npy of an archive.
  NpyRows(const std::filesystem::path& archive, const std::string& name);

  DType dtype() const { return dtype_of(header_); }
  // All of it: [rows, ...].
  const Shape& shape() const { return header_.shape; }
  int64_t rows() const { return header_.shape[0]; }
  // Rows [begin, end), which must be there, as [end - begin, ...].
  Tensor read(int64_t begin, int64_t end);

 private:
  void open();

  std::unique_ptr<ByteSource> bytes_;
  std::string where_;
  NpyHeader header_;
};

}  // namespace sardonyx
