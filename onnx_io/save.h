// Writes models as .onnx files, or as files of ONNX Runtime's own format (.ort).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "onnx_io/data_place.h"

namespace sardonyx {

struct ExternalDataOptions {
  uint64_t threshold = 1024;  // bytes from which on a tensor goes there; strings never do
  uint64_t alignment = 4096;  // of each tensor in the file, so that it can be used in place
  // The file's name in the model's folder. Where it is empty: a name made of the model's and of the
  // content's hash, which lets a saved model be replaced in one step. A named file is replaced
  // before the model is.
  std::string file;
};

// The opset of models that come from no file: what the runtimes of the last years read (ONNX
// Runtime from 1.17 on).
constexpr int64_t kDefaultOpset = 20;

struct SaveOptions {
  // Of ai.onnx, from 7 on; operators that it can't express, and that can't be written out in
  // others, are refused. Where it is not given: that of the file the model came from, else
  // kDefaultOpset, or a later one where some operator needs it. The file gets the oldest IR version
  // that has the opset, or the one it came with where the opset stays.
  std::optional<int64_t> opset;
  // All tensors are in the model file where it is not given; such a file ends at 2 GiB.
  std::optional<ExternalDataOptions> external_data;
  // Instead: asked for each initializer of the main graph, by name, where somebody else puts its
  // elements; none: it is in the model file.
  std::function<std::optional<DataPlace>(const std::string& name, const Tensor& tensor)> place;
  // Domains to import, with their versions, beside those that nodes are of.
  std::map<std::string, int64_t> more_opsets;
  // The file is to be of ONNX Runtime's own format, which has all elements in it.
  bool ort_format = false;
};

// The same model gives the same bytes. Readers see the old file or the new one, never a part, also
// after a crash. Throws kInvalidArgument where a file can't be written, kResourceExhausted where
// the disk is full or the file would be too large, and kUnsupported naming all nodes that have no
// form in the opset, and for each the first opset that has one.
void save_model(const Model& model, const std::filesystem::path& path,
                const SaveOptions& options = {});
// Files beside `path` that are called like external data of a model of that name: of the one that
// is there, or of earlier ones.
std::vector<std::filesystem::path> named_data_files(const std::filesystem::path& path);
// The opset that the file gets.
int64_t saved_opset(const Model& model, const SaveOptions& options = {});
// The file's bytes; options.external_data must not be set.
std::string model_bytes(const Model& model, const SaveOptions& options = {});

}  // namespace sardonyx
