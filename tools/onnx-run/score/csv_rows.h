// Rows of a table in a text file, one after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/arrays/byte_source.h"

namespace sardonyx::tool {

// RFC 4180: fields in quotes may hold delimiters, line ends and doubled quotes; lines end in LF or
// CR LF; an empty line is a row of one empty field, but for a last one; a byte order mark is passed
// over. Holds one row and a buffer,
// however long the file is. Throws kInvalidArgument naming file and line, kResourceExhausted for a
// row beyond kLongestRow.
class CsvRows {
 public:
  static constexpr size_t kLongestRow = size_t{64} << 20;  // bytes

  CsvRows(const std::filesystem::path& file, char delimiter);
  // False at the end.
  bool next(std::vector<std::string>& fields);
  // Passes over a row.
  bool skip();
  // Where the row that was read last begins; from 1.
  int64_t line() const { return row_line_; }
  const std::string& name() const { return name_; }

 private:
  bool next_row();
  bool refill();
  size_t end_of_row();
  void split(std::vector<std::string>& fields) const;
  size_t quoted_field(size_t at, std::string& field) const;

  std::string name_;
  std::unique_ptr<ByteSource> bytes_;
  char delimiter_;
  uint64_t taken_ = 0;
  std::string buffer_;
  size_t at_ = 0;
  std::string_view row_;
  int64_t line_ = 1, row_line_ = 1;
};

}  // namespace sardonyx::tool
