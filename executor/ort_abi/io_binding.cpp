#include "executor/ort_abi/io_binding.h"

#include <algorithm>
#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

namespace sardonyx::ort_abi {
namespace {

OrtStatus* change_binding(OrtIoBinding* binding, const char* name, const auto& change) {
  return guarded([&] {
    OrtIoBinding& changed = require(binding, "binding");
    require(name, "name");
    change(changed);
  });
}

// All names in one piece, and the length of each.
void copy_names(const OrtIoBinding& binding, OrtAllocator& allocator, char** buffer,
                size_t** lengths) {
  size_t total = 0;
  for (const OrtIoBinding::BoundValue& bound : binding.outputs)
    total += bound.name.size();
  auto* sizes = static_cast<size_t*>(
      allocate(allocator, std::max<size_t>(1, binding.outputs.size()) * sizeof(size_t)));
  auto* names = static_cast<char*>(allocator.Alloc(&allocator, std::max<size_t>(1, total)));
  if (!names) {
    allocator.Free(&allocator, sizes);
    throw std::bad_alloc();
  }
  *buffer = names;
  *lengths = sizes;
  for (const OrtIoBinding::BoundValue& bound : binding.outputs) {
    std::memcpy(names, bound.name.data(), bound.name.size());
    names += bound.name.size();
    *sizes++ = bound.name.size();
  }
}

}  // namespace

OrtStatus* Functions::CreateIoBinding(OrtSession* session, OrtIoBinding** out) {
  return guarded([&] {
    OrtIoBinding*& place = require_place(out, "out");
    place = new OrtIoBinding(require(session, "session"));
  });
}

void Functions::ReleaseIoBinding(OrtIoBinding* input) {
  delete input;
}

OrtStatus* Functions::BindInput(OrtIoBinding* binding_ptr, const char* name,
                                const OrtValue* val_ptr) {
  return change_binding(binding_ptr, name, [&](OrtIoBinding& binding) {
    const OrtValue& value = require(val_ptr, "value");
    if (std::ranges::find(binding.session->inputs, name, &Port::name) ==
        binding.session->inputs.end())
      refuse(ORT_FAIL, "Failed to find input name in the mapping: ", name);
    binding.bind_input(name, value);
  });
}

OrtStatus* Functions::BindOutput(OrtIoBinding* binding_ptr, const char* name,
                                 const OrtValue* val_ptr) {
  return change_binding(binding_ptr, name, [&](OrtIoBinding& binding) {
    binding.bind_output(name, require(val_ptr, "value"));
  });
}

OrtStatus* Functions::BindOutputToDevice(OrtIoBinding* binding_ptr, const char* name,
                                         const OrtMemoryInfo* mem_info_ptr) {
  return change_binding(binding_ptr, name, [&](OrtIoBinding& binding) {
    // There is one device: what is bound to another is in its memory.
    require(mem_info_ptr, "mem_info");
    binding.bind_output(name, OrtValue(Datum()));
  });
}

OrtStatus* Functions::GetBoundOutputNames(const OrtIoBinding* binding_ptr, OrtAllocator* allocator,
                                          char** buffer, size_t** lengths, size_t* count) {
  return guarded([&] {
    require_place(buffer, "buffer");
    require_place(lengths, "lengths");
    require(count, "count") = 0;
    const OrtIoBinding& binding = require(binding_ptr, "binding");
    require(allocator, "allocator");
    if (binding.outputs.empty()) return;
    copy_names(binding, *allocator, buffer, lengths);
    *count = binding.outputs.size();
  });
}

OrtStatus* Functions::GetBoundOutputValues(const OrtIoBinding* binding_ptr, OrtAllocator* allocator,
                                           OrtValue*** output, size_t* output_count) {
  return guarded([&] {
    OrtValue**& place = require_place(output, "output");
    require(output_count, "output_count") = 0;
    const OrtIoBinding& binding = require(binding_ptr, "binding");
    require(allocator, "allocator");
    if (binding.outputs.empty()) return;
    std::vector<std::unique_ptr<OrtValue>> copies;
    for (const OrtIoBinding::BoundValue& bound : binding.outputs)
      copies.push_back(std::make_unique<OrtValue>(bound.value));
    auto** values =
        static_cast<OrtValue**>(allocate(*allocator, copies.size() * sizeof(OrtValue*)));
    std::ranges::transform(copies, values, [](auto& copy) { return copy.release(); });
    place = values;
    *output_count = copies.size();
  });
}

void Functions::ClearBoundInputs(OrtIoBinding* binding_ptr) {
  if (binding_ptr) binding_ptr->clear_inputs();
}
void Functions::ClearBoundOutputs(OrtIoBinding* binding_ptr) {
  if (binding_ptr) binding_ptr->clear_outputs();
}

// The CPU's memory is always up to date.
OrtStatus* Functions::SynchronizeBoundInputs(OrtIoBinding* binding_ptr) {
  return guarded([&] { require(binding_ptr, "binding"); });
}
OrtStatus* Functions::SynchronizeBoundOutputs(OrtIoBinding* binding_ptr) {
  return guarded([&] { require(binding_ptr, "binding"); });
}

}  // namespace sardonyx::ort_abi

void OrtIoBinding::bind_input(const char* name, const OrtValue& value) {
  const auto at = std::ranges::find(inputs, name, &BoundValue::name);
  if (at != inputs.end()) {
    at->value = value;
    return;
  }
  BoundValue& bound = inputs.emplace_back(name, value);
  input_names_.push_back(bound.name.c_str());
  input_values_.push_back(&bound.value);
}

void OrtIoBinding::bind_output(const char* name, OrtValue value) {
  const auto at = std::ranges::find(outputs, name, &BoundValue::name);
  if (at != outputs.end()) {
    at->value = std::move(value);
    return;
  }
  BoundValue& bound = outputs.emplace_back(name, std::move(value));
  output_names_.push_back(bound.name.c_str());
  output_values_.push_back(&bound.value);
}

void OrtIoBinding::clear_inputs() {
  input_names_.clear();
  input_values_.clear();
  inputs.clear();
}

void OrtIoBinding::clear_outputs() {
  output_names_.clear();
  output_values_.clear();
  outputs.clear();
}

sardonyx::ort_abi::RunRequest OrtIoBinding::request() const {
  return {input_names_, input_values_, output_names_, output_values_};
}
