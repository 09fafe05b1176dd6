#include "tools/python/module/arrays.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include "executor/ort_abi/values/value.h"
#include "ir/core/bools.h"
#include "tools/python/module/interpreter_lock.h"
#include "tools/python/module/ort_value.h"
#include "tools/python/module/sparse.h"

namespace sardonyx::python {

namespace {

// Called under the interpreter's lock.
void* import_array_functions() {
  import_array();
  return nullptr;
}

struct NumpyType {
  DType dtype;
  int number;  // NPY_NOTYPE: from ml_dtypes
  const char* name;
};
constexpr NumpyType kNumpyTypes[] = {
    {DType::kFloat, NPY_FLOAT, "float32"},
    {DType::kDouble, NPY_DOUBLE, "float64"},
    {DType::kFloat16, NPY_HALF, "float16"},
    {DType::kInt8, NPY_INT8, "int8"},
    {DType::kInt16, NPY_INT16, "int16"},
    {DType::kInt32, NPY_INT32, "int32"},
    {DType::kInt64, NPY_INT64, "int64"},
    {DType::kUInt8, NPY_UINT8, "uint8"},
    {DType::kUInt16, NPY_UINT16, "uint16"},
    {DType::kUInt32, NPY_UINT32, "uint32"},
    {DType::kUInt64, NPY_UINT64, "uint64"},
    {DType::kBool, NPY_BOOL, "bool"},
    {DType::kString, NPY_OBJECT, "object"},
    {DType::kComplex64, NPY_CFLOAT, "complex64"},
    {DType::kComplex128, NPY_CDOUBLE, "complex128"},
    {DType::kBFloat16, NPY_NOTYPE, "bfloat16"},
    {DType::kFloat8E4M3FN, NPY_NOTYPE, "float8_e4m3fn"},
    {DType::kFloat8E4M3FNUZ, NPY_NOTYPE, "float8_e4m3fnuz"},
    {DType::kFloat8E5M2, NPY_NOTYPE, "float8_e5m2"},
    {DType::kFloat8E5M2FNUZ, NPY_NOTYPE, "float8_e5m2fnuz"},
    {DType::kFloat8E8M0, NPY_NOTYPE, "float8_e8m0fnu"},
    {DType::kInt4, NPY_NOTYPE, "int4"},
    {DType::kUInt4, NPY_NOTYPE, "uint4"},
    {DType::kInt2, NPY_NOTYPE, "int2"},
    {DType::kUInt2, NPY_NOTYPE, "uint2"},
    {DType::kFloat4E2M1, NPY_NOTYPE, "float4_e2m1fn"},
};

const NumpyType& numpy_type(DType dtype) {
  for (const NumpyType& type : kNumpyTypes) {
    if (type.dtype == dtype) return type;
  }
  fail(ErrorCode::kUnsupported, "NumPy has no type for ", dtype);
}

int type_number(const py::handle& dtype) {
  return reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num;
}

PyArrayObject* as_array(const py::handle& object) {
  return reinterpret_cast<PyArrayObject*>(object.ptr());
}

// Lets go of a Python object wherever the last tensor over it ends.
void release_object(PyObject* object) {
  if (!Py_IsInitialized())
    return;  // at the exit of the process there is nothing to give it back to
  const LockedInterpreter locked;
  Py_DECREF(object);
}

std::shared_ptr<void> keep(const py::handle& object) {
  return {object.inc_ref().ptr(), [](void* held) { release_object(static_cast<PyObject*>(held)); }};
}

Shape shape_of(PyArrayObject* array) {
  const npy_intp* dims = PyArray_DIMS(array);
  return Shape(dims, dims + PyArray_NDIM(array));
}

std::string text_of(const py::handle& item, const std::string& name) {
  if (PyUnicode_Check(item.ptr())) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (!bytes) throw py::error_already_set();
    return {bytes, static_cast<size_t>(size)};
  }
  if (PyBytes_Check(item.ptr()))
    return {PyBytes_AS_STRING(item.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(item.ptr()))};
  fail(ErrorCode::kInvalidArgument, "input ", name, ": expected strings, got an element of type ",
       std::string(Py_TYPE(item.ptr())->tp_name));
}

Tensor strings_from_array(const py::handle& array, const std::string& name) {
  Tensor tensor = Tensor::allocate(DType::kString, shape_of(as_array(array)));
  const std::span<std::string> values = tensor.mutable_values<std::string>();
  const py::object flat = array.attr("ravel")().attr("tolist")();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = text_of(PyList_GET_ITEM(flat.ptr(), static_cast<Py_ssize_t>(i)), name);
  return tensor;
}

// Two and four bits per element: NumPy's types keep each in a byte.
Tensor packed_from_array(const py::handle& array, DType dtype) {
  const py::object plain = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject*>(PyArray_GETCONTIGUOUS(as_array(array))));
  Tensor tensor = Tensor::zeros(dtype, shape_of(as_array(plain)));
  const auto* codes = static_cast<const uint8_t*>(PyArray_DATA(as_array(plain)));
  for (int64_t i = 0; i < tensor.count(); ++i)
    set_packed(dtype, tensor.raw(), i, codes[i]);
  return tensor;
}

py::object new_array(const Tensor& tensor, const py::object& dtype, void* data) {
  PyObject* array = PyArray_NewFromDescr(
      &PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.inc_ref().ptr()),
      static_cast<int>(tensor.rank()), const_cast<npy_intp*>(tensor.shape().data()), nullptr, data,
      data ? NPY_ARRAY_CARRAY : 0, nullptr);
  if (!array) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array);
}

// An array over the tensor's elements, which a capsule holds.
py::object owning_array(Tensor tensor) {
  const py::object dtype = numpy_dtype(tensor.dtype());
  auto held = std::make_unique<Tensor>(std::move(tensor));
  void* data = held->raw();
  if (!data) return new_array(*held, dtype, nullptr);
  py::object array = new_array(*held, dtype, data);
  py::object owner =
      py::reinterpret_steal<py::object>(PyCapsule_New(held.get(), nullptr, [](PyObject* capsule) {
        delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, nullptr));
      }));
  if (!owner) throw py::error_already_set();
  held.release();
  if (PyArray_SetBaseObject(as_array(array), owner.release().ptr()) != 0)
    throw py::error_already_set();
  return array;
}

py::object strings_array(const Tensor& tensor) {
  py::object array = new_array(tensor, numpy_dtype(DType::kString), nullptr);
  auto* items = static_cast<PyObject**>(PyArray_DATA(as_array(array)));
  for (const std::string& value : tensor.values<std::string>()) {
    PyObject* item =
        PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr);
    if (!item) throw py::error_already_set();
    Py_XDECREF(std::exchange(*items++, item));
  }
  return array;
}

py::object packed_array(const Tensor& tensor) {
  py::object array = new_array(tensor, numpy_dtype(tensor.dtype()), nullptr);
  auto* codes = static_cast<uint8_t*>(PyArray_DATA(as_array(array)));
  for (int64_t i = 0; i < tensor.count(); ++i)
    codes[i] = get_packed(tensor.dtype(), tensor.raw(), i);
  return array;
}

const char* c_type_name(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return "int64_t";
    case DType::kString:
      return "std::string";
    case DType::kDouble:
      return "double";
    default:
      return "float";
  }
}

// NumPy would read numbers from texts and write texts of numbers.
void check_items(const py::list& items, DType dtype, const char* what, const std::string& name) {
  for (const py::handle& item : items) {
    const bool is_text = PyUnicode_Check(item.ptr()) || PyBytes_Check(item.ptr());
    if (is_text == (dtype == DType::kString)) continue;
    fail(ErrorCode::kInvalidArgument, "input ", name, ": Unexpected ", what, " type  ",
         std::string(py::str(py::type::of(item))), ", it cannot be linked to C type ",
         c_type_name(dtype));
  }
}

Map map_from_python(const py::handle& object, const Type& type, const std::string& name) {
  if (!PyDict_Check(object.ptr()))
    fail(ErrorCode::kInvalidArgument, "input ", name, ": expected a dict for ", type, ", got ",
         std::string(Py_TYPE(object.ptr())->tp_name));
  const py::dict dict = py::reinterpret_borrow<py::dict>(object);
  const auto column = [&](const py::list& items, DType dtype, const char* what) {
    check_items(items, dtype, what, name);
    const py::object array =
        py::module_::import("numpy").attr("array")(items, py::arg("dtype") = numpy_dtype(dtype));
    return tensor_from_array(array, name);
  };
  const Type& value = *type.element;
  return {.keys = column(py::list(dict.attr("keys")()), type.dtype, "key"),
          .values = column(py::list(dict.attr("values")()), value.dtype, "value")};
}

Sequence sequence_from_python(const py::handle& object, const Type& type, const std::string& name) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr()))
    fail(ErrorCode::kInvalidArgument, "input ", name, ": expected a list for ", type, ", got ",
         std::string(Py_TYPE(object.ptr())->tp_name));
  Sequence sequence{.element = *type.element, .items = {}};
  for (const py::handle& item : py::reinterpret_borrow<py::sequence>(object))
    sequence.items.push_back(datum_from_python(item, *type.element, name));
  return sequence;
}

py::object dict_from_map(const Map& map) {
  const py::list keys = array_from_tensor(map.keys).attr("tolist")();
  const py::list values = array_from_tensor(map.values).attr("tolist")();
  py::dict dict;
  for (size_t i = 0; i < keys.size(); ++i)
    dict[keys[i]] = values[i];
  return dict;
}

}  // namespace

void import_numpy() {
  import_array_functions();
  if (PyErr_Occurred()) throw py::error_already_set();
}

std::string type_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return text("tensor(", type.dtype, ")");
    case Type::Kind::kSparseTensor:
      return text("sparse_tensor(", type.dtype, ")");
    case Type::Kind::kSequence:
      return text("seq(", type_text(*type.element), ")");
    case Type::Kind::kOptional:
      return text("optional(", type_text(*type.element), ")");
    case Type::Kind::kMap:
      return text("map(", type.dtype, ",", type_text(*type.element), ")");
    default:
      return "opaque";
  }
}

py::object numpy_dtype(DType dtype) {
  const NumpyType& type = numpy_type(dtype);
  if (type.number != NPY_NOTYPE)
    return py::reinterpret_steal<py::object>(
        reinterpret_cast<PyObject*>(PyArray_DescrFromType(type.number)));
  try {
    return py::module_::import("numpy").attr("dtype")(
        py::module_::import("ml_dtypes").attr(type.name));
  } catch (const py::error_already_set&) {
    throw py::type_error(text("NumPy has no type for ", dtype,
                              ": install the package ml_dtypes, or exchange the value as an "
                              "OrtValue or over DLPack"));
  }
}

bool has_numpy_dtype(DType dtype) {
  if (numpy_type(dtype).number != NPY_NOTYPE) return true;
  try {
    (void)numpy_dtype(dtype);
    return true;
  } catch (const py::type_error&) {
    return false;
  }
}

DType dtype_of_numpy(const py::handle& dtype) {
  const int number = type_number(dtype);
  for (const NumpyType& type : kNumpyTypes) {
    if (type.number == number) return type.dtype;
  }
  if (PyTypeNum_ISSTRING(number)) return DType::kString;
  if (number == NPY_LONGLONG) return DType::kInt64;
  if (number == NPY_ULONGLONG) return DType::kUInt64;
  const std::string name = py::str(dtype.attr("name"));
  for (const NumpyType& type : kNumpyTypes) {
    if (type.number == NPY_NOTYPE && name == type.name) return type.dtype;
  }
  return DType::kUndefined;
}

Tensor tensor_from_array(const py::handle& object, const std::string& name) {
  if (!PyArray_Check(object.ptr())) {
    const py::object array = py::module_::import("numpy").attr("asarray")(object);
    return tensor_from_array(array, name);
  }
  PyArrayObject* array = as_array(object);
  const DType dtype = dtype_of_numpy(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
  // Bytes of no type are texts, as ONNX Runtime has them.
  if (PyArray_TYPE(array) == NPY_VOID && !PyDataType_HASFIELDS(PyArray_DESCR(array)))
    return strings_from_array(object, name);
  if (dtype == DType::kUndefined)
    fail(ErrorCode::kInvalidArgument, "input ", name, ": no ONNX type for NumPy's ",
         std::string(py::str(object.attr("dtype"))));
  if (dtype == DType::kString) return strings_from_array(object, name);
  if (is_packed(dtype)) return packed_from_array(object, dtype);
  if (!PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array) ||
      PyArray_ISBYTESWAPPED(array)) {
    PyArray_Descr* native = PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE);
    if (!native) throw py::error_already_set();
    PyObject* plain = PyArray_FromArray(array, native, NPY_ARRAY_CARRAY_RO);
    if (!plain) throw py::error_already_set();
    return tensor_from_array(py::reinterpret_steal<py::object>(plain), name);
  }
  return with_normal_bools(
      {dtype, shape_of(array),
       Buffer::borrow(PyArray_DATA(array), static_cast<size_t>(PyArray_NBYTES(array)),
                      keep(object))});
}

Datum datum_from_python(const py::handle& object, const Type& type, const std::string& name) {
  if (py::isinstance<PyOrtValue>(object)) return object.cast<const PyOrtValue&>().datum;
  if (py::isinstance<PySparseTensor>(object))
    return object.cast<const PySparseTensor&>().value.datum;
  switch (type.kind) {
    case Type::Kind::kSequence:
      return sequence_from_python(object, type, name);
    case Type::Kind::kMap:
      return map_from_python(object, type, name);
    case Type::Kind::kOptional: {
      OptionalDatum optional{.element = *type.element, .items = {}};
      if (!object.is_none())
        optional.items.push_back(datum_from_python(object, *type.element, name));
      return optional;
    }
    default:
      break;
  }
  if (object.is_none())
    fail(ErrorCode::kInvalidArgument, "input ", name, ": expected ", type, ", got None");
  // Numbers of Python's own have no type but the one that is asked for.
  const bool is_plain = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) ||
                        PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr());
  if (!is_plain || type.dtype == DType::kString || !has_numpy_dtype(type.dtype))
    return tensor_from_array(object, name);
  const py::object array = py::module_::import("numpy").attr("asarray")(
      object, py::arg("dtype") = numpy_dtype(type.dtype));
  return tensor_from_array(array, name);
}

py::object array_from_tensor(Tensor tensor) {
  if (tensor.dtype() == DType::kString) return strings_array(tensor);
  if (is_packed(tensor.dtype())) return packed_array(tensor);
  // Elements that somebody else holds too (a weight, an input, another output) are his.
  return owning_array(ort_abi::is_alone(tensor) ? std::move(tensor) : tensor.clone());
}

py::object shared_array(const Tensor& tensor) {
  return owning_array(tensor);
}

py::object python_from_datum(Datum datum) {
  if (datum.is_tensor()) {
    if (!has_numpy_dtype(datum.tensor().dtype())) return py::cast(owned_value(std::move(datum)));
    return array_from_tensor(std::move(datum.as_tensor()));
  }
  if (datum.is_sequence()) {
    py::list list;
    for (const Datum& item : datum.sequence().items)
      list.append(python_from_datum(item));
    return list;
  }
  if (datum.is_map()) return dict_from_map(datum.map());
  if (datum.is_optional()) {
    const Datum* value = datum.optional().value();
    return value ? python_from_datum(*value) : py::none();
  }
  if (datum.is_sparse()) return py::cast(PySparseTensor{{std::move(datum)}});
  return py::none();
}

}  // namespace sardonyx::python
