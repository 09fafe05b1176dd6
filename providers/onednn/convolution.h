// What the kernels of convolution and transposed convolution share.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::onednn {

// Types and ranks that no convolution here takes; nullptr where there is none.
const char* refusal_of_convolution(const KernelRequest& request);

}  // namespace sardonyx::onednn
