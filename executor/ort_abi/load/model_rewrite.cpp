#include "executor/ort_abi/load/model_rewrite.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/load/load_errors.h"
#include "executor/ort_abi/load/model_fields.h"
#include "executor/ort_abi/status.h"
#include "ir/pass.h"

namespace sardonyx::ort_abi {
namespace {

// Domains of operators that ONNX Runtime makes when it optimises, which it imports in all that it
// writes.
const std::map<std::string, int64_t> kRuntimesDomains = {
    {"com.microsoft", 1}, {"com.microsoft.nchwc", 1}, {"com.ms.internal.nhwc", kDefaultOpset}};

Model loaded_model(const ModelSource& source, const LoadOptions& load) {
  return source.path ? load_model(*source.path, load) : load_model(source.bytes, load);
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<int64_t> size_denoted(const FixedDims& sizes, std::string_view denotation) {
  for (const auto& [word, size] : sizes.by_denotation) {
    if (is_same_word(word, denotation)) return size;
  }
  return std::nullopt;
}

// Of an input; null where it has no such dim.
const Dim* dim_at(const Graph& graph, const DenotedDim& place) {
  for (const Value* input : graph.inputs()) {
    const auto& shape = input->type.shape;
    if (input->name == place.input && shape && place.axis < shape->size())
      return &(*shape)[place.axis];
  }
  return nullptr;
}

// Sizes by the names that dims have in the graph, where each that is not known has one.
std::map<std::string, int64_t> sizes_by_symbol(const ModelSource& source, const FixedDims& sizes,
                                               const Graph& graph) {
  std::map<std::string, int64_t> found = sizes.by_name;
  if (sizes.by_denotation.empty()) return found;
  for (const DenotedDim& denoted : denoted_dims(source)) {
    const std::optional<int64_t> size = size_denoted(sizes, denoted.denotation);
    const Dim* dim = size ? dim_at(graph, denoted) : nullptr;
    if (!dim) continue;
    if (dim->is_known()) {
      if (dim->value() != *size) refuse(ORT_INVALID_ARGUMENT, "Invalid free dimension override.");
      continue;
    }
    const auto [place, is_new] = found.emplace(dim->text(), *size);
    if (!is_new && place->second != *size)
      refuse(ORT_INVALID_ARGUMENT, "Conflicting free dimension overrides.");
  }
  return found;
}

SaveOptions save_options_of(const OrtKeyValuePairs& config, const std::filesystem::path& path) {
  SaveOptions made;
  made.more_opsets = kRuntimesDomains;
  made.ort_format = is_meant_as_ort(path, config_value(config, "session.save_model_format"));
  const std::string_view file =
      config_value(config, "session.optimized_model_external_initializers_file_name");
  if (file.empty()) return made;
  made.external_data.emplace();
  made.external_data->file = file;
  const std::string_view least =
      config_value(config, "session.optimized_model_external_initializers_min_size_in_bytes");
  std::from_chars(least.data(), least.data() + least.size(), made.external_data->threshold);
  return made;
}

void optimize(Model& model, GraphOptimizationLevel level) {
  if (level != ORT_DISABLE_ALL) run_passes(*model.graph, generic_passes());
}

}  // namespace

Model with_fixed_dims(const ModelSource& source, const FixedDims& fixed, const LoadOptions& load) {
  Model model = loaded_model(source, load);
  const std::map<std::string, int64_t> sizes = sizes_by_symbol(source, fixed, *model.graph);
  const auto size_of = [&](std::string_view symbol) -> std::optional<Dim> {
    const auto at = sizes.find(std::string(symbol));
    const bool is_fixed = at != sizes.end() && at->second >= 0;  // a negative size fixes nothing
    return is_fixed ? std::optional<Dim>(at->second) : std::nullopt;
  };
  // Declared types of what nodes compute are in the same names.
  for (const auto& [value, owner] : model.graph->values()) {
    if (!value->type.shape) continue;
    for (Dim& dim : *value->type.shape)
      dim = dim.substitute(size_of);
  }
  infer_types(*model.graph);
  return model;
}

Model optimized_model(const ModelSource& source, GraphOptimizationLevel level,
                      const LoadOptions& load) {
  Model model = loaded_model(source, load);
  optimize(model, level);
  return model;
}

void save_optimized(const ModelSource& source, const OptimizedFile& file, const LoadOptions& load) {
  if (file.path.empty()) return;
  Model model = file.fixed_dims.empty() ? loaded_model(source, load)
                                        : with_fixed_dims(source, file.fixed_dims, load);
  optimize(model, file.level);
  save_model(model, file.path, save_options_of(file.config, file.path));
}

}  // namespace sardonyx::ort_abi
