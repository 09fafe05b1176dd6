// Gradient rules of the ops that move, pick and write elements.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals concat_gradient(Emitter& e, const GradCall& c);
Vals split_gradient(Emitter& e, const GradCall& c);
Vals tile_gradient(Emitter& e, const GradCall& c);
Vals slice_gradient(Emitter& e, const GradCall& c);
Vals pad_gradient(Emitter& e, const GradCall& c);

Vals gather_gradient(Emitter& e, const GradCall& c);
Vals gather_elements_gradient(Emitter& e, const GradCall& c);
Vals gather_nd_gradient(Emitter& e, const GradCall& c);
Vals one_hot_gradient(Emitter& e, const GradCall& c);
Vals compress_gradient(Emitter& e, const GradCall& c);
Vals reverse_sequence_gradient(Emitter& e, const GradCall& c);
Vals top_k_gradient(Emitter& e, const GradCall& c);

Vals scatter_elements_gradient(Emitter& e, const GradCall& c);
Vals scatter_nd_gradient(Emitter& e, const GradCall& c);
Vals tensor_scatter_gradient(Emitter& e, const GradCall& c);

Vals depth_to_space_gradient(Emitter& e, const GradCall& c);
Vals space_to_depth_gradient(Emitter& e, const GradCall& c);
Vals center_crop_pad_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
