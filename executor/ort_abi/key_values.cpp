#include "executor/ort_abi/key_values.h"

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

void OrtKeyValuePairs::add(const char* key, const char* value) {
  if (!key || !value || *key == '\0') return;
  entries.insert_or_assign(key, value);
  list();
}

void OrtKeyValuePairs::remove(const char* key) {
  if (!key) return;
  const auto at = entries.find(key);
  if (at == entries.end()) return;
  entries.erase(at);
  list();
}

void OrtKeyValuePairs::list() {
  keys.clear();
  values.clear();
  for (const auto& [key, value] : entries) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
}

namespace sardonyx::ort_abi {

// These have no status to tell of an error: without memory nothing is made or added.

void Functions::CreateKeyValuePairs(OrtKeyValuePairs** out) {
  if (!out) return;
  *out = nullptr;
  ReleaseStatus(guarded([&] { *out = new OrtKeyValuePairs; }));
}

void Functions::AddKeyValuePair(OrtKeyValuePairs* kvps, const char* key, const char* value) {
  if (kvps) ReleaseStatus(guarded([&] { kvps->add(key, value); }));
}

void Functions::RemoveKeyValuePair(OrtKeyValuePairs* kvps, const char* key) {
  if (kvps) ReleaseStatus(guarded([&] { kvps->remove(key); }));
}

const char* Functions::GetKeyValue(const OrtKeyValuePairs* kvps, const char* key) {
  if (!kvps || !key) return nullptr;
  const auto at = kvps->entries.find(key);
  return at == kvps->entries.end() ? nullptr : at->second.c_str();
}

void Functions::GetKeyValuePairs(const OrtKeyValuePairs* kvps, const char* const** keys,
                                 const char* const** values, size_t* num_entries) {
  if (keys) *keys = kvps ? kvps->keys.data() : nullptr;
  if (values) *values = kvps ? kvps->values.data() : nullptr;
  if (num_entries) *num_entries = kvps ? kvps->keys.size() : 0;
}

void Functions::ReleaseKeyValuePairs(OrtKeyValuePairs* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi
