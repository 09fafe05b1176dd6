// A number that stands for a model's file and all that it refers to.
#pragma once

#include <filesystem>
#include <string>

#include "ir/graph.h"

namespace sardonyx::tool {

// 32 hexadecimal digits: of the file's bytes, and of the elements of its large constants, which may
// be in other files.
std::string model_digest(const std::filesystem::path& file);

}  // namespace sardonyx::tool
