// Gradient rules of CumSum and CumProd.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals cumulative_sum_gradient(Emitter& e, const GradCall& c);
Vals cumulative_product_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
