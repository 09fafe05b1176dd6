// Elementwise work on contiguous rows of float32, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sardonyx::cpu {

// The op's attributes: alpha and beta, or the lower and upper bound of Clip.
struct UnaryParams {
  float a = 0, b = 0;
};

// out[i] = f(in[i]) for i < count. `out` may be `in`.
using Unary = void (*)(UnaryParams params, const float* in, float* out, size_t count);

struct NamedUnary {
  std::string_view name;  // an op of ai.onnx, or GeluTanh, Square, Cube
  Unary function;
};
// All unary row functions, which the kernels of elementwise ops, of fused groups and of activations
// call.
std::span<const NamedUnary> unary_functions();
// nullptr where there is none.
Unary find_unary(std::string_view name);

// The unary row functions that kernels of other ops use as well.
struct CommonUnaries {
  Unary exp, log, relu, sigmoid, tanh;
};
const CommonUnaries& common_unaries();

enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kPow,
  kFmod,
  kPRelu,
  kHardSwishGrad,
  kHardSigmoidGrad
};

// The binary function of an op of ai.onnx, or of a gradient op; nullopt where there is none.
std::optional<Binary> find_binary(std::string_view name);

// x^exponent, where that has a function of its own: models are full of squares.
std::optional<Unary> unary_power(double exponent);

inline void unary_row(Unary op, UnaryParams params, const float* in, float* out, size_t count) {
  op(params, in, out, count);
}
// out[i] = op(a[i], b[i]); an operand with step 0 is one element for the whole row. `out` may be an
// operand of step 1. `alpha` is the op's attribute.
void binary_row(Binary op, const float* a, bool a_steps, const float* b, bool b_steps, float* out,
                size_t count, float alpha = 0);

}  // namespace sardonyx::cpu
