// Runs an exported file beside the code that it came from.
#pragma once

#include <filesystem>
#include <vector>

#include "eager/export.h"

namespace sardonyx::eager {

// Compares file and function at sizes 0, 1 and 7 of the dynamic axes (7, 8, 9 ... where there are
// several) on random inputs that stay within the examples' range. Throws kInternal where they
// differ by more than options.tolerance, or where the file does not run although the function does.
std::vector<ExportCheck> verify_export(const TensorFunction& fn,
                                       const std::vector<Tensor>& examples,
                                       const std::filesystem::path& path, const Model& model,
                                       const ExportOptions& options);

}  // namespace sardonyx::eager
