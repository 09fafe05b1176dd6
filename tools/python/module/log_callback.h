// The log of sessions through a function of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "executor/log.h"

namespace sardonyx::python {

// None: there is none any more. Throws Error where it can't be called.
void set_log_callback(const pybind11::object& callback);

// The sink of a session that has this id. Empty where there is no function; lines of a session that
// outlives it go to stderr as far as SARDONYX_LOG asks for them.
LogSink callback_sink(const std::string& logid);

}  // namespace sardonyx::python
