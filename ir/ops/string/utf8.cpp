#include "ir/ops/string/utf8.h"

#include <utf8proc.h>

#include "ir/core/error.h"
#include "ir/core/memory/counted_strings.h"

namespace sardonyx::ops {

int32_t take_code_point(std::string_view& text) {
  utf8proc_int32_t code_point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  if (length <= 0) fail(ErrorCode::kInvalidArgument, "a string element is not valid UTF-8");
  text.remove_prefix(static_cast<size_t>(length));
  return code_point;
}

void append_code_point(std::string& text, int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool is_space(int32_t code_point) {
  if (code_point < 0x80) {
    return code_point == ' ' || (code_point >= 0x09 && code_point <= 0x0d) ||
           (code_point >= 0x1c && code_point <= 0x1f);
  }
  if (code_point == 0x85) return true;  // next line
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

void set_case(std::string& result, std::string_view text, Casing casing, bool turkic) {
  constexpr int32_t kDotlessLower = 0x131, kDottedUpper = 0x130;
  result.clear();
  result.reserve(text.size());
  while (!text.empty()) {
    const int32_t given = take_code_point(text);
    int32_t mapped = casing == Casing::kLower ? utf8proc_tolower(given) : utf8proc_toupper(given);
    if (turkic && casing == Casing::kLower && given == 'I') mapped = kDotlessLower;
    if (turkic && casing == Casing::kUpper && given == 'i') mapped = kDottedUpper;
    append_code_point(result, mapped);
    note_copied(1);
  }
}

namespace {

// Most words are too short for a call to pay.
size_t find_character(std::string_view text, char sought) {
  constexpr size_t kWord = 16;
  const size_t near = std::min(text.size(), kWord);
  for (size_t i = 0; i < near; ++i) {
    if (text[i] == sought) return i;
  }
  return near < text.size() ? text.find(sought, near) : std::string_view::npos;
}

}  // namespace

void split_at_separator(std::string_view text, std::string_view separator, int64_t max_splits,
                        Pieces& pieces) {
  SARDONYX_CHECK(!separator.empty());
  const char only = separator[0];
  for (int64_t splits = 0; max_splits < 0 || splits < max_splits; ++splits) {
    const size_t at = separator.size() == 1 ? find_character(text, only) : text.find(separator);
    if (at == std::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  pieces.push_back(text);
}

namespace {

std::string_view without_leading_spaces(std::string_view text) {
  while (!text.empty()) {
    std::string_view rest = text;
    if (!is_space(take_code_point(rest))) break;
    text = rest;
  }
  return text;
}

}  // namespace

void split_at_spaces(std::string_view text, int64_t max_splits, Pieces& pieces) {
  const size_t before = pieces.size();
  for (text = without_leading_spaces(text); !text.empty(); text = without_leading_spaces(text)) {
    if (max_splits >= 0 && static_cast<int64_t>(pieces.size() - before) >= max_splits) {
      pieces.push_back(text);
      break;
    }
    std::string_view rest = text;
    while (!rest.empty()) {
      std::string_view next = rest;
      if (is_space(take_code_point(next))) break;
      rest = next;
    }
    pieces.push_back(text.substr(0, text.size() - rest.size()));
    text = rest;
  }
}

}  // namespace sardonyx::ops
