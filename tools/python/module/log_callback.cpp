#include "tools/python/module/log_callback.h"

#include <atomic>

#include "tools/python/module/interpreter_lock.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// Read and written with the interpreter's lock; never destroyed, since sessions may log until the
// very end of the process.
py::object& callback() {
  static auto& kept = *new py::object;
  return kept;
}
std::atomic<bool> has_callback = false;

int severity_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 0;
    case LogLevel::kInfo:
      return 1;
    case LogLevel::kWarning:
      return 2;
    default:
      return 3;
  }
}

// Nobody waits for what the function raises: Python reports it as it does for destructors.
void tell(LogLevel level, const std::string& logid, std::string_view message) {
  const LockedInterpreter locked;
  const py::object function = callback();
  if (!function) return;
  try {
    call_python(function, severity_of(level), "onnxruntime", logid, "sardonyx", message);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("the function of set_default_logger_callback");
  }
}

}  // namespace

void set_log_callback(const py::object& given) {
  if (!given.is_none() && !PyCallable_Check(given.ptr()))
    fail(ErrorCode::kInvalidArgument,
         "set_default_logger_callback: expected a function or None, got ",
         std::string(py::repr(given)));
  callback() = given.is_none() ? py::object() : given;
  has_callback = !given.is_none();
}

LogSink callback_sink(const std::string& logid) {
  if (!has_callback) return {};
  return [logid, to_stderr = Log(log_level_from_environment())](LogLevel level,
                                                                std::string_view message) {
    if (has_callback)
      tell(level, logid, message);
    else
      to_stderr.write(level, message);
  };
}

}  // namespace sardonyx::python
