// Test data that is too large for the tree.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace sardonyx {

// What is called `part` beneath the folder that SARDONYX_TEST_DATA names; empty where it is not
// there: tests that need it skip.
inline std::filesystem::path test_data(std::string_view part) {
  const char* folder = std::getenv("SARDONYX_TEST_DATA");
  if (!folder || !*folder) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / part;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace sardonyx
