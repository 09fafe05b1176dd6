// LogSoftmax in float32. Softmax is computed faster by the portable kernel.
#include "providers/onednn/entries.h"
#include "providers/onednn/program.h"

namespace sardonyx::onednn {
namespace {

Prepared prepare_log_softmax(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  const Shape& x = request.inputs[0].shape;
  const auto rank = static_cast<int64_t>(x.size());
  if (rank == 0) return Prepared::refuse("a scalar");
  int64_t axis = std::get<int64_t>(request.raw_attrs.get("axis").value_or(int64_t{-1}));
  if (axis < 0) axis += rank;
  // All that matters is what comes before and after the axis.
  Extents dims{1, x[axis], 1};
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim != axis) dims[dim < axis ? 0 : 2] *= x[dim];
  }
  if (dims[2] == 1) dims.pop_back();
  const Desc data = plain_desc(memory::data_type::f32, dims);
  const MaybePrimitive primitive = softmax(/*log=*/true, data, 1, attributes());
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  ProgramBuilder builder(request);
  builder.step(*primitive,
               {{DNNL_ARG_SRC, builder.input(0, data)}, {DNNL_ARG_DST, builder.output(0, data)}});
  builder.allow_alias(0, 0);
  return builder.finish();
}

constexpr KernelEntry kSoftmaxKernels[] = {
    {"LogSoftmax", "softmax", guarded<prepare_log_softmax>},
};

}  // namespace

std::span<const KernelEntry> softmax_kernels() {
  return kSoftmaxKernels;
}

}  // namespace sardonyx::onednn
