// UTF-8 to code points and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sardonyx {

// nullopt where `bytes` is not well-formed UTF-8 (overlong forms and surrogates are not).
std::optional<std::u32string> from_utf8(std::string_view bytes);
// The text in UTF-8, with U+FFFD for each character that is no code point.
std::string to_utf8(std::u32string_view characters);

}  // namespace sardonyx
