// Pairs of strings, in the order of their keys.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/ort_abi/table/ort_c_api.h"

struct OrtKeyValuePairs {
  using Entries = std::map<std::string, std::string, std::less<>>;

  OrtKeyValuePairs() = default;
  explicit OrtKeyValuePairs(Entries made) : entries(std::move(made)) { list(); }

  // A pair without key, or without either, is passed over, as ONNX Runtime does.
  void add(const char* key, const char* value);
  void remove(const char* key);

  Entries entries;
  std::vector<const char*> keys, values;  // of the entries

 private:
  void list();
};
