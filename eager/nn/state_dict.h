// What names and loads the states of modules, optimisers and files.
#pragma once

#include <string>

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// The path of what is called `name` at `path`: "encoder.weight"; the name where the path is "".
std::string path_below(const std::string& path, const std::string& name);

struct StateRules {
  bool same_names = true;    // neither side has a name that the other lacks
  bool same_dtypes = false;  // else values are converted, and only shapes must be the same
};

// What keeps `state` from being loaded into `own`, joined by "; "; empty where nothing does.
std::string state_problems(const NamedTensors& own, const StateDict& state,
                           const StateRules& rules);

}  // namespace sardonyx::eager::nn
