#include "onnx_io/utf.h"

#include <cstdint>

namespace sardonyx {
namespace {

constexpr char32_t kReplacement = 0xfffd;

bool is_code_point(char32_t c) {
  return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

}  // namespace

std::optional<std::u32string> from_utf8(std::string_view bytes) {
  std::u32string out;
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<uint8_t>(bytes[i++]);
    const int more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : 3;
    if (first >= 0x80 && (first < 0xc0 || first >= 0xf8)) return std::nullopt;
    char32_t c = more == 0 ? first : first & (0x3f >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == bytes.size() || (static_cast<uint8_t>(bytes[i]) & 0xc0) != 0x80) return std::nullopt;
      c = c << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3f);
    }
    constexpr char32_t kMin[] = {0, 0x80, 0x800, 0x10000};  // by continuation bytes
    if (c < kMin[more] || !is_code_point(c)) return std::nullopt;
    out.push_back(c);
  }
  return out;
}

std::string to_utf8(std::u32string_view characters) {
  std::string out;
  for (char32_t c : characters) {
    if (!is_code_point(c)) c = kReplacement;
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out += static_cast<char>((0xff00 >> (more + 1) & 0xff) | c >> (6 * more));
    for (int k = more; k-- > 0;)
      out += static_cast<char>(0x80 | (c >> (6 * k) & 0x3f));
  }
  return out;
}

}  // namespace sardonyx
