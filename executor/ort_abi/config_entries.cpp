#include "executor/ort_abi/config_entries.h"

#include <cstring>

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

void add_config_entry(OrtKeyValuePairs& entries, const char* key, const char* value) {
  constexpr size_t kLongestKey = 1024, kLongestValue = 8192;
  const size_t key_length = std::strlen(&require(key, "config_key"));
  if (key_length == 0 || key_length > kLongestKey) {
    refuse(ORT_INVALID_ARGUMENT, "Config key is empty or longer than maximum length ", kLongestKey);
  }
  if (std::strlen(&require(value, "config_value")) > kLongestValue)
    refuse(ORT_INVALID_ARGUMENT, "Config value is longer than maximum length: ", kLongestValue);
  entries.add(key, value);
}

std::string_view config_value(const OrtKeyValuePairs& entries, std::string_view key) {
  const auto at = entries.entries.find(key);
  return at == entries.entries.end() ? std::string_view() : at->second;
}

}  // namespace sardonyx::ort_abi
