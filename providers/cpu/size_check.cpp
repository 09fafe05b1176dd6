#include "providers/cpu/size_check.h"

#include <algorithm>
#include <limits>

namespace sardonyx::cpu {

const char* unsupported_size(const KernelRequest& request, size_t checked) {
  const auto check = [](const KernelTensor& tensor) -> const char* {
    if (!tensor) return nullptr;
    const int64_t count = element_count(tensor.shape);
    if (count == 0) return "a tensor has no elements";
    if (count > std::numeric_limits<int32_t>::max()) return "a tensor has over 2^31 elements";
    return nullptr;
  };
  for (const KernelTensor& tensor :
       request.inputs.first(std::min(checked, request.inputs.size()))) {
    if (const char* why = check(tensor)) return why;
  }
  for (const KernelTensor& tensor : request.outputs) {
    if (const char* why = check(tensor)) return why;
  }
  return nullptr;
}

}  // namespace sardonyx::cpu
