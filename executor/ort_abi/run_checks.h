// What a run refuses before it begins, in ONNX Runtime's words.
#pragma once

#include <span>

#include "executor/ort_abi/session.h"

namespace sardonyx::ort_abi {

// The place of `name` among `ports`; throws "Invalid input name: NAME". `hint`: where it is most
// likely.
size_t port_named(std::span<const Port> ports, const char* name, size_t hint, const char* what);
// Throws where `value` can't be that input or output.
void check_fits(const Port& port, const Datum& value, const char* what);
// What the run threw, as the session's caller is told of it; writes it to the session's log.
[[noreturn]] void refuse_run(const OrtSession& session, const Error& error);

}  // namespace sardonyx::ort_abi
