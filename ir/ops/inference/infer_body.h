// Inference for rows whose meaning is a body: the types that the body's ops infer are the row's
// own, so the two cannot disagree.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// Runs the row's body on types alone. Where it throws kUnsupported and not all shapes are known yet
// (a body may have to know a rank), the outputs get the dtypes that the signature says and no
// shapes.
void infer_by_body(InferContext& c);

}  // namespace sardonyx::ops
