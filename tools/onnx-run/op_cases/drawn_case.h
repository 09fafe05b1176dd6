// Cases of other sizes than the typical ones, which kernels may have been made for.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {

// `typical` with other sizes, which its variant names: those above a window's are drawn anew, equal
// ones stay equal, as where channels meet. Nothing where inference refuses them, or they take more
// than a typical call by far.
std::optional<OpCase> drawn_case(const OpCase& typical, uint64_t seed);

}  // namespace sardonyx::tool
