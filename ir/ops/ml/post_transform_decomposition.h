// Helpers that the gradients of ai.onnx.ml's models share: features and the transformation of
// scores, written in ops.
#pragma once

#include <vector>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/ml/post_transform.h"

namespace sardonyx::ops {

// A vector of features as one row.
Term feature_rows_decomposition(const Term& x);
// A list of one element, or of one for each feature, in the type of `like`.
Term feature_list(const Term& like, const std::vector<float>& list);
// transform_score_table() of scores [rows, columns].
Term transformed_scores(PostTransform transform, const Term& scores, int64_t columns);

}  // namespace sardonyx::ops
