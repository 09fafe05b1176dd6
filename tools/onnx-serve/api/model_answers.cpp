// Answers that say what the server has.
#include <set>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "tools/onnx-serve/api/api.h"

namespace sardonyx::serve {
namespace {

using serving::append_json_string;
using serving::append_number;
using serving::Durations;

void append_tensors(std::string& out, const std::vector<serving::TensorConfig>& tensors,
                    bool has_batch_dim) {
  out += '[';
  bool is_first = true;
  for (const serving::TensorConfig& tensor : tensors) {
    if (!is_first) out += ',';
    is_first = false;
    out += "{\"name\":";
    append_json_string(out, tensor.name);
    out += ",\"datatype\":\"";
    out += serving::protocol_name(tensor.dtype);
    out += "\",\"shape\":[";
    if (has_batch_dim) out += tensor.dims.empty() ? "-1" : "-1,";
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      if (i > 0) out += ',';
      append_number(out, tensor.dims[i]);
    }
    out += "]}";
  }
  out += ']';
}

void append_duration(std::string& out, std::string_view name, const Durations& durations,
                     bool is_first = false) {
  if (!is_first) out += ',';
  out += '"';
  out += name;
  out += "\":{\"count\":";
  append_number(out, durations.count);
  out += ",\"ns\":";
  append_number(out, durations.ns);
  out += '}';
}

void append_statistics(std::string& out, const serving::ServedModel& model) {
  const serving::StatisticsSnapshot counts = model.statistics().snapshot();
  out += "{\"name\":";
  append_json_string(out, model.name());
  out += ",\"version\":\"";
  append_number(out, model.version());
  out += "\",\"last_inference\":";
  append_number(out, counts.last_inference_ms);
  out += ",\"inference_count\":";
  append_number(out, counts.inference_count);
  out += ",\"execution_count\":";
  append_number(out, counts.execution_count);
  out += ",\"inference_stats\":{";
  append_duration(out, "success", counts.success, true);
  append_duration(out, "fail", counts.fail);
  append_duration(out, "queue", counts.queue);
  append_duration(out, "compute_input", counts.compute_input);
  append_duration(out, "compute_infer", counts.compute_infer);
  append_duration(out, "compute_output", counts.compute_output);
  append_duration(out, "cache_hit", {});
  append_duration(out, "cache_miss", {});
  out += "},\"response_stats\":{},\"batch_stats\":[";
  bool is_first = true;
  for (const auto& [size, batch] : counts.batches) {
    out += is_first ? "{\"batch_size\":" : ",{\"batch_size\":";
    is_first = false;
    append_number(out, size);
    append_duration(out, "compute_input", batch.compute_input);
    append_duration(out, "compute_infer", batch.compute_infer);
    append_duration(out, "compute_output", batch.compute_output);
    out += '}';
  }
  out += "],\"memory_usage\":[{\"type\":\"CPU\",\"id\":0,\"byte_size\":";
  append_number(out, model.session().stats().memory_used);
  out += "}]}";
}

}  // namespace

HttpAnswer Api::server_metadata() const {
  std::string out = "{\"name\":";
  append_json_string(out, options_.server_name);
  out += ",\"version\":\"" SARDONYX_VERSION "\",\"extensions\":[";
  bool is_first = true;
  for (const std::string_view name : extensions()) {
    if (!is_first) out += ',';
    is_first = false;
    append_json_string(out, name);
  }
  return json_answer(out + "]}");
}

HttpAnswer Api::model_names() const {
  std::set<std::string> names;
  for (const auto& model : repository_.serving())
    names.insert(model->name());
  std::string out = "{\"models\":[";
  for (const std::string& name : names) {
    if (out.back() != '[') out += ',';
    append_json_string(out, name);
  }
  return json_answer(out + "]}");
}

HttpAnswer Api::health(bool ready) const {
  const bool is_ready = repository_.is_ready() && !state_.is_draining;
  if (!ready) return json_answer("{\"live\":true}");
  if (is_ready) return json_answer("{\"live\":true,\"ready\":true}");
  HttpAnswer answer = json_answer("{\"live\":true,\"ready\":false}");
  answer.status = 503;
  return answer;
}

HttpAnswer Api::model_ready(const std::string& name, const std::string& version) const {
  repository_.find(name, version);
  return json_answer("{\"name\":" + serving::json_string(name) + ",\"ready\":true}");
}

HttpAnswer Api::model_metadata(const serving::ServedModel& model) const {
  std::string out = "{\"name\":";
  append_json_string(out, model.name());
  out += ",\"versions\":[";
  bool is_first = true;
  for (const auto& one : repository_.serving(model.name())) {
    if (!is_first) out += ',';
    is_first = false;
    out += '"' + std::to_string(one->version()) + '"';
  }
  const bool has_batch_dim = model.config().max_batch_size > 0;
  out += "],\"platform\":\"";
  out += model.config().is_ensemble() ? "ensemble" : "onnxruntime_onnx";
  out += "\",\"inputs\":";
  append_tensors(out, model.config().inputs, has_batch_dim);
  out += ",\"outputs\":";
  append_tensors(out, model.config().outputs, has_batch_dim);
  return json_answer(out + '}');
}

HttpAnswer Api::statistics(std::string_view name, std::string_view version) const {
  const auto models = repository_.counted(name, version);
  std::string out = "{\"model_stats\":[";
  for (size_t i = 0; i < models.size(); ++i) {
    if (i > 0) out += ',';
    append_statistics(out, *models[i]);
  }
  return json_answer(out + "]}");
}

}  // namespace sardonyx::serve
