// Limits on sizes that kernels with 32-bit offsets share.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// Null, or why no such kernel takes the request: one of its outputs, or of its first `checked`
// inputs, has no elements, or 2^31 or more.
const char* unsupported_size(const KernelRequest& request, size_t checked = SIZE_MAX);

// An entry of a kernel table that asks `prepare` about requests of supported sizes alone.
template <Prepared (*prepare)(const KernelRequest&), size_t checked = SIZE_MAX>
Prepared size_checked(const KernelRequest& request) {
  if (const char* why = unsupported_size(request, checked)) return Prepared::refuse(why);
  return prepare(request);
}

}  // namespace sardonyx::cpu
