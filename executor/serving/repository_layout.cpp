#include "executor/serving/repository_layout.h"

#include <algorithm>
#include <charconv>

#include "executor/batching/serving_error.h"

namespace sardonyx::serving {
namespace {

namespace fs = std::filesystem;

// The number that a folder's name is; nullopt: none, or not written in the one usual form.
std::optional<int64_t> version_of(const std::string& name) {
  int64_t version = 0;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), version);
  if (end.ec != std::errc() || end.ptr != name.data() + name.size() || version < 1) return {};
  return std::to_string(version) == name ? std::optional(version) : std::nullopt;
}

bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.empty() || name[0] == '.';
}

std::vector<fs::path> onnx_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".onnx" && entry.is_regular_file(ignored) &&
        !is_hidden(entry.path()))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The folder as a model; nullopt: it is none.
std::optional<ModelFolder> as_model(const fs::path& path, const std::string& name) {
  ModelFolder model{.name = name, .folder = path};
  std::error_code ignored;
  if (fs::is_regular_file(path / "config.pbtxt", ignored)) model.config = path / "config.pbtxt";
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    const auto version = version_of(entry.path().filename().string());
    if (version && entry.is_directory(ignored)) model.versions[*version] = entry.path();
  }
  if (model.versions.empty()) {
    const std::vector<fs::path> files = onnx_files(path);
    if (fs::is_regular_file(path / "model.onnx", ignored)) {
      model.single_file = path / "model.onnx";
    } else if (files.size() == 1) {
      model.single_file = files[0];
    } else if (model.config.empty()) {
      return std::nullopt;
    }
  }
  return model;
}

std::string name_of_folder(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.filename().empty() ? full.parent_path().filename().string()
                                 : full.filename().string();
}

ModelFolder single_file_model(const fs::path& file, const std::string& name) {
  return {.name = name.empty() ? file.stem().string() : name,
          .folder = file.parent_path(),
          .single_file = file};
}

void add(std::map<std::string, ModelFolder>& models, ModelFolder model) {
  const std::string name = model.name;
  if (const auto found = models.find(name); found != models.end()) {
    refuse(Status::kInvalidArgument, "two models have the name '", name, "': '",
           found->second.folder.string(), "' and '", model.folder.string(), "'");
  }
  models.emplace(name, std::move(model));
}

}  // namespace

std::map<std::string, ModelFolder> find_models(const fs::path& root, const std::string& name) {
  std::map<std::string, ModelFolder> models;
  std::error_code ignored;
  if (fs::is_regular_file(root, ignored)) {
    add(models, single_file_model(root, name));
    return models;
  }
  if (!fs::is_directory(root, ignored))
    refuse(Status::kInvalidArgument, "'", root.string(), "' is neither a folder nor a file");
  auto whole = as_model(root, name.empty() ? name_of_folder(root) : name);
  if (whole && (!whole->versions.empty() || !whole->config.empty())) {
    add(models, std::move(*whole));
    return models;
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (is_hidden(entry.path()) || !entry.is_directory(ignored)) continue;
    if (auto model = as_model(entry.path(), entry.path().filename().string()))
      add(models, std::move(*model));
  }
  // A lone file keeps its own name, unless another one is given or it is called model.onnx.
  const bool is_whole = whole && (!name.empty() || whole->single_file.filename() == "model.onnx");
  if (models.empty() && is_whole) {
    add(models, std::move(*whole));
    return models;
  }
  for (const fs::path& file : onnx_files(root))
    add(models, single_file_model(file, {}));
  if (!name.empty() && !models.contains(name) && models.size() == 1) {
    ModelFolder only = std::move(models.begin()->second);
    only.name = name;
    return {{name, std::move(only)}};
  }
  return models;
}

std::optional<ModelFolder> find_model(const fs::path& root, const std::string& name) {
  std::error_code ignored;
  const bool is_name = !name.empty() && name[0] != '.' && name.find('/') == std::string::npos &&
                       name.find('\0') == std::string::npos;
  if (!is_name) return std::nullopt;
  if (fs::is_directory(root / name, ignored)) return as_model(root / name, name);
  if (fs::is_regular_file(root / (name + ".onnx"), ignored))
    return single_file_model(root / (name + ".onnx"), name);
  return std::nullopt;
}

fs::path model_file(const ModelFolder& folder, int64_t version, const std::string& file,
                    bool is_named) {
  std::error_code ignored;
  if (folder.versions.empty()) {
    if (folder.single_file.empty())
      refuse(Status::kInvalidArgument, "model '", folder.name,
             "' has no version folder with a model");
    if (!is_named || folder.single_file.filename() == file) return folder.single_file;
  }
  const fs::path& place = folder.versions.empty() ? folder.folder : folder.versions.at(version);
  if (fs::is_regular_file(place / file, ignored)) return place / file;
  const std::vector<fs::path> files = onnx_files(place);
  if (files.size() == 1 && !is_named) return files[0];
  refuse(Status::kInvalidArgument, "model '", folder.name, "', version ", version, ": '",
         (place / file).string(), "' is not there",
         is_named ? ", which its default_model_filename names" : "");
}

std::vector<int64_t> wanted_versions(const ModelFolder& folder, const VersionPolicy& policy) {
  std::vector<int64_t> there;
  for (const auto& [version, path] : folder.versions)
    there.push_back(version);
  if (there.empty()) there.push_back(1);
  switch (policy.kind) {
    case VersionPolicy::Kind::kAll:
      return there;
    case VersionPolicy::Kind::kLatest:
      if (there.size() > policy.latest)
        there.erase(there.begin(), there.end() - static_cast<ptrdiff_t>(policy.latest));
      return there;
    case VersionPolicy::Kind::kSpecific:
      break;
  }
  for (const int64_t version : policy.specific) {
    if (std::find(there.begin(), there.end(), version) == there.end())
      refuse(Status::kInvalidArgument, "model '", folder.name, "' has no version ", version,
             ", which its version_policy asks for");
  }
  return policy.specific;
}

std::string fingerprint(const ModelFolder& folder) {
  std::string text;
  std::error_code ignored;
  const auto add_file = [&](const fs::path& path) {
    const auto time = fs::last_write_time(path, ignored).time_since_epoch().count();
    text += path.string() + ' ' + std::to_string(time) + ' ' +
            std::to_string(fs::file_size(path, ignored)) + '\n';
  };
  if (!folder.config.empty()) add_file(folder.config);
  if (!folder.single_file.empty()) add_file(folder.single_file);
  for (const auto& [version, path] : folder.versions) {
    text += path.string() + '\n';
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path, ignored)) {
      if (entry.is_regular_file(ignored)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files)
      add_file(file);
  }
  return text;
}

}  // namespace sardonyx::serving
