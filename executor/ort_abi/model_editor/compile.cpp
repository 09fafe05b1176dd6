// Models that are optimised ahead. Nothing is compiled for a device: the result is the model in
// ONNX's own operators, rewritten as far as the level asks for.
#include <algorithm>
#include <cstring>

#include "executor/ort_abi/load/load_errors.h"
#include "executor/ort_abi/load/load_session.h"
#include "executor/ort_abi/load/model_rewrite.h"
#include "executor/ort_abi/model_editor/compile_options.h"
#include "executor/ort_abi/model_editor/editor_types.h"
#include "executor/ort_abi/model_editor/external_info.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "onnx_io/import/external_places.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {
namespace {

// A status that a function of the program's gave, on its way to the caller.
struct ProgramStatus {
  OrtStatus* status;
};

// Flags of the interface.
constexpr uint32_t kRefuseWithoutCompiledNodes = 1, kRefuseExistingFile = 2;

OrtStatus* change_options(OrtModelCompilationOptions* options, const auto& change) {
  return guarded([&] { change(require(options, "model_compile_options")); });
}

std::filesystem::path required_path(const char* path, const char* what) {
  std::filesystem::path given = &require(path, what);
  if (given.empty()) refuse(ORT_INVALID_ARGUMENT, what, ": expected a path, got an empty string");
  return given;
}

// The model to compile, and what of it the program keeps.
struct CompiledSource {
  ModelSource source;
  std::string bytes;
  LoadOptions::NamedTensors initializers;
};

void find_source(const OrtModelCompilationOptions& options, CompiledSource& found) {
  if (const auto* path = std::get_if<std::filesystem::path>(&options.input)) {
    if (!std::filesystem::exists(*path))
      refuse(ORT_INVALID_ARGUMENT, "Input model path does not exist: ", path->native());
    found.source.path = *path;
  } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&options.input)) {
    found.source.bytes = *bytes;
  } else if (const auto* model = std::get_if<const OrtModel*>(&options.input)) {
    const ModelAddition addition = addition_of(**model);
    if (addition.outputs.empty() || addition.opsets.empty())
      refuse(ORT_INVALID_ARGUMENT, "the input model to compile needs an output and an opset");
    found.bytes = with_addition({}, addition);
    found.initializers = addition.initializers;
    found.source.bytes = std::as_bytes(std::span(found.bytes));
  } else {
    refuse(ORT_INVALID_ARGUMENT,
           "Input model to compile must be specified via file path, memory buffer, or OrtModel");
  }
}

// "model.onnx" becomes "model_ctx.onnx".
std::filesystem::path output_path_of(const OrtModelCompilationOptions& options) {
  if (const auto* path = std::get_if<std::filesystem::path>(&options.output)) return *path;
  const auto* input = std::get_if<std::filesystem::path>(&options.input);
  if (!input) {
    refuse(ORT_FAIL,
           "a model that is no file's was to be compiled without a valid location for the "
           "output model: name a file, a buffer or a function");
  }
  std::filesystem::path made = *input;
  made.replace_filename(input->stem().native() + "_ctx.onnx");
  return made;
}

DataPlaces places_in(const ModelSource& source) {
  return source.path ? external_places(*source.path) : external_places(source.bytes);
}

// Asks the program where initializers are to be, telling it where they were; a status of its
// function ends the writing.
struct InitializerPlaces {
  InitializerPlacing placing;
  DataPlaces before;

  std::optional<DataPlace> operator()(const std::string& name, const Tensor& tensor) const {
    std::optional<OrtExternalInitializerInfo> old;
    if (const auto at = before.find(name); at != before.end()) {
      const size_t bytes = at->second.bytes > 0 ? at->second.bytes : tensor.bytes();
      old = {at->second.file, static_cast<int64_t>(at->second.offset), bytes};
    }
    const OrtValue value{Datum(tensor)};
    OrtExternalInitializerInfo* made = nullptr;
    OrtStatus* status =
        placing.function(placing.state, name.c_str(), &value, old ? &*old : nullptr, &made);
    const std::unique_ptr<OrtExternalInitializerInfo> owned(made);
    if (status) throw ProgramStatus{status};
    if (!made) return std::nullopt;
    return DataPlace{made->path, static_cast<uint64_t>(made->offset), made->bytes};
  }
};

SaveOptions save_options_of(const OrtModelCompilationOptions& options, const ModelSource& source) {
  SaveOptions save;
  save.external_data = options.external;
  if (options.external || !options.placing.function) return save;
  save.place = InitializerPlaces{options.placing, places_in(source)};
  return save;
}

void write_file(const OrtModelCompilationOptions& options, const Model& model,
                const SaveOptions& save) {
  const std::filesystem::path path = output_path_of(options);
  if ((options.flags & kRefuseExistingFile) && std::filesystem::exists(path))
    refuse(ORT_FAIL, "the file ", path.native(), " exists already");
  save_model(model, path, save);
}

void write_buffer(const BufferOutput& output, const std::string& bytes) {
  void* memory = output.allocator->Alloc(output.allocator, bytes.size());
  if (!memory) throw std::bad_alloc();
  std::memcpy(memory, bytes.data(), bytes.size());
  *output.bytes = memory;
  *output.size = bytes.size();
}

// A status of the program's function becomes that of the call.
void write_out(const OrtModelCompilationOptions& options, const ModelSource& source,
               const Model& model, OrtStatus*& status) {
  const SaveOptions save = save_options_of(options, source);
  const auto* buffer = std::get_if<BufferOutput>(&options.output);
  const auto* function = std::get_if<FunctionOutput>(&options.output);
  if (!buffer && !function) return write_file(options, model, save);
  if (options.external) {
    refuse(ORT_NOT_IMPLEMENTED,
           "initializers in a file of their own go with a model in a file alone");
  }
  const std::string bytes = model_bytes(model, save);
  if (buffer)
    write_buffer(*buffer, bytes);
  else
    status = function->write(function->state, bytes.data(), bytes.size());
}

void compile(const OrtEnv& env, const OrtModelCompilationOptions& options, OrtStatus*& status) {
  if (options.flags & kRefuseWithoutCompiledNodes) {
    refuse(ORT_FAIL,
           "Unable to compile any nodes: there is no execution provider but the CPU's, which runs "
           "the model's own operators");
  }
  CompiledSource found;
  find_source(options, found);
  OrtSessionOptions session = options.session;
  session.initializers.insert(found.initializers.begin(), found.initializers.end());
  SessionCustomOps custom_ops(session.custom_domains, env.logger, session.config);
  const CustomOpScope scope(&custom_ops);
  const Model model = [&] {
    try {
      return optimized_model(found.source, session.optimization_level,
                             load_options_of(session, found.source));
    } catch (const Error& error) {
      refuse_load(found.source, error);
    }
  }();
  try {
    write_out(options, found.source, model, status);
  } catch (const ProgramStatus& refused) {
    status = refused.status;
  }
}

}  // namespace

void CompileFunctions::ReleaseModelCompilationOptions(OrtModelCompilationOptions* input) {
  delete input;
}

// The options are copied. Nothing is optimised unless it is asked for.
OrtStatus* CompileFunctions::CreateModelCompilationOptionsFromSessionOptions(
    const OrtEnv* env, const OrtSessionOptions* session_options, OrtModelCompilationOptions** out) {
  return guarded([&] {
    OrtModelCompilationOptions*& place = require_place(out, "out");
    require(env, "env");
    auto made = std::make_unique<OrtModelCompilationOptions>();
    made->session = require(session_options, "session_options");
    made->session.optimization_level = ORT_DISABLE_ALL;
    place = made.release();
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetInputModelPath(
    OrtModelCompilationOptions* model_compile_options, const char* input_model_path) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    options.input = required_path(input_model_path, "input_model_path");
  });
}

// The bytes must be there until the model is compiled.
OrtStatus* CompileFunctions::ModelCompilationOptions_SetInputModelFromBuffer(
    OrtModelCompilationOptions* model_compile_options, const void* input_model_data,
    size_t input_model_data_size) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    const auto* first =
        &require(static_cast<const std::byte*>(input_model_data), "input_model_data");
    if (input_model_data_size == 0)
      refuse(ORT_INVALID_ARGUMENT, "Invalid input model: data size is 0");
    options.input = std::span(first, input_model_data_size);
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetInputModel(
    OrtModelCompilationOptions* model_compile_options, const OrtModel* model) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    if (!model) refuse(ORT_INVALID_ARGUMENT, "Invalid input model: OrtModel pointer is null");
    options.input = model;
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetOutputModelPath(
    OrtModelCompilationOptions* model_compile_options, const char* output_model_path) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    options.output = required_path(output_model_path, "output_model_path");
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetOutputModelExternalInitializersFile(
    OrtModelCompilationOptions* model_compile_options, const char* external_initializers_file_path,
    size_t external_initializers_size_threshold) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    const std::filesystem::path file =
        required_path(external_initializers_file_path, "external_initializers_file_path");
    options.external.emplace();
    options.external->file = file.native();
    options.external->threshold = external_initializers_size_threshold;
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetOutputModelBuffer(
    OrtModelCompilationOptions* model_compile_options, OrtAllocator* allocator,
    void** output_model_buffer_ptr, size_t* output_model_buffer_size_ptr) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    options.output =
        BufferOutput{&require(allocator, "allocator"),
                     &require(output_model_buffer_ptr, "output_model_buffer_ptr"),
                     &require(output_model_buffer_size_ptr, "output_model_buffer_size_ptr")};
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetOutputModelWriteFunc(
    OrtModelCompilationOptions* model_compile_options, OrtWriteBufferFunc write_func, void* state) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    options.output = FunctionOutput{&require(write_func, "write_func"), state};
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(
    OrtModelCompilationOptions* model_compile_options,
    OrtGetInitializerLocationFunc get_initializer_location_func, void* state) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    require(get_initializer_location_func, "get_initializer_location_func");
    options.placing = {get_initializer_location_func, state};
  });
}

// There is no context that could do without its weights.
OrtStatus* CompileFunctions::ModelCompilationOptions_SetWeightlessEnabled(
    OrtModelCompilationOptions* model_compile_options, bool) {
  return change_options(model_compile_options, [](OrtModelCompilationOptions&) {});
}

// There are no contexts of execution providers in the model: these two have nothing to change.
OrtStatus* CompileFunctions::ModelCompilationOptions_SetEpContextEmbedMode(
    OrtModelCompilationOptions* model_compile_options, bool) {
  return change_options(model_compile_options, [](OrtModelCompilationOptions&) {});
}
OrtStatus* CompileFunctions::ModelCompilationOptions_SetEpContextBinaryInformation(
    OrtModelCompilationOptions* model_compile_options, const char* output_directory,
    const char* model_name) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions&) {
    required_path(output_directory, "output_directory");
    required_path(model_name, "model_name");
  });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetFlags(
    OrtModelCompilationOptions* model_compile_options, uint32_t flags) {
  return change_options(model_compile_options,
                        [&](OrtModelCompilationOptions& options) { options.flags = flags; });
}

OrtStatus* CompileFunctions::ModelCompilationOptions_SetGraphOptimizationLevel(
    OrtModelCompilationOptions* model_compile_options,
    GraphOptimizationLevel graph_optimization_level) {
  return change_options(model_compile_options, [&](OrtModelCompilationOptions& options) {
    constexpr GraphOptimizationLevel kLevels[] = {
        ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_LAYOUT, ORT_ENABLE_ALL};
    if (std::ranges::find(kLevels, graph_optimization_level) == std::end(kLevels)) {
      refuse(ORT_INVALID_ARGUMENT, "graph_optimization_level with value ",
             static_cast<int>(graph_optimization_level), " is invalid");
    }
    options.session.optimization_level = graph_optimization_level;
  });
}

OrtStatus* CompileFunctions::CompileModel(const OrtEnv* env,
                                          const OrtModelCompilationOptions* model_options) {
  OrtStatus* of_program = nullptr;
  OrtStatus* refused = guarded(
      [&] { compile(require(env, "env"), require(model_options, "model_options"), of_program); });
  return refused ? refused : of_program;
}

}  // namespace sardonyx::ort_abi
