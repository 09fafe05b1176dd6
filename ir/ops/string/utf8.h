// UTF-8 as the string ops need it, independent of any locale of the process.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::ops {

// The code point at the front of `text`, which is taken off. Throws kInvalidArgument where the
// bytes are no UTF-8.
int32_t take_code_point(std::string_view& text);
void append_code_point(std::string& text, int32_t code_point);

// White space as Unicode defines it, with the separators of ASCII's control range.
bool is_space(int32_t code_point);

enum class Casing { kLower, kUpper };
// Each code point mapped by itself (Unicode's simple mappings). `turkic`: i and dotless i are two
// letters with a case pair each. Writes `result`, which must not be `text`.
void set_case(std::string& result, std::string_view text, Casing casing, bool turkic);

using Pieces = std::pmr::vector<std::string_view>;
// The pieces between occurrences of `separator`, at most `max_splits` + 1 of them (negative: no
// limit), are added to `pieces`.
void split_at_separator(std::string_view text, std::string_view separator, int64_t max_splits,
                        Pieces& pieces);
// The pieces between runs of white space, which never are empty; the rest after the last split
// keeps its trailing white space.
void split_at_spaces(std::string_view text, int64_t max_splits, Pieces& pieces);

}  // namespace sardonyx::ops
