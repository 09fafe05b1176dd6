// Steps of random programs that branch and loop.
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/random_programs_for_test.h"
#include "eager/trace/control_flow.h"

namespace sardonyx::eager::programs {
namespace {

Tensor counter() {
  return zeros({}, {.dtype = DType::kInt64});
}

}  // namespace

std::vector<Op> control_steps() {
  return {
      {"cond",
       [](W, S, T a, T) {
         return cond(
             as_float(a).sum() > 0, [&] { return as_float(a) * 2; },
             [&] { return as_float(a) - 1; });
       },
       kJumps},
      {"cond on mode", [](W w, S, T a, T) { return w.is_training() ? a * 2 : a; }},
      {"while_loop",
       [](W, S s, T a, T) {
         return while_loop([&](const Tensors& state) { return state[1] < s.k % 4; },
                           [](const Tensors& state) -> Tensors {
                             return {tanh(state[0]) * 1.5, state[1] + 1};
                           },
                           {as_float(a), zeros({}, {.dtype = DType::kInt64})})[0];
       }},
      {"while_loop on values",
       [](W, S, T a, T) {
         return while_loop([](const Tensors& state) { return abs(state[0]).sum() > 4; },
                           [](const Tensors& state) -> Tensors { return {state[0] * 0.5}; },
                           {as_float(a)})[0];
       },
       kJumps},
      {"scan",
       [](W, S, T a, T) {
         const Tensor x = as_float(a);
         return scan(
                    [](const Tensors& state, const Tensors& slices) -> ScanResult {
                      const Tensor next = state[0] * 0.5 + slices[0];
                      return {{next}, {next * 2}};
                    },
                    {x[0] * 0}, {x})
             .outputs[0];
       }},
      {"cond on a size",
       [](W, S s, T a, T) {
         return cond(
             dim_tensor(a.size(0)) > s.k, [&] { return as_float(a) * 2; },
             [&] { return as_float(a) - 1; });
       }},
      {"cond within cond",
       [](W, S, T a, T b) {
         const auto outer = [&] {
           return cond(
               as_float(b).sum() > 0, [&] { return as_float(a) * 2; },
               [&] { return tanh(as_float(a)); });
         };
         return cond(as_float(a).sum() > 0, outer, [&] { return as_float(a) - 1; });
       },
       kJumps | kTwo},
      {"cond of several results",
       [](W, S, T a, T) {
         const auto pair = [](const Tensor& x) { return Tensors{x * 2, x.sum()}; };
         const Tensors found = cond(
             as_float(a).sum() > 0, [&] { return pair(as_float(a)); },
             [&] { return pair(as_float(a) + 1); });
         return found[0] + found[1] * 0.1;
       },
       kJumps},
      {"while_loop over the rows",
       [](W, S, T a, T) {
         const Tensor x = as_float(a), size = dim_tensor(a.size(0));
         return while_loop([&](const Tensors& state) { return state[0] < size; },
                           [&](const Tensors& state) -> Tensors {
                             const Tensor row = index_select(x, 0, state[0].reshape({1}));
                             return {state[0] + 1, state[1] * 0.5 + row.sum()};
                           },
                           {counter(), x.sum() * 0})[1];
       }},
      {"while_loop that grows",
       [](W, S s, T a, T) {
         return while_loop([&](const Tensors& state) { return state[1] < s.k % 3; },
                           [](const Tensors& state) -> Tensors {
                             return {cat({state[0], state[0].slice(0, {0, 1})}, 0), state[1] + 1};
                           },
                           {as_float(a), counter()})[0];
       }},
      {"while_loop of products",
       [](W, S s, T a, T) {
         const Tensor x = tanh(as_float(a));
         const Tensor square = matmul(x.t(), x) * 0.1;
         return while_loop([&](const Tensors& state) { return state[1] < s.k % 3; },
                           [&](const Tensors& state) -> Tensors {
                             return {tanh(matmul(state[0], square)), state[1] + 1};
                           },
                           {x, counter()})[0];
       }},
      {"scan of two",
       [](W, S, T a, T b) {
         const Tensor x = as_float(a), y = as_float(b);
         const ScanResult found = scan(
             [](const Tensors& state, const Tensors& slices) -> ScanResult {
               const Tensor next = state[0] * 0.5 + slices[0].sum() * slices[1].sum();
               return {{tanh(next)}, {next, slices[0]}};
             },
             {x.sum() * 0}, {x, y});
         return found.state[0] + found.outputs[0].sum() + found.outputs[1];
       },
       kTwo},
      {"scan with cond",
       [](W, S, T a, T) {
         const Tensor x = as_float(a);
         const auto body = [](const Tensors& state, const Tensors& slices) -> ScanResult {
           const Tensor next = cond(
               slices[0].sum() > 0, [&] { return state[0] + slices[0]; },
               [&] { return state[0] * 0.5; });
           return {{next}, {next}};
         };
         return scan(body, {x[0] * 0}, {x}).outputs[0];
       },
       kJumps},
      {"loop in C++",
       [](W, S s, T a, T) {
         Tensor x = as_float(a);
         for (int64_t i = 0; i < s.k; ++i)
           x = tanh(x) + 0.1 * static_cast<double>(i);
         return x;
       }},
  };
}

}  // namespace sardonyx::eager::programs
