// The functions of the C interface that read a model's metadata.
#include "executor/c_api/session.h"
#include "executor/c_api/structs.h"

namespace sardonyx::c_api {
namespace {

const ModelMetadata& metadata_of(const sx_session* session) {
  return require(session, "session").shared->metadata;
}

// Entry `index` of a map.
template <typename Entries>
const auto& entry_at(const Entries& entries, size_t index, const char* what) {
  check_index(index, entries, what);
  return *std::next(entries.begin(), static_cast<std::ptrdiff_t>(index));
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_session_model_info(const sx_session* session, sx_model_info* info) {
  return guarded([&] {
    const ModelMetadata& metadata = metadata_of(session);
    fill_struct(info,
                {.struct_size = 0,
                 .producer_name = metadata.producer_name.c_str(),
                 .producer_version = metadata.producer_version.c_str(),
                 .domain = metadata.domain.c_str(),
                 .description = metadata.description.c_str(),
                 .graph_name = metadata.graph_name.c_str(),
                 .graph_description = metadata.graph_description.c_str(),
                 .model_version = metadata.model_version,
                 .ir_version = metadata.ir_version,
                 .opset_count = metadata.opsets.size(),
                 .metadata_count = metadata.custom.size()},
                "info");
  });
}

sx_status sx_session_opset(const sx_session* session, size_t index, const char** domain,
                           int64_t* version) {
  return guarded([&] {
    const auto& [name, number] = entry_at(metadata_of(session).opsets, index, "operator sets");
    require(domain, "domain") = name.c_str();
    require(version, "version") = number;
  });
}

sx_status sx_session_metadata(const sx_session* session, size_t index, const char** key,
                              const char** value) {
  return guarded([&] {
    const auto& [name, text] = entry_at(metadata_of(session).custom, index, "entries");
    require(key, "key") = name.c_str();
    require(value, "value") = text.c_str();
  });
}

sx_status sx_session_find_metadata(const sx_session* session, const char* key, const char** value) {
  return guarded([&] {
    const ModelMetadata& metadata = metadata_of(session);
    require(value, "value") = nullptr;
    const auto at = metadata.custom.find(&require(key, "key"));
    if (at == metadata.custom.end())
      fail(ErrorCode::kInvalidArgument, "key: the model's metadata has no ", key);
    *value = at->second.c_str();
  });
}

}  // extern "C"
