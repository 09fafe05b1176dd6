#include "onnx_io/load.h"

#include <vector>

#include "onnx_io/check.h"
#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx {
namespace {

using onnx_import::ExternalFiles;

// Parses and imports; with `problems` faults are noted there, not thrown.
Model import_bytes(std::span<const std::byte> bytes, const std::string& name,
                   const LoadOptions& options, const std::filesystem::path& folder,
                   std::vector<Problem>* problems) {
  onnx_schema::ModelProto proto;
  onnx_import::parse_message(bytes, name, ErrorCode::kInvalidModel, options.limits, proto);
  std::optional<ExternalFiles> external;
  if (!folder.empty()) {
    const std::filesystem::path& root =
        options.allowed_root.empty() ? folder : options.allowed_root;
    external.emplace(Sandbox(root, folder), options.map_external_data);
  }
  return onnx_import::Importer(proto, options, external ? &*external : nullptr, problems).run();
}

Model import_file(const std::filesystem::path& path, const LoadOptions& options,
                  std::vector<Problem>* problems) {
  const OpenFile file = open_regular(path);
  if (file.size == 0) fail(ErrorCode::kInvalidModel, file.name, ": the file is empty");
  if (file.size > options.limits.file_bytes) {
    fail(ErrorCode::kResourceExhausted, file.name, ": has ", file.size,
         " bytes, more than the limit of ", options.limits.file_bytes,
         "; keep large tensors as external data");
  }
  std::vector<std::byte> bytes(file.size);
  read_exactly(file, 0, bytes.data(), bytes.size());
  std::filesystem::path folder = path.parent_path();
  if (folder.empty()) folder = ".";
  return import_bytes(bytes, file.name, options, folder, problems);
}

template <typename Import>
std::vector<Problem> collected(const Import& import) {
  std::vector<Problem> problems;
  try {
    import(&problems);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded)
      throw;
    problems.push_back({error.code(), error.node(), error.what()});
  }
  return problems;
}

}  // namespace

Model load_model(const std::filesystem::path& path, const LoadOptions& options) {
  return import_file(path, options, nullptr);
}

Model load_model(std::span<const std::byte> bytes, const LoadOptions& options) {
  return import_bytes(bytes, "the model", options, options.allowed_root, nullptr);
}

std::vector<Problem> check_model(const std::filesystem::path& path, const LoadOptions& options) {
  return collected([&](std::vector<Problem>* problems) { import_file(path, options, problems); });
}

std::vector<Problem> check_model(std::span<const std::byte> bytes, const LoadOptions& options) {
  return collected([&](std::vector<Problem>* problems) {
    import_bytes(bytes, "the model", options, options.allowed_root, problems);
  });
}

}  // namespace sardonyx
