#include "tools/python/module/session_memory.h"

#include <mutex>

#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

namespace sardonyx::python {

namespace {

struct Registered {
  std::mutex mutex;
  std::shared_ptr<OrtAllocator> allocator;
};

// Never destroyed: tensors on its memory may outlive the module.
Registered& registered() {
  static auto& kept = *new Registered;
  return kept;
}

// A later one takes the place of it for sessions that are made from then on.
void register_arena(size_t limit) {
  std::shared_ptr<OrtAllocator> made(ort_abi::new_arena(ort_abi::cpu_memory_info(), limit),
                                     ort_abi::Functions::ReleaseAllocator);
  const std::lock_guard lock(registered().mutex);
  registered().allocator = std::move(made);
}

}  // namespace

std::shared_ptr<MemorySource> registered_memory() {
  const std::lock_guard lock(registered().mutex);
  return registered().allocator ? ort_abi::memory_from(registered().allocator) : nullptr;
}

void bind_session_memory(pybind11::module_& module) {
  module.def("_register_arena", &register_arena, pybind11::arg("limit"));
}

}  // namespace sardonyx::python
