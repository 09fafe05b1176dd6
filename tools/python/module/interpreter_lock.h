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

}  // namespace sardonyx::python
