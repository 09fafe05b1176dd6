// New tensors.
#include <atomic>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

std::atomic<DType> g_default_dtype = DType::kFloat;

void set_default_dtype(DType dtype) {
  if (!is_floating(dtype))
    throw py::type_error(text("set_default_dtype(): d: expected a floating type, got ", dtype));
  g_default_dtype = dtype;
}

using eager::CreateOptions;

// dtype, requires_grad, generator and device, by name.
CreateOptions create_options(const py::object& given, DType dtype = default_dtype()) {
  CreateOptions options{.dtype = dtype};
  for (const auto& [key, value] : py::dict(given)) {
    const auto name = key.cast<std::string>();
    if (value.is_none()) continue;
    if (name == "dtype")
      options.dtype = dtype_from(value);
    else if (name == "requires_grad")
      options.requires_grad = value.cast<bool>();
    else if (name == "generator" && py::isinstance<eager::Generator>(value))
      options.generator = value.cast<eager::Generator>();
    else if (name == "device")
      check_device(value);
    else
      throw py::type_error(text("there is no argument ", name,
                                "; there are dtype, requires_grad, generator and device"));
  }
  return options;
}

using Create = Tensor (*)(const Dims&, CreateOptions, Loc);
template <Create function>
Tensor created(const Dims& size, const py::object& options, Loc loc) {
  return function(size, create_options(options), loc);
}
using Like = Tensor (*)(const Tensor&, Loc);
template <Like function>
Tensor created_like(const Tensor& x, const std::optional<DType>& dtype, bool requires_grad,
                    const py::object& device, Loc loc) {
  if (!device.is_none()) check_device(device);
  Tensor made = function(dtype ? x.detach().to(*dtype, loc) : x.detach(), loc);
  if (requires_grad) made.set_requires_grad();
  return made;
}

// Floating numbers give float32.
Tensor arange(const py::object& start, const py::object& end, const py::object& step,
              const py::object& given, Loc loc) {
  const auto is_floating = [](const py::object& one) { return py::isinstance<py::float_>(one); };
  const bool gives_floats = is_floating(start) || is_floating(end) || is_floating(step);
  const CreateOptions options =
      create_options(given, gives_floats ? default_dtype() : DType::kInt64);
  if (gives_floats) {
    const py::object numpys = py::module_::import("numpy").attr("arange");
    const py::object array = end.is_none() ? numpys(0, start, step) : numpys(start, end, step);
    Tensor made = tensor_from(array, "arange").to(options.dtype, loc);
    return made.set_requires_grad(options.requires_grad);
  }
  const eager::Dim first = dim_from_size(start);
  if (end.is_none() && py::int_(1).equal(step)) return eager::arange(first, options, loc);
  const eager::Dim from = end.is_none() ? eager::Dim(0) : first;
  const eager::Dim to = end.is_none() ? first : dim_from_size(end);
  return eager::arange(from, to, step.cast<int64_t>(), options, loc);
}

// randint(high, size) and randint(low, high, size).
Tensor randint(const py::object& low, const py::object& high, const py::object& size,
               const py::object& options, Loc loc) {
  const bool has_low = !size.is_none();
  return eager::randint(has_low ? low.cast<int64_t>() : 0, (has_low ? high : low).cast<int64_t>(),
                        dims_from(has_low ? size : high), create_options(options, DType::kInt64),
                        loc);
}

// normal(mean, std) of tensors, or of numbers and a size.
Tensor normal(const py::object& mean, const py::object& std, const py::object& size,
              const py::object& options, Loc loc) {
  if (!size.is_none())
    return eager::normal(py::float_(mean), py::float_(std), dims_from(size),
                         create_options(options), loc);
  return eager::normal(tensor_from(mean, "normal"), OperandHolder(std, mean, loc).get());
}

Tensor filled(const Dims& size, const py::object& value, const py::object& given, Loc loc) {
  const DType natural = py::isinstance<py::bool_>(value) ? DType::kBool
                        : is_python_integer(value)       ? DType::kInt64
                                                         : default_dtype();
  const CreateOptions options = create_options(given, natural);
  return eager::full(size, number_for(value, options.dtype, loc), options, loc);
}

Tensor padded(const Tensor& x, const std::vector<int64_t>& pads, const std::string& mode,
              const eager::Number& value, Loc loc) {
  return eager::pad(x, pads, mode, value, loc);
}

Tensor filled_like(const Tensor& x, const py::object& value, const std::optional<DType>& dtype,
                   Loc loc) {
  const DType wanted = dtype.value_or(x.dtype());
  return eager::full_like(x.detach().to(wanted, loc), number_for(value, wanted, loc), loc);
}

void bind_filled(RowDefiner& define) {
  constexpr const char* kDoc =
      "Of the sizes given as numbers or as one sequence; dtype, requires_grad, generator, device.";
  define.function("zeros(*size, **options)", &created<eager::zeros>, {kDoc});
  define.function("ones(*size, **options)", &created<eager::ones>, {kDoc});
  define.function("empty(*size, **options)", &created<eager::zeros>, {kDoc});
  define.function("rand(*size, **options)", &created<eager::rand>, {kDoc});
  define.function("randn(*size, **options)", &created<eager::randn>, {kDoc});
  for (const auto& [name, function] : {std::pair{"zeros_like", &created_like<eager::zeros_like>},
                                       {"empty_like", &created_like<eager::zeros_like>},
                                       {"ones_like", &created_like<eager::ones_like>},
                                       {"rand_like", &created_like<eager::rand_like>},
                                       {"randn_like", &created_like<eager::randn_like>}}) {
    define.function(text(name, "(input, *, dtype=None, requires_grad=False, device=None)").c_str(),
                    function);
  }
  define.function("full(size, fill_value, **options)", &filled);
  define.function("full_like(input, fill_value, *, dtype=None)", &filled_like);
  define.method("new_zeros(self, *size, **options)",
                [](const Tensor& x, const Dims& size, const py::object& options, Loc loc) {
                  return eager::zeros(size, create_options(options, x.dtype()), loc);
                });
  define.method("new_ones(self, *size, **options)",
                [](const Tensor& x, const Dims& size, const py::object& options, Loc loc) {
                  return eager::ones(size, create_options(options, x.dtype()), loc);
                });
  define.method("new_empty(self, *size, **options)",
                [](const Tensor& x, const Dims& size, const py::object& options, Loc loc) {
                  return eager::zeros(size, create_options(options, x.dtype()), loc);
                });
  define.method("new_full(self, size, fill_value)",
                [](const Tensor& x, const Dims& size, const eager::Number& value, Loc loc) {
                  return x.new_full(size, value, loc);
                });
  define.function("pad(input, pad, mode='constant', value=0.0)", &padded);
}

void bind_sequences(RowDefiner& define) {
  define.function("arange(start, end=None, step=1, **options)", &arange);
  define.function("linspace(start, end, steps, **options)",
                  [](double begin, double end, int64_t steps, const py::object& options, Loc loc) {
                    return eager::linspace(begin, end, steps, create_options(options), loc);
                  });
  define.function(
      "logspace(start, end, steps, base=10.0, **options)",
      [](double begin, double end, int64_t steps, double base, const py::object& options, Loc loc) {
        return eager::logspace(begin, end, steps, base, create_options(options), loc);
      });
  define.function("eye(n, m=None, **options)",
                  [](int64_t rows, const std::optional<int64_t>& columns, const py::object& options,
                     Loc loc) { return eager::eye(rows, columns, create_options(options), loc); });
  define.function("tril_indices(row, col, offset=0)", eager::tril_indices);
  define.function("triu_indices(row, col, offset=0)", eager::triu_indices);
}

void bind_draws(RowDefiner& define) {
  define.function("randint(low, high=None, size=None, **options)", &randint,
                  {"Integers in [low, high), or [0, high)."});
  define.function(
      "randperm(n, **options)", [](const py::object& n, const py::object& options, Loc loc) {
        return eager::randperm(dim_from_size(n), create_options(options, DType::kInt64), loc);
      });
  define.function("normal(mean, std=1.0, size=None, **options)", &normal);
  define("multinomial(input, num_samples, replacement=False)", eager::multinomial);
  define("bernoulli(input)", eager::bernoulli);
}

}  // namespace

DType default_dtype() {
  return g_default_dtype;
}

void bind_creation(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  define.function("set_default_dtype(d)", set_default_dtype,
                  {"The type of new tensors and layers, and of tensors of Python's floats."});
  module.def("get_default_dtype", &default_dtype);
  bind_filled(define);
  bind_sequences(define);
  bind_draws(define);
}

}  // namespace sardonyx::python::eager_layer
