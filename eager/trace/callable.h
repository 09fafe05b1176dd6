// Functions of tensors as people write them: of one, two ... tensors, giving a tensor, a vector, a
// pair or a tuple of them. Modules are such functions.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "eager/trace/collect.h"
#include "eager/trace/tensor_function.h"

namespace sardonyx::eager {
namespace detail {

// How many tensors a function may take one by one.
constexpr size_t kMaxTensors = 6;

template <size_t, typename T>
struct Repeated {
  using type = T;
};

// Whether F takes as many tensors as the sequence has indices.
template <typename F, size_t... index>
constexpr bool takes(std::index_sequence<index...>) {
  return requires(const F& fn, const Tensor& tensor) {
    fn(static_cast<typename Repeated<index, const Tensor&>::type>(tensor)...);
  };
}
template <typename F, size_t... less>
constexpr bool takes_some(std::index_sequence<less...>) {
  return (takes<F>(std::make_index_sequence<less + 1>()) || ...);
}

// Calls the function if it takes `count` tensors and as many are given; false otherwise.
template <size_t count, typename F>
bool try_call(const F& fn, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
              const Loc& loc) {
  return [&]<size_t... index>(std::index_sequence<index...> sequence) {
    if constexpr (takes<F>(std::index_sequence<index...>())) {
      if (inputs.size() != count) return false;
      // Modules are told who calls them.
      if constexpr (requires { fn(inputs[index]..., loc); })
        collect_tensors(outputs, fn(inputs[index]..., loc));
      else
        collect_tensors(outputs, fn(inputs[index]...));
      return true;
    } else {
      (void)sequence;
      return false;
    }
  }
  (std::make_index_sequence<count>());
}

// Throws kInvalidArgument for a number of tensors that the function does not take. `loc` is where
// the program handed the function over.
template <typename F>
std::vector<Tensor> call_with(const F& fn, const std::vector<Tensor>& inputs, const Loc& loc) {
  if constexpr (std::convertible_to<F, TensorFunction>) return fn(inputs);
  std::vector<Tensor> outputs;
  const bool was_called = [&]<size_t... less>(std::index_sequence<less...>) {
    return (try_call<less + 1>(fn, inputs, outputs, loc) || ...);
  }
  (std::make_index_sequence<kMaxTensors>());
  if (was_called) return outputs;
  fail(ErrorCode::kInvalidArgument, "the function does not take ", inputs.size(), " tensors");
}

}  // namespace detail

// A function of up to six tensors. One of a vector of tensors is a TensorFunction already.
template <typename F>
concept TensorCallable = !std::convertible_to<F, TensorFunction> &&
                         detail::takes_some<F>(std::make_index_sequence<detail::kMaxTensors>());

// The same of a vector.
template <TensorCallable F>
TensorFunction as_tensor_function(F fn, Loc loc = Loc::current()) {
  return [fn = std::move(fn), loc](const std::vector<Tensor>& inputs) {
    return detail::call_with(fn, inputs, loc);
  };
}

}  // namespace sardonyx::eager
