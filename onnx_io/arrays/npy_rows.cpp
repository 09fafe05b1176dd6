#include "onnx_io/arrays/npy_rows.h"

#include <algorithm>
#include <vector>

namespace sardonyx {

NpyRows::NpyRows(const std::filesystem::path& path)
    : bytes_(file_source(path)), where_(path.string()) {
  open();
}

NpyRows::NpyRows(const std::filesystem::path& archive, const std::string& name)
    : bytes_(zip_member_source(archive, name + ".npy")),
      where_(archive.string() + ": '" + name + "'") {
  open();
}

void NpyRows::open() {
  // Most headers are below 200 bytes; a longer one is read again as a whole.
  const auto total = static_cast<size_t>(bytes_->size());
  std::vector<std::byte> head(std::min(total, size_t{4096}));
  bytes_->read(0, head.data(), head.size());
  if (head.size() > 11 && total > head.size()) {
    const size_t version_1 = std::to_integer<size_t>(head[8]) | std::to_integer<size_t>(head[9])
                                                                    << 8;
    const bool is_longer = head[6] != std::byte{1} || version_1 + 10 > head.size();
    if (is_longer) {
      head.resize(std::min(total, kLongestNpyHeader));
      bytes_->read(0, head.data(), head.size());
    }
  }
  header_ = parse_npy_header(head, total, where_);
  if (header_.shape.empty()) {
    fail(ErrorCode::kInvalidArgument, where_,
         ": expected an array whose first dimension counts rows, got one number");
  }
}

Tensor NpyRows::read(int64_t begin, int64_t end) {
  SARDONYX_CHECK(begin >= 0 && begin <= end && end <= rows());
  const size_t element = header_.element_bytes();
  NpyHeader part = header_;
  part.shape[0] = end - begin;
  std::vector<std::byte> data(part.data_bytes());
  const auto count = static_cast<size_t>(end - begin);
  if (data.empty()) return npy_elements(part, data);
  const size_t row_elements = data.size() / element / count;
  if (!header_.fortran_order) {
    const uint64_t offset = static_cast<uint64_t>(begin) * row_elements * element;
    bytes_->read(header_.data_begin + offset, data.data(), data.size());
    return npy_elements(part, data);
  }
  // The first dim runs fastest: each place in a row has a run of elements of its own.
  for (size_t place = 0; place < row_elements; ++place) {
    const uint64_t first = place * static_cast<uint64_t>(rows()) + static_cast<uint64_t>(begin);
    bytes_->read(header_.data_begin + first * element, data.data() + place * count * element,
                 count * element);
  }
  return npy_elements(part, data);
}

}  // namespace sardonyx
