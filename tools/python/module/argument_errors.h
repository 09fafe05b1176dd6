// What functions that pybind11 binds say of arguments that do not fit.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

// To be called when all is bound: functions, methods and properties of `module`, its classes and
// its modules then raise TypeErrors of one line, which name what was called, what it takes and what
// came: "Optimizer.load_state_dict(): expected (state_dict: Dict[str, Tensor]), got (3)".
void shorten_argument_errors(const pybind11::module_& module);

}  // namespace sardonyx::python
