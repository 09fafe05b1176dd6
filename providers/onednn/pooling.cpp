// MaxPool (without indices), AveragePool and the global ones, in float32, bfloat16 and whatever
// layout comes in; MaxPool also of bytes.
#include "ir/ops/pooling/pool.h"

#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

const char* refusal(const KernelRequest& request, bool takes_bytes) {
  const DType dtype = request.inputs[0].dtype;
  const bool is_byte = dtype == DType::kUInt8 || dtype == DType::kInt8;
  if (!takes_float(request, dtype) && !(takes_bytes && is_byte))
    return "only float is computed here";
  const size_t rank = request.inputs[0].shape.size();
  if (rank < 3 || rank > 5) return "only 1 to 3 spatial axes";
  if (!request.inputs[0].layout && dtype != DType::kBFloat16)
    return "plain rows are left to vectors along them";
  if (request.wants(1)) return "indices are not computed here";
  return nullptr;
}

Prepared build(const KernelRequest& request, PoolSpec spec) {
  spec.src = desc_of(request.inputs[0]);
  spec.dst = any_desc(request.outputs[0].dtype, request.outputs[0].shape);
  const MaybePrimitive primitive = pooling(spec, attributes());
  if (!primitive) return Prepared::refuse("oneDNN has no pool of this form");
  spec.dst = primitive->dst();
  SequenceBuilder builder(request);
  builder.step(
      *primitive,
      {{DNNL_ARG_SRC, builder.input(0, spec.src)},
       {DNNL_ARG_DST, builder.output(0, primitive->dst())}},
      work_of_pool(spec, [](const PoolSpec& part) { return pooling(part, attributes()); }));
  return builder.finish();
}

// oneDNN wants the padding that the last window really needs; ceil_mode may make that more than
// what was given.
Extents needed_pads(const ops::Window& window) {
  Extents pads(window.rank());
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    pads[axis] = (window.out[axis] - 1) * window.strides[axis] + window.extent(axis) -
                 window.in[axis] - window.pads_begin[axis];
  }
  return pads;
}

// Whether the pool may run long: oneDNN's pools cannot be interrupted. Useful windows are smaller,
// or few.
bool takes_long(const ops::Window& window, const Shape& y) {
  constexpr double kLargeWindow = 256, kManyTaps = 1 << 30;
  const auto taps = static_cast<double>(element_count(window.kernel));
  return taps > kLargeWindow && taps * static_cast<double>(element_count(y)) > kManyTaps;
}

Prepared prepare_windows(const KernelRequest& request, const ops::PoolAttrs& attrs,
                         algorithm method) {
  const bool takes_bytes = method == algorithm::pooling_max;
  if (const char* why = refusal(request, takes_bytes)) return Prepared::refuse(why);
  const ops::Window window = ops::pool_window(request.op.name, attrs, request.inputs[0].shape);
  if (ops::may_have_empty_window(window)) return Prepared::refuse("a window covers padding alone");
  if (takes_long(window, request.outputs[0].shape))
    return Prepared::refuse("large windows are left to what looks at the deadline");
  const Extents pads_end = needed_pads(window);
  if (method == algorithm::pooling_avg_include_padding) {
    for (size_t axis = 0; axis < window.rank(); ++axis) {
      if (pads_end[axis] > window.pads_end[axis]) {
        return Prepared::refuse("a window reaches beyond the padding that counts");
      }
    }
  }
  return build(request, {method,
                         {},
                         {},
                         window.strides,
                         window.kernel,
                         window.dilations,
                         window.pads_begin,
                         pads_end});
}

Prepared prepare_max_pool(const KernelRequest& request) {
  return prepare_windows(request, request.attrs<ops::MaxPoolAttrs>(), algorithm::pooling_max);
}

Prepared prepare_average_pool(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  return prepare_windows(request, attrs,
                         attrs.count_include_pad ? algorithm::pooling_avg_include_padding
                                                 : algorithm::pooling_avg_exclude_padding);
}

Prepared prepare_global(const KernelRequest& request, algorithm method) {
  if (const char* why = refusal(request, false)) return Prepared::refuse(why);
  const Shape& x = request.inputs[0].shape;
  const Extents kernel(x.begin() + 2, x.end());
  const Extents ones(kernel.size(), 1), zeros(kernel.size(), 0);
  return build(request, {method, {}, {}, ones, kernel, ones, zeros, zeros});
}

Prepared prepare_global_average(const KernelRequest& request) {
  return prepare_global(request, algorithm::pooling_avg_exclude_padding);
}

Prepared prepare_global_max(const KernelRequest& request) {
  return prepare_global(request, algorithm::pooling_max);
}

constexpr KernelEntry kPoolKernels[] = {
    {"MaxPool", "pooling", guarded<prepare_max_pool>},
    {"AveragePool", "pooling", guarded<prepare_average_pool>},
    {"GlobalAveragePool", "pooling", guarded<prepare_global_average>},
    {"GlobalMaxPool", "pooling", guarded<prepare_global_max>},
};

}  // namespace

std::span<const KernelEntry> pooling_kernels() {
  return kPoolKernels;
}

}  // namespace sardonyx::onednn
