#include "executor/ort_abi/load/model_rewrite.h"

#include <charconv>

#include "executor/ort_abi/config_entries.h"
#include "ir/pass.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {
namespace {

Model loaded_model(const ModelSource& source, const LoadOptions& load) {
  return source.path ? load_model(*source.path, load) : load_model(source.bytes, load);
}

SaveOptions save_options(const OrtSessionOptions& options) {
  SaveOptions made;
  const std::string_view file =
      config_value(options.config, "session.optimized_model_external_initializers_file_name");
  if (file.empty()) return made;
  made.external_data.emplace();
  made.external_data->file = file;
  const std::string_view least = config_value(
      options.config, "session.optimized_model_external_initializers_min_size_in_bytes");
  std::from_chars(least.data(), least.data() + least.size(), made.external_data->threshold);
  return made;
}

}  // namespace

Model with_fixed_dims(const ModelSource& source, const std::map<std::string, int64_t>& sizes,
                      const LoadOptions& load) {
  Model model = loaded_model(source, load);
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
  if (level != ORT_DISABLE_ALL) run_passes(*model.graph, generic_passes());
  return model;
}

void save_optimized(const ModelSource& source, const OrtSessionOptions& options,
                    const LoadOptions& load) {
  if (options.optimized_model_path.empty()) return;
  save_model(optimized_model(source, options.optimization_level, load),
             options.optimized_model_path, save_options(options));
}

}  // namespace sardonyx::ort_abi
