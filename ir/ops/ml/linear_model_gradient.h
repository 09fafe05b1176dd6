// Gradients of the models of ai.onnx.ml that are smooth in their features, and of the ops that
// prepare features. Where X holds integers, nothing flows back.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals linear_classifier_grad(Emitter& e, const GradCall& call);
Vals linear_regressor_grad(Emitter& e, const GradCall& call);
Vals scaler_grad(Emitter& e, const GradCall& call);
Vals normalizer_grad(Emitter& e, const GradCall& call);
Vals imputer_grad(Emitter& e, const GradCall& call);
Vals array_feature_extractor_grad(Emitter& e, const GradCall& call);
Vals feature_vectorizer_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
