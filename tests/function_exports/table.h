// Functions of the eager layer, and the first opset that has a form of each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "eager/create.h"
#include "eager/tensor.h"

namespace sardonyx::eager::exports {

using Tensors = std::vector<Tensor>;
using In = const Tensors&;

// Below `since` an export is refused, by an error that names the op `lacking`.
struct Needs {
  int64_t since = 0;
  std::string lacking = {};
  bool is_random = false;            // element types and shapes agree, no numbers
  bool may_lack_kernel = false;      // ONNX Runtime has none of some type of an op
  bool is_called_by_struct = false;  // of a layer: such calls do not know their line
};
// ONNX has no form of it: it runs at once and compiled.
constexpr int64_t kNoOpset = 1000;

struct Function {
  Function(std::string called, Tensors examples, std::function<Tensor(In)> one, Needs limits = {})
      : name(std::move(called)),
        inputs(std::move(examples)),
        run([one = std::move(one)](In in) -> Tensors { return {one(in)}; }),
        needs(std::move(limits)) {}
  Function(std::string called, Tensors examples, std::function<Tensors(In)> many, Needs limits = {})
      : name(std::move(called)),
        inputs(std::move(examples)),
        run(std::move(many)),
        needs(std::move(limits)) {}

  std::string name;
  Tensors inputs;
  std::function<Tensors(In)> run;
  Needs needs;
};

// A function of the inputs `in`.
#define SARDONYX_OF(expression) [](In in) { return expression; }

// Numbers between -2 and 2, the same in each run; none is 0 or where a function jumps.
inline Tensor signed_numbers(const Shape& shape, uint64_t seed = 1) {
  return rand(to_dims(shape), {.generator = Generator(seed)}) * 4 - 2;
}
// Between 0.1 and 1.
inline Tensor positive_numbers(const Shape& shape, uint64_t seed = 1) {
  return rand(to_dims(shape), {.generator = Generator(seed)}) * 0.9 + 0.1;
}
inline Tensor integers(int64_t low, int64_t high, const Shape& shape, uint64_t seed = 1) {
  return randint(low, high, to_dims(shape), {.dtype = DType::kInt64, .generator = Generator(seed)});
}

std::vector<Function> elementwise_functions();
std::vector<Function> reductions();
std::vector<Function> arrangements();
std::vector<Function> selections();
std::vector<Function> products_and_transforms();
std::vector<Function> layers();
std::vector<Function> recurrent_layers();
std::vector<Function> resamplings();
std::vector<Function> losses();
std::vector<Function> control_flow();

}  // namespace sardonyx::eager::exports
