// The functions of sx_binding: setting the inputs and outputs of repeated runs.
#include "executor/c_api/binding.h"

#include "executor/c_api/value.h"

namespace sardonyx::c_api {
namespace {

template <typename List>
auto& item_at(List& list, size_t index, const char* what) {
  check_index(index, list, what);
  return list[index];
}

sx_status set_input(sx_binding* binding, size_t index, const auto& make) {
  return guarded([&] {
    Datum& input = item_at(idle(binding).inputs, index, "inputs");
    input = make();
  });
}

const OutputSlot& output_at(const sx_binding* binding, size_t index) {
  const OutputSlot& output = item_at(idle(binding).outputs, index, "outputs");
  if (!output.value().defined()) {
    fail(ErrorCode::kInvalidArgument, "output ", index,
         ": it is not there: nothing has been run yet, or it was not among the chosen ones");
  }
  return output;
}

const Tensor& output_tensor(const sx_binding* binding, size_t index) {
  return tensor_in(output_at(binding, index).value(), text("output ", index));
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_binding_create(sx_session* session, sx_binding** binding) {
  return guarded([&] {
    sx_binding*& place = require_place(binding, "binding");
    place = new sx_binding(require(session, "session").shared);
  });
}

void sx_binding_destroy(sx_binding* binding) {
  delete binding;
}

sx_status sx_binding_set_input(sx_binding* binding, size_t index, sx_dtype dtype,
                               const int64_t* dims, size_t rank, const void* data, size_t size) {
  return set_input(binding, index, [&] { return borrowed(dtype, dims, rank, data, size); });
}

sx_status sx_binding_set_string_input(sx_binding* binding, size_t index, const int64_t* dims,
                                      size_t rank, const char* const* strings,
                                      const size_t* lengths) {
  return set_input(binding, index, [&] { return copied_strings(dims, rank, strings, lengths); });
}

sx_status sx_binding_set_input_value(sx_binding* binding, size_t index, const sx_value* value) {
  return set_input(binding, index, [&] { return require(value, "value").datum; });
}

sx_status sx_binding_clear_input(sx_binding* binding, size_t index) {
  return set_input(binding, index, [] { return Datum(); });
}

sx_status sx_binding_set_output(sx_binding* binding, size_t index, sx_dtype dtype,
                                const int64_t* dims, size_t rank, void* data, size_t size) {
  return guarded([&] {
    OutputSlot& output = item_at(idle(binding).outputs, index, "outputs");
    output = OutputSlot::bound(borrowed(dtype, dims, rank, data, size));
  });
}

sx_status sx_binding_clear_output(sx_binding* binding, size_t index) {
  return guarded([&] { item_at(idle(binding).outputs, index, "outputs") = OutputSlot(); });
}

sx_status sx_binding_choose_outputs(sx_binding* binding, const size_t* indices, size_t count) {
  return guarded([&] {
    sx_binding& changed = idle(binding);
    if (count > 0) require(indices, "indices");
    check_count(count, indices, "count");
    std::vector<size_t> chosen(indices, indices + count);
    for (const size_t index : chosen)
      check_index(index, changed.outputs, "outputs");
    std::ranges::sort(chosen);
    const auto repeated = std::ranges::unique(chosen);
    chosen.erase(repeated.begin(), repeated.end());
    changed.chosen = std::move(chosen);
  });
}

sx_status sx_binding_output(const sx_binding* binding, size_t index, sx_tensor* tensor) {
  return guarded([&] {
    const Tensor& output = output_tensor(binding, index);
    fill_struct(tensor, described(output, binding->outputs[index].is_written()), "tensor");
  });
}

sx_status sx_binding_output_string(const sx_binding* binding, size_t index, size_t element,
                                   const char** string, size_t* length) {
  return guarded([&] {
    const std::span<const std::string> elements =
        output_tensor(binding, index).values<std::string>();
    check_index(element, elements, "elements");
    require(string, "string") = elements[element].data();
    require(length, "length") = elements[element].size();
  });
}

sx_status sx_binding_output_strings(const sx_binding* binding, size_t index, const char** strings,
                                    size_t* lengths, size_t count) {
  return guarded([&] { list_strings(output_tensor(binding, index), strings, lengths, count); });
}

sx_status sx_binding_output_value(const sx_binding* binding, size_t index, sx_value** value) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    const OutputSlot& output = output_at(binding, index);
    place = new sx_value(kept(output.value()));
  });
}

}  // extern "C"
