// Gradient rules of the factorisations.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

struct LuSolveAttrs {
  bool adjoint = false;
  static auto fields() { return std::tuple{field("adjoint", &LuSolveAttrs::adjoint)}; }
};

Vals solve_gradient(Emitter& e, const GradCall& c);
Vals slogdet_gradient(Emitter& e, const GradCall& c);
Vals cholesky_gradient(Emitter& e, const GradCall& c);
Vals matrix_exp_gradient(Emitter& e, const GradCall& c);
Vals lu_gradient(Emitter& e, const GradCall& c);
Vals lu_unpack_gradient(Emitter& e, const GradCall& c);
Vals lu_solve_gradient(Emitter& e, const GradCall& c);
Vals qr_gradient(Emitter& e, const GradCall& c);
Vals eigh_gradient(Emitter& e, const GradCall& c);
Vals eig_gradient(Emitter& e, const GradCall& c);
Vals svd_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
