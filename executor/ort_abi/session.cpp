#include "executor/ort_abi/session.h"

#include "executor/ort_abi/load/load_session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

// Sessions of one file share packed weights by themselves: the container has nothing to hold.
struct OrtPrepackedWeightsContainer {
  char unused = 0;
};

namespace sardonyx::ort_abi {
namespace {

OrtStatus* create(const OrtEnv* env, const OrtSessionOptions* options, OrtSession** out,
                  const auto& source) {
  return guarded([&] {
    OrtSession*& place = require_place(out, "out");
    const OrtEnv& from = require(env, "env");
    static const OrtSessionOptions* const by_default = new OrtSessionOptions;
    place = load_session(from, source(), options ? *options : *by_default).release();
  });
}

}  // namespace

OrtStatus* Functions::CreateSession(const OrtEnv* env, const char* model_path,
                                    const OrtSessionOptions* options, OrtSession** out) {
  return create(env, options, out,
                [&] { return ModelSource{.path = &require(model_path, "model_path")}; });
}

OrtStatus* Functions::CreateSessionFromArray(const OrtEnv* env, const void* model_data,
                                             size_t model_data_length,
                                             const OrtSessionOptions* options, OrtSession** out) {
  return create(env, options, out, [&] {
    if (!model_data) refuse(ORT_INVALID_ARGUMENT, "Model data pointer is null.");
    return ModelSource{std::nullopt,
                       {static_cast<const std::byte*>(model_data), model_data_length}};
  });
}

OrtStatus* Functions::CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer** out) {
  return guarded([&] { make_at(out, "out"); });
}

void Functions::ReleasePrepackedWeightsContainer(OrtPrepackedWeightsContainer* input) {
  delete input;
}

OrtStatus* Functions::CreateSessionWithPrepackedWeightsContainer(
    const OrtEnv* env, const char* model_path, const OrtSessionOptions* options,
    OrtPrepackedWeightsContainer* prepacked_weights_container, OrtSession** out) {
  OrtStatus* refused = guarded([&] {
    require_place(out, "out");
    require(prepacked_weights_container, "prepacked_weights_container");
  });
  return refused ? refused : CreateSession(env, model_path, options, out);
}

OrtStatus* Functions::CreateSessionFromArrayWithPrepackedWeightsContainer(
    const OrtEnv* env, const void* model_data, size_t model_data_length,
    const OrtSessionOptions* options, OrtPrepackedWeightsContainer* prepacked_weights_container,
    OrtSession** out) {
  OrtStatus* refused = guarded([&] {
    require_place(out, "out");
    require(prepacked_weights_container, "prepacked_weights_container");
  });
  return refused ? refused
                 : CreateSessionFromArray(env, model_data, model_data_length, options, out);
}

void Functions::ReleaseSession(OrtSession* input) {
  if (!input) return;
  input->async.end();
  // A profile that nobody asked for is written all the same, as ONNX Runtime does.
  ReleaseStatus(guarded([&] { input->profile.end(); }));
  delete input;
}

OrtStatus* Functions::CreateAllocator(const OrtSession* session, const OrtMemoryInfo* mem_info,
                                      OrtAllocator** out) {
  return guarded([&] {
    OrtAllocator*& place = require_place(out, "out");
    const OrtSession& of = require(session, "session");
    if (require(mem_info, "mem_info").device_type != OrtMemoryInfoDeviceType_CPU)
      refuse(ORT_INVALID_ARGUMENT, "No requested allocator available");
    place = of.env_allocator
                ? new_forwarding(of.env_allocator)
                : new_allocator(of.uses_arena ? session_memory_info() : cpu_memory_info());
  });
}

}  // namespace sardonyx::ort_abi
