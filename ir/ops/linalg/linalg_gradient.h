// Gradient rules of the factorisations.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals solve_gradient(Emitter& e, const GradCall& c);
Vals slogdet_gradient(Emitter& e, const GradCall& c);
Vals cholesky_gradient(Emitter& e, const GradCall& c);
Vals qr_gradient(Emitter& e, const GradCall& c);
Vals eigh_gradient(Emitter& e, const GradCall& c);
Vals svd_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
