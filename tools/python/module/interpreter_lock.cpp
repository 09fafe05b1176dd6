#include "tools/python/module/interpreter_lock.h"

#include <chrono>
#include <thread>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace sardonyx::python {
namespace {

// Whether this thread is the one that ends the interpreter: it alone can give up the lock then.
thread_local bool ends_interpreter = false;

bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

[[noreturn]] void stand_still() {
  while (true)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

// Python ends a thread that waits for the lock of an ending interpreter by unwinding its stack.
// C++ must not let that through: destructors on the way would touch Python's objects unlocked.
template <typename Call>
auto without_unwinding(const Call& call) {
#ifdef __GLIBCXX__
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    stand_still();
  }
#else
  return call();
#endif
}

template <typename Take>
auto take_lock(const Take& take) {
  if (is_ending() && !ends_interpreter && !PyGILState_Check()) stand_still();
  return without_unwinding(take);
}

}  // namespace

UnlockedInterpreter::UnlockedInterpreter() {
  if (is_ending()) ends_interpreter = true;
  thread_ = PyEval_SaveThread();
}

UnlockedInterpreter::~UnlockedInterpreter() {
  take_lock([this] { PyEval_RestoreThread(thread_); });
}

LockedInterpreter::LockedInterpreter() : state_(take_lock([] { return PyGILState_Ensure(); })) {}

LockedInterpreter::~LockedInterpreter() {
  PyGILState_Release(state_);
}

pybind11::object call_python(const pybind11::handle& function, const pybind11::tuple& arguments) {
  return call_python(function, arguments, pybind11::dict());
}

pybind11::object call_python(const pybind11::handle& function, const pybind11::tuple& arguments,
                             const pybind11::dict& named) {
  PyObject* const result = without_unwinding(
      [&] { return PyObject_Call(function.ptr(), arguments.ptr(), named.ptr()); });
  if (!result) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

}  // namespace sardonyx::python
