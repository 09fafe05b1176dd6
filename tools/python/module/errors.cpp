#include "tools/python/module/errors.h"

#include "executor/ort_abi/status.h"
#include "tools/python/module/python_words.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

struct StatusClass {
  OrtErrorCode code;
  const char* name;
  const char* constant;
};
constexpr StatusClass kStatusClasses[] = {
    {ORT_FAIL, "Fail", "FAIL"},
    {ORT_INVALID_ARGUMENT, "InvalidArgument", "INVALID_ARGUMENT"},
    {ORT_NO_SUCHFILE, "NoSuchFile", "NO_SUCHFILE"},
    {ORT_NO_MODEL, "NoModel", "NO_MODEL"},
    {ORT_ENGINE_ERROR, "EngineError", "ENGINE_ERROR"},
    {ORT_RUNTIME_EXCEPTION, "RuntimeException", "RUNTIME_EXCEPTION"},
    {ORT_INVALID_PROTOBUF, "InvalidProtobuf", "INVALID_PROTOBUF"},
    {ORT_MODEL_LOADED, "ModelLoaded", "MODEL_LOADED"},
    {ORT_NOT_IMPLEMENTED, "NotImplemented", "NOT_IMPLEMENTED"},
    {ORT_INVALID_GRAPH, "InvalidGraph", "INVALID_GRAPH"},
    {ORT_EP_FAIL, "EPFail", "EP_FAIL"},
    {ORT_MODEL_LOAD_CANCELED, "ModelLoadCanceled", "MODEL_LOAD_CANCELED"},
    {ORT_MODEL_REQUIRES_COMPILATION, "ModelRequiresCompilation", "MODEL_REQUIRES_COMPILATION"},
    {ORT_NOT_FOUND, "NotFound", "NOT_FOUND"},
};

// Classes live as long as the process: a translator may be called until its very end.
PyObject* classes[std::size(kStatusClasses) + 1] = {};

void raise(OrtErrorCode code, const char* what) {
  const StatusClass& status = kStatusClasses[code - 1];
  const std::string message = text("[sardonyx] : ", static_cast<int>(code), " : ", status.constant,
                                   " : ", in_python_words(what));
  PyErr_SetString(classes[code], message.c_str());
}

}  // namespace

void bind_errors(py::module_& module) {
  for (const StatusClass& status : kStatusClasses) {
    const std::string name = std::string("sardonyx.") + status.name;
    PyObject* made = PyErr_NewException(name.c_str(), PyExc_RuntimeError, nullptr);
    if (!made) throw py::error_already_set();
    classes[status.code] = made;
    module.attr(status.name) = py::reinterpret_borrow<py::object>(made);
  }
  py::register_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending) std::rethrow_exception(pending);
    } catch (const Error& error) {
      raise(ort_abi::code_of(error.code()), error.what());
    } catch (const ort_abi::Failure& error) {
      raise(error.code(), error.what());
    }
  });
}

}  // namespace sardonyx::python
