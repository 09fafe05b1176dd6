// Functions that eager code calls, as they are written here and in libtorch.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::bench_eager {

using Ours = std::vector<eager::Tensor>;
using Theirs = std::vector<at::Tensor>;

// An argument: N(0, 1), or integers of [0, limit).
struct CaseInput {
  std::vector<int64_t> shape;
  int64_t limit = 0;
  bool is_double = false;
};

struct Case {
  std::string name;
  std::vector<CaseInput> inputs;
  std::function<eager::Tensor(const Ours&)> ours;
  std::function<at::Tensor(const Theirs&)> theirs;
  bool has_gradient = true;
  bool is_random = false;  // results can't be compared
};

std::vector<Case> elementwise_cases();
std::vector<Case> reduction_cases();
std::vector<Case> arrangement_cases();
std::vector<Case> network_cases();

}  // namespace sardonyx::bench_eager

// The two forms of a case; `in` are its inputs.
#define SARDONYX_OURS(...)                                          \
  [=]([[maybe_unused]] const Ours& in) -> sardonyx::eager::Tensor { \
    using namespace sardonyx::eager;                                \
    return __VA_ARGS__;                                             \
  }
#define SARDONYX_THEIRS(...)                             \
  [=]([[maybe_unused]] const Theirs& in) -> at::Tensor { \
    using namespace at;                                  \
    return __VA_ARGS__;                                  \
  }
// One text for both.
#define SARDONYX_BOTH(...) SARDONYX_OURS(__VA_ARGS__), SARDONYX_THEIRS(__VA_ARGS__)
