// Gradient rules of the Reduce* rows.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals reduce_sum_gradient(Emitter& e, const GradCall& c);
Vals reduce_mean_gradient(Emitter& e, const GradCall& c);
Vals reduce_extreme_gradient(Emitter& e, const GradCall& c);  // ReduceMax, ReduceMin
Vals reduce_prod_gradient(Emitter& e, const GradCall& c);
Vals reduce_l1_gradient(Emitter& e, const GradCall& c);
Vals reduce_l2_gradient(Emitter& e, const GradCall& c);
Vals reduce_log_sum_gradient(Emitter& e, const GradCall& c);
Vals reduce_log_sum_exp_gradient(Emitter& e, const GradCall& c);
Vals reduce_sum_square_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
