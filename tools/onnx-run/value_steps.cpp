#include "tools/onnx-run/value_steps.h"

#include <algorithm>
#include <regex>

#include "onnx_io/npz.h"
#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/datum_text.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

constexpr size_t kGroup = 32;  // values in memory at once

}  // namespace

std::vector<std::string> computed_values(const Graph& graph, const std::string& match) {
  std::regex wanted;
  try {
    wanted = std::regex(match);
  } catch (const std::regex_error& error) {
    fail_usage("--match: '", match, "' is no regular expression: ", error.what());
  }
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) {
    for (const Value* output : node->outputs) {
      if (output && std::regex_search(output->name, wanted)) names.push_back(output->name);
    }
  }
  return names;
}

void require_values(const std::string& option, const Graph& graph,
                    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (graph.find_value(name)) continue;
    std::vector<std::string> known;
    for (const auto& [value, owned] : graph.values())
      known.push_back(value->name);
    std::ranges::sort(known);
    const std::string nearest = nearest_name(name, known);
    fail_usage(option, ": the model has no value '", name, "'",
               nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
  }
}

void visit_values(const Runner& runner, const NamedData& feeds, const RunOptions& options,
                  const std::vector<std::string>& names,
                  const std::function<bool(const std::string&, const Datum&)>& visit) {
  for (size_t begin = 0; begin < names.size(); begin += kGroup) {
    const size_t count = std::min(kGroup, names.size() - begin);
    const std::span<const std::string> group(&names[begin], count);
    const std::vector<Datum> values = runner.fetch(feeds, group, options);
    for (size_t i = 0; i < count; ++i) {
      if (!visit(group[i], values[i])) return;
    }
  }
}

void save_steps(const std::filesystem::path& file, const Runner& runner, const Graph& graph,
                const NamedData& feeds, const RunOptions& options, const std::string& match) {
  NpzWriter archive(file);
  visit_values(runner, feeds, options, computed_values(graph, match),
               [&](const std::string& name, const Datum& value) {
                 if (value.is_tensor()) archive.add(name, value.tensor());
                 return true;
               });
  archive.close();
}

std::string first_non_finite(const Runner& runner, const Graph& graph, const NamedData& feeds,
                             const RunOptions& options) {
  for (const auto& [name, datum] : feeds) {
    if (const NonFinite found = non_finite_in(datum))
      return text("input '", name, "' holds ", found.has_nan ? "NaN" : "an infinity");
  }
  std::string message;
  visit_values(runner, feeds, options, computed_values(graph),
               [&](const std::string& name, const Datum& value) {
                 const NonFinite found = non_finite_in(value);
                 if (!found) return true;
                 const Node& node = *graph.find_value(name)->producer;
                 message = text("node '", node.name, "' (", full_name(*node.op), ") makes ",
                                found.has_nan ? "NaN" : "an infinity", " in '", name,
                                "': ", summary_of(value));
                 if (!node.source.empty()) message += ", written at " + node.source;
                 return false;
               });
  return message;
}

}  // namespace sardonyx::tool
