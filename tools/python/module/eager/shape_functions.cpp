// New tensors, and tensors taken apart, moved and joined.
#include <pybind11/stl.h>

#include <numeric>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

// dtype, requires_grad and generator, by name.
eager::CreateOptions create_options(const char* callee, const py::kwargs& kwargs,
                                    DType dtype = DType::kFloat) {
  eager::CreateOptions options{.dtype = dtype};
  for (const auto& [key, value] : kwargs) {
    const auto name = key.cast<std::string>();
    if (name == "dtype" && !value.is_none())
      options.dtype = dtype_from(value);
    else if (name == "requires_grad")
      options.requires_grad = value.cast<bool>();
    else if (name == "generator" && !value.is_none())
      options.generator = value.cast<eager::Generator>();
    else if (!value.is_none())
      throw py::type_error(text(callee, "() has no argument ", name,
                                "; there are dtype, requires_grad and generator"));
  }
  return options;
}

using Create = Tensor (*)(const Dims&, eager::CreateOptions, Loc);
using Like = Tensor (*)(const Tensor&, Loc);

void bind_arange(py::module_& module) {
  // arange(end), arange(begin, end), arange(begin, end, step); floating numbers give float32.
  module.def("arange", [](const py::args& bounds, const py::kwargs& kwargs) {
    if (bounds.size() < 1 || bounds.size() > 3)
      throw py::type_error("arange() takes 1 to 3 numbers");
    const bool is_floating = std::any_of(bounds.begin(), bounds.end(), [](const py::handle& one) {
      return py::isinstance<py::float_>(one);
    });
    const Loc loc = python_line();
    const eager::CreateOptions options =
        create_options("arange", kwargs, is_floating ? DType::kFloat : DType::kInt64);
    if (is_floating) {
      py::object array = py::module_::import("numpy").attr("arange")(*bounds);
      Tensor made = tensor_from(array, "arange").to(options.dtype, loc);
      return made.set_requires_grad(options.requires_grad);
    }
    const eager::Dim first = dim_from_size(bounds[0]);
    if (bounds.size() == 1) return eager::arange(first, options, loc);
    const int64_t step = bounds.size() == 3 ? bounds[2].cast<int64_t>() : 1;
    return eager::arange(first, dim_from_size(bounds[1]), step, options, loc);
  });
}

Tensor filled(const Dims& size, const py::object& value, const eager::CreateOptions& options) {
  const Loc loc = python_line();
  if (is_wide(value, options.dtype))
    return tensor_of_integer(value, options.dtype, loc).expand(size, loc);
  return eager::full(size, double_of(value, options.dtype, loc), options, loc);
}

Tensor padded(const Tensor& x, const std::vector<int64_t>& pads, const std::string& mode,
              const py::object& value) {
  const Loc loc = python_line();
  if (!is_wide(value, x.dtype())) {
    const double number = double_of(value, x.dtype(), loc);
    const UnlockedInterpreter released;
    return eager::pad(x, pads, mode, number, loc);
  }
  const Tensor around = tensor_of_integer(value, x.dtype(), loc);
  const Tensor inside = eager::ones_like(x, loc).to(DType::kBool, loc);
  return eager::where(eager::pad(inside, pads, mode, 0, loc), eager::pad(x, pads, mode, 0, loc),
                      {around, loc});
}

void bind_creation(py::module_& module) {
  for (const auto& [name, function] : {std::pair<const char*, Create>{"zeros", eager::zeros},
                                       {"ones", eager::ones},
                                       {"rand", eager::rand},
                                       {"randn", eager::randn}}) {
    module.def(
        name,
        [name = name, function = function](const py::args& size, const py::kwargs& kwargs) {
          return function(dims_from_args(size), create_options(name, kwargs), python_line());
        },
        "Of the sizes given as numbers or as one sequence; dtype, requires_grad, generator.");
  }
  for (const auto& [name, function] :
       {std::pair<const char*, Like>{"zeros_like", eager::zeros_like},
        {"ones_like", eager::ones_like},
        {"rand_like", eager::rand_like},
        {"randn_like", eager::randn_like}}) {
    module.def(
        name, [function = function](const Tensor& x) { return function(x, python_line()); },
        py::arg("input"));
  }
  module.def(
      "full",
      [](const py::object& size, const py::object& value, const py::kwargs& kwargs) {
        return filled(dims_from(size), value, create_options("full", kwargs));
      },
      py::arg("size"), py::arg("fill_value"));
  module.def(
      "full_like",
      [](const Tensor& x, const py::object& value) {
        const Loc loc = python_line();
        if (is_wide(value, x.dtype()))
          return eager::where(eager::ones_like(x, loc).to(DType::kBool, loc),
                              {tensor_of_integer(value, x.dtype(), loc), loc}, x);
        return eager::full_like(x, double_of(value, x.dtype(), loc), loc);
      },
      py::arg("input"), py::arg("fill_value"));
  module.def(
      "linspace",
      [](double begin, double end, int64_t steps, const py::kwargs& kwargs) {
        return eager::linspace(begin, end, steps, create_options("linspace", kwargs),
                               python_line());
      },
      py::arg("start"), py::arg("end"), py::arg("steps"));
  module.def(
      "eye",
      [](int64_t rows, std::optional<int64_t> columns, const py::kwargs& kwargs) {
        return eager::eye(rows, columns, create_options("eye", kwargs), python_line());
      },
      py::arg("n"), py::arg("m") = py::none());
  module.def(
      "randint",
      [](int64_t low, int64_t high, const py::object& size, const py::kwargs& kwargs) {
        return eager::randint(low, high, dims_from(size),
                              create_options("randint", kwargs, DType::kInt64), python_line());
      },
      py::arg("low"), py::arg("high"), py::arg("size"), "Integers in [low, high).");
  module.def(
      "randperm",
      [](const py::object& n, const py::kwargs& kwargs) {
        return eager::randperm(dim_from_size(n), create_options("randperm", kwargs, DType::kInt64),
                               python_line());
      },
      py::arg("n"));
  module.def(
      "multinomial",
      [](const Tensor& weights, int64_t count, bool replacement) {
        return eager::multinomial(weights, count, replacement, python_line());
      },
      py::arg("input"), py::arg("num_samples"), py::arg("replacement") = false);
  module.def(
      "bernoulli", [](const Tensor& p) { return eager::bernoulli(p, python_line()); },
      py::arg("input"));
  bind_arange(module);
}

void bind_joining(py::module_& module) {
  const auto join = [&](const char* name,
                        Tensor (*function)(const std::vector<Tensor>&, int64_t, Loc)) {
    module.def(
        name,
        [function, name](const py::object& tensors, int64_t dim) {
          const std::vector<Tensor> all = tensors_from(tensors, name);
          return unlocked([&](const Loc& loc) { return function(all, dim, loc); });
        },
        py::arg("tensors"), py::arg("dim") = 0);
  };
  join("cat", eager::cat);
  join("stack", eager::stack);
  module.def(
      "meshgrid",
      [](const py::args& vectors, const std::string& indexing) {
        return eager::meshgrid(tensors_from(vectors, "meshgrid"), indexing, python_line());
      },
      py::arg("indexing") = "ij");
  module.def(
      "one_hot",
      [](const Tensor& x, int64_t classes, const py::object& dtype) {
        return eager::one_hot(x, classes, dtype_from(dtype), python_line());
      },
      py::arg("input"), py::arg("num_classes"), py::arg("dtype") = "int64");
  module.def("pad", &padded, py::arg("input"), py::arg("pad"), py::arg("mode") = "constant",
             py::arg("value") = 0.0);
}

void bind_form(TensorClass& tensor) {
  const auto reshape = [](const Tensor& x, const py::args& size) {
    return x.reshape(dims_from_args(size), python_line());
  };
  tensor.def("reshape", reshape, "One size may be -1: what is left.")
      .def("view", reshape, "The same as reshape().")
      .def("expand",
           [](const Tensor& x, const py::args& size) {
             return x.expand(dims_from_args(size), python_line());
           })
      .def("permute",
           [](const Tensor& x, const py::args& dims) {
             return x.permute(int64s_from_args(dims), python_line());
           })
      .def("repeat",
           [](const Tensor& x, const py::args& sizes) {
             return x.repeat(int64s_from_args(sizes), python_line());
           })
      .def(
          "to",
          [](const Tensor& x, const py::object& dtype) {
            const DType wanted =
                py::isinstance<Tensor>(dtype) ? dtype.cast<Tensor>().dtype() : dtype_from(dtype);
            return unlocked([&](const Loc& loc) { return x.to(wanted, loc); });
          },
          py::arg("dtype"))
      .def("float", [](const Tensor& x) { return x.to(DType::kFloat, python_line()); })
      .def("double", [](const Tensor& x) { return x.to(DType::kDouble, python_line()); })
      .def("half", [](const Tensor& x) { return x.to(DType::kFloat16, python_line()); })
      .def("bfloat16", [](const Tensor& x) { return x.to(DType::kBFloat16, python_line()); })
      .def("long", [](const Tensor& x) { return x.to(DType::kInt64, python_line()); })
      .def("int", [](const Tensor& x) { return x.to(DType::kInt32, python_line()); })
      .def("bool", [](const Tensor& x) { return x.to(DType::kBool, python_line()); })
      .def("contiguous", [](const Tensor& x) { return x; })
      .def("clone", [](const Tensor& x) { return x.clone(python_line()); })
      .def_property_readonly(
          "T",
          [](const Tensor& x) {
            std::vector<int64_t> axes(x.rank());
            std::iota(axes.rbegin(), axes.rend(), 0);
            return x.permute(axes, python_line());
          },
          "The axes in reversed order.")
      .def("t", [](const Tensor& x) { return x.t(python_line()); });
}

void bind_moves(Definer& define) {
  define(
      "flatten",
      [](const Tensor& x, int64_t first, int64_t last) {
        return x.flatten(first, last, python_line());
      },
      py::arg("start_dim") = 0, py::arg("end_dim") = -1);
  define(
      "squeeze",
      [](const Tensor& x, const py::object& dim) {
        return x.squeeze(int64s_from(dim), python_line());
      },
      py::arg("dim") = py::none());
  define(
      "unsqueeze", [](const Tensor& x, int64_t dim) { return x.unsqueeze(dim, python_line()); },
      py::arg("dim"));
  define(
      "transpose",
      [](const Tensor& x, int64_t a, int64_t b) { return x.transpose(a, b, python_line()); },
      py::arg("dim0"), py::arg("dim1"));
  define(
      "flip",
      [](const Tensor& x, const py::object& dims) {
        return eager::flip(x, int64s_from(dims), python_line());
      },
      py::arg("dims"));
  define(
      "roll",
      [](const Tensor& x, const py::object& shifts, const py::object& dims) {
        return eager::roll(x, int64s_from(shifts), int64s_from(dims), python_line());
      },
      py::arg("shifts"), py::arg("dims") = py::none());
  define(
      "tril",
      [](const Tensor& x, int64_t diagonal) { return eager::tril(x, diagonal, python_line()); },
      py::arg("diagonal") = 0);
  define(
      "triu",
      [](const Tensor& x, int64_t diagonal) { return eager::triu(x, diagonal, python_line()); },
      py::arg("diagonal") = 0);
  define(
      "diagonal",
      [](const Tensor& x, int64_t offset, int64_t a, int64_t b) {
        return eager::diagonal(x, offset, a, b, python_line());
      },
      py::arg("offset") = 0, py::arg("dim1") = 0, py::arg("dim2") = 1);
}

void bind_parts(Definer& define) {
  define(
      "split",
      [](const Tensor& x, const py::object& size, int64_t dim) {
        const Loc loc = python_line();
        if (PyLong_CheckExact(size.ptr()))
          return python_from_tensors(eager::split(x, size.cast<int64_t>(), dim, loc));
        return python_from_tensors(eager::split(x, dims_from(size), dim, loc));
      },
      py::arg("split_size"), py::arg("dim") = 0);
  define(
      "chunk",
      [](const Tensor& x, int64_t count, int64_t dim) {
        return python_from_tensors(eager::chunk(x, count, dim, python_line()));
      },
      py::arg("chunks"), py::arg("dim") = 0);
  define(
      "unbind",
      [](const Tensor& x, int64_t dim) {
        return python_from_tensors(eager::unbind(x, dim, python_line()));
      },
      py::arg("dim") = 0);
  define(
      "narrow",
      [](const Tensor& x, int64_t dim, const py::object& start, const py::object& length) {
        return eager::narrow(x, dim, dim_from_size(start), dim_from_size(length), python_line());
      },
      py::arg("dim"), py::arg("start"), py::arg("length"));
  define(
      "index_select",
      [](const Tensor& x, int64_t dim, const Tensor& index) {
        return eager::index_select(x, dim, index, python_line());
      },
      py::arg("dim"), py::arg("index"));
  define(
      "gather",
      [](const Tensor& x, int64_t dim, const Tensor& index) {
        return eager::gather(x, dim, index, python_line());
      },
      py::arg("dim"), py::arg("index"));
  define(
      "scatter",
      [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) {
        return eager::scatter(x, dim, index, source, "none", python_line());
      },
      py::arg("dim"), py::arg("index"), py::arg("src"));
  define(
      "scatter_add",
      [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) {
        return eager::scatter_add(x, dim, index, source, python_line());
      },
      py::arg("dim"), py::arg("index"), py::arg("src"));
  define(
      "index_add",
      [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, double alpha) {
        return eager::index_add(x, dim, index, source, alpha, python_line());
      },
      py::arg("dim"), py::arg("index"), py::arg("source"), py::arg("alpha") = 1.0);
  define(
      "masked_fill",
      [](const py::object& input, const Tensor& mask, const py::object& value) {
        return eager::masked_fill(tensor_from(input, "masked_fill"), mask,
                                  OperandHolder(value, input, python_line()).get());
      },
      py::arg("mask"), py::arg("value"));
  define(
      "masked_select",
      [](const Tensor& x, const Tensor& mask) {
        return eager::masked_select(x, mask, python_line());
      },
      py::arg("mask"));
}

}  // namespace

void bind_shape_functions(py::module_& module, TensorClass& tensor) {
  bind_creation(module);
  bind_joining(module);
  bind_form(tensor);
  Definer define(module, tensor);
  bind_moves(define);
  bind_parts(define);
}

}  // namespace sardonyx::python::eager_layer
