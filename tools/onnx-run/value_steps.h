// Looks at every value inside a run, a few at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

// What the nodes of the main graph compute, in their order; with `match`, those whose name has
// this regular expression. Throws UsageError where it is none.
std::vector<std::string> computed_values(const Graph& graph, const std::string& match = "");

// Throws UsageError, beginning with `option`, where the main graph has no value of one of the
// names.
void require_values(const std::string& option, const Graph& graph,
                    const std::vector<std::string>& names);

// Fetches the values in small groups, so that few are in memory at once (each group is a run of
// its own), and calls `visit` in order until it says false.
void visit_values(const Runner& runner, const NamedData& feeds, const RunOptions& options,
                  const std::vector<std::string>& names,
                  const std::function<bool(const std::string& name, const Datum& value)>& visit);

// All tensors among the values of `graph` (the model as it was loaded) into a .npz.
void save_steps(const std::filesystem::path& file, const Runner& runner, const Graph& graph,
                const NamedData& feeds, const RunOptions& options, const std::string& match);

// The first node of `graph` (the model as it was loaded) that makes a NaN or an infinity, in words;
// empty where none does.
std::string first_non_finite(const Runner& runner, const Graph& graph, const NamedData& feeds,
                             const RunOptions& options);

}  // namespace sardonyx::tool
