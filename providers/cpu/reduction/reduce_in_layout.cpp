// Reductions over all pixels of values whose channels are last, or in full blocks: as reductions
// over the middle dim of row-major [batch, pixels, channels], so that what convolutions made need
// not be reordered. Pools over all pixels are the same; oneDNN has code generated for each size.
#include "ir/ops/reduction/reduce.h"

#include <algorithm>

#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Whether all dims but the first two are reduced.
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

// The dims of row-major values that have the layout of x, with all pixels of a line in the middle;
// none where channels are neither last nor in full blocks.
std::optional<Shape> pixels_in_the_middle(const KernelTensor& x) {
  constexpr int64_t kBlock = ImageLayout::kChannelBlock;
  const int64_t batch = x.shape[0], channels = x.shape[1];
  const int64_t pixels = element_count(x.shape) / (batch * channels);
  if (x.layout->kind() == Layout::Kind::kNHWC) return Shape{batch, pixels, channels};
  if (x.layout->kind() == Layout::Kind::kNCHW16c && channels % kBlock == 0)
    return Shape{batch * channels / kBlock, pixels, kBlock};
  return std::nullopt;
}

// Prepares the row-major kernel of `op` on the image seen as [outer, pixels, inner], reduced over
// the pixels.
Prepared prepare_middle(const KernelRequest& request, const OpDef& op, const Attrs& attrs) {
  const KernelTensor& x = request.inputs[0];
  if (!request.layouts || !x.layout || x.dtype != DType::kFloat)
    return Prepared::refuse("rows are left to plain reductions");
  const size_t rank = x.shape.size();
  if (rank < 3 || rank > 5) return Prepared::refuse("only 1 to 3 spatial axes");
  const auto dims = pixels_in_the_middle(x);
  if (!dims) return Prepared::refuse("channels are neither last nor in full blocks");
  const Tensor middle = Tensor::vector<int64_t>({1});
  const KernelTensor inputs[] = {{DType::kFloat, *dims}, {DType::kInt64, {1}, nullptr, &middle}};
  const KernelTensor output{DType::kFloat, request.outputs[0].shape};
  KernelRequest rows{op, attrs, inputs, {&output, 1}};
  rows.threads = request.threads;
  Prepared prepared = prepare_portable(rows);
  prepared.input_layouts = {x.layout, nullptr};
  prepared.input_layouts.resize(request.inputs.size());
  return prepared;
}

Prepared prepare_pixels(const KernelRequest& request) {
  if (!reduces_pixels(request)) return Prepared::refuse("other dims than the pixels are reduced");
  return prepare_middle(request, request.op, request.raw_attrs);
}

// Prepares a global pool as the reduction over all pixels.
template <const char* const& reduction>
Prepared prepare_global(const KernelRequest& request) {
  static const OpDef& op = op_named(reduction);
  static const auto& attrs = *new Attrs(Attrs::parse(*op.attrs, {}));
  return prepare_middle(request, op, attrs);
}

constexpr const char* kMean = "ReduceMean";
constexpr const char* kMax = "ReduceMax";

constexpr KernelEntry kReduceKernels[] = {
    {"GlobalAveragePool", "reduce_in_layout", size_checked<prepare_global<kMean>>},
    {"GlobalMaxPool", "reduce_in_layout", size_checked<prepare_global<kMax>>},
    {"ReduceSum", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceMean", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceMax", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceMin", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceSumSquare", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceL1", "reduce_in_layout", size_checked<prepare_pixels, 1>},
    {"ReduceL2", "reduce_in_layout", size_checked<prepare_pixels, 1>},
};

}  // namespace

std::span<const KernelEntry> reduce_in_layout_kernels() {
  return kReduceKernels;
}

}  // namespace sardonyx::cpu
