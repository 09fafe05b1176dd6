// For the eager layer's own sources.
#pragma once

#include <filesystem>

#include "eager/nn/module.h"

namespace sardonyx::eager::detail {

// load_torch() with the numbers that stand among the tensors: int64 and float64 of rank 0.
nn::StateDict load_torch_numbers(const std::filesystem::path& path);

}  // namespace sardonyx::eager::detail
