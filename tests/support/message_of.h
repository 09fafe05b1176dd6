// What a call complains of.
#pragma once

#include <functional>
#include <string>

#include "ir/core/error.h"

namespace sardonyx {

// The message of the Error that `call` throws; empty where it throws none.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace sardonyx
