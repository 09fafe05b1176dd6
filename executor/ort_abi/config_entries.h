// Settings by name, of sessions and runs.
#pragma once

#include <string_view>

#include "executor/ort_abi/key_values.h"

namespace sardonyx::ort_abi {

// Throws where the key is empty or one of the two is too long.
void check_config_entry(std::string_view key, std::string_view value);
// Checks and adds.
void add_config_entry(OrtKeyValuePairs& entries, const char* key, const char* value);
// "" where there is none.
std::string_view config_value(const OrtKeyValuePairs& entries, std::string_view key);

}  // namespace sardonyx::ort_abi
