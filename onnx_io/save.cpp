#include "onnx_io/save.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "ir/core/bad_alloc.h"
#include "ir/op_def.h"
#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/export/exporter.h"
#include "onnx_io/export/older_bodies.h"
#include "onnx_io/file_write.h"
#include "onnx_io/load.h"
#include "onnx_io/ort_format/write_ort_model.h"

namespace sardonyx {
namespace {

using onnx_export::Exporter;
using onnx_export::first_opset_with;
using onnx_export::kOldestSavedOpset;
using onnx_export::must_be_written_out;
using onnx_export::PendingTensor;
using onnx_export::write_out;
using onnx_schema::ModelProto;
using onnx_schema::TensorProto;

using Sink = std::function<void(std::span<const std::byte>)>;

// Field tags of the wire format (number * 8 + 2: a length and that many bytes).
constexpr char kModelGraph = 7 * 8 + 2;
constexpr char kGraphInitializer = 5 * 8 + 2;
constexpr char kTensorRawData = 9 * 8 + 2;

std::string tag_and_length(char tag, uint64_t length) {
  std::string out(1, tag);
  for (; length >= 0x80; length >>= 7)
    out += static_cast<char>(length | 0x80);
  return out + static_cast<char>(length);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Domains that nodes are of have their version already.
void import_more(ModelProto& proto, const SaveOptions& options) {
  for (const auto& [domain, version] : options.more_opsets) {
    const bool is_there = std::ranges::any_of(
        proto.opset_import(), [&](const auto& one) { return one.domain() == domain; });
    if (is_there) continue;
    auto& made = *proto.add_opset_import();
    made.set_domain(domain);
    made.set_version(version);
  }
}

// The pending initializers are put after the graph's other fields straight from memory, without a
// copy in a message.
void write_onnx(ModelProto& proto, const std::vector<PendingTensor>& pending, const Sink& sink) {
  std::string graph = onnx_export::serialized(proto.graph());
  proto.clear_graph();
  std::string head = onnx_export::serialized(proto);
  std::vector<std::string> headers;
  uint64_t graph_size = graph.size();
  for (const PendingTensor& tensor : pending) {
    const size_t bytes = tensor.tensor.bytes();
    std::string header =
        onnx_export::serialized(tensor.header) + tag_and_length(kTensorRawData, bytes);
    header = tag_and_length(kGraphInitializer, header.size() + bytes) + header;
    graph_size += header.size() + bytes;
    headers.push_back(std::move(header));
  }
  head += tag_and_length(kModelGraph, graph_size);
  if (head.size() + graph_size > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    fail(ErrorCode::kResourceExhausted, "the file would have ", head.size() + graph_size,
         " bytes, more than the 2 GiB of its format; save with external data");
  }
  sink(bytes_of(head));
  sink(bytes_of(graph));
  for (size_t i = 0; i < pending.size(); ++i) {
    const Tensor& tensor = pending[i].tensor;
    sink(bytes_of(headers[i]));
    if (tensor.bytes() > 0) sink({static_cast<const std::byte*>(tensor.raw()), tensor.bytes()});
  }
}

void write_model(ModelProto& proto, const std::vector<PendingTensor>& pending,
                 const SaveOptions& options, const Sink& sink) {
  import_more(proto, options);
  if (!options.ort_format) return write_onnx(proto, pending, sink);
  sink(ort_format::ort_model_bytes(proto, pending));
}

bool any_to_write_out(const Graph& graph, int64_t opset) {
  for (const auto& node : graph.nodes()) {
    if (must_be_written_out(*node, opset)) return true;
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      if (any_to_write_out(*inner, opset)) return true;
    }
  }
  return false;
}

// Nodes of a body may have to be written out in turn, so each node is looked at again from where
// it stood.
void write_out_all(Graph& graph, int64_t opset) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& node : graph.nodes()) {
      for (const GraphPtr& inner : subgraphs_of(*node))
        write_out_all(*inner, opset);
      if (!must_be_written_out(*node, opset)) continue;
      write_out(graph, *node);
      changed = true;
      break;
    }
  }
}

// The model in operators that a file of that opset may hold.
Model exportable(const Model& model, int64_t opset) {
  Model out = model;
  if (!any_to_write_out(*model.graph, opset)) return out;
  out.graph = clone(*model.graph);
  write_out_all(*out.graph, opset);
  return out;
}

// The first opset from `opset` on that can express all nodes that some opset can.
int64_t opset_for(const Graph& graph, int64_t opset) {
  for (const auto& node : graph.nodes()) {
    opset = std::max(opset, first_opset_with(*node, opset));
    for (const GraphPtr& inner : subgraphs_of(*node))
      opset = opset_for(*inner, opset);
  }
  return opset;
}

int64_t asked_opset(const Model& model, const SaveOptions& options) {
  if (options.opset) {
    if (*options.opset >= kOldestSavedOpset && *options.opset <= kNewestOpset)
      return *options.opset;
    fail(ErrorCode::kInvalidArgument, "opset ", *options.opset, " to save in, expected ",
         kOldestSavedOpset, " to ", kNewestOpset);
  }
  const auto own = model.opsets.find("");
  return own == model.opsets.end() ? kDefaultOpset : std::max(own->second, kOldestSavedOpset);
}

struct Exportable {
  Model model;
  int64_t opset;
};

Exportable exportable(const Model& model, const SaveOptions& options) {
  const int64_t opset = asked_opset(model, options);
  Model written = exportable(model, opset);
  const int64_t needed = options.opset ? opset : opset_for(*written.graph, opset);
  if (needed > opset) written = exportable(model, needed);
  return {std::move(written), needed};
}

// A 64-bit hash of content that comes in pieces; names files, so it need not withstand an
// adversary.
class ContentHash {
 public:
  void add(std::span<const std::byte> bytes) {
    constexpr uint64_t kPrime = 0x9E3779B97F4A7C15;
    while (!bytes.empty()) {
      uint64_t word = bytes.size();
      const size_t taken = std::min(bytes.size(), sizeof word);
      std::memcpy(&word, bytes.data(), taken);
      hash_ = (hash_ ^ word) * kPrime;
      hash_ ^= hash_ >> 29;
      bytes = bytes.subspan(taken);
    }
  }
  std::string text() const {
    std::string out;
    for (int shift = 60; shift >= 0; shift -= 4)
      out += "0123456789abcdef"[hash_ >> shift & 15];
    return out;
  }

 private:
  uint64_t hash_ = 0;
};

std::span<const std::byte> content_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}

bool goes_out(const Tensor& tensor, const ExternalDataOptions& options) {
  return tensor.bytes() > 0 && tensor.bytes() >= options.threshold;
}

void add_entry(TensorProto& proto, std::string_view key, const std::string& value) {
  auto& entry = *proto.add_external_data();
  entry.set_key(std::string(key));
  entry.set_value(value);
}

void set_place(TensorProto& header, const DataPlace& place) {
  header.set_data_location(TensorProto::EXTERNAL);
  add_entry(header, "location", place.file);
  add_entry(header, "offset", std::to_string(place.offset));
  add_entry(header, "length", std::to_string(place.bytes));
}

// For tensors that the caller of the library puts somewhere.
Exporter::Place placed_by(const SaveOptions& options) {
  if (!options.place) return nullptr;
  return [&](TensorProto& header, const Tensor& tensor) {
    const std::optional<DataPlace> place = options.place(header.name(), tensor);
    if (place) set_place(header, *place);
    return place.has_value();
  };
}

// Appends tensors to the data file and writes in their headers in place.
class DataFile {
 public:
  DataFile(const std::filesystem::path& folder, std::string name, uint64_t alignment)
      : file_(folder / name), name_(std::move(name)), alignment_(alignment) {}

  void place(TensorProto& header, const Tensor& tensor) {
    const auto [place, is_new] = offsets_.try_emplace({tensor.raw(), tensor.bytes()}, 0);
    if (is_new) {
      file_.pad_to(alignment_);
      place->second = file_.size();
      file_.write(content_of(tensor));
    }
    set_place(header, {name_, place->second, tensor.bytes()});
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::string name_;
  uint64_t alignment_;
  std::map<std::pair<const void*, size_t>, uint64_t> offsets_;
};

// "model.onnx.0123456789abcdef.data": one name for one content.
std::string data_name(const Exportable& written, const std::filesystem::path& path,
                      const SaveOptions& options) {
  const ExternalDataOptions& external = *options.external_data;
  if (!external.file.empty()) return external.file;
  ContentHash hash;
  Exporter(written.opset, [&](TensorProto&, const Tensor& tensor) {
    if (!goes_out(tensor, external)) return false;
    hash.add(content_of(tensor));
    return true;
  }).run(written.model);
  return path.filename().string() + "." + hash.text() + ".data";
}

bool is_data_name(const std::string& name, const std::string& model_name) {
  constexpr size_t kHashDigits = 16;
  const std::string prefix = model_name + ".", suffix = ".data";
  if (name.size() != prefix.size() + kHashDigits + suffix.size()) return false;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  const std::string digits = name.substr(prefix.size(), kHashDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Data of earlier models of this name, which nothing refers to any more.
void remove_old_data(const std::filesystem::path& path, const std::string& current) {
  std::error_code error;
  for (const std::filesystem::path& file : named_data_files(path)) {
    if (file.filename() != current) std::filesystem::remove(file, error);
  }
}

// A device has no folder of its own for data.
void check_place_of_data(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_link = fs::is_symlink(fs::symlink_status(path, error));
  if (!fs::exists(status) || fs::is_regular_file(status) || (fs::is_fifo(status) && !is_link))
    return;
  fail(ErrorCode::kInvalidArgument, path.string(),
       ": external data is put beside the model file, and this is none; expected the path of a "
       "file");
}

void check_external(const ExternalDataOptions& external) {
  if (external.alignment == 0) {
    fail(ErrorCode::kInvalidArgument, "external_data.alignment is 0, expected 1 or more");
  }
  const std::filesystem::path file(external.file);
  if (file.filename() != file || file == "." || file == "..") {
    fail(ErrorCode::kInvalidArgument, "external_data.file \"", external.file,
         "\" must be a plain file name: it lies in the model's folder");
  }
}

void save_external(const Exportable& written, const std::filesystem::path& path,
                   const SaveOptions& options) {
  const ExternalDataOptions& external = *options.external_data;
  check_external(external);
  check_place_of_data(path);
  const std::string name = data_name(written, path, options);
  if (name == path.filename()) {
    fail(ErrorCode::kInvalidArgument, "external_data.file is the name of the model itself");
  }
  DataFile data(path.parent_path(), name, external.alignment);
  Exporter exporter(written.opset, [&](TensorProto& header, const Tensor& tensor) {
    if (!goes_out(tensor, external)) return false;
    data.place(header, tensor);
    return true;
  });
  ModelProto proto = exporter.run(written.model);
  AtomicFile file(path);
  write_model(proto, exporter.pending(), options,
              [&](std::span<const std::byte> bytes) { file.write(bytes); });
  data.commit();
  file.commit();
  if (external.file.empty()) remove_old_data(path, name);
}

void save_file(const Model& model, const std::filesystem::path& path, const SaveOptions& options) {
  const Exportable written = exportable(model, options);
  if (options.external_data && options.ort_format) {
    fail(ErrorCode::kUnsupported,
         "external_data: files of the kind .ort have all elements in themselves");
  }
  if (options.external_data) return save_external(written, path, options);
  Exporter exporter(written.opset, placed_by(options));
  ModelProto proto = exporter.run(written.model);
  remove_abandoned_beside(path);
  AtomicFile file(path);
  write_model(proto, exporter.pending(), options,
              [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

std::string bytes_of_model(const Model& model, const SaveOptions& options) {
  if (options.external_data) {
    fail(ErrorCode::kInvalidArgument, "external_data needs a file to lie beside; use save_model");
  }
  const Exportable written = exportable(model, options);
  Exporter exporter(written.opset, placed_by(options));
  ModelProto proto = exporter.run(written.model);
  std::string out;
  write_model(proto, exporter.pending(), options, [&](std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return out;
}

}  // namespace

std::vector<std::filesystem::path> named_data_files(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (is_data_name(entry.path().filename().string(), path.filename().string()))
      files.push_back(path.parent_path() / entry.path().filename());
  }
  std::ranges::sort(files);
  return files;
}

int64_t saved_opset(const Model& model, const SaveOptions& options) {
  return exportable(model, options).opset;
}

void save_model(const Model& model, const std::filesystem::path& path, const SaveOptions& options) {
  reporting_out_of_memory([&] { save_file(model, path, options); });
}

std::string model_bytes(const Model& model, const SaveOptions& options) {
  return reporting_out_of_memory([&] { return bytes_of_model(model, options); });
}

}  // namespace sardonyx
