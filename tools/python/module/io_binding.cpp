#include "tools/python/module/io_binding.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "tools/python/module/arrays.h"
#include "tools/python/module/ort_value.h"
#include "tools/python/module/session.h"

namespace sardonyx::python {

namespace {

class PyIoBinding {
 public:
  explicit PyIoBinding(py::object session)
      : holder_(std::move(session)),
        session_(holder_.cast<PySession&>()),
        slots_(session_.session().outputs().size()) {}

  void bind_array(const std::string& name, const py::object& array) {
    inputs_[py::str(name)] = PyOrtValue{session_.input_value(name, array)};
  }
  void bind_value(const std::string& name, const PyOrtValue& value) {
    inputs_[py::str(name)] = value;
  }
  // Left to the library: the run shows its result.
  void leave_output(const std::string& name) { slot_of(name) = OutputSlot(); }
  void bind_output(const std::string& name, const PyOrtValue& value) {
    slot_of(name) = OutputSlot::bound(value.datum.tensor());
  }
  void bind_output_memory(const std::string& name, const py::object& array) {
    slot_of(name) = OutputSlot::bound(tensor_from_array(array, name));
  }
  void clear_inputs() { inputs_ = py::dict(); }
  void clear_outputs() {
    order_.clear();
    std::ranges::fill(slots_, OutputSlot());
  }

  void run(const py::object& options) {
    if (order_.empty()) fail(ErrorCode::kInvalidArgument, "run_with_iobinding: no output is bound");
    std::vector<size_t> wanted = order_;
    std::ranges::sort(wanted);
    std::vector<Datum> inputs = session_.inputs_from(inputs_, true);
    session_.add_adapted(inputs, options);
    session_.run_into(inputs, slots_, wanted, options, /*are_outputs_strict=*/true);
  }

  std::vector<PyOrtValue> outputs() const {
    std::vector<PyOrtValue> values;
    for (const size_t index : order_) {
      const OutputSlot& slot = slots_[index];
      // Bound memory is the caller's, and shown as it is; the rest is copied where others hold it.
      values.push_back(slot.is_written() ? PyOrtValue{slot.memory()} : owned_value(slot.value()));
    }
    return values;
  }
  py::list arrays() const {
    py::list list;
    for (const size_t index : order_)
      list.append(python_from_datum(Datum(slots_[index].value())));
    return list;
  }
  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const size_t index : order_)
      names.push_back(session_.session().outputs()[index].name);
    return names;
  }

 private:
  OutputSlot& slot_of(const std::string& name) {
    const size_t index = session_.output_index(name);
    if (std::ranges::find(order_, index) == order_.end()) order_.push_back(index);
    return slots_[index];
  }

  py::object holder_;
  PySession& session_;
  py::dict inputs_;
  std::vector<OutputSlot> slots_;  // of all outputs
  std::vector<size_t> order_;      // of those that are bound, by time
};

}  // namespace

void bind_io_binding(py::module_& module) {
  py::class_<PyIoBinding>(module, "SessionIOBinding")
      .def(py::init<py::object>())
      .def("bind_array", &PyIoBinding::bind_array)
      .def("bind_value", &PyIoBinding::bind_value)
      .def("leave_output", &PyIoBinding::leave_output)
      .def("bind_output", &PyIoBinding::bind_output)
      .def("bind_output_memory", &PyIoBinding::bind_output_memory)
      .def("clear_inputs", &PyIoBinding::clear_inputs)
      .def("clear_outputs", &PyIoBinding::clear_outputs)
      .def("run", &PyIoBinding::run)
      .def("outputs", &PyIoBinding::outputs)
      .def("arrays", &PyIoBinding::arrays)
      .def("output_names", &PyIoBinding::output_names);
}

}  // namespace sardonyx::python
