#include "tools/python/module/compiler.h"

#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "executor/ort_abi/model_editor/compile_options.h"
#include "executor/ort_abi/model_editor/external_info.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "tools/python/module/interpreter_lock.h"
#include "tools/python/module/options.h"
#include "tools/python/module/ort_value.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

using ort_abi::CompileFunctions;
using ort_abi::Functions;

void require_ok(OrtStatus* refused) {
  if (!refused) return;
  const ort_abi::Failure failure(refused->code, refused->message);
  Functions::ReleaseStatus(refused);
  throw failure;
}

// The environment of the process, for as long as this lives.
class HeldEnv {
 public:
  HeldEnv() { require_ok(Functions::CreateEnv(ORT_LOGGING_LEVEL_WARNING, "sardonyx", &env_)); }
  ~HeldEnv() { Functions::ReleaseEnv(env_); }
  HeldEnv(const HeldEnv&) = delete;
  HeldEnv& operator=(const HeldEnv&) = delete;
  OrtEnv* get() const { return env_; }

 private:
  OrtEnv* env_ = nullptr;
};

// What a function of the program's raised, for the caller of the compilation.
template <typename Call>
OrtStatus* told(const Call& call) {
  const LockedInterpreter locked;
  try {
    call();
    return nullptr;
  } catch (py::error_already_set& error) {
    return Functions::CreateStatus(ORT_FAIL, error.what());
  } catch (const std::exception& error) {
    return Functions::CreateStatus(ORT_FAIL, error.what());
  }
}

OrtStatus* write_bytes(void* function, const void* data, size_t size) {
  return told([&] {
    call_python(*static_cast<const py::object*>(function),
                py::bytes(static_cast<const char*>(data), size));
  });
}

OrtStatus* place_initializer(void* function, const char* name, const OrtValue* value,
                             const OrtExternalInitializerInfo* before,
                             OrtExternalInitializerInfo** after) {
  *after = nullptr;
  return told([&] {
    const py::object where =
        call_python(*static_cast<const py::object*>(function), name, owned_value(value->datum),
                    before ? py::cast(*before) : py::none());
    if (!where.is_none())
      *after = new OrtExternalInitializerInfo(where.cast<OrtExternalInitializerInfo>());
  });
}

// What the session's options say of how a model is loaded.
OrtSessionOptions load_options_of(const PySessionOptions& given) {
  OrtSessionOptions made;
  if (given.op_libraries) made = *given.op_libraries;
  made.config = OrtKeyValuePairs({given.config.begin(), given.config.end()});
  made.initializers = given.initializers;
  made.external_files = given.external_files;
  return made;
}

// A model, and what is to be made of it.
struct PyModelCompiler {
  PySessionOptions session;
  py::object model;  // a path, or bytes
  std::string external_file;
  size_t external_threshold;
  uint32_t flags;
  GraphOptimizationLevel level;
  py::object place;  // a function, or None
};

// One compilation, whose output is set and which is then run.
class Compilation {
 public:
  explicit Compilation(const PyModelCompiler& of) {
    const OrtSessionOptions session = load_options_of(of.session);
    require_ok(CompileFunctions::CreateModelCompilationOptionsFromSessionOptions(env_.get(),
                                                                                 &session, &made_));
    options_.reset(made_);
    set_model(of.model);
    set_external(of);
    require_ok(CompileFunctions::ModelCompilationOptions_SetFlags(made_, of.flags));
    require_ok(CompileFunctions::ModelCompilationOptions_SetGraphOptimizationLevel(
        made_, static_cast<::GraphOptimizationLevel>(of.level)));
  }
  OrtModelCompilationOptions* options() const { return made_; }
  void run() const {
    OrtStatus* status = nullptr;
    {
      const UnlockedInterpreter unlocked;
      status = CompileFunctions::CompileModel(env_.get(), made_);
    }
    require_ok(status);
  }

 private:
  struct ReleaseCompilation {
    void operator()(OrtModelCompilationOptions* options) const {
      CompileFunctions::ReleaseModelCompilationOptions(options);
    }
  };

  void set_model(const py::object& model) {
    if (!PyBytes_Check(model.ptr())) {
      const std::string path = model.cast<std::string>();
      require_ok(CompileFunctions::ModelCompilationOptions_SetInputModelPath(made_, path.c_str()));
      return;
    }
    const auto bytes = model.cast<std::string_view>();  // which stay the object's
    require_ok(CompileFunctions::ModelCompilationOptions_SetInputModelFromBuffer(
        made_, bytes.data(), bytes.size()));
  }
  void set_external(const PyModelCompiler& of) {
    if (!of.external_file.empty()) {
      require_ok(CompileFunctions::ModelCompilationOptions_SetOutputModelExternalInitializersFile(
          made_, of.external_file.c_str(), of.external_threshold));
    }
    if (of.place.is_none()) return;
    require_ok(CompileFunctions::ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(
        made_, place_initializer, const_cast<py::object*>(&of.place)));
  }

  HeldEnv env_;
  OrtModelCompilationOptions* made_ = nullptr;
  std::unique_ptr<OrtModelCompilationOptions, ReleaseCompilation> options_;
};

void compile_to_file(const PyModelCompiler& compiler, const std::optional<std::string>& path) {
  const Compilation compilation(compiler);
  if (path) {
    require_ok(CompileFunctions::ModelCompilationOptions_SetOutputModelPath(compilation.options(),
                                                                            path->c_str()));
  }
  compilation.run();
}

void compile_to_stream(const PyModelCompiler& compiler, const py::object& function) {
  const Compilation compilation(compiler);
  require_ok(CompileFunctions::ModelCompilationOptions_SetOutputModelWriteFunc(
      compilation.options(), write_bytes, const_cast<py::object*>(&function)));
  compilation.run();
}

py::bytes compile_to_bytes(const PyModelCompiler& compiler) {
  py::list parts;
  compile_to_stream(compiler, parts.attr("append"));
  return py::bytes("").attr("join")(parts).cast<py::bytes>();
}

}  // namespace

void bind_compiler(py::module_& module) {
  py::class_<OrtExternalInitializerInfo>(module, "OrtExternalInitializerInfo",
                                         "Where an initializer is, outside of a model's file.")
      .def(py::init([](std::string path, int64_t offset, size_t bytes) {
             return OrtExternalInitializerInfo{std::move(path), offset, bytes};
           }),
           py::arg("filepath"), py::arg("file_offset"), py::arg("byte_size"))
      .def_readonly("filepath", &OrtExternalInitializerInfo::path)
      .def_readonly("file_offset", &OrtExternalInitializerInfo::offset)
      .def_readonly("byte_size", &OrtExternalInitializerInfo::bytes);
  py::class_<PyModelCompiler>(module, "ModelCompiler", "Writes a model as optimised ahead.")
      .def(py::init([](const PySessionOptions& session, py::object model,
                       const std::string& external_file, size_t external_threshold, uint32_t flags,
                       GraphOptimizationLevel level, py::object place) {
        return PyModelCompiler{session, std::move(model), external_file, external_threshold, flags,
                               level,   std::move(place)};
      }))
      .def("_to_file", &compile_to_file)
      .def("_to_bytes", &compile_to_bytes)
      .def("_to_stream", &compile_to_stream);
}

}  // namespace sardonyx::python
