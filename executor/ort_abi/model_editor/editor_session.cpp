// Sessions of models that a program builds, or adds to.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "executor/ort_abi/load/load_session.h"
#include "executor/ort_abi/model_editor/editor_types.h"
#include "executor/ort_abi/session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

std::span<const std::byte> bytes_of(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

// Initializers that the program gives anyhow count more.
std::unique_ptr<OrtSession> load_edited(const EditedModel& edited) {
  OrtSessionOptions with = edited.options;
  with.initializers.insert(edited.initializers.begin(), edited.initializers.end());
  try {
    return load_session(*edited.env, {.bytes = bytes_of(edited.bytes), .folder = edited.folder},
                        with);
  } catch (const Failure& failure) {
    const bool is_of_model = failure.code() == ORT_FAIL || failure.code() == ORT_INVALID_GRAPH;
    if (!is_of_model) throw;
    constexpr std::string_view kWords = "This is an invalid model. ";
    const bool has_words = std::string_view(failure.what()).starts_with(kWords);
    refuse(failure.code(), has_words ? "" : kWords, failure.what());
  }
}

const OrtSessionOptions& options_or_default(const OrtSessionOptions* options) {
  static const OrtSessionOptions* const by_default = new OrtSessionOptions;
  return options ? *options : *by_default;
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) refuse(ORT_FAIL, "Load model from ", path.native(), " failed: it can't be read");
  return bytes;
}

void add(EditedModel& edited, const ModelAddition& addition) {
  for (const auto& [name, tensor] : addition.initializers) {
    if (!edited.initializers.emplace(name, tensor).second)
      refuse(ORT_INVALID_ARGUMENT, "initializer ", name,
             ": the model has one of this name already");
  }
  edited.bytes = with_addition(bytes_of(edited.bytes), addition);
}

EditedModel& edited_by(OrtSession& session) {
  if (!session.edited) {
    refuse(ORT_FAIL, "the session is not one of the model editor's, or was finalized already");
  }
  return *session.edited;
}

// The handle shows what `fresh` has, which stays as long as the handle.
void take_over(OrtSession& session, std::unique_ptr<OrtSession> fresh) {
  delete session.space.exchange(nullptr);
  session.spaces.clear();
  session.session = std::move(fresh->session);
  session.inputs = std::move(fresh->inputs);
  session.outputs = std::move(fresh->outputs);
  session.required = fresh->required;
  session.names_version = fresh->names_version;
  session.reloaded = std::move(fresh);
}

OrtStatus* create_editor(const OrtEnv* env, const OrtSessionOptions* options, OrtSession** out,
                         const auto& make) {
  return guarded([&] {
    OrtSession*& place = require_place(out, "out");
    EditedModel edited = make(require(env, "env"), options_or_default(options));
    std::unique_ptr<OrtSession> session = load_edited(edited);
    session->edited = std::make_unique<EditedModel>(std::move(edited));
    place = session.release();
  });
}

}  // namespace

OrtStatus* ModelEditorFunctions::CreateSessionFromModel(const OrtEnv* env, const OrtModel* model,
                                                        const OrtSessionOptions* options,
                                                        OrtSession** out) {
  return guarded([&] {
    OrtSession*& place = require_place(out, "out");
    require(env, "env");
    const ModelAddition addition = addition_of(require(model, "model"));
    const auto is_of_onnx = [](const auto& opset) { return canonical_domain(opset.first).empty(); };
    if (std::ranges::none_of(addition.opsets, is_of_onnx))
      refuse(ORT_INVALID_ARGUMENT, "The opset for the ONNX domain must be explicitly specified.");
    EditedModel edited{env, options_or_default(options)};
    add(edited, addition);
    place = load_edited(edited).release();
  });
}

OrtStatus* ModelEditorFunctions::CreateModelEditorSession(const OrtEnv* env, const char* model_path,
                                                          const OrtSessionOptions* options,
                                                          OrtSession** out) {
  return create_editor(env, options, out, [&](const OrtEnv& from, const OrtSessionOptions& with) {
    const std::filesystem::path path = &require(model_path, "model_path");
    load_session(from, {.path = path}, with);  // which finds what is wrong with the file
    std::filesystem::path folder = path.parent_path();
    return EditedModel{&from, with, file_bytes(path), folder.empty() ? "." : folder};
  });
}

OrtStatus* ModelEditorFunctions::CreateModelEditorSessionFromArray(const OrtEnv* env,
                                                                   const void* model_data,
                                                                   size_t model_data_length,
                                                                   const OrtSessionOptions* options,
                                                                   OrtSession** out) {
  return create_editor(env, options, out, [&](const OrtEnv& from, const OrtSessionOptions& with) {
    if (!model_data) refuse(ORT_INVALID_ARGUMENT, "Model data pointer is null.");
    return EditedModel{&from, with, {static_cast<const char*>(model_data), model_data_length}};
  });
}

OrtStatus* ModelEditorFunctions::SessionGetOpsetForDomain(const OrtSession* session,
                                                          const char* domain, int* opset) {
  return guarded([&] {
    const auto& opsets = require(session, "session").session.metadata().opsets;
    const auto at = opsets.find(std::string(canonical_domain(&require(domain, "domain"))));
    if (at == opsets.end()) refuse(ORT_FAIL, "Domain not used by model.");
    require(opset, "opset") = static_cast<int>(at->second);
  });
}

// The model stays the caller's. Where the result is no good model the session is as it was.
OrtStatus* ModelEditorFunctions::ApplyModelToModelEditorSession(OrtSession* session,
                                                                OrtModel* model) {
  return guarded([&] {
    EditedModel& edited = edited_by(require(session, "session"));
    EditedModel changed = edited;
    add(changed, addition_of(require(model, "model")));
    take_over(*session, load_edited(changed));
    edited = std::move(changed);
  });
}

OrtStatus* ModelEditorFunctions::FinalizeModelEditorSession(OrtSession* session,
                                                            const OrtSessionOptions* options,
                                                            OrtPrepackedWeightsContainer*) {
  return guarded([&] {
    EditedModel final = edited_by(require(session, "session"));
    if (options) final.options = *options;
    take_over(*session, load_edited(final));
    session->edited.reset();
  });
}

}  // namespace sardonyx::ort_abi
