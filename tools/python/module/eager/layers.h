// How a layer of C++ becomes a class of Python.
#pragma once

#include <pybind11/stl.h>

#include <tuple>

#include "eager/nn/pooling.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {

// What a pool and its function take behind the window's size.
inline void take(CallArguments& a, eager::nn::MaxPoolOptions& o) {
  a.take("stride", o.stride).take("padding", o.padding).take("dilation", o.dilation);
  a.take("ceil_mode", o.ceil_mode);
}
inline void take(CallArguments& a, eager::nn::AvgPoolOptions& o) {
  a.take("stride", o.stride).take("padding", o.padding).take("ceil_mode", o.ceil_mode);
  a.take("count_include_pad", o.count_include_pad);
}

// Tensors of a layer that it may have been made without: None then.
template <typename L>
void define_tensors(py::class_<L, eager::nn::Module>& layer) {
  const auto define = [&](const char* name, auto member) {
    layer.def_property_readonly(name,
                                [member](const L& self) { return python_or_none(self.*member); });
  };
  if constexpr (requires { &L::weight; }) define("weight", &L::weight);
  if constexpr (requires { &L::bias; }) define("bias", &L::bias);
  if constexpr (requires { &L::running_mean; }) {
    define("running_mean", &L::running_mean);
    define("running_var", &L::running_var);
  }
}

// Class `name` whose constructor takes what `make(arguments)` does, in that order; its signature
// opens the docstring.
template <typename L, typename Make>
auto define_class(py::module_& nn, const char* name, const char* doc, const Make& make) {
  const std::string text = signature_text(name, make) + "\n\n" + doc;
  py::class_<L, eager::nn::Module> layer(nn, name, text.c_str());
  layer.def(py::init([name, make](const py::args& args, const py::kwargs& kwargs) {
    CallArguments arguments(name, args, kwargs);
    return make(arguments);
  }));
  define_tensors(layer);
  return layer;
}

// Of a layer that is called with tensors, of which `required` must be given.
template <typename L, size_t required = 1, typename Make>
void define_layer(py::module_& nn, const char* name, const char* doc, const Make& make) {
  auto layer = define_class<L>(nn, name, doc, make);
  layer.def("__call__", [name](const L& self, const py::args& args) {
    if (args.size() != required)
      throw py::type_error(text(name, " takes ", required, " tensors, got ", args.size()));
    std::array<Tensor, required> inputs;
    for (size_t i = 0; i < required; ++i)
      inputs[i] = tensor_from(args[i], name);
    return unlocked([&](const Loc& loc) {
      return std::apply(
          [&](const auto&... tensors) {
            if constexpr (required <= 3)
              return self(tensors..., loc);
            else
              return self(tensors...);
          },
          inputs);
    });
  });
}

}  // namespace sardonyx::python::eager_layer
