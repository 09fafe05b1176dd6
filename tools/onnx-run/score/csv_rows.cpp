#include "tools/onnx-run/score/csv_rows.h"

#include <algorithm>
#include <optional>

#include "ir/core/error.h"
#include "ir/core/run_control.h"

namespace sardonyx::tool {
namespace {

constexpr size_t kCsvPiece = size_t{1} << 20;

// Where the row ends that begins at `begin`: at its line end, or at `text.size()` where that is the
// file's end. Nothing where more bytes are needed to tell.
std::optional<size_t> find_row_end(std::string_view text, size_t begin, char delimiter,
                                   bool is_all) {
  bool is_quoted = false, starts_field = true;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (is_quoted) {
      if (c != '"') continue;
      if (at + 1 == text.size() && !is_all) return std::nullopt;
      if (at + 1 < text.size() && text[at + 1] == '"')
        ++at;
      else
        is_quoted = false;
    } else if (c == '\n') {
      return at;
    } else {
      is_quoted = c == '"' && starts_field;
      starts_field = c == delimiter;
    }
  }
  return is_all ? std::optional(text.size()) : std::nullopt;
}

}  // namespace

CsvRows::CsvRows(const std::filesystem::path& file, char delimiter)
    : name_(file.string()), bytes_(file_source(file)), delimiter_(delimiter) {
  refill();
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (buffer_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

// Drops what was read and appends what follows; false at the end of the file.
bool CsvRows::refill() {
  check_interrupted();
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(kCsvPiece, bytes_->size() - taken_));
  if (bytes == 0) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t kept = buffer_.size();
  buffer_.resize(kept + bytes);
  bytes_->read(taken_, buffer_.data() + kept, bytes);
  taken_ += bytes;
  return true;
}

// The place of the row's line end in the buffer, or the buffer's end.
size_t CsvRows::end_of_row() {
  while (true) {
    const size_t line_end = buffer_.find('\n', at_);
    const bool is_all = taken_ == bytes_->size();
    const size_t end = line_end == std::string::npos ? buffer_.size() : line_end;
    const bool has_quotes =
        std::string_view(buffer_).substr(at_, end - at_).find('"') != std::string_view::npos;
    if (!has_quotes && (line_end != std::string::npos || is_all)) return end;
    if (has_quotes) {
      if (const auto found = find_row_end(buffer_, at_, delimiter_, is_all)) return *found;
    }
    if (buffer_.size() - at_ > kLongestRow) {
      fail(ErrorCode::kResourceExhausted, name_, ": line ", line_, ": the row has more than ",
           kLongestRow, " bytes; is a quote not closed?");
    }
    refill();
  }
}

bool CsvRows::next_row() {
  if (at_ == buffer_.size() && !refill()) return false;
  const size_t end = end_of_row();
  row_ = std::string_view(buffer_).substr(at_, end - at_);
  row_line_ = line_;
  line_ += 1 + std::ranges::count(row_, '\n');
  at_ = std::min(end + 1, buffer_.size());
  if (row_.ends_with('\r')) row_.remove_suffix(1);
  const bool is_last = at_ == buffer_.size() && taken_ == bytes_->size();
  return !row_.empty() || !is_last;
}

bool CsvRows::skip() {
  return next_row();
}

bool CsvRows::next(std::vector<std::string>& fields) {
  if (!next_row()) return false;
  split(fields);
  return true;
}

// The field from the quote at `at` on; gives where it ends.
size_t CsvRows::quoted_field(size_t at, std::string& field) const {
  for (++at; at < row_.size(); ++at) {
    if (row_[at] != '"') {
      field += row_[at];
    } else if (at + 1 < row_.size() && row_[at + 1] == '"') {
      field += row_[at++];
    } else {
      ++at;
      if (at < row_.size() && row_[at] != delimiter_) {
        fail(ErrorCode::kInvalidArgument, name_, ": line ", row_line_,
             ": text after a closed quote");
      }
      return at;
    }
  }
  fail(ErrorCode::kInvalidArgument, name_, ": line ", row_line_, ": a quote is not closed");
}

void CsvRows::split(std::vector<std::string>& fields) const {
  size_t count = 0;
  for (size_t at = 0;; ++at) {
    if (count == fields.size()) fields.emplace_back();
    std::string& field = fields[count++];
    field.clear();
    if (at < row_.size() && row_[at] == '"') {
      at = quoted_field(at, field);
    } else {
      const size_t end = std::min(row_.find(delimiter_, at), row_.size());
      field.assign(row_.substr(at, end - at));
      at = end;
    }
    if (at >= row_.size()) break;
  }
  fields.resize(count);
}

}  // namespace sardonyx::tool
