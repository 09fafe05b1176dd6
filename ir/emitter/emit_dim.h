// Dims computed by ops: how a symbolic size becomes a value of a graph.
#pragma once

#include <functional>
#include <string_view>

#include "ir/emitter/emitter.h"

namespace sardonyx {

// `dim` as an int64 value of rank 1 with one element. `symbol` gives the same for a symbol's name.
Val dim_value(Emitter& e, const Dim& dim, const std::function<Val(std::string_view name)>& symbol);

}  // namespace sardonyx
