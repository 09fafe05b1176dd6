// `-i name=@file`: one input from a file of any kind that is known.
#pragma once

#include <filesystem>
#include <string>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

struct NamedFile {
  std::string name;
  std::filesystem::path file;
};

// "name=@file" or "name=file"; throws UsageError for anything else.
NamedFile parse_named_file(const std::string& argument);

// The file's ending as it is looked up: ".png" of A.PNG.
std::string lower_ending(const std::filesystem::path& file);

// By the file's ending: .pb (TensorProto, or what the input declares), .npy, images
// (is_image_file in ir/ops/image_decoder/image_files.h), anything else the raw bytes of the
// elements (little endian). Images and raw bytes take the shape that `shape` gives.
//
// An image becomes uint8 or floating elements in [0, 1], for an input [N, C, H, W] (C is 1, 3 or
// not known) or [N, H, W, C], or either without N. Its size must be the one that the input wants.
Datum read_input_file(const std::filesystem::path& file, const ValueInfo& input,
                      const Shape& shape);

}  // namespace sardonyx::tool
