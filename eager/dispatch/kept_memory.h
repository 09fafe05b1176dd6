// How much memory of tensors that are gone is kept for the next ones.
#pragma once

#include <cstddef>

namespace sardonyx::eager {

// Up to this many bytes are kept; 0 gives all of it back. For the whole process. The first backward
// pass keeps an eighth of the machine's memory, 2 GiB at most, unless this has been called before.
void set_kept_memory(size_t bytes);
void keep_memory_for_training();

}  // namespace sardonyx::eager
