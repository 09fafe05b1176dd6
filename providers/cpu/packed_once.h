// Constants in the form that a kernel wants.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// What `make` computes of constant input `input`, shared through the request's cache under `form`.
// It must peek at weights, which need not be in memory.
inline std::shared_ptr<const Buffer> packed_once(
    const KernelRequest& request, size_t input, const std::string& form,
    const std::function<std::shared_ptr<Buffer>()>& make) {
  if (!request.has(input) || !request.packs) return make();
  return request.packs->get(*request.inputs[input].constant, form, make);
}

}  // namespace sardonyx::cpu
