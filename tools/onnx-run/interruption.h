// Ctrl-C as a request to stop, and what becomes of other signals.
#pragma once

#include <stop_token>

namespace sardonyx::tool {

// From now on the first SIGINT or SIGTERM requests a stop of the returned token, and the second
// ends the process. To be called while the process has one thread.
std::stop_token stop_on_interrupt();

// Has it come?
bool was_interrupted();

// From now on SIGINT, SIGTERM and SIGHUP remove the files that are being written beside others
// before they end the process. Those that it was started to ignore stay ignored.
void remove_unfinished_files_on_signals();

// From now on a write beyond the limit of file sizes is an error, as on a full disk, and no signal.
void report_full_files();

}  // namespace sardonyx::tool
