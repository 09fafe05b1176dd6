// Python's interpreter lock: given up while C++ computes, taken for calls into Python.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

// Lets other Python threads run until its end. Of a thread that is still computing when the
// interpreter ends there is no end: it stands still, as Python's own daemon threads do.
class UnlockedInterpreter {
 public:
  UnlockedInterpreter();
  ~UnlockedInterpreter();
  UnlockedInterpreter(const UnlockedInterpreter&) = delete;
  UnlockedInterpreter& operator=(const UnlockedInterpreter&) = delete;

 private:
  PyThreadState* thread_;
};

// Holds the lock, in any thread; it may hold it already.
class LockedInterpreter {
 public:
  LockedInterpreter();
  ~LockedInterpreter();
  LockedInterpreter(const LockedInterpreter&) = delete;
  LockedInterpreter& operator=(const LockedInterpreter&) = delete;

 private:
  PyGILState_STATE state_;
};

// Calls a function of Python from C++ by positional arguments, and by named ones where the third
// operand is a dict of them, with the lock held; what it raises is an error_already_set. Where the
// interpreter ends meanwhile, a thread that is not the one to end it stands still in the call: it
// is not unwound, since destructors on the way would touch objects of Python without the lock.
pybind11::object call_python(const pybind11::handle& function, const pybind11::tuple& arguments);
pybind11::object call_python(const pybind11::handle& function, const pybind11::tuple& arguments,
                             const pybind11::dict& named);
template <typename... Arguments>
pybind11::object call_python(const pybind11::handle& function, const Arguments&... arguments) {
  return call_python(function, pybind11::make_tuple(arguments...));
}

}  // namespace sardonyx::python
