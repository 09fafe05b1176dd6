#include "tools/onnx-run/score/model_digest.h"

#include <algorithm>

#include "executor/weights/content_hash.h"
#include "onnx_io/file_access.h"
#include "onnx_io/load.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/score/score_inputs.h"

namespace sardonyx::tool {
namespace {

constexpr size_t kSmallConstant = 128;  // bytes; writers of models leave these in the file

void append_hash(std::string& out, const ContentHash& hash) {
  out.append(reinterpret_cast<const char*>(hash.data()), sizeof hash);
}

// What a value is without a run: a constant, or the default of an input.
const Tensor* stored_value(const Value& value) {
  const Tensor* tensor = value.constant ? value.constant.get() : value.default_value.get();
  const bool counts =
      tensor && tensor->dtype() != DType::kString && tensor->bytes() > kSmallConstant;
  return counts ? tensor : nullptr;
}

// In an order that is the same each time the file is read: by name, then graph by graph.
void append_constants(std::string& out, const Graph& graph) {
  std::vector<const Value*> values;
  for (const auto& [value, owner] : graph.values()) {
    if (stored_value(*value)) values.push_back(value);
  }
  std::ranges::sort(values, {}, [](const Value* value) { return value->name; });
  for (const Value* value : values) {
    out += value->name + '\0';
    append_hash(out, content_hash(*stored_value(*value)));
  }
  for (const auto& node : graph.nodes()) {
    for (const GraphPtr& inner : subgraphs_of(*node))
      append_constants(out, *inner);
  }
}

}  // namespace

std::string model_digest(const std::filesystem::path& path) {
  std::string parts;
  {
    const OpenFile file = open_regular(path);
    if (file.size > 0) {
      const std::shared_ptr<Buffer> mapped = map_file(file);
      append_hash(parts, shared_content_hash({mapped->data(), mapped->size()}));
    }
  }
  append_constants(parts, *loading([&] { return load_model(path); }).graph);
  return digest_of(parts);
}

}  // namespace sardonyx::tool
