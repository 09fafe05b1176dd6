// Pieces of JSON text.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx::serving {

// With quotes; control characters are escaped, and bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);
bool is_utf8(std::string_view text);
// The text with U+FFFD in place of bytes that are no UTF-8.
std::string utf8_text(std::string_view text);
// Not empty, UTF-8, and without control characters: what may stand in every protocol and log.
bool is_plain_name(std::string_view name);

// The shortest text that reads back as the same number. NaN and infinities, which JSON lacks, are
// written as NaN, Infinity and -Infinity.
void append_number(std::string& out, float value);
void append_number(std::string& out, double value);
void append_number(std::string& out, int value);
void append_number(std::string& out, unsigned value);
void append_number(std::string& out, long value);
void append_number(std::string& out, unsigned long value);

}  // namespace sardonyx::serving
