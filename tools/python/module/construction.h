// Objects of Python before their constructor.
#pragma once

namespace sardonyx::python {

// Call once, after all classes of the module are defined: an object of theirs that is used before
// its __init__ has run then throws py::type_error, where pybind11 would give it memory that nothing
// has filled.
void require_construction();

}  // namespace sardonyx::python
