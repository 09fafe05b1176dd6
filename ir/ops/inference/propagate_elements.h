// Carrying the values of small integer tensors through inference: exporters compute shapes by long
// chains of Shape, Gather, Slice, Concat, Reshape ..., whose results are known as dims even where
// they are not known as integers.
#pragma once

#include <initializer_list>
#include <optional>

#include "ir/op_def.h"

namespace sardonyx::ops {

// Tensors of more elements are no shapes; following them would only cost time.
inline constexpr int64_t kMaxPropagatedElements = 256;

// The elements of input `input` in row-major order, of any rank, if they are integers known as
// dims and few.
std::optional<Dims> known_elements(const InferContext& c, size_t input);

// For rows whose outputs hold elements of `data_inputs` (all of them integers), moved around, or
// zeros: sets the outputs' dims as far as the elements and the other inputs are known. To be called
// last, when the outputs' types are set. It runs the row's reference kernel on element numbers, so
// what is carried is what is computed.
void propagate_elements(InferContext& c, std::initializer_list<size_t> data_inputs = {0});
// Like propagate_elements(), where every formal input is data.
void propagate_all_elements(InferContext& c);

}  // namespace sardonyx::ops
