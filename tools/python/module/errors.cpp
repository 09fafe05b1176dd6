#include "tools/python/module/errors.h"

#include "ir/core/error.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// OrtErrorCode, by number.
struct StatusClass {
  int code;
  const char* name;
  const char* constant;
};
constexpr StatusClass kStatusClasses[] = {
    {1, "Fail", "FAIL"},
    {2, "InvalidArgument", "INVALID_ARGUMENT"},
    {3, "NoSuchFile", "NO_SUCHFILE"},
    {4, "NoModel", "NO_MODEL"},
    {5, "EngineError", "ENGINE_ERROR"},
    {6, "RuntimeException", "RUNTIME_EXCEPTION"},
    {7, "InvalidProtobuf", "INVALID_PROTOBUF"},
    {8, "ModelLoaded", "MODEL_LOADED"},
    {9, "NotImplemented", "NOT_IMPLEMENTED"},
    {10, "InvalidGraph", "INVALID_GRAPH"},
    {11, "EPFail", "EP_FAIL"},
    {12, "ModelLoadCanceled", "MODEL_LOAD_CANCELED"},
    {13, "ModelRequiresCompilation", "MODEL_REQUIRES_COMPILATION"},
    {14, "NotFound", "NOT_FOUND"},
};

int status_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 2;
    case ErrorCode::kInvalidModel:
      return 10;
    case ErrorCode::kUnsupported:
      return 9;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kCancelled:
    case ErrorCode::kDeadlineExceeded:
      return 1;
    case ErrorCode::kInternal:
      return 6;
  }
  return 1;
}

// Classes live as long as the process: a translator may be called until its very end.
PyObject* classes[std::size(kStatusClasses) + 1] = {};

void raise(const Error& error) {
  const int code = status_code(error.code());
  const StatusClass& status = kStatusClasses[code - 1];
  const std::string message =
      text("[sardonyx] : ", code, " : ", status.constant, " : ", std::string(error.what()));
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
      raise(error);
    }
  });
}

}  // namespace sardonyx::python
