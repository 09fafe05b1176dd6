// Arithmetic on shapes within bodies and gradients: 1-D int64 values that are constants wherever
// they are known before the run, and ops where they are not.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/emitter/emitter.h"

namespace sardonyx::ops {

// Like Emitter::call, for one output that carries no gradient: where every input is known, the
// result is a constant that was computed here.
Val call_folded(Emitter& e, std::string_view op, std::initializer_list<Val> inputs,
                const AttrMap& attrs = {});

// The dims [begin, end) of x, counted from the front; end: the rank unless given.
Val dims_of(Emitter& e, const Val& x, int64_t begin, std::optional<int64_t> end = std::nullopt);
// Elements [begin, end) of the 1-D value `list`.
Val part_of(Emitter& e, const Val& list, int64_t begin, std::optional<int64_t> end = std::nullopt);
Val joined_lists(Emitter& e, std::initializer_list<Val> lists);
// The elements of a 1-D value that is known before the run.
std::optional<std::vector<int64_t>> known_list(const Emitter& e, const Val& list);

// The rank of x; throws kUnsupported (naming `op`) where it is not known.
size_t rank_of(const Emitter& e, const Val& x, std::string_view op);
// [begin, begin + 1, ..., end - 1]
std::vector<int64_t> axes_between(size_t begin, size_t end);

}  // namespace sardonyx::ops
