// Where the files of models are in a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "executor/serving/model_config.h"

namespace sardonyx::serving {

// The files of one model.
struct ModelFolder {
  std::string name;
  std::filesystem::path folder;       // of config.pbtxt, labels, warm-up data
  std::filesystem::path config;       // empty: there is none
  std::filesystem::path single_file;  // the model of version 1, where there are no version folders
  std::map<int64_t, std::filesystem::path> versions;  // folders
};

// The models of a folder: each of its folders that has a config.pbtxt, folders with numbers for
// names, or an .onnx file; and each .onnx file in the folder itself, under its name without the
// suffix. A folder that is such a model itself (KServe mounts one so) is one model, under the name
// of the folder or `name`. A path of a file is that one model. Throws ServingError
// kInvalidArgument where nothing is there, or a name is taken twice.
std::map<std::string, ModelFolder> find_models(const std::filesystem::path& root,
                                               const std::string& name = {});
// The same for one model of a repository; nullopt: there is none.
std::optional<ModelFolder> find_model(const std::filesystem::path& root, const std::string& name);

// The file of a version: `file` in its folder, or, unless `is_named` by the configuration, the only
// .onnx file there. Throws ServingError
// kInvalidArgument where there is none.
std::filesystem::path model_file(const ModelFolder& folder, int64_t version,
                                 const std::string& file, bool is_named);
// The versions that are to be served, by what there is. Throws ServingError kInvalidArgument where
// one that is asked for by number is missing.
std::vector<int64_t> wanted_versions(const ModelFolder& folder, const VersionPolicy& policy);

// Changes whenever a file of the model does: their names, times and sizes.
std::string fingerprint(const ModelFolder& folder);

}  // namespace sardonyx::serving
