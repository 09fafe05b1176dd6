// Tensors, element types and sizes; operators and indexing.
#include <pybind11/stl.h>

#include <cstring>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/dlpack.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

py::tuple shape_of(const Tensor& x) {
  const eager::Sizes sizes = x.shape(python_line());
  py::tuple shape(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    shape[i] = python_from_dim(sizes[i]);
  return shape;
}

py::object python_number(const Tensor& x) {
  const Loc loc = python_line();
  if (x.dtype() == DType::kBool) return py::bool_(x.item<bool>(loc));
  if (x.dtype() == DType::kUInt64) return py::int_(x.item<uint64_t>(loc));
  if (is_integer(x.dtype())) {
    // Through the array: 64 bits are more than a double has.
    return array_from_tensor(x.data(loc)).attr("item")();
  }
  return py::float_(x.item<double>(loc));
}

std::optional<eager::Dim> bound_from(const py::handle& bound) {
  if (bound.is_none()) return std::nullopt;
  return dim_from_size(bound);
}

eager::Index index_from(const py::handle& place) {
  if (place.is_none()) return eager::NewAxis{};
  if (py::isinstance<py::ellipsis>(place)) return eager::Ellipsis{};
  if (py::isinstance<py::slice>(place)) {
    const py::object step = place.attr("step");
    return eager::Slice{bound_from(place.attr("start")), bound_from(place.attr("stop")),
                        step.is_none() ? 1 : step.cast<int64_t>()};
  }
  if (PyLong_CheckExact(place.ptr())) return place.cast<int64_t>();
  if (py::isinstance<Tensor>(place)) return place.cast<Tensor>();
  return Tensor(
      tensor_from_array(py::module_::import("numpy").attr("asarray")(place), "index").clone());
}

std::vector<eager::Index> places_from(const py::handle& key) {
  std::vector<eager::Index> places;
  if (!py::isinstance<py::tuple>(key)) return {index_from(key)};
  for (const py::handle& place : key)
    places.push_back(index_from(place));
  return places;
}

Tensor element_of(const Tensor& x, const py::handle& key) {
  const std::vector<eager::Index> places = places_from(key);
  return unlocked([&](const Loc& loc) { return x.index(places, loc); });
}

using Binary = Tensor (*)(const eager::Operand&, const eager::Operand&);
struct BinaryRow {
  const char *name, *reflected;  // of the method with the operands the other way round
  Binary function;
};

Tensor logical_or_bitwise(const eager::Operand& a, const eager::Operand& b,
                          Tensor (*logical)(const Tensor&, const Tensor&, Loc), Binary bitwise) {
  const bool is_logical = a.tensor && b.tensor && a.tensor->dtype() == DType::kBool &&
                          b.tensor->dtype() == DType::kBool;
  return is_logical ? logical(*a.tensor, *b.tensor, a.loc) : bitwise(a, b);
}
Tensor both(const eager::Operand& a, const eager::Operand& b) {
  return logical_or_bitwise(a, b, eager::logical_and, eager::bitwise_and);
}
Tensor either(const eager::Operand& a, const eager::Operand& b) {
  return logical_or_bitwise(a, b, eager::logical_or, eager::bitwise_or);
}
Tensor one_of(const eager::Operand& a, const eager::Operand& b) {
  return logical_or_bitwise(a, b, eager::logical_xor, eager::bitwise_xor);
}

constexpr BinaryRow kOperators[] = {
    {"__add__", "__radd__", eager::add},
    {"__sub__", "__rsub__", eager::sub},
    {"__mul__", "__rmul__", eager::mul},
    {"__truediv__", "__rtruediv__", eager::div},
    {"__floordiv__", "__rfloordiv__", eager::floor_divide},
    {"__mod__", "__rmod__", eager::remainder},
    {"__pow__", "__rpow__", eager::pow},
    {"__lshift__", "__rlshift__", eager::bitwise_left_shift},
    {"__rshift__", "__rrshift__", eager::bitwise_right_shift},
    {"__and__", "__rand__", both},
    {"__or__", "__ror__", either},
    {"__xor__", "__rxor__", one_of},
    {"__eq__", nullptr, eager::eq},
    {"__ne__", nullptr, eager::ne},
    {"__lt__", nullptr, eager::lt},
    {"__le__", nullptr, eager::le},
    {"__gt__", nullptr, eager::gt},
    {"__ge__", nullptr, eager::ge},
};

void bind_operator_methods(TensorClass& tensor) {
  for (const BinaryRow& row : kOperators) {
    const auto call = [function = row.function](const py::object& a, const py::object& b) {
      const Loc loc = python_line();
      const OperandHolder left(a, b, loc), right(b, a, loc);
      const UnlockedInterpreter released;
      return function(left.get(), right.get());
    };
    const auto reflected = [call](const py::object& a, const py::object& b) { return call(b, a); };
    tensor.def(row.name, call, py::is_operator());
    if (row.reflected) tensor.def(row.reflected, reflected, py::is_operator());
  }
  tensor.def("__neg__", [](const Tensor& x) {
    return unlocked([&](const Loc& loc) { return eager::neg(x, loc); });
  });
  tensor.def("__invert__", [](const Tensor& x) {
    return unlocked([&](const Loc& loc) {
      return x.dtype() == DType::kBool ? eager::logical_not(x, loc) : eager::bitwise_not(x, loc);
    });
  });
  tensor.def("__abs__", [](const Tensor& x) {
    return unlocked([&](const Loc& loc) { return eager::abs(x, loc); });
  });
  for (const bool is_reflected : {false, true}) {
    tensor.def(is_reflected ? "__rmatmul__" : "__matmul__",
               [is_reflected](const Tensor& x, const py::object& other) {
                 const Tensor y = tensor_from(other, "matmul");
                 return unlocked([&](const Loc& loc) {
                   return is_reflected ? eager::matmul(y, x, loc) : eager::matmul(x, y, loc);
                 });
               });
  }
}

void bind_python_protocols(TensorClass& tensor) {
  tensor
      .def("__repr__",
           [](const Tensor& x) {
             if (!x.defined()) return std::string("Tensor(undefined)");
             return "Tensor(" + (x.is_symbolic() ? text(x.type()) : x.text()) + ")";
           })
      .def("__hash__", [](const Tensor& x) { return std::hash<const void*>()(x.impl().get()); })
      .def("__len__",
           [](const Tensor& x) {
             if (x.rank() == 0) throw py::type_error("len() of a tensor of rank 0");
             return x.size(0, python_line()).value();
           })
      .def("__bool__", [](const Tensor& x) { return python_number(x).cast<double>() != 0; })
      .def("__int__", [](const Tensor& x) { return py::int_(python_number(x)); })
      .def("__float__", [](const Tensor& x) { return py::float_(python_number(x)); })
      .def("__index__",
           [](const Tensor& x) {
             if (!is_integer(x.dtype()))
               throw py::type_error(text("an index is an integer, not ", x.type()));
             return py::int_(python_number(x));
           })
      .def("__getitem__", &element_of)
      .def("__setitem__",
           [](const Tensor&, const py::handle&, const py::handle&) {
             throw py::type_error(
                 "elements of a tensor can't be assigned: y = x.index_put(places, values) is a "
                 "tensor with others there, x.assign(y) gives x its value");
           })
      .def("__iter__",
           [](const Tensor& x) {
             return py::iter(
                 py::cast(unlocked([&](const Loc& loc) { return eager::unbind(x, 0, loc); })));
           })
      .def(
          "__array__",
          [](const Tensor& x, const py::object& dtype) {
            const py::object array = array_from_tensor(x.data(python_line()).clone());
            return dtype.is_none() ? array : py::object(array.attr("astype")(dtype));
          },
          py::arg("dtype") = py::none())
      .def(
          "__dlpack__", [](const Tensor& x, const py::object&) { return to_dlpack(x.data()); },
          py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(1, 0); });
  // Arrays leave mixed operators to tensors.
  tensor.attr("__array_ufunc__") = py::none();
}

void bind_index_put(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  define.method("index_put(self, places, values, accumulate=False)",
                [](const Tensor& x, const py::object& places, const py::object& values,
                   bool accumulate, Loc loc) {
                  const std::vector<eager::Index> at = places_from(places);
                  const Tensor given = tensor_from(values, "index_put").to(x.dtype(), loc);
                  const UnlockedInterpreter released;
                  return x.index_put(at, given, accumulate, loc);
                },
                {"A tensor with `values` at x[places], or added to what stands there."});
}

void bind_sizes(py::module_& module) {
  using eager::Dim;
  const auto sized = [](auto operation) {
    return [operation](const Dim& a, const py::object& b) {
      return python_from_dim(operation(a, dim_from_size(b)));
    };
  };
  const auto compared = [](auto operation) {
    return
        [operation](const Dim& a, const py::object& b) { return operation(a, dim_from_size(b)); };
  };
  py::class_<Dim>(
      module, "Dim",
      "The size of an open axis in a trace. Comparing it answers by the example's size, "
      "and is noted: a compiled function is traced anew where the answer changes.")
      .def("__add__", sized([](const Dim& a, const Dim& b) { return a + b; }))
      .def("__radd__", sized([](const Dim& a, const Dim& b) { return b + a; }))
      .def("__sub__", sized([](const Dim& a, const Dim& b) { return a - b; }))
      .def("__rsub__", sized([](const Dim& a, const Dim& b) { return b - a; }))
      .def("__mul__", sized([](const Dim& a, const Dim& b) { return a * b; }))
      .def("__rmul__", sized([](const Dim& a, const Dim& b) { return b * a; }))
      .def("__floordiv__", sized([](const Dim& a, const Dim& b) { return floor_div(a, b); }))
      .def("__eq__", compared([](const Dim& a, const Dim& b) { return a == b; }))
      .def("__ne__", compared([](const Dim& a, const Dim& b) { return !(a == b); }))
      .def("__lt__", compared([](const Dim& a, const Dim& b) { return a < b; }))
      .def("__le__", compared([](const Dim& a, const Dim& b) { return a <= b; }))
      .def("__gt__", compared([](const Dim& a, const Dim& b) { return a > b; }))
      .def("__ge__", compared([](const Dim& a, const Dim& b) { return a >= b; }))
      .def("__int__", [](const Dim& dim) { return dim.value(); })
      .def("__index__", [](const Dim& dim) { return dim.value(); })
      .def("__repr__", [](const Dim& dim) { return dim.text(); });
}

void bind_dtypes(py::module_& module) {
  py::enum_<DType> all(module, "DType", "Element types, those of ONNX.");
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    all.value(text(dtype).c_str(), dtype);
  }
  all.def_property_readonly(
      "numpy", [](DType dtype) { return numpy_dtype(dtype); },
      "The NumPy type; of bfloat16, float8 and int4 that of ml_dtypes.");
}

// NumPy makes floats of integers of which some alone need all 64 bits, and objects of longer ones.
py::object with_exact_integers(const py::object& array, const py::object& data,
                               bool may_be_floats) {
  const std::string kind = py::str(array.attr("dtype").attr("kind"));
  const bool may_be_long =
      kind == "O" ||
      (kind == "f" && py::bool_(array.attr("__ge__")(py::float_(0x1p63)).attr("any")()));
  if (!may_be_long) return array;
  const py::object objects =
      py::module_::import("numpy").attr("asarray")(data, py::arg("dtype") = "object");
  bool do_fit = true;
  for (const py::handle& one : objects.attr("flat")) {
    if (!PyLong_Check(one.ptr())) return array;
    do_fit &= PyLong_AsUnsignedLongLong(one.ptr()) != UINT64_MAX || !PyErr_Occurred();
    PyErr_Clear();
  }
  if (do_fit) return objects.attr("astype")("uint64");
  if (may_be_floats) return objects.attr("astype")("float64");
  throw py::value_error(
      "tensor(): data: no type of integers holds all of them; write one as a "
      "float for a tensor of floats");
}

// A tensor of what numpy.asarray takes; numbers of Python become float32, int64 or bool unless
// `dtype` is given, and integers from 2^63 on uint64.
Tensor tensor_of(const py::object& data, const py::object& dtype, bool requires_grad) {
  Tensor made;
  if (py::isinstance<Tensor>(data)) {
    made = data.cast<Tensor>().detach().clone(python_line());
  } else {
    const py::module_ numpy = py::module_::import("numpy");
    py::object array = numpy.attr("asarray")(data);
    const bool is_python_number = !py::hasattr(data, "__array__");
    const bool may_be_floats = !dtype.is_none() && is_floating(dtype_from(dtype));
    if (is_python_number) array = with_exact_integers(array, data, may_be_floats);
    const bool is_double = py::object(array.attr("dtype")).equal(numpy.attr("dtype")("float64"));
    const bool is_default = is_python_number && is_double && dtype.is_none();
    if (is_default && default_dtype() != DType::kDouble) array = array.attr("astype")("float32");
    made = Tensor(tensor_from_array(array, "tensor").clone());
    if (is_default) made = made.to(default_dtype(), python_line()).detach();
  }
  if (!dtype.is_none()) made = made.to(dtype_from(dtype), python_line()).detach();
  if (requires_grad) made.set_requires_grad();
  return made;
}

// The bytes of the elements, for pickles.
py::bytes bytes_of(const Tensor& x) {
  const sardonyx::Tensor& value = x.data(python_line());
  return {static_cast<const char*>(value.raw()), static_cast<size_t>(value.bytes())};
}
Tensor tensor_of_bytes(const py::bytes& bytes, DType dtype, const Shape& shape) {
  sardonyx::Tensor made = sardonyx::Tensor::allocate(dtype, shape);
  const std::string_view given = bytes;
  if (dtype == DType::kString || given.size() != static_cast<size_t>(made.bytes()))
    throw py::type_error(
        text("a pickle of a tensor has ", given.size(), " bytes for ", dtype, to_text(shape)));
  if (!given.empty()) std::memcpy(made.raw(), given.data(), given.size());
  return Tensor(made);
}

void bind_value(py::module_& module, TensorClass& tensor) {
  module.def("_bytes_of", &bytes_of);
  module.def("_tensor_of_bytes", &tensor_of_bytes);
  tensor
      .def(py::init([](const Tensor& value) { return value.detach(); }), py::arg("value"),
           "The same value, cut from what it was computed from.")
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly("ndim", &Tensor::rank)
      .def_property_readonly("shape", &shape_of, "Sizes; in a trace those of open axes are Dims.")
      .def("dim", &Tensor::rank)
      .def(
          "size",
          [](const Tensor& x, const py::object& dim) -> py::object {
            if (dim.is_none()) return shape_of(x);
            return python_from_dim(x.size(dim.cast<int64_t>(), python_line()));
          },
          py::arg("dim") = py::none())
      .def("numel", [](const Tensor& x) { return python_from_dim(x.numel(python_line())); })
      .def("item", &python_number, "The one element as a number of Python.")
      .def("tolist",
           [](const Tensor& x) {
             const Loc loc = python_line();
             const bool is_of_numpy = !is_floating(x.dtype()) || x.dtype() == DType::kFloat16 ||
                                      x.dtype() == DType::kFloat || x.dtype() == DType::kDouble;
             const Tensor shown = is_of_numpy ? x : x.detach().to(DType::kFloat, loc);
             return array_from_tensor(shown.data(loc)).attr("tolist")();
           })
      .def(
          "numpy", [](const Tensor& x) { return array_from_tensor(x.data(python_line()).clone()); },
          "A copy as an array.")
      .def("is_same", &Tensor::is_same, "Whether both are handles of one tensor.")
      .def("is_symbolic", &Tensor::is_symbolic,
           "Whether a trace records it: it has no value then.");
  module.def("tensor", &tensor_of, py::arg("data"), py::arg("dtype") = py::none(),
             py::arg("requires_grad") = false,
             "A tensor of numbers, lists of them, an array or a tensor; a copy.");
  module.def(
      "from_dlpack", [](const py::object& source) { return Tensor(from_dlpack(source)); },
      py::arg("source"),
      "A tensor over the memory of another library's, which must not be written from then on.");
  module.def(
      "dim_tensor",
      [](const py::object& size) { return eager::dim_tensor(dim_from_size(size), python_line()); },
      py::arg("size"),
      "A size as an int64 tensor of rank 0, computed in the graph where it is open.");
}

}  // namespace

TensorClass bind_tensor(py::module_& module) {
  bind_dtypes(module);
  bind_sizes(module);
  TensorClass tensor(module, "Tensor",
                     "A value of any ONNX type that functions compute with at once, with autograd. "
                     "Values are immutable; assign() gives a tensor another one.");
  bind_value(module, tensor);
  bind_operator_methods(tensor);
  bind_python_protocols(tensor);
  bind_index_put(module, tensor);
  return tensor;
}

}  // namespace sardonyx::python::eager_layer
