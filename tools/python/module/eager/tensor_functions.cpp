// Functions of elements and products, as functions and as methods of tensors.
#include "eager/dispatch/promotion.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/functional/special.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

using eager::Operand;
using Unary = Tensor (*)(const Tensor&, Loc);
using Binary = Tensor (*)(const Operand&, const Operand&);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&, Loc);

constexpr FunctionRow<Unary> kUnary[] = {
    {"abs", eager::abs},
    {"absolute", eager::abs},
    {"acos", eager::acos},
    {"acosh", eager::acosh},
    {"arccos", eager::acos},
    {"arcsin", eager::asin},
    {"arccosh", eager::acosh},
    {"arcsinh", eager::asinh},
    {"arctan", eager::atan},
    {"arctanh", eager::atanh},
    {"argwhere", eager::argwhere},
    {"asin", eager::asin},
    {"asinh", eager::asinh},
    {"atan", eager::atan},
    {"atanh", eager::atanh},
    {"atleast_1d", eager::atleast_1d},
    {"atleast_2d", eager::atleast_2d},
    {"atleast_3d", eager::atleast_3d},
    {"bitwise_not", eager::bitwise_not},
    {"ceil", eager::ceil},
    {"corrcoef", eager::corrcoef},
    {"cos", eager::cos},
    {"cosh", eager::cosh},
    {"deg2rad", eager::deg2rad},
    {"digamma", eager::digamma},
    {"erf", eager::erf},
    {"erfc", eager::erfc},
    {"erfinv", eager::erfinv},
    {"exp", eager::exp},
    {"exp2", eager::exp2},
    {"expm1", eager::expm1},
    {"fix", eager::trunc},
    {"fliplr", eager::fliplr},
    {"flipud", eager::flipud},
    {"floor", eager::floor},
    {"frac", eager::frac},
    {"isfinite", eager::isfinite},
    {"isinf", eager::isinf},
    {"isnan", eager::isnan},
    {"isneginf", eager::isneginf},
    {"isposinf", eager::isposinf},
    {"lgamma", eager::lgamma},
    {"log", eager::log},
    {"log10", eager::log10},
    {"log1p", eager::log1p},
    {"log2", eager::log2},
    {"logical_not", eager::logical_not},
    {"logsigmoid", eager::logsigmoid},
    {"msort", eager::msort},
    {"neg", eager::neg},
    {"negative", eager::neg},
    {"rad2deg", eager::rad2deg},
    {"reciprocal", eager::reciprocal},
    {"round", eager::round},
    {"rsqrt", eager::rsqrt},
    {"sigmoid", eager::sigmoid},
    {"sgn", eager::sign},
    {"sign", eager::sign},
    {"signbit", eager::signbit},
    {"sin", eager::sin},
    {"sinc", eager::sinc},
    {"sinh", eager::sinh},
    {"softsign", eager::softsign},
    {"sqrt", eager::sqrt},
    {"square", eager::square},
    {"tan", eager::tan},
    {"tanh", eager::tanh},
    {"tanhshrink", eager::tanhshrink},
    {"trace", eager::trace},
    {"trunc", eager::trunc},
};

// torch writes some results over their arguments on request, which nobody sees where values are
// immutable.
using InPlace = Tensor (*)(const Tensor&, bool, Loc);
template <Unary function>
Tensor in_place(const Tensor& x, bool, Loc loc) {
  return function(x, loc);
}
constexpr FunctionRow<InPlace> kInPlace[] = {
    {"hardsigmoid", in_place<eager::hardsigmoid>},
    {"hardswish", in_place<eager::hardswish>},
    {"mish", in_place<eager::mish>},
    {"relu", in_place<eager::relu>},
    {"relu6", in_place<eager::relu6>},
    {"selu", in_place<eager::selu>},
    {"silu", in_place<eager::silu>},
};

constexpr FunctionRow<Binary> kBinary[] = {
    {"arctan2", eager::atan2},
    {"atan2", eager::atan2},
    {"bitwise_and", eager::bitwise_and},
    {"bitwise_left_shift", eager::bitwise_left_shift},
    {"bitwise_or", eager::bitwise_or},
    {"bitwise_right_shift", eager::bitwise_right_shift},
    {"bitwise_xor", eager::bitwise_xor},
    {"copysign", eager::copysign},
    {"divide", eager::div},
    {"eq", eager::eq},
    {"float_power", eager::float_power},
    {"floor_divide", eager::floor_divide},
    {"fmax", eager::fmax},
    {"fmin", eager::fmin},
    {"fmod", eager::fmod},
    {"gcd", eager::gcd},
    {"ge", eager::ge},
    {"greater", eager::gt},
    {"greater_equal", eager::ge},
    {"gt", eager::gt},
    {"hypot", eager::hypot},
    {"lcm", eager::lcm},
    {"ldexp", eager::ldexp},
    {"le", eager::le},
    {"less", eager::lt},
    {"less_equal", eager::le},
    {"logaddexp", eager::logaddexp},
    {"logaddexp2", eager::logaddexp2},
    {"lt", eager::lt},
    {"maximum", eager::maximum},
    {"minimum", eager::minimum},
    {"mul", eager::mul},
    {"multiply", eager::mul},
    {"ne", eager::ne},
    {"nextafter", eager::nextafter},
    {"not_equal", eager::ne},
    {"pow", eager::pow},
    {"remainder", eager::remainder},
    {"subtract", eager::sub},
    {"true_divide", eager::div},
    {"xlogy", eager::xlogy},
};

constexpr FunctionRow<OfTwo> kOfTwo[] = {
    {"bmm", eager::bmm},
    {"dot", eager::dot},
    {"ger", eager::outer},
    {"inner", eager::inner},
    {"kron", eager::kron},
    {"logical_and", eager::logical_and},
    {"logical_or", eager::logical_or},
    {"logical_xor", eager::logical_xor},
    {"matmul", eager::matmul},
    {"mm", eager::mm},
    {"mv", eager::mv},
    {"outer", eager::outer},
    {"vdot", eager::dot},
};

// Of tensors and numbers of Python.
DType result_type_of(const py::object& a, const py::object& b) {
  const bool first_is_tensor = py::isinstance<Tensor>(a);
  const py::object &tensor = first_is_tensor ? a : b, &other = first_is_tensor ? b : a;
  if (!py::isinstance<Tensor>(tensor)) {
    // Numbers alone: their own kinds.
    const auto kind = [](const py::object& x) {
      if (PyBool_Check(x.ptr())) return DType::kBool;
      return PyFloat_Check(x.ptr()) ? default_dtype() : DType::kInt64;
    };
    return eager::promoted(kind(a), kind(b)).value();
  }
  const OperandHolder holder(other, tensor, python_line());
  const eager::OperandPair pair = eager::matched(tensor.cast<const Tensor&>(), holder.get());
  return pair.a.dtype();
}

DType promoted_type(const py::object& a, const py::object& b) {
  const DType first = dtype_from(a), second = dtype_from(b);
  if (const auto found = eager::promoted(first, second)) return *found;
  throw py::type_error(text("promote_types(): ", first, " and ", second, " do not mix"));
}

void bind_tables(RowDefiner& define) {
  for (const auto& [name, function] : kUnary)
    define(text(name, "(input)").c_str(), function);
  for (const auto& [name, function] : kInPlace)
    define(text(name, "(input, inplace=False)").c_str(), function);
  for (const auto& [name, function] : kBinary)
    define(text(name, "(input, other)").c_str(), function);
  for (const auto& [name, function] : kOfTwo)
    define(text(name, "(input, other|mat2|vec|vec2|tensor)").c_str(), function);
}

// Bounds that are tensors are those of maximum() and minimum().
Tensor clamped(const py::object& input, const py::object& low, const py::object& high, Loc loc) {
  const Tensor x = tensor_from(input, "clamp");
  if (py::isinstance<Tensor>(low) || py::isinstance<Tensor>(high)) {
    Tensor y = x;
    if (!low.is_none()) y = eager::maximum({y, loc}, OperandHolder(low, input, loc).get());
    if (!high.is_none()) y = eager::minimum({y, loc}, OperandHolder(high, input, loc).get());
    return y;
  }
  const auto bound_of = [&](const py::object& bound) {
    return bound.is_none() ? std::optional<eager::Number>() : number_for(bound, x.dtype(), loc);
  };
  const std::optional<eager::Number> least = bound_of(low), greatest = bound_of(high);
  const UnlockedInterpreter released;
  return eager::clamp(x, least, greatest, loc);
}

template <Tensor (*function)(const Tensor&, double, Loc)>
Tensor one_in_place(const Tensor& x, double value, bool, Loc loc) {
  return function(x, value, loc);
}

void bind_activations(RowDefiner& define) {
  using OfOne = Tensor (*)(const Tensor&, double, bool, Loc);
  for (const auto& [signature, function] :
       {FunctionRow<OfOne>{"leaky_relu(input, negative_slope=0.01, inplace=False)",
                           one_in_place<eager::leaky_relu>},
        {"elu(input, alpha=1.0, inplace=False)", one_in_place<eager::elu>},
        {"celu(input, alpha=1.0, inplace=False)", one_in_place<eager::celu>}}) {
    define(signature, function);
  }
  define("hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False)",
         [](const Tensor& x, const eager::Number& low, const eager::Number& high, bool, Loc loc) {
           return eager::hardtanh(x, low, high, loc);
         });
  define("hardshrink(input, lambd=0.5)", eager::hardshrink);
  define("softshrink(input, lambd=0.5)", eager::softshrink);
  define("threshold(input, threshold, value, inplace=False)",
         [](const Tensor& x, const eager::Number& limit, const eager::Number& value, bool,
            Loc loc) { return eager::threshold(x, limit, value, loc); });
  define("gelu(input, approximate='none')", eager::gelu);
  define("glu(input, dim=-1)", eager::glu);
  define("prelu(input, weight)", eager::prelu);
  define("softplus(input, beta=1.0, threshold=20.0)",
         [](const Tensor& x, double beta, double threshold, Loc loc) {
           const std::optional<double> limit = softplus_threshold(threshold);
           return limit ? eager::softplus(x, beta, *limit, loc) : eager::softplus(x, beta, loc);
         });
  using AlongAxis = Tensor (*)(const Tensor&, int64_t, Loc);
  for (const auto& [name, function] : {FunctionRow<AlongAxis>{"softmax", eager::softmax},
                                       {"log_softmax", eager::log_softmax},
                                       {"softmin", eager::softmin}}) {
    define(text(name, "(input, dim=-1)").c_str(), function);
  }
}

void bind_with_numbers(RowDefiner& define) {
  for (const char* name : {"clamp", "clip"})
    define(text(name, "(input, min=None, max=None)").c_str(), &clamped);
  define("clamp_min(input, min)", [](const py::object& x, const py::object& bound, Loc loc) {
    return clamped(x, bound, py::none(), loc);
  });
  define("clamp_max(input, max)", [](const py::object& x, const py::object& bound, Loc loc) {
    return clamped(x, py::none(), bound, loc);
  });
  define("logit(input, eps=None)", eager::logit);
  define("nan_to_num(input, nan=0.0, posinf=None, neginf=None)", eager::nan_to_num);
  define("heaviside(input, values)", eager::heaviside);
  define("frexp(input)", [](const Tensor& x, Loc loc) { return eager::frexp(x, loc); },
         {.fields = {"mantissa", "exponent"}});
  define.function("polygamma(n, input)", eager::polygamma);
  define.method("polygamma(self, n)",
                [](const Tensor& x, int64_t n, Loc loc) { return eager::polygamma(n, x, loc); });
  define("i0(input)", eager::i0);
  define("lerp(input, end, weight)", eager::lerp);
  define("addcmul(input, tensor1, tensor2, *, value=1)", eager::addcmul);
  define("addcdiv(input, tensor1, tensor2, *, value=1)", eager::addcdiv);
  // With alpha, as torch has it; it is multiplied with the second operand.
  define("add(input, other, *, alpha=1)",
         [](const Operand& a, const Operand& b, const Operand& alpha) {
           const bool is_plain = !alpha.tensor && alpha.number == 1;
           return is_plain ? eager::add(a, b) : eager::add(a, {eager::mul(b, alpha), a.loc});
         });
  define("sub(input, other, *, alpha=1)",
         [](const Operand& a, const Operand& b, const Operand& alpha) {
           const bool is_plain = !alpha.tensor && alpha.number == 1;
           return is_plain ? eager::sub(a, b) : eager::sub(a, {eager::mul(b, alpha), a.loc});
         });
  define("div(input, other, *, rounding_mode=None)",
         [](const Operand& a, const Operand& b, const std::optional<std::string>& mode) {
           if (!mode) return eager::div(a, b);
           if (*mode == "floor") return eager::floor_divide(a, b);
           if (*mode == "trunc") return eager::trunc(eager::div(a, b), a.loc);
           throw py::type_error("div(): rounding_mode: expected None, 'floor' or 'trunc', got '" +
                                *mode + "'");
         });
  define("isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False)",
         [](const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
           return eager::isclose(a, b, {rtol, atol, equal_nan});
         });
  define("allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False)",
         [](const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan, Loc loc) {
           return eager::allclose(a, b, {rtol, atol, equal_nan}, loc);
         });
  define("equal(input, other)", eager::equal);
}

// torch's where(condition) alone gives the places.
py::object where(const Tensor& condition, const py::object& a, const py::object& b, Loc loc) {
  if (a.is_none() && b.is_none()) return python_from_tensors(eager::where(condition, loc));
  const OperandHolder yes(a, b, loc), no(b, a, loc);
  return py::cast([&] {
    const UnlockedInterpreter released;
    return eager::where(condition, yes.get(), no.get());
  }());
}

// dims: how many of the last and first axes, or a list of axes for each of the two.
Tensor tensordot(const Tensor& a, const Tensor& b, const py::object& dims, Loc loc) {
  if (!py::isinstance<py::sequence>(dims)) {
    const auto count = dims.cast<int64_t>();
    return eager::tensordot(a, b, count, loc);
  }
  const py::sequence both(dims);
  if (both.size() != 2) throw py::type_error("tensordot(): dims: expected a number or two lists");
  return eager::tensordot(a, b, int64s_from(both[0]), int64s_from(both[1]), loc);
}

using ScaledProducts = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, eager::ScaledProduct,
                                  Loc);
template <ScaledProducts function>
Tensor scaled(const Tensor& x, const Tensor& a, const Tensor& b, const eager::Number& beta,
              const eager::Number& alpha, Loc loc) {
  return function(x, a, b, {beta, alpha}, loc);
}

void bind_products(RowDefiner& define) {
  define.function("where(condition, input=None, other=None)", &where);
  define.method("where(self, condition, other)",
                [](const Tensor& x, const Tensor& condition, const Operand& other, Loc loc) {
                  return eager::where(condition, {x, loc}, other);
                });
  define.function("einsum(equation, *operands)",
                  [](std::string_view equation, const std::vector<Tensor>& operands, Loc loc) {
                    return eager::einsum(equation, operands, loc);
                  });
  define.function("linear(input, weight, bias=None)", eager::linear);
  define("tensordot(input|a, other|b, dims=2)", &tensordot);
  define("cross(input, other, dim=-1)", eager::cross);
  define("dist(input, other, p=2.0)", eager::dist);
  define("cdist(x1, x2, p=2.0)", eager::cdist);
  define("matrix_power(input, n)", eager::matrix_power);
  define("addmm(input, mat1, mat2, *, beta=1, alpha=1)", &scaled<eager::addmm>);
  define("baddbmm(input, batch1, batch2, *, beta=1, alpha=1)", &scaled<eager::baddbmm>);
  define("addbmm(input, batch1, batch2, *, beta=1, alpha=1)", &scaled<eager::addbmm>);
  define("addmv(input, mat, vec, *, beta=1, alpha=1)", &scaled<eager::addmv>);
}

}  // namespace

void bind_tensor_functions(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  bind_tables(define);
  bind_activations(define);
  bind_with_numbers(define);
  bind_products(define);
  module.def("result_type", &result_type_of, py::arg("tensor1"), py::arg("tensor2"),
             "The element type that an operation of both computes in.");
  module.def("promote_types", &promoted_type, py::arg("type1"), py::arg("type2"));
}

}  // namespace sardonyx::python::eager_layer
