#include "executor/ort_abi/config_entries.h"

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

void check_config_entry(std::string_view key, std::string_view value) {
  constexpr size_t kLongestKey = 1024, kLongestValue = 8192;
  if (key.empty() || key.size() > kLongestKey) {
    fail(ErrorCode::kInvalidArgument, "Config key is empty or longer than maximum length ",
         kLongestKey);
  }
  if (value.size() > kLongestValue) {
    fail(ErrorCode::kInvalidArgument,
         "Config value is longer than maximum length: ", kLongestValue);
  }
}

void add_config_entry(OrtKeyValuePairs& entries, const char* key, const char* value) {
  check_config_entry(&require(key, "config_key"), &require(value, "config_value"));
  entries.add(key, value);
}

std::string_view config_value(const OrtKeyValuePairs& entries, std::string_view key) {
  const auto at = entries.entries.find(key);
  return at == entries.entries.end() ? std::string_view() : at->second;
}

}  // namespace sardonyx::ort_abi
