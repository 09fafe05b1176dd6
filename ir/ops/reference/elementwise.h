// Reference kernels of elementwise ops: each op is written once as a lambda over float, double,
// int64_t or uint64_t, whatever the element type; see ir/core/dtype_convert.h for the way in and
// out.
#pragma once

#include <cmath>
#include <functional>
#include <type_traits>

#include "ir/core/dtype_convert.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

// inputs[k][i] for i < count are elements of input k; all inputs are broadcast.
template <typename C>
using ElementLoop = std::function<void(const C* const* inputs, C* output, int64_t count)>;

// Runs `loop` over all inputs of the call, broadcast to output 0. Elements are converted to C and
// back.
template <typename C>
void map_elements(const KernelCall& call, const ElementLoop<C>& loop);

// How many arguments of type C a generic lambda takes: one, two or three.
template <typename C, typename Function>
constexpr int arity_of() {
  if constexpr (std::is_invocable_v<Function, C>)
    return 1;
  else if constexpr (std::is_invocable_v<Function, C, C>)
    return 2;
  else
    return 3;
}

// Output 0 is `function` of the elements of the first one, two or three inputs.
template <typename C, typename Function>
void map_with(const KernelCall& call, const Function& function) {
  map_elements<C>(call, [&](const C* const* in, C* out, int64_t count) {
    constexpr int arity = arity_of<C, Function>();
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (arity == 1)
        out[i] = static_cast<C>(function(in[0][i]));
      else if constexpr (arity == 2)
        out[i] = static_cast<C>(function(in[0][i], in[1][i]));
      else
        out[i] = static_cast<C>(function(in[0][i], in[1][i], in[2][i]));
    }
  });
}

// Maps the elements of input 0, whose dtype is floating: those of double in double, others in
// float.
template <typename Function>
void map_floats(const KernelCall& call, const Function& function) {
  if (call.inputs[0].dtype == DType::kDouble)
    map_with<double>(call, function);
  else
    map_with<float>(call, function);
}

// An integer type or bool.
template <typename Function>
void map_ints(const KernelCall& call, const Function& function) {
  if (is_signed_integer(call.inputs[0].dtype))
    map_with<int64_t>(call, function);
  else
    map_with<uint64_t>(call, function);
}

// Any real type.
template <typename Function>
void map_numbers(const KernelCall& call, const Function& function) {
  if (is_floating(call.inputs[0].dtype))
    map_floats(call, function);
  else
    map_ints(call, function);
}

// map_floats() as a reference kernel of a row of the table: `.reference = floats<[](auto x) {
// return std::exp(x); }>`.
template <auto function>
void floats(const KernelCall& call) {
  map_floats(call, function);
}
template <auto function>
void ints(const KernelCall& call) {
  map_ints(call, function);
}
template <auto function>
void numbers(const KernelCall& call) {
  map_numbers(call, function);
}

}  // namespace sardonyx::ops
