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

// Tensors of a layer that it may have been made without: None then. Parameters may be set, to share
// one among layers.
template <typename L>
void define_tensors(py::class_<L, eager::nn::Module>& layer) {
  const auto shown = [](auto member) {
    return [member](const L& self) { return python_or_none(self.*member); };
  };
  const auto define_parameter = [&](const char* name, auto member) {
    layer.def_property(name, shown(member), [name, member](L& self, const Tensor& value) {
      self.*member = self.replace_parameter(name, value);
    });
  };
  if constexpr (requires { &L::weight; }) define_parameter("weight", &L::weight);
  if constexpr (requires { &L::bias; }) define_parameter("bias", &L::bias);
  if constexpr (requires { &L::running_mean; }) {
    layer.def_property_readonly("running_mean", shown(&L::running_mean));
    layer.def_property_readonly("running_var", shown(&L::running_var));
  }
}

// What a layer's forward() gives. Module's __call__ has noted the line of the Python program;
// without it errors look for theirs. Hooks are run there too, around the forward() of the object's
// own class.
template <typename Run>
auto forwarded(const Run& run) {
  try {
    const UnlockedInterpreter released;
    return run();
  } catch (const Error& error) {
    throw eager::placed(error, python_line());
  }
}

// Class `name` whose constructor takes what `make(arguments)` does, in that order; its signature
// opens the docstring.
template <typename L, typename Make>
auto define_class(py::module_& nn, const char* name, const char* doc, const Make& make) {
  const std::string text = signature_text(name, make) + "\n\n" + doc;
  py::class_<L, eager::nn::Module> layer(nn, name, text.c_str());
  layer.def(
      "__init__",
      [name, make](py::detail::value_and_holder& self, const py::args& args,
                   const py::kwargs& kwargs) {
        CallArguments arguments(name, args, kwargs);
        L* const made = new L(make(arguments));
        self.value_ptr() = made;
        if (default_dtype() != DType::kFloat) made->to(default_dtype());
        // What copies and pickles are made with.
        py::handle(reinterpret_cast<PyObject*>(self.inst)).attr("__dict__")["_made_with"] =
            py::make_tuple(name, args, kwargs);
      },
      py::detail::is_new_style_constructor());
  define_tensors(layer);
  return layer;
}

// Of a layer that is called with tensors, of which `required` must be given.
template <typename L, size_t required = 1, typename Make>
void define_layer(py::module_& nn, const char* name, const char* doc, const Make& make) {
  auto layer = define_class<L>(nn, name, doc, make);
  layer.def("forward", [name](const L& self, const py::args& args) {
    if (args.size() != required)
      throw py::type_error(text(name, " takes ", required, " tensors, got ", args.size()));
    std::array<Tensor, required> inputs;
    for (size_t i = 0; i < required; ++i)
      inputs[i] = tensor_from(args[i], name);
    return forwarded([&] {
      return std::apply([&](const auto&... tensors) { return self.forward(tensors...); }, inputs);
    });
  });
}

}  // namespace sardonyx::python::eager_layer
