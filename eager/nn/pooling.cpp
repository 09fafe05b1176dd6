#include "eager/nn/pooling.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::eager::nn {
namespace {

AttrMap window_attrs(const std::string& name, size_t axes, const Sizes& kernel,
                     const std::optional<Sizes>& stride, const Sizes& padding, bool ceil_mode) {
  const std::vector<int64_t> sizes = kernel.on(axes, 1, name + ": kernel");
  std::vector<int64_t> pads = padding.on(axes, 0, name + ": padding");
  for (size_t i = 0; i < axes; ++i) {
    if (pads[i] > sizes[i] / 2) {
      fail(ErrorCode::kInvalidArgument, name, ": expected padding of at most half the kernel (",
           sizes[i], "), got ", pads[i]);
    }
  }
  pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<ptrdiff_t>(axes));
  return {{"kernel_shape", sizes},
          {"strides", stride ? stride->on(axes, 1, name + ": stride") : sizes},
          {"pads", pads},
          {"ceil_mode", int64_t{ceil_mode}}};
}

AttrMap max_attrs(const std::string& name, size_t axes, const Sizes& kernel,
                  const MaxPoolOptions& options) {
  AttrMap attrs =
      window_attrs(name, axes, kernel, options.stride, options.padding, options.ceil_mode);
  attrs["dilations"] = options.dilation.on(axes, 1, name + ": dilation");
  return attrs;
}

AttrMap average_attrs(const std::string& name, size_t axes, const Sizes& kernel,
                      const AvgPoolOptions& options) {
  AttrMap attrs =
      window_attrs(name, axes, kernel, options.stride, options.padding, options.ceil_mode);
  attrs["count_include_pad"] = int64_t{options.count_include_pad};
  return attrs;
}

std::shared_ptr<const Attrs> pool_attributes(const char* op, const AttrMap& attrs) {
  return std::make_shared<const Attrs>(Attrs::parse(*op_named(op).attrs, attrs));
}

bool is_global(const std::vector<int64_t>& size) {
  return size == std::vector<int64_t>(size.size(), 1);
}

// Window `index` of `out` over an axis of size `in`, which may be open in a trace.
struct AxisWindow {
  Dim begin, end;
};
AxisWindow window_of(int64_t index, const Dim& in, int64_t out) {
  return {floor_div(in * index, out), ceil_div(in * (index + 1), out)};
}

// [in, out]: column i averages window i.
Tensor averaging_matrix(const Dim& in, int64_t out, DType dtype, const Loc& loc) {
  const CreateOptions integers{.dtype = DType::kInt64};
  const Tensor size = dim_tensor(in, loc);
  const Tensor windows = arange(Dim(0), Dim(out), 1, integers, loc);
  const Tensor begins = floor_divide({mul({windows, loc}, size), loc}, out);
  const Tensor next = mul({add({windows, loc}, 1), loc}, size);
  const Tensor ends = floor_divide({add({next, loc}, out - 1), loc}, out);
  const Tensor at = arange(Dim(0), in, 1, integers, loc).reshape({-1, 1}, loc);
  const Tensor is_within = Operand(Operand(at, loc) >= begins, loc) && (Operand(at, loc) < ends);
  const Tensor lengths = sub({ends, loc}, begins).to(dtype, loc);
  return div({is_within.to(dtype, loc), loc}, lengths);
}

// All windows alike: a plain pooling does it.
bool divides(const Tensor& x, const std::vector<int64_t>& size) {
  for (size_t i = 0; i < size.size(); ++i) {
    const Dim in = x.size(static_cast<int64_t>(i) + 2);
    if (!in.is_known() || in.value() % size[i] != 0) return false;
  }
  return true;
}

Sizes windows_of(const Tensor& x, const std::vector<int64_t>& size) {
  std::vector<int64_t> windows;
  for (size_t i = 0; i < size.size(); ++i)
    windows.push_back(x.size(static_cast<int64_t>(i) + 2).value() / size[i]);
  return windows;
}

void check_spatial(const Tensor& x, size_t axes, const std::string& name, const Loc& loc) {
  require_defined(x, name, "x", loc);
  if (x.rank() == axes + 2) return;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": expected x [N, C, ", axes,
       " spatial axes], got ", x.type(), "; unsqueeze(0) makes a batch of one");
}

Tensor pool(const OpDef& op, const Tensor& x, const Attrs& attrs, size_t axes, const Loc& loc) {
  check_spatial(x, axes, std::string(op.name), loc);
  return eager::apply(op, std::span(&x, 1), attrs, loc);
}

}  // namespace

template <size_t axes>
MaxPool<axes>::MaxPool(Sizes kernel, MaxPoolOptions options, Loc loc) try
    : Base(text("MaxPool", axes, "d")),
      attrs_(pool_attributes("MaxPool", max_attrs(this->type_name(), axes, kernel, options))) {
} catch (const Error& error) {
  throw placed(error, loc);
}
template <size_t axes>
Tensor MaxPool<axes>::forward(const Tensor& x) const {
  static const OpDef& op = op_named("MaxPool");
  return pool(op, x, *attrs_, axes, this->caller());
}

template <size_t axes>
AvgPool<axes>::AvgPool(Sizes kernel, AvgPoolOptions options, Loc loc) try
    : Base(text("AvgPool", axes, "d")),
      attrs_(
          pool_attributes("AveragePool", average_attrs(this->type_name(), axes, kernel, options))) {
} catch (const Error& error) {
  throw placed(error, loc);
}
template <size_t axes>
Tensor AvgPool<axes>::forward(const Tensor& x) const {
  static const OpDef& op = op_named("AveragePool");
  return pool(op, x, *attrs_, axes, this->caller());
}

namespace {

Tensor adaptive_average(const std::string& name, size_t axes, const Tensor& x,
                        const std::vector<int64_t>& size, const Loc& loc) {
  static const OpDef& global = op_named("GlobalAveragePool");
  static const OpDef& op = op_named("AveragePool");
  check_spatial(x, axes, name, loc);
  if (is_global(size)) return eager::apply(global, {x}, loc);
  if (divides(x, size))
    return eager::apply(op, {x}, average_attrs(name, axes, windows_of(x, size), {}), loc);
  Tensor pooled = x;
  const auto last = static_cast<int64_t>(axes) + 1;
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const Tensor matrix = averaging_matrix(x.size(axis, loc), size[i], x.dtype(), loc);
    const Tensor transposed = axis == last ? pooled : pooled.transpose(axis, last, loc);
    const Tensor product = matmul(transposed, matrix, loc);
    pooled = axis == last ? product : product.transpose(axis, last, loc);
  }
  return pooled;
}

Tensor adaptive_greatest(const std::string& name, size_t axes, const Tensor& x,
                         const std::vector<int64_t>& size, const Loc& loc) {
  static const OpDef& global = op_named("GlobalMaxPool");
  static const OpDef& op = op_named("MaxPool");
  check_spatial(x, axes, name, loc);
  if (is_global(size)) return eager::apply(global, {x}, loc);
  if (divides(x, size))
    return eager::apply(op, {x}, max_attrs(name, axes, windows_of(x, size), {}), loc);
  Tensor pooled = x;
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    std::vector<Tensor> parts;
    for (int64_t at = 0; at < size[i]; ++at) {
      const AxisWindow window = window_of(at, x.size(axis, loc), size[i]);
      const Tensor part = pooled.slice(axis, {window.begin, window.end}, loc);
      parts.push_back(part.amax({axis}, true, loc));
    }
    pooled = cat(parts, axis, loc);
  }
  return pooled;
}

}  // namespace

template <size_t axes>
AdaptiveAvgPool<axes>::AdaptiveAvgPool(Sizes size, Loc loc) try
    : Base(text("AdaptiveAvgPool", axes, "d")),
      size_(size.on(axes, 1, this->type_name() + ": size")) {
} catch (const Error& error) {
  throw placed(error, loc);
}
template <size_t axes>
Tensor AdaptiveAvgPool<axes>::forward(const Tensor& x) const {
  return adaptive_average(this->type_name(), axes, x, size_, this->caller());
}

template <size_t axes>
AdaptiveMaxPool<axes>::AdaptiveMaxPool(Sizes size, Loc loc) try
    : Base(text("AdaptiveMaxPool", axes, "d")),
      size_(size.on(axes, 1, this->type_name() + ": size")) {
} catch (const Error& error) {
  throw placed(error, loc);
}
template <size_t axes>
Tensor AdaptiveMaxPool<axes>::forward(const Tensor& x) const {
  return adaptive_greatest(this->type_name(), axes, x, size_, this->caller());
}

Tensor GlobalAvgPool::forward(const Tensor& x) const {
  static const OpDef& op = op_named("GlobalAveragePool");
  return eager::apply(op, {x}, caller());
}
Tensor GlobalMaxPool::forward(const Tensor& x) const {
  static const OpDef& op = op_named("GlobalMaxPool");
  return eager::apply(op, {x}, caller());
}

namespace {

// ONNX counts places through the whole tensor; what is left of a division by a channel's elements
// is counted in the channel.
std::pair<Tensor, Tensor> pooled_with_places(const Tensor& x, size_t axes, const Sizes& kernel,
                                             const MaxPoolOptions& options, const Loc& loc) {
  static const OpDef& op = op_named("MaxPool");
  const std::string name = text("max_pool", axes, "d_with_indices");
  check_spatial(x, axes, name, loc);
  const AttrMap attrs = at_line(loc, [&] { return max_attrs(name, axes, kernel, options); });
  const std::vector<Tensor> found = apply_many(op, std::span(&x, 1), attrs, 2, loc);
  Dim channel = 1;
  for (size_t axis = 2; axis < axes + 2; ++axis)
    channel = channel * x.size(static_cast<int64_t>(axis), loc);
  return {found[0], remainder({found[1], loc}, dim_tensor(channel, loc))};
}

}  // namespace

#define SARDONYX_POOLS(axes)                                                                      \
  Tensor max_pool##axes##d(const Tensor& x, Sizes kernel, MaxPoolOptions options, Loc loc) {      \
    static const OpDef& op = op_named("MaxPool");                                                 \
    const AttrMap attrs =                                                                         \
        at_line(loc, [&] { return max_attrs("max_pool" #axes "d", axes, kernel, options); });     \
    return pool(op, x, *pool_attributes("MaxPool", attrs), axes, loc);                            \
  }                                                                                               \
  std::pair<Tensor, Tensor> max_pool##axes##d_with_indices(                                       \
      const Tensor& x, Sizes kernel, const MaxPoolOptions& options, Loc loc) {                    \
    return pooled_with_places(x, axes, kernel, options, loc);                                     \
  }                                                                                               \
  Tensor avg_pool##axes##d(const Tensor& x, Sizes kernel, AvgPoolOptions options, Loc loc) {      \
    static const OpDef& op = op_named("AveragePool");                                             \
    const AttrMap attrs =                                                                         \
        at_line(loc, [&] { return average_attrs("avg_pool" #axes "d", axes, kernel, options); }); \
    return pool(op, x, *pool_attributes("AveragePool", attrs), axes, loc);                        \
  }                                                                                               \
  Tensor adaptive_avg_pool##axes##d(const Tensor& x, Sizes size, Loc loc) {                       \
    const std::string name = "adaptive_avg_pool" #axes "d";                                       \
    const auto sizes = at_line(loc, [&] { return size.on(axes, 1, name + ": size"); });           \
    return adaptive_average(name, axes, x, sizes, loc);                                           \
  }                                                                                               \
  Tensor adaptive_max_pool##axes##d(const Tensor& x, Sizes size, Loc loc) {                       \
    const std::string name = "adaptive_max_pool" #axes "d";                                       \
    const auto sizes = at_line(loc, [&] { return size.on(axes, 1, name + ": size"); });           \
    return adaptive_greatest(name, axes, x, sizes, loc);                                          \
  }
SARDONYX_POOLS(1)
SARDONYX_POOLS(2)
SARDONYX_POOLS(3)
#undef SARDONYX_POOLS

template class MaxPool<1>;
template class MaxPool<2>;
template class MaxPool<3>;
template class AvgPool<1>;
template class AvgPool<2>;
template class AvgPool<3>;
template class AdaptiveAvgPool<1>;
template class AdaptiveAvgPool<2>;
template class AdaptiveAvgPool<3>;
template class AdaptiveMaxPool<1>;
template class AdaptiveMaxPool<2>;
template class AdaptiveMaxPool<3>;

}  // namespace sardonyx::eager::nn
