// Traces in files, in the form that Triton's tools read: one JSON array of objects, in which those
// of a trace have its id.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "ir/core/dtype_convert.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {
namespace {

using serving::append_json_string;

void append_joined(std::string& out, size_t index) {
  if (index > 0) out += ',';
}

template <typename Number>
std::string integers_of(const Tensor& tensor) {
  std::vector<Number> values(static_cast<size_t>(tensor.count()));
  load_numbers(tensor.dtype(), tensor.raw(), 0, 1, tensor.count(), values.data());
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    append_joined(out, i);
    out += std::to_string(values[i]);
  }
  return out;
}

// Elements as text, with commas between them.
std::string elements_of(const Tensor& tensor) {
  std::string out;
  const auto count = static_cast<size_t>(tensor.count());
  if (tensor.dtype() == DType::kString) {
    const auto values = tensor.values<std::string>();
    for (size_t i = 0; i < count; ++i) {
      append_joined(out, i);
      out += values[i];
    }
    return out;
  }
  if (tensor.dtype() == DType::kUInt64) return integers_of<uint64_t>(tensor);
  if (is_integer(tensor.dtype()) || tensor.dtype() == DType::kBool)
    return integers_of<int64_t>(tensor);
  std::vector<double> values(count);
  load_numbers(tensor.dtype(), tensor.raw(), 0, 1, tensor.count(), values.data());
  for (size_t i = 0; i < count; ++i) {
    char number[40];
    std::snprintf(number, sizeof(number), "%.9g", values[i]);
    append_joined(out, i);
    out += number;
  }
  return out;
}

void append_tensor(std::string& out, uint64_t id, const Trace::TracedTensor& traced) {
  out += ",{\"id\":" + std::to_string(id) + ",\"activity\":\"" + traced.activity +
         "\",\"tensor\":{\"name\":";
  append_json_string(out, traced.name);
  out += ",\"data\":";
  append_json_string(out, elements_of(traced.tensor));
  out += ",\"shape\":\"";
  for (size_t i = 0; i < traced.tensor.rank(); ++i) {
    append_joined(out, i);
    out += std::to_string(traced.tensor.shape()[i]);
  }
  out += "\",\"dtype\":\"";
  out += serving::protocol_name(traced.tensor.dtype());
  out += "\"}}";
}

std::string json_of(const Trace& trace) {
  const std::string id = std::to_string(trace.id);
  std::string out = "{\"id\":" + id + ",\"model_name\":";
  append_json_string(out, trace.model);
  out += ",\"model_version\":" + std::to_string(trace.version);
  if (!trace.request_id.empty()) {
    out += ",\"request_id\":";
    append_json_string(out, trace.request_id);
  }
  out += '}';
  if (trace.settings.timestamps) {
    for (const Trace::Event& event : trace.events) {
      const auto ns = std::chrono::nanoseconds(event.time.time_since_epoch()).count();
      out += ",{\"id\":" + id + ",\"timestamps\":[{\"name\":\"" + event.name +
             "\",\"ns\":" + std::to_string(ns) + "}]}";
    }
  }
  if (trace.settings.tensors) {
    for (const Trace::TracedTensor& tensor : trace.tensors)
      append_tensor(out, trace.id, tensor);
  }
  return out;
}

// FILE, or FILE.0, FILE.1 ... with log_frequency traces in each.
class FileSink : public TraceSink {
 public:
  FileSink(std::string path, ServerLog& log) : path_(std::move(path)), log_(log) {}
  ~FileSink() override { end(); }

  void write(const Trace& trace) override {
    const std::string json = json_of(trace);
    const std::lock_guard lock(mutex_);
    const uint32_t frequency = trace.settings.log_frequency;
    if (file_ && (frequency > 0) != is_numbered_) end();
    if (!file_ && !begin(frequency > 0)) return;
    std::fputs(in_file_++ == 0 ? "[" : ",\n", file_);
    std::fwrite(json.data(), 1, json.size(), file_);
    std::fflush(file_);
    if (frequency > 0 && in_file_ >= frequency) end();
  }

 private:
  // With the lock held.
  bool begin(bool is_numbered) {
    const std::string path = is_numbered ? path_ + '.' + std::to_string(next_number_++) : path_;
    file_ = std::fopen(path.c_str(), "we");
    in_file_ = 0;
    is_numbered_ = is_numbered;
    if (!file_)
      log_.write(LogLevel::kError, text("trace file '", path, "': ", std::strerror(errno)));
    return file_ != nullptr;
  }
  void end() {
    if (!file_) return;
    std::fputs("]\n", file_);
    std::fclose(file_);
    file_ = nullptr;
  }

  const std::string path_;
  ServerLog& log_;
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  bool is_numbered_ = false;
  uint32_t in_file_ = 0, next_number_ = 0;
};

}  // namespace

std::unique_ptr<TraceSink> make_file_sink(const std::string& file, ServerLog& log) {
  return std::make_unique<FileSink>(file, log);
}

}  // namespace sardonyx::serve
