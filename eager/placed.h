// Errors that name the line of the user's program.
#pragma once

#include <utility>

#include "eager/trace/location.h"
#include "ir/core/error.h"

namespace sardonyx::eager {

// "model.cpp:12 (encoder.layers.0)": a line, and the path of the modules that are running.
std::string place_text(const Loc& loc);
// The error with this place before its message; as it is where it names one already.
Error placed(const Error& error, const Loc& loc);

// call(), whose errors name the line.
template <typename Call>
decltype(auto) at_line(const Loc& loc, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Error& error) {
    throw placed(error, loc);
  }
}

// kInvalidArgument "model.cpp:12: PARTS".
template <typename... Parts>
[[noreturn]] void fail_at(const Loc& loc, const Parts&... parts) {
  throw placed(Error(ErrorCode::kInvalidArgument, text(parts...)), loc);
}

}  // namespace sardonyx::eager
