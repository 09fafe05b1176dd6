#include "tools/python/module/ort_value.h"

#include <pybind11/stl.h>

#include <cstring>

#include "executor/ort_abi/values/value.h"
#include "ir/core/bools.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/dlpack.h"
#include "tools/python/module/sparse.h"

namespace sardonyx::python {

namespace {

const Tensor& tensor_in(const PyOrtValue& value) {
  return value.datum.tensor();
}

// A name, or an OrtDevice.
void require_cpu(const char* function, const py::object& device) {
  const bool is_cpu = py::isinstance<py::str>(device)
                          ? device.attr("lower")().cast<std::string>() == "cpu"
                          : device.attr("device_type")().cast<int>() == 0;
  if (!is_cpu)
    fail(ErrorCode::kUnsupported, function, ": device ", std::string(py::repr(device)),
         ": there is \"cpu\" alone");
}

void copy_elements(const char* function, const Tensor& from, Tensor& to) {
  if (from.dtype() != to.dtype() || from.shape() != to.shape())
    fail(ErrorCode::kInvalidArgument, function, ": expected ", Datum(to).type(), ", got ",
         Datum(from).type());
  if (to.dtype() == DType::kString)
    to = from;
  else if (to.bytes() > 0)
    std::memmove(to.raw(), from.raw(), to.bytes());
}

PyOrtValue from_shape(const std::vector<int64_t>& shape, const py::object& element_type) {
  for (const int64_t dim : shape) {
    if (dim < 0)
      fail(ErrorCode::kInvalidArgument, "ortvalue_from_shape_and_type: dimension is ", dim);
  }
  DType dtype = DType::kUndefined;
  if (py::isinstance<py::int_>(element_type)) {
    const int number = element_type.cast<int>();
    if (number > 0 && number < kDTypeCount) dtype = static_cast<DType>(number);
  } else {
    dtype = dtype_of_numpy(py::module_::import("numpy").attr("dtype")(element_type));
  }
  if (dtype == DType::kUndefined)
    fail(ErrorCode::kInvalidArgument, "ortvalue_from_shape_and_type: no ONNX type for ",
         std::string(py::repr(element_type)));
  return {Tensor::zeros(dtype, Shape(shape.begin(), shape.end()))};
}

void update(PyOrtValue& value, const py::object& array) {
  copy_elements("update_inplace", tensor_from_array(array, "update_inplace"),
                value.datum.as_tensor());
}

// The array's bytes as elements of another type of the same size, such as bfloat16 of uint16.
PyOrtValue from_bits(const py::object& array, int number) {
  constexpr const char* kName = "ortvalue_from_numpy_with_onnx_type";
  if (number <= 0 || number >= kDTypeCount)
    fail(ErrorCode::kInvalidArgument, kName, ": no ONNX type has the number ", number);
  const auto dtype = static_cast<DType>(number);
  const Tensor given = tensor_from_array(array, kName);
  const bool is_plain = dtype != DType::kString && given.dtype() != DType::kString &&
                        !is_packed(dtype) && !is_packed(given.dtype());
  if (!is_plain || bits_of(dtype) != bits_of(given.dtype()))
    fail(ErrorCode::kInvalidArgument, kName, ": elements of ", given.dtype(), " can't be those of ",
         dtype, ": they have other sizes");
  Tensor made(dtype, given.shape(), given.buffer(), given.byte_offset());
  if (dtype == DType::kBool) {
    made = made.clone();  // the array stays as it is
    normalize_bools(made);
  }
  return {std::move(made)};
}

py::object numpy_of(const PyOrtValue& value) {
  // Its own: what a later update_inplace writes does not reach it.
  if (value.datum.is_tensor()) return array_from_tensor(tensor_in(value).clone());
  return python_from_datum(value.datum);
}

PySparseTensor as_sparse_tensor(const PyOrtValue& value) {
  if (!value.datum.is_sparse())
    fail(ErrorCode::kInvalidArgument, "as_sparse_tensor: expected a sparse tensor, got ",
         value.datum.type());
  return {value};
}

py::object array_protocol(const py::object& self, const py::object& dtype, const py::object& copy) {
  const auto& value = self.cast<const PyOrtValue&>();
  const bool is_shareable = value.datum.is_tensor() && tensor_in(value).dtype() != DType::kString &&
                            !is_packed(tensor_in(value).dtype());
  const bool is_copied = !copy.is_none() && copy.cast<bool>();
  py::object array = is_shareable ? shared_array(tensor_in(value)) : numpy_of(value);
  if (!dtype.is_none())
    array = array.attr("astype")(dtype, py::arg("copy") = is_copied);
  else if (is_copied && is_shareable)
    array = array.attr("copy")();
  return array;
}

}  // namespace

PyOrtValue owned_value(Datum datum) {
  if (datum.is_tensor()) {
    Tensor& tensor = datum.as_tensor();
    if (!ort_abi::is_alone(tensor)) tensor = tensor.clone();
  }
  return {std::move(datum)};
}

void bind_ort_value(py::module_& module) {
  py::class_<PyOrtValue>(module, "OrtValue", "A value of a model.")
      .def(py::init([](const PyOrtValue& value, const py::object&) { return value; }),
           py::arg("ortvalue"), py::arg("numpy_obj") = py::none())
      .def_static(
          "ortvalue_from_numpy",
          [](const py::object& array, const py::object& device, int, int) {
            require_cpu("ortvalue_from_numpy", device);
            return PyOrtValue{tensor_from_array(array, "ortvalue_from_numpy")};
          },
          py::arg("numpy_obj"), py::arg("device_type") = "cpu", py::arg("device_id") = 0,
          py::arg("vendor_id") = -1, "Over the array's own elements where they are contiguous.")
      .def_static("ortvalue_from_numpy_with_onnx_type", &from_bits, py::arg("data"),
                  py::arg("onnx_element_type"),
                  "Over the array's own elements, whose bits are taken as those of another type of "
                  "the same size, by its number of TensorProto.DataType: bfloat16 from uint16.")
      .def_static(
          "ortvalue_from_shape_and_type",
          [](const std::vector<int64_t>& shape, const py::object& type, const py::object& device,
             int, int) {
            require_cpu("ortvalue_from_shape_and_type", device);
            return from_shape(shape, type);
          },
          py::arg("shape"), py::arg("element_type"), py::arg("device_type") = "cpu",
          py::arg("device_id") = 0, py::arg("vendor_id") = -1,
          "Zeros. `element_type` is a NumPy type or a number of TensorProto.DataType.")
      .def_static(
          "ort_value_from_sparse_tensor", [](const PySparseTensor& sparse) { return sparse.value; },
          py::arg("sparse_tensor"))
      .def_static("_copy",
                  [](PyOrtValue& to, const PyOrtValue& from) {
                    copy_elements("copy_tensors", tensor_in(from), to.datum.as_tensor());
                  })
      .def("as_sparse_tensor", &as_sparse_tensor)
      .def("__array__", &array_protocol, py::arg("dtype") = py::none(),
           py::arg("copy") = py::none(),
           "Over the value's own elements where they need not be converted.")
      .def_property_readonly("_ortvalue", [](const py::object& self) { return self; })
      .def("_get_c_value", [](const py::object& self) { return self; })
      .def("numpy", &numpy_of,
           "A copy: an array of a tensor, a list of a sequence, a dict of a map.")
      .def("shape", [](const PyOrtValue& self) { return tensor_in(self).shape(); })
      .def("data_type", [](const PyOrtValue& self) { return type_text(self.datum.type()); })
      .def(
          "element_type",
          [](const PyOrtValue& self) { return static_cast<int>(tensor_in(self).dtype()); },
          "The number of TensorProto.DataType.")
      .def("device_name", [](const PyOrtValue&) { return "cpu"; })
      .def(
          "data_ptr",
          [](const PyOrtValue& self) { return reinterpret_cast<uintptr_t>(tensor_in(self).raw()); },
          "The address of the first element.")
      .def("tensor_size_in_bytes", [](const PyOrtValue& self) { return tensor_in(self).bytes(); })
      .def("has_value",
           [](const PyOrtValue& self) {
             return self.datum.is_optional() ? self.datum.optional().value() != nullptr
                                             : self.datum.defined();
           })
      .def("is_tensor", [](const PyOrtValue& self) { return self.datum.is_tensor(); })
      .def("is_sparse_tensor", [](const PyOrtValue& self) { return self.datum.is_sparse(); })
      .def("is_tensor_sequence",
           [](const PyOrtValue& self) {
             return self.datum.is_sequence() && self.datum.sequence().element.is_tensor();
           })
      .def("update_inplace", &update, py::arg("np_arr"),
           "Writes the array's elements into the value's memory.")
      .def("to_dlpack", [](const PyOrtValue& self) { return to_dlpack(tensor_in(self)); })
      .def_static(
          "from_dlpack",
          [](const py::object& source, bool is_bool) {
            return PyOrtValue{from_dlpack(source, is_bool)};
          },
          py::arg("dlpack_tensor"), py::arg("is_bool_tensor") = false,
          "With `is_bool_tensor` bytes are bools: DLPack's older versions have no type for them.")
      .def(
          "__dlpack__",
          [](const PyOrtValue& self, const py::object&) { return to_dlpack(tensor_in(self)); },
          py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const PyOrtValue&) { return py::make_tuple(1, 0); });
  module.def("is_dlpack_uint8_tensor", &is_dlpack_uint8, py::arg("dlpack_tensor"),
             "Whether a DLPack capsule is of uint8, as which older libraries give bools.");
}

}  // namespace sardonyx::python
