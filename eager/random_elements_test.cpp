// Steps of random programs, element by element.
#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/random_programs_for_test.h"

namespace sardonyx::eager::programs {
namespace {

// As float32, computed in a smaller type.
Tensor in_type(T a, DType dtype) {
  return (a.to(dtype) * 0.5 + 1).to(DType::kFloat);
}

}  // namespace

std::vector<Op> element_steps() {
  return {
      {"relu", [](W, S, T a, T) { return relu(a); }},
      {"tanh", [](W, S, T a, T) { return tanh(a); }},
      {"sigmoid", [](W, S, T a, T) { return sigmoid(a); }},
      {"gelu", [](W, S s, T a, T) { return gelu(a, s.k % 2 ? "tanh" : "none"); }},
      {"leaky_relu", [](W, S, T a, T) { return leaky_relu(a, 0.1); }},
      {"neg", [](W, S, T a, T) { return -a; }},
      {"abs", [](W, S, T a, T) { return abs(a); }},
      {"square", [](W, S, T a, T) { return square(a); }},
      {"exp", [](W, S, T a, T) { return exp(-abs(a)); }},
      {"log", [](W, S, T a, T) { return log(abs(a) + 1); }},
      {"sqrt", [](W, S, T a, T) { return sqrt(abs(a) + 0.5); }},
      {"reciprocal", [](W, S, T a, T) { return 1 / (abs(a) + 1); }},
      {"floor", [](W, S, T a, T) { return floor(a); }, kJumps},
      {"sign", [](W, S, T a, T) { return sign(a); }, kJumps},
      {"clamp", [](W, S s, T a, T) { return clamp(a, -1, static_cast<double>(s.k % 3)); }},
      {"add", [](W, S, T a, T b) { return a + b; }, kTwo},
      {"sub", [](W, S, T a, T b) { return a - b; }, kTwo},
      {"mul", [](W, S, T a, T b) { return a * b; }, kTwo},
      {"div", [](W, S, T a, T b) { return a / (abs(b) + 1); }, kTwo},
      {"maximum", [](W, S, T a, T b) { return maximum(a, b); }, kTwo},
      {"minimum", [](W, S, T a, T b) { return minimum(a, 0.25) + b; }, kTwo},
      {"number", [](W, S s, T a, T) { return a * 0.5 + static_cast<double>(s.k); }},
      {"integer", [](W, S s, T a, T) { return s.k - a * int64_t{2}; }},
      {"remainder", [](W, S, T a, T) { return remainder(a, 3); }, kJumps},
      {"compare", [](W, S, T a, T b) { return a > b; }, kJumps | kTwo},
      {"equal", [](W, S, T a, T b) { return a == b; }, kJumps | kTwo},
      {"logic", [](W, S, T a, T b) { return !(a > 0) && (b <= 0 || a != b); }, kJumps | kTwo},
      {"where", [](W, S, T a, T b) { return where(a > 0, a, b); }, kJumps | kTwo},
      {"rank0", [](W, S, T a, T b) { return a * b.to(DType::kDouble).sum() * 0.01; }, kTwo},
      {"atan2", [](W, S, T a, T b) { return atan2(a, abs(b) + 0.5); }, kTwo},
      {"hypot", [](W, S, T a, T b) { return hypot(a, abs(b) + 0.5); }, kTwo},
      {"lerp", [](W, S, T a, T b) { return lerp(as_float(a), as_float(b), 0.3); }, kTwo},
      {"addcmul", [](W, S, T a, T b) { return addcmul(a, a, b, 0.5); }, kTwo},
      {"addcdiv", [](W, S, T a, T b) { return addcdiv(as_float(a), a, abs(b) + 1, 0.5); }, kTwo},
      {"logaddexp", [](W, S, T a, T b) { return logaddexp(a, b); }, kTwo},
      {"xlogy", [](W, S, T a, T b) { return xlogy(a, abs(b) + 0.5); }, kTwo},
      {"floor_divide", [](W, S, T a, T) { return floor_divide(a, 2); }, kJumps},
      {"remainder of two", [](W, S, T a, T b) { return remainder(a, abs(b) + 1); }, kJumps | kTwo},
      {"fmod", [](W, S, T a, T) { return fmod(a, 2); }, kJumps},
      {"trunc", [](W, S, T a, T) { return trunc(a); }, kJumps},
      {"round", [](W, S, T a, T) { return round(as_float(a)); }, kJumps},
      {"copysign", [](W, S, T a, T b) { return copysign(a, b); }, kJumps | kTwo},
      {"isfinite", [](W, S, T a, T) { return isfinite(a); }, kJumps},
      {"nan_to_num", [](W, S, T a, T) { return nan_to_num(log(as_float(a)), 2, 1, -1); }, kJumps},
      {"pow", [](W, S, T a, T) { return pow(abs(a) + 0.5, 1.5); }},
      {"power of two",
       [](W, S, T a, T b) { return pow(abs(as_float(a)) + 0.5, tanh(as_float(b))); }, kTwo},
      {"log1p", [](W, S, T a, T) { return log1p(abs(as_float(a))); }},
      {"expm1", [](W, S, T a, T) { return expm1(-abs(a)); }},
      {"erf", [](W, S, T a, T) { return erf(as_float(a)); }},
      {"silu", [](W, S, T a, T) { return silu(as_float(a)); }},
      {"mish", [](W, S, T a, T) { return mish(as_float(a)); }},
      {"softplus", [](W, S, T a, T) { return softplus(as_float(a), 2); }},
      {"hardswish", [](W, S, T a, T) { return hardswish(a); }},
      {"hardsigmoid", [](W, S, T a, T) { return hardsigmoid(a); }},
      {"elu", [](W, S, T a, T) { return elu(a, 0.5); }},
      {"celu", [](W, S, T a, T) { return celu(as_float(a), 0.5); }},
      {"selu", [](W, S, T a, T) { return selu(a); }},
      {"softshrink", [](W, S, T a, T) { return softshrink(as_float(a)); }},
      {"logsigmoid", [](W, S, T a, T) { return logsigmoid(as_float(a)); }},
      {"masked_fill", [](W, S, T a, T b) { return masked_fill(a, b > 0, 0.5); }, kJumps | kTwo},
      {"to",
       [](W, S s, T a, T) {
         constexpr DType kTypes[] = {DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32,
                                     DType::kBool};
         return a.to(kTypes[s.k % 5]);
       },
       kJumps},
      {"float", [](W, S, T a, T) { return a.to(DType::kFloat); }},
      {"float16", [](W, S, T a, T) { return in_type(a, DType::kFloat16); }, kJumps},
      {"bfloat16", [](W, S, T a, T) { return in_type(a, DType::kBFloat16); }, kJumps},
      {"double", [](W, S, T a, T) { return sin(a.to(DType::kDouble)); }},
      {"autocast",
       [](W, S s, T a, T b) {
         const Autocast scope(DType::kBFloat16, s.k != 0);
         return matmul(as_float(a), as_float(b).t()).to(DType::kFloat) + exp(-abs(a.sum()));
       },
       kJumps | kTwo},
      // gradients
      {"detach", [](W, S, T a, T b) { return a.detach() + b; }, kTwo},
      {"NoGrad",
       [](W, S, T a, T b) {
         const Tensor fixed = [&] {
           const NoGrad no_grad;
           return tanh(as_float(b));
         }();
         return a * fixed;
       },
       kTwo},
      {"hook",
       [](W, S, T a, T) {
         const Tensor y = as_float(a) * 2;
         if (y.requires_grad()) y.register_hook([](const Tensor& d) { return d * 0.5; });
         return y;
       }},
      {"checkpoint",
       [](W, S, T a, T) {
         return checkpoint([](const Tensors& in) -> Tensors { return {tanh(in[0]) * in[0]}; },
                           {as_float(a)})[0];
       }},
      {"custom gradient",
       [](W, S, T a, T) {
         const CustomFunction straight{
             [](const Tensors& in) -> Tensors { return {tanh(in[0])}; },
             [](const Tensors&, const Tensors&, const Tensors& d) -> Tensors { return {d[0]}; }};
         return apply(straight, {as_float(a)})[0];
       }},
  };
}

}  // namespace sardonyx::eager::programs
