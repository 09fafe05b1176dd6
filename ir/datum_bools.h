// Bools within a value of any kind; see ir/core/bools.h.
#pragma once

#include "ir/datum.h"

namespace sardonyx {

// Is there a bool whose byte is neither 0 nor 1?
bool has_odd_bools(const Datum& datum);
// `datum`, but with copies of those of its tensors that have such bools.
Datum with_normal_bools(const Datum& datum);

}  // namespace sardonyx
