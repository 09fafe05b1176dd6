// Memory that sessions share: what create_and_register_allocator is for.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/core/memory/memory_source.h"

namespace sardonyx::python {

// For sessions with session.use_env_allocators; null where the program registered none.
std::shared_ptr<MemorySource> registered_memory();

void bind_session_memory(pybind11::module_& module);

}  // namespace sardonyx::python
