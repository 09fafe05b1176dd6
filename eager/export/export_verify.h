// Runs an exported file beside the code that it came from.
#pragma once

#include <filesystem>
#include <vector>

#include "eager/export/export.h"
#include "eager/trace/guards.h"

namespace sardonyx::eager {

struct ExportTrial {
  const TensorFunction& fn;
  const std::vector<Tensor>& examples;
  const Model& model;
  const std::vector<SizeFact>& comparisons;  // that C++ made while the function was traced
  const ExportOptions& options;
};

// Compares file and function at the examples' sizes and at 0, 1 and 7 of the dynamic axes (7, 8, 9
// ... where there are several), or at others where the function takes none of these, on random
// inputs that stay within the examples' range. Throws where they differ by more than
// options.tolerance, where the file does not run although the function does (kInternal, or
// kInvalidArgument where C++ compared sizes), and where an axis could be compared at no size but
// the example's (kInvalidArgument, naming the axis).
std::vector<ExportCheck> verify_export(const ExportTrial& trial, const std::filesystem::path& path);

}  // namespace sardonyx::eager
