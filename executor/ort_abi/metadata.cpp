#include "executor/ort_abi/metadata.h"

#include "executor/ort_abi/session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

namespace sardonyx::ort_abi {
namespace {

OrtStatus* copy_field(const OrtModelMetadata* of, OrtAllocator* allocator, char** out,
                      std::string ModelMetadata::*field) {
  return guarded([&] {
    char*& place = require_place(out, "value");
    const ModelMetadata& metadata = require(of, "model_metadata").metadata;
    place = copied_string(allocator, (metadata.*field).c_str());
  });
}

// Frees what was copied so far where there is no memory for the rest.
char** copied_keys(const auto& entries, OrtAllocator* allocator) {
  auto** keys = static_cast<char**>(
      allocate(require(allocator, "allocator"), entries.size() * sizeof(char*)));
  size_t made = 0;
  try {
    for (const auto& [key, value] : entries) {
      keys[made] = copied_string(allocator, key.c_str());
      ++made;
    }
  } catch (...) {
    while (made > 0)
      allocator->Free(allocator, keys[--made]);
    allocator->Free(allocator, keys);
    throw;
  }
  return keys;
}

}  // namespace

OrtStatus* Functions::SessionGetModelMetadata(const OrtSession* session, OrtModelMetadata** out) {
  return guarded([&] {
    OrtModelMetadata*& place = require_place(out, "out");
    const OrtSession& of = require(session, "session");
    place = new OrtModelMetadata{of.session.metadata(), of.names_version};
  });
}

void Functions::ReleaseModelMetadata(OrtModelMetadata* input) {
  delete input;
}

OrtStatus* Functions::ModelMetadataGetProducerName(const OrtModelMetadata* model_metadata,
                                                   OrtAllocator* allocator, char** value) {
  return copy_field(model_metadata, allocator, value, &ModelMetadata::producer_name);
}
OrtStatus* Functions::ModelMetadataGetGraphName(const OrtModelMetadata* model_metadata,
                                                OrtAllocator* allocator, char** value) {
  return copy_field(model_metadata, allocator, value, &ModelMetadata::graph_name);
}
OrtStatus* Functions::ModelMetadataGetDomain(const OrtModelMetadata* model_metadata,
                                             OrtAllocator* allocator, char** value) {
  return copy_field(model_metadata, allocator, value, &ModelMetadata::domain);
}
OrtStatus* Functions::ModelMetadataGetDescription(const OrtModelMetadata* model_metadata,
                                                  OrtAllocator* allocator, char** value) {
  return copy_field(model_metadata, allocator, value, &ModelMetadata::description);
}
OrtStatus* Functions::ModelMetadataGetGraphDescription(const OrtModelMetadata* model_metadata,
                                                       OrtAllocator* allocator, char** value) {
  return copy_field(model_metadata, allocator, value, &ModelMetadata::graph_description);
}

// A file that names none has the highest.
OrtStatus* Functions::ModelMetadataGetVersion(const OrtModelMetadata* model_metadata,
                                              int64_t* value) {
  return guarded([&] {
    const OrtModelMetadata& of = require(model_metadata, "model_metadata");
    require(value, "value") = of.names_version ? of.metadata.model_version : INT64_MAX;
  });
}

// NULL where there is no such key.
OrtStatus* Functions::ModelMetadataLookupCustomMetadataMap(const OrtModelMetadata* model_metadata,
                                                           OrtAllocator* allocator, const char* key,
                                                           char** value) {
  return guarded([&] {
    char*& place = require_place(value, "value");
    const auto& custom = require(model_metadata, "model_metadata").metadata.custom;
    const auto at = custom.find(std::string_view(&require(key, "key")));
    if (at != custom.end()) place = copied_string(allocator, at->second.c_str());
  });
}

OrtStatus* Functions::ModelMetadataGetCustomMetadataMapKeys(const OrtModelMetadata* model_metadata,
                                                            OrtAllocator* allocator, char*** keys,
                                                            int64_t* num_keys) {
  return guarded([&] {
    char**& place = require_place(keys, "keys");
    require(num_keys, "num_keys") = 0;
    const auto& custom = require(model_metadata, "model_metadata").metadata.custom;
    if (!custom.empty()) place = copied_keys(custom, allocator);
    *num_keys = static_cast<int64_t>(custom.size());
  });
}

}  // namespace sardonyx::ort_abi
