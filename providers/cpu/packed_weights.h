// Constants, packed into the layout of a kernel.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/core/memory/packed_weight_arena.h"
#include "ir/core/memory/prepacked_weights.h"
#include "ir/kernel.h"

namespace sardonyx::cpu {

// The `bytes` bytes that `fill` computes of constant input `input`, shared through the request's
// cache under `form`. It must peek at weights, which need not be in memory.
inline std::shared_ptr<const Buffer> packed_once(const KernelRequest& request, size_t input,
                                                 const std::string& form, size_t bytes,
                                                 const FillPack& fill) {
  if (request.has(input) && request.packs)
    return request.packs->get(*request.inputs[input].constant, form, bytes, fill);
  auto packed = allocate_packed(bytes);
  fill(packed->data());
  return packed;
}

// packed_once() for `count` floats.
inline std::shared_ptr<const Buffer> packed_floats_once(
    const KernelRequest& request, size_t input, const std::string& form, int64_t count,
    const std::function<void(float* to)>& fill) {
  return packed_once(request, input, form, static_cast<size_t>(count) * sizeof(float),
                     [&](std::byte* to) { fill(reinterpret_cast<float*>(to)); });
}

}  // namespace sardonyx::cpu
