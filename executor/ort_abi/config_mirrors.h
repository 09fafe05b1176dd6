// Config entries of sessions that say the same as a setter of the options, as
// "session.intra_op_num_threads" does. They set the option and are no entries from then on.
#pragma once

#include <string_view>

#include "executor/ort_abi/session_options.h"

namespace sardonyx::ort_abi {

// Is `key` such an entry? Then it is set. Throws ORT_INVALID_ARGUMENT for a value that is none.
bool set_mirrored(OrtSessionOptions& options, std::string_view key, std::string_view value);

}  // namespace sardonyx::ort_abi
