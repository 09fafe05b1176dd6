#include "eager/nn/state_dict.h"

#include <unordered_set>

#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

// What is wrong with `found` where `own` is to take it; empty where nothing is.
std::string mismatch(const Tensor& own, const Tensor& found, const StateRules& rules) {
  if (rules.same_dtypes) {
    if (found.defined() && found.type() == own.type()) return "";
    return text("expected ", own.type(), ", got ",
                found.defined() ? text(found.type()) : "no tensor");
  }
  if (found.defined() && found.shape() == own.shape()) return "";
  return text("expected shape ", to_text(own.shape()), ", got ",
              found.defined() ? to_text(found.shape()) : "no tensor");
}

}  // namespace

StateDict without_prefix(const StateDict& state, const std::string& prefix) {
  StateDict found;
  for (const auto& [name, tensor] : state) {
    const std::string own = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    if (!found.emplace(own, tensor).second) {
      fail(ErrorCode::kInvalidArgument, "without_prefix: the state has both '", own, "' and '",
           prefix, own, "'");
    }
  }
  return found;
}

std::string path_below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string state_problems(const NamedTensors& own, const StateDict& state,
                           const StateRules& rules) {
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() ? "" : "; ") + problem;
  };
  std::unordered_set<std::string> known;
  for (const auto& [name, tensor] : own) {
    known.insert(name);
    const auto at = state.find(name);
    if (at == state.end()) {
      if (rules.same_names) add("missing " + name);
    } else if (const std::string problem = mismatch(tensor, at->second, rules); !problem.empty()) {
      add(name + ": " + problem);
    }
  }
  for (const auto& [name, tensor] : state) {
    if (rules.same_names && !known.contains(name)) add("unexpected " + name);
  }
  return problems;
}

}  // namespace sardonyx::eager::nn
