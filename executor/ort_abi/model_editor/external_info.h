// Where an initializer is, outside of a model's file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct OrtExternalInitializerInfo {
  std::string path;
  int64_t offset;
  size_t bytes;
};
