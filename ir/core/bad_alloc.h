// At the borders of the library, what the standard library throws becomes an Error.
#pragma once

#include <new>
#include <stdexcept>

#include "ir/core/error.h"

namespace sardonyx {

// Returns work(). std::bad_alloc and std::length_error (a container that can't grow) are thrown as
// kResourceExhausted. Needs no memory itself.
template <typename Work>
auto reporting_out_of_memory(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kResourceExhausted, "out of memory");
  } catch (const std::length_error&) {
    throw Error(ErrorCode::kResourceExhausted, "out of memory");
  }
}

}  // namespace sardonyx
