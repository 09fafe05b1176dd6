// Reductions over all pixels of values whose channels lie last: as reductions over the middle dim
// of row-major [batch, pixels, channels], so that what convolutions made need not be reordered.
#include "ir/ops/reduce.h"

#include <algorithm>

#include "providers/cpu/entries.h"
#include "providers/onednn/entries.h"
#include "providers/onednn/layout.h"

namespace sardonyx::onednn {
namespace {

// Are all dims reduced but the first two?
bool reduces_pixels(const KernelRequest& request) {
  const size_t rank = request.inputs[0].shape.size();
  std::vector<int64_t> axes;
  if (request.has(1)) {
    if (!request.inputs[1].constant) return false;
    axes = request.inputs[1].constant->to_int64s();
  }
  const ops::ReducedDims reduced = ops::reduced_dims(request.attrs<ops::ReduceAttrs>(), axes, rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (reduced[dim] != (dim >= 2)) return false;
  }
  return true;
}

Prepared prepare_pixels(const KernelRequest& request) {
  const KernelTensor &x = request.inputs[0], &y = request.outputs[0];
  if (!request.layouts || !x.layout || x.dtype != DType::kFloat)
    return Prepared::refuse("rows are left to plain reductions");
  const size_t rank = x.shape.size();
  if (rank < 3 || rank > 5 || desc_of(x) != channels_last_desc(memory::data_type::f32, x.shape))
    return Prepared::refuse("channels are not last");
  if (!reduces_pixels(request)) return Prepared::refuse("other dims than the pixels are reduced");
  const int64_t batch = x.shape[0], channels = x.shape[1];
  const Tensor middle = Tensor::vector<int64_t>({1});
  const KernelTensor inputs[] = {
      {DType::kFloat, {batch, element_count(x.shape) / (batch * channels), channels}},
      {DType::kInt64, {1}, nullptr, &middle}};
  const KernelTensor output{DType::kFloat, y.shape};
  KernelRequest rows{request.op, request.raw_attrs, inputs, {&output, 1}};
  rows.threads = request.threads;
  for (const KernelEntry& entry : cpu::reduce_entries()) {
    if (entry.op != full_name(request.op)) continue;
    Prepared prepared = entry.prepare(rows);
    prepared.input_layouts = {x.layout, nullptr};
    prepared.input_layouts.resize(request.inputs.size());
    return prepared;
  }
  return Prepared::refuse("there is no plain reduction of this kind");
}

constexpr KernelEntry kReduceKernels[] = {
    {"ReduceSum", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceMean", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceMax", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceMin", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceSumSquare", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceL1", "pixels", guarded<prepare_pixels, 1>},
    {"ReduceL2", "pixels", guarded<prepare_pixels, 1>},
};

}  // namespace

std::span<const KernelEntry> reduce_kernels() {
  return kReduceKernels;
}

}  // namespace sardonyx::onednn
