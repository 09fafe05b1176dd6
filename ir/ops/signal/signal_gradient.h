// Gradients of the Fourier transforms, which are linear: by the transform that leads back.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals dft_grad(Emitter& e, const GradCall& call);
Vals stft_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
