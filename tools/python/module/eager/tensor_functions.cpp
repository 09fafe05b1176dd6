// Functions of elements, reductions and products, as functions and as methods of tensors.
#include <pybind11/stl.h>

#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

using Unary = Tensor (*)(const Tensor&, Loc);
using Binary = Tensor (*)(const eager::Operand&, const eager::Operand&);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&, Loc);
using AlongAxis = Tensor (*)(const Tensor&, int64_t, Loc);
using OverAxes = Tensor (*)(const Tensor&, const eager::Axes&, bool, Loc);

template <typename Function>
struct FunctionRow {
  const char* name;
  Function function;
};

constexpr FunctionRow<Unary> kUnary[] = {
    {"abs", eager::abs},
    {"acos", eager::acos},
    {"acosh", eager::acosh},
    {"asin", eager::asin},
    {"asinh", eager::asinh},
    {"atan", eager::atan},
    {"atanh", eager::atanh},
    {"bitwise_not", eager::bitwise_not},
    {"ceil", eager::ceil},
    {"cos", eager::cos},
    {"cosh", eager::cosh},
    {"deg2rad", eager::deg2rad},
    {"erf", eager::erf},
    {"erfc", eager::erfc},
    {"exp", eager::exp},
    {"exp2", eager::exp2},
    {"expm1", eager::expm1},
    {"floor", eager::floor},
    {"frac", eager::frac},
    {"hardsigmoid", eager::hardsigmoid},
    {"hardswish", eager::hardswish},
    {"isfinite", eager::isfinite},
    {"isinf", eager::isinf},
    {"isnan", eager::isnan},
    {"log", eager::log},
    {"log10", eager::log10},
    {"log1p", eager::log1p},
    {"log2", eager::log2},
    {"logical_not", eager::logical_not},
    {"logsigmoid", eager::logsigmoid},
    {"mish", eager::mish},
    {"neg", eager::neg},
    {"nonzero", eager::nonzero},
    {"rad2deg", eager::rad2deg},
    {"reciprocal", eager::reciprocal},
    {"relu", eager::relu},
    {"relu6", eager::relu6},
    {"round", eager::round},
    {"rsqrt", eager::rsqrt},
    {"selu", eager::selu},
    {"sigmoid", eager::sigmoid},
    {"sign", eager::sign},
    {"silu", eager::silu},
    {"sin", eager::sin},
    {"sinh", eager::sinh},
    {"softplus", eager::softplus},
    {"softsign", eager::softsign},
    {"sqrt", eager::sqrt},
    {"square", eager::square},
    {"tan", eager::tan},
    {"tanh", eager::tanh},
    {"tanhshrink", eager::tanhshrink},
    {"trace", eager::trace},
    {"trunc", eager::trunc},
};

constexpr FunctionRow<Binary> kBinary[] = {
    {"add", eager::add},
    {"atan2", eager::atan2},
    {"bitwise_and", eager::bitwise_and},
    {"bitwise_or", eager::bitwise_or},
    {"bitwise_xor", eager::bitwise_xor},
    {"div", eager::div},
    {"eq", eager::eq},
    {"floor_divide", eager::floor_divide},
    {"fmod", eager::fmod},
    {"ge", eager::ge},
    {"gt", eager::gt},
    {"hypot", eager::hypot},
    {"le", eager::le},
    {"logaddexp", eager::logaddexp},
    {"lt", eager::lt},
    {"maximum", eager::maximum},
    {"minimum", eager::minimum},
    {"mul", eager::mul},
    {"ne", eager::ne},
    {"pow", eager::pow},
    {"remainder", eager::remainder},
    {"sub", eager::sub},
    {"xlogy", eager::xlogy},
};

constexpr FunctionRow<OfTwo> kOfTwo[] = {
    {"bmm", eager::bmm},
    {"dot", eager::dot},
    {"kron", eager::kron},
    {"logical_and", eager::logical_and},
    {"logical_or", eager::logical_or},
    {"logical_xor", eager::logical_xor},
    {"matmul", eager::matmul},
    {"mm", eager::mm},
    {"mv", eager::mv},
    {"outer", eager::outer},
    {"prelu", eager::prelu},
};

constexpr FunctionRow<AlongAxis> kAlongAxis[] = {
    {"cumprod", eager::cumprod},         {"cumsum", eager::cumsum},   {"glu", eager::glu},
    {"log_softmax", eager::log_softmax}, {"softmax", eager::softmax}, {"softmin", eager::softmin},
};

Tensor sum(const Tensor& x, const eager::Axes& axes, bool keepdim, Loc loc) {
  return x.sum(axes, keepdim, loc);
}
Tensor mean(const Tensor& x, const eager::Axes& axes, bool keepdim, Loc loc) {
  return x.mean(axes, keepdim, loc);
}
Tensor amax(const Tensor& x, const eager::Axes& axes, bool keepdim, Loc loc) {
  return x.amax(axes, keepdim, loc);
}
Tensor amin(const Tensor& x, const eager::Axes& axes, bool keepdim, Loc loc) {
  return x.amin(axes, keepdim, loc);
}
constexpr FunctionRow<OverAxes> kOverAxes[] = {
    {"all", eager::all},
    {"amax", amax},
    {"amin", amin},
    {"any", eager::any},
    {"logsumexp", eager::logsumexp},
    {"mean", mean},
    {"nanmean", eager::nanmean},
    {"nansum", eager::nansum},
    {"prod", eager::prod},
    {"sum", sum},
};

void bind_rows(Definer& define) {
  for (const auto& [name, function] : kUnary) {
    define(name, [function = function](const Tensor& x) {
      return unlocked([&](const Loc& loc) { return function(x, loc); });
    });
  }
  for (const auto& [name, function] : kBinary) {
    define(
        name,
        [function = function](const py::object& a, const py::object& b) {
          const Loc loc = python_line();
          const OperandHolder left(a, b, loc), right(b, a, loc);
          const UnlockedInterpreter released;
          return function(left.get(), right.get());
        },
        py::arg("other"));
  }
  for (const auto& [name, function] : kOfTwo) {
    define(
        name,
        [function = function](const Tensor& a, const Tensor& b) {
          return unlocked([&](const Loc& loc) { return function(a, b, loc); });
        },
        py::arg("other"));
  }
  for (const auto& [name, function] : kAlongAxis) {
    define(
        name,
        [function = function](const Tensor& x, int64_t dim) {
          return unlocked([&](const Loc& loc) { return function(x, dim, loc); });
        },
        py::arg("dim") = -1);
  }
  for (const auto& [name, function] : kOverAxes) {
    define(
        name,
        [function = function](const Tensor& x, const py::object& dim, bool keepdim) {
          const std::vector<int64_t> axes = int64s_from(dim);
          return unlocked([&](const Loc& loc) { return function(x, axes, keepdim, loc); });
        },
        py::arg("dim") = py::none(), py::arg("keepdim") = false);
  }
}

// max(x), max(x, dim), max(x, other).
template <typename All, typename Along>
auto extreme(const All& all, const Along& along, Binary of_two) {
  return [=](const Tensor& x, const py::object& dim, bool keepdim) -> py::object {
    if (dim.is_none()) return py::cast(unlocked([&](const Loc& loc) { return all(x, loc); }));
    if (py::isinstance<Tensor>(dim))
      return py::cast(of_two({x, python_line()}, dim.cast<const Tensor&>()));
    const auto axis = dim.cast<int64_t>();
    return py::cast(unlocked([&](const Loc& loc) { return along(x, axis, keepdim, loc); }));
  };
}

template <typename Function>
auto place_of_extreme(Function function) {
  return [function](const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
    return unlocked([&](const Loc& loc) { return function(x, dim, keepdim, loc); });
  };
}

using Spread = Tensor (*)(const Tensor&, const eager::Axes&, bool, int64_t, Loc);

void bind_statistics(Definer& define) {
  const py::arg_v dim = py::arg("dim") = py::none(), keepdim = py::arg("keepdim") = false;
  define("max",
         extreme([](const Tensor& x, Loc loc) { return eager::max(x, loc); },
                 [](const Tensor& x, int64_t axis, bool keeps, Loc loc) {
                   return eager::max(x, axis, keeps, loc);
                 },
                 eager::maximum),
         dim, keepdim);
  define("min",
         extreme([](const Tensor& x, Loc loc) { return eager::min(x, loc); },
                 [](const Tensor& x, int64_t axis, bool keeps, Loc loc) {
                   return eager::min(x, axis, keeps, loc);
                 },
                 eager::minimum),
         dim, keepdim);
  define("argmax", place_of_extreme(eager::argmax), dim, keepdim);
  define("argmin", place_of_extreme(eager::argmin), dim, keepdim);
  for (const auto& [name, function] :
       {FunctionRow<Spread>{"var", eager::var}, FunctionRow<Spread>{"std", eager::std}}) {
    define(
        name,
        [function = function](const Tensor& x, const py::object& axes, bool keeps,
                              int64_t correction) {
          const std::vector<int64_t> over = int64s_from(axes);
          return unlocked(
              [&](const Loc& loc) { return function(x, over, keeps, correction, loc); });
        },
        dim, keepdim, py::arg("correction") = 1);
  }
  define(
      "norm",
      [](const Tensor& x, double p, const py::object& axes, bool keeps) {
        const std::vector<int64_t> over = int64s_from(axes);
        return unlocked([&](const Loc& loc) { return eager::norm(x, p, over, keeps, loc); });
      },
      py::arg("p") = 2.0, dim, keepdim);
  define(
      "topk",
      [](const Tensor& x, int64_t k, int64_t axis, bool largest) {
        return unlocked([&](const Loc& loc) { return eager::topk(x, k, axis, largest, loc); });
      },
      py::arg("k"), py::arg("dim") = -1, py::arg("largest") = true);
  define(
      "sort",
      [](const Tensor& x, int64_t axis, bool descending) {
        return unlocked([&](const Loc& loc) { return eager::sort(x, axis, descending, loc); });
      },
      py::arg("dim") = -1, py::arg("descending") = false);
  define(
      "argsort",
      [](const Tensor& x, int64_t axis, bool descending) {
        return unlocked([&](const Loc& loc) { return eager::argsort(x, axis, descending, loc); });
      },
      py::arg("dim") = -1, py::arg("descending") = false);
}

// Bounds that a double does not hold are those of maximum() and minimum().
Tensor clamped(const py::object& input, const py::object& low, const py::object& high) {
  const Loc loc = python_line();
  const Tensor x = tensor_from(input, "clamp");
  if (is_wide(low, x.dtype()) || is_wide(high, x.dtype())) {
    Tensor y = x;
    if (!low.is_none()) y = eager::maximum({y, loc}, OperandHolder(low, input, loc).get());
    if (!high.is_none()) y = eager::minimum({y, loc}, OperandHolder(high, input, loc).get());
    return y;
  }
  const auto bound_of = [&](const py::object& bound) {
    return bound.is_none() ? std::optional<double>() : double_of(bound, x.dtype(), loc);
  };
  const std::optional<double> least = bound_of(low), greatest = bound_of(high);
  const UnlockedInterpreter released;
  return eager::clamp(x, least, greatest, loc);
}

void bind_with_numbers(Definer& define) {
  define("clamp", &clamped, py::arg("min") = py::none(), py::arg("max") = py::none());
  define(
      "leaky_relu",
      [](const Tensor& x, double slope) {
        return unlocked([&](const Loc& loc) { return eager::leaky_relu(x, slope, loc); });
      },
      py::arg("negative_slope") = 0.01);
  define(
      "elu",
      [](const Tensor& x, double alpha) {
        return unlocked([&](const Loc& loc) { return eager::elu(x, alpha, loc); });
      },
      py::arg("alpha") = 1.0);
  define(
      "celu",
      [](const Tensor& x, double alpha) {
        return unlocked([&](const Loc& loc) { return eager::celu(x, alpha, loc); });
      },
      py::arg("alpha") = 1.0);
  define(
      "hardtanh",
      [](const Tensor& x, double low, double high) {
        return unlocked([&](const Loc& loc) { return eager::hardtanh(x, low, high, loc); });
      },
      py::arg("min_val") = -1.0, py::arg("max_val") = 1.0);
  define(
      "gelu",
      [](const Tensor& x, const std::string& approximate) {
        return unlocked([&](const Loc& loc) { return eager::gelu(x, approximate, loc); });
      },
      py::arg("approximate") = "none");
  define(
      "lerp",
      [](const py::object& input, const py::object& end, const py::object& weight) {
        const Loc loc = python_line();
        return eager::lerp(tensor_from(input, "lerp"), OperandHolder(end, input, loc).get(),
                           OperandHolder(weight, input, loc).get());
      },
      py::arg("end"), py::arg("weight"));
}

void bind_products(py::module_& module) {
  module.def(
      "where",
      [](const Tensor& condition, const py::object& a, const py::object& b) {
        const Loc loc = python_line();
        const OperandHolder yes(a, b, loc), no(b, a, loc);
        const UnlockedInterpreter released;
        return eager::where(condition, yes.get(), no.get());
      },
      py::arg("condition"), py::arg("input"), py::arg("other"));
  module.def(
      "einsum",
      [](const std::string& equation, const py::args& operands) {
        const std::vector<Tensor> tensors =
            tensors_from(operands.size() == 1 ? operands[0] : py::object(operands), "einsum");
        return unlocked([&](const Loc& loc) { return eager::einsum(equation, tensors, loc); });
      },
      py::arg("equation"));
  module.def(
      "linear",
      [](const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
        return unlocked(
            [&](const Loc& loc) { return eager::linear(x, weight, bias.value_or(Tensor()), loc); });
      },
      py::arg("input"), py::arg("weight"), py::arg("bias") = py::none());
  module.def(
      "allclose",
      [](const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
        return eager::allclose(a, b, {rtol, atol, equal_nan}, python_line());
      },
      py::arg("input"), py::arg("other"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8,
      py::arg("equal_nan") = false);
  module.def(
      "equal", [](const Tensor& a, const Tensor& b) { return eager::equal(a, b, python_line()); },
      py::arg("input"), py::arg("other"));
}

}  // namespace

void bind_tensor_functions(py::module_& module, TensorClass& tensor) {
  Definer define(module, tensor);
  bind_rows(define);
  bind_statistics(define);
  bind_with_numbers(define);
  bind_products(module);
}

}  // namespace sardonyx::python::eager_layer
