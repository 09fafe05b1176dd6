// The files of this process that wait for their names, for a signal's handler to remove.
#pragma once

#include <cstddef>

namespace sardonyx {

// Keeps `name` among those that remove_unfinished_files() removes; gives what forgets it.
size_t remember_unfinished(const char* name);
void forget_unfinished(size_t place);

// Removes them, for a process that is about to end; async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace sardonyx
