#include "onnx_io/load.h"

#include <google/protobuf/arena.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "ir/core/bad_alloc.h"
#include "onnx_io/check.h"
#include "onnx_io/import/external_files.h"
#include "onnx_io/import/external_places.h"
#include "onnx_io/import/importer.h"
#include "onnx_io/import/leniency.h"
#include "onnx_io/import/model_reader.h"
#include "onnx_io/import/parse.h"
#include "onnx_io/lazy_load.h"
#include "onnx_io/ort_format/read_ort_model.h"

namespace sardonyx {
namespace {

using onnx_import::ExternalFiles;

// The messages of a file are in one arena, which lets go of them without looking at them: protobuf
// names a `oneof`'s member before it has the memory for it, so a message that memory ran out on may
// not be destroyed.
struct ParsedModel {
  google::protobuf::Arena arena;
  onnx_schema::ModelProto& proto =
      *google::protobuf::Arena::CreateMessage<onnx_schema::ModelProto>(&arena);
};

// With `problems` faults are noted there, not thrown.
Model import_model(onnx_schema::ModelProto& proto, onnx_import::RawData raw_data,
                   const LoadOptions& options, const std::filesystem::path& folder,
                   const std::filesystem::path& linked_folder, std::vector<Problem>* problems) {
  std::optional<ExternalFiles> external;
  const bool is_given = !options.allowed_root.empty();
  if (!folder.empty() || !options.external_files.empty()) {
    std::optional<Sandbox> sandbox;
    if (!folder.empty()) sandbox.emplace(is_given ? options.allowed_root : folder, folder);
    external.emplace(std::move(sandbox), options);
    if (!is_given && !linked_folder.empty()) external->follow_links(folder, linked_folder);
  }
  Model model = onnx_import::Importer(proto, std::move(raw_data), options,
                                      external ? &*external : nullptr, problems)
                    .run();
  for (const std::string& name : external ? external->unused() : std::vector<std::string>()) {
    onnx_import::Leniency(options).tolerate(
        onnx_import::kUnusedExternalFile,
        "external_files: no tensor that is read from the model has ", "its data in ",
        onnx_import::in_quotes(name));
  }
  return model;
}

onnx_import::RawData read_bytes(std::span<const std::byte> bytes, const LoadOptions& options,
                                onnx_schema::ModelProto& proto) {
  constexpr std::string_view kName = "the model";
  if (ort_format::is_ort_model(bytes))
    return ort_format::read_ort_model(bytes, kName, options.limits, proto);
  onnx_import::parse_message(bytes, kName, ErrorCode::kInvalidModel, options.limits, proto);
  return {};
}

Model import_bytes(std::span<const std::byte> bytes, const LoadOptions& options,
                   std::vector<Problem>* problems) {
  ParsedModel parsed;
  onnx_import::RawData raw_data = read_bytes(bytes, options, parsed.proto);
  return import_model(parsed.proto, std::move(raw_data), options, options.allowed_root, {},
                      problems);
}

std::shared_ptr<const OpenFile> opened(const std::filesystem::path& path,
                                       const LoadOptions& options) {
  auto file = std::make_shared<const OpenFile>(open_regular(path));
  if (file->size == 0) fail(ErrorCode::kInvalidModel, file->name, ": the file is empty");
  if (file->size > options.limits.file_bytes) {
    fail(ErrorCode::kResourceExhausted, file->name, ": has ", file->size,
         " bytes, more than the limit of ", options.limits.file_bytes,
         "; keep large tensors as external data");
  }
  return file;
}

bool is_ort_file(const OpenFile& file) {
  std::array<std::byte, 8> begin{};
  if (file.size < begin.size()) return false;
  read_exactly(file, 0, begin.data(), begin.size());
  return ort_format::is_ort_model(begin);
}

onnx_import::RawData read_file(const std::shared_ptr<const OpenFile>& file,
                               const LoadOptions& options, bool reads_late,
                               onnx_schema::ModelProto& proto) {
  if (!is_ort_file(*file)) return onnx_import::read_model(file, options, reads_late, proto);
  const std::shared_ptr<Buffer> bytes = Buffer::allocate(file->size);
  read_exactly(*file, 0, bytes->data(), file->size);
  return ort_format::read_ort_model({bytes->data(), file->size}, file->name, options.limits, proto);
}

// The folder that has the file itself, where `path` is a link to another than `folder`; else "".
std::filesystem::path linked_folder_of(const std::filesystem::path& path,
                                       const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  const std::filesystem::path named = error ? "" : std::filesystem::canonical(folder, error);
  return error || file.parent_path() == named ? std::filesystem::path() : file.parent_path();
}

Model import_file(const std::filesystem::path& path, const LoadOptions& options, bool reads_late,
                  std::vector<Problem>* problems) {
  ParsedModel parsed;
  onnx_schema::ModelProto& proto = parsed.proto;
  const std::shared_ptr<const OpenFile> file = opened(path, options);
  onnx_import::RawData raw_data = read_file(file, options, reads_late, proto);
  std::filesystem::path folder = path.parent_path();
  if (folder.empty()) folder = ".";
  return import_model(proto, std::move(raw_data), options, folder, linked_folder_of(path, folder),
                      problems);
}

DataPlaces places_in(const onnx_schema::ModelProto& proto) {
  DataPlaces places;
  for (const auto& tensor : proto.graph().initializer()) {
    if (tensor.data_location() != onnx_schema::TensorProto::EXTERNAL) continue;
    DataPlace& place = places[tensor.name()];
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") place.file = entry.value();
      if (entry.key() == "offset") place.offset = std::strtoull(entry.value().c_str(), nullptr, 10);
      if (entry.key() == "length") place.bytes = std::strtoull(entry.value().c_str(), nullptr, 10);
    }
  }
  return places;
}

template <typename Import>
std::vector<Problem> collected(const Import& import) {
  std::vector<Problem> problems;
  try {
    reporting_out_of_memory([&] { import(&problems); });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded)
      throw;
    problems.push_back({error.code(), error.node(), error.what()});
  }
  return problems;
}

}  // namespace

Model load_model(const std::filesystem::path& path, const LoadOptions& options) {
  return reporting_out_of_memory([&] { return import_file(path, options, false, nullptr); });
}

Model load_model_lazily(const std::filesystem::path& path, const LoadOptions& options) {
  return reporting_out_of_memory([&] { return import_file(path, options, true, nullptr); });
}

Model load_model(std::span<const std::byte> bytes, const LoadOptions& options) {
  return reporting_out_of_memory([&] { return import_bytes(bytes, options, nullptr); });
}

std::vector<Problem> check_model(const std::filesystem::path& path, const LoadOptions& options) {
  return collected(
      [&](std::vector<Problem>* problems) { import_file(path, options, false, problems); });
}

std::vector<Problem> check_model(std::span<const std::byte> bytes, const LoadOptions& options) {
  return collected([&](std::vector<Problem>* problems) { import_bytes(bytes, options, problems); });
}

DataPlaces external_places(const std::filesystem::path& path, const LoadOptions& options) {
  return reporting_out_of_memory([&] {
    ParsedModel parsed;
    read_file(opened(path, options), options, /*reads_late=*/true, parsed.proto);
    return places_in(parsed.proto);
  });
}

DataPlaces external_places(std::span<const std::byte> bytes, const LoadOptions& options) {
  return reporting_out_of_memory([&] {
    ParsedModel parsed;
    read_bytes(bytes, options, parsed.proto);
    return places_in(parsed.proto);
  });
}

}  // namespace sardonyx
