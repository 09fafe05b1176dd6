#include "eager/nn/pooling.h"

#include "eager/dispatch.h"
#include "eager/functional.h"
#include "ir/convert.h"

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

std::shared_ptr<const Attrs> parsed(const char* op, const AttrMap& attrs) {
  return std::make_shared<const Attrs>(Attrs::parse(*op_named(op).attrs, attrs));
}

Tensor pool(const OpDef& op, const Tensor& x, const Attrs& attrs, size_t axes, const Loc& loc) {
  if (x.rank() != axes + 2) {
    fail(ErrorCode::kInvalidArgument, op.name, ": expected x [N, C, ", axes, " spatial axes], got ",
         x.type(), "; unsqueeze(0) makes a batch of one");
  }
  return eager::apply(op, std::span(&x, 1), attrs, loc);
}

bool is_global(const std::vector<int64_t>& size) {
  return size == std::vector<int64_t>(size.size(), 1);
}

int64_t known_size(const Tensor& x, size_t axis, const char* what) {
  const Dim size = x.size(static_cast<int64_t>(axis));
  if (size.is_known()) return size.value();
  fail(ErrorCode::kInvalidArgument, what, ": the windows over axis ", axis, " of ", x.type(),
       " depend on a size that is known at the run only; fix that size in the trace, or pool to 1");
}

struct Window {
  int64_t begin, end;
};
Window window_of(int64_t index, int64_t in, int64_t out) {
  return {index * in / out, ((index + 1) * in + out - 1) / out};
}

// [in, out]: column i averages window i.
Tensor averaging_matrix(int64_t in, int64_t out, DType dtype) {
  std::vector<double> values(static_cast<size_t>(in * out));
  for (int64_t i = 0; i < out; ++i) {
    const Window window = window_of(i, in, out);
    for (int64_t at = window.begin; at < window.end; ++at)
      values[static_cast<size_t>(at * out + i)] =
          1 / static_cast<double>(window.end - window.begin);
  }
  sardonyx::Tensor made = sardonyx::Tensor::allocate(dtype, {in, out});
  store_numbers(dtype, made.raw(), 0, in * out, values.data());
  return literal(std::move(made));
}

// All windows alike: a plain pooling does it.
bool divides(const Tensor& x, const std::vector<int64_t>& size, const char* what) {
  for (size_t i = 0; i < size.size(); ++i) {
    if (known_size(x, i + 2, what) % size[i] != 0) return false;
  }
  return true;
}

Sizes windows_of(const Tensor& x, const std::vector<int64_t>& size) {
  std::vector<int64_t> windows;
  for (size_t i = 0; i < size.size(); ++i)
    windows.push_back(x.size(static_cast<int64_t>(i) + 2).value() / size[i]);
  return windows;
}

void check_spatial(const Tensor& x, size_t axes, const std::string& name) {
  if (x.rank() == axes + 2) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected x [N, C, ", axes, " spatial axes], got ",
       x.type());
}

}  // namespace

template <size_t axes>
MaxPool<axes>::MaxPool(Sizes kernel, MaxPoolOptions options)
    : Layer<MaxPool<axes>>(text("MaxPool", axes, "d")),
      attrs_(parsed("MaxPool", max_attrs(this->type_name(), axes, kernel, options))) {}
template <size_t axes>
Tensor MaxPool<axes>::forward(const Tensor& x) const {
  static const OpDef& op = op_named("MaxPool");
  return pool(op, x, *attrs_, axes, this->caller());
}

template <size_t axes>
AvgPool<axes>::AvgPool(Sizes kernel, AvgPoolOptions options)
    : Layer<AvgPool<axes>>(text("AvgPool", axes, "d")),
      attrs_(parsed("AveragePool", average_attrs(this->type_name(), axes, kernel, options))) {}
template <size_t axes>
Tensor AvgPool<axes>::forward(const Tensor& x) const {
  static const OpDef& op = op_named("AveragePool");
  return pool(op, x, *attrs_, axes, this->caller());
}

template <size_t axes>
AdaptiveAvgPool<axes>::AdaptiveAvgPool(Sizes size)
    : Layer<AdaptiveAvgPool<axes>>(text("AdaptiveAvgPool", axes, "d")),
      size_(size.on(axes, 1, this->type_name() + ": size")) {}
template <size_t axes>
Tensor AdaptiveAvgPool<axes>::forward(const Tensor& x) const {
  const std::string& name = this->type_name();
  check_spatial(x, axes, name);
  static const OpDef& global = op_named("GlobalAveragePool");
  if (is_global(size_)) return eager::apply(global, {x}, this->caller());
  if (divides(x, size_, name.c_str())) {
    static const OpDef& op = op_named("AveragePool");
    const AttrMap attrs = average_attrs(name, axes, windows_of(x, size_), {});
    return eager::apply(op, {x}, attrs, this->caller());
  }
  Tensor pooled = x;
  const auto last = static_cast<int64_t>(axes) + 1;
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const Tensor matrix = averaging_matrix(known_size(x, i + 2, name.c_str()), size_[i], x.dtype());
    const Tensor turned = axis == last ? pooled : pooled.transpose(axis, last, this->caller());
    const Tensor product = matmul(turned, matrix, this->caller());
    pooled = axis == last ? product : product.transpose(axis, last, this->caller());
  }
  return pooled;
}

template <size_t axes>
AdaptiveMaxPool<axes>::AdaptiveMaxPool(Sizes size)
    : Layer<AdaptiveMaxPool<axes>>(text("AdaptiveMaxPool", axes, "d")),
      size_(size.on(axes, 1, this->type_name() + ": size")) {}
template <size_t axes>
Tensor AdaptiveMaxPool<axes>::forward(const Tensor& x) const {
  const std::string& name = this->type_name();
  check_spatial(x, axes, name);
  static const OpDef& global = op_named("GlobalMaxPool");
  if (is_global(size_)) return eager::apply(global, {x}, this->caller());
  if (divides(x, size_, name.c_str())) {
    static const OpDef& op = op_named("MaxPool");
    return eager::apply(op, {x}, max_attrs(name, axes, windows_of(x, size_), {}), this->caller());
  }
  Tensor pooled = x;
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t in = known_size(x, i + 2, name.c_str());
    std::vector<Tensor> parts;
    for (int64_t at = 0; at < size_[i]; ++at) {
      const Window window = window_of(at, in, size_[i]);
      const Tensor part = pooled.slice(axis, {Dim(window.begin), Dim(window.end)}, this->caller());
      parts.push_back(part.amax({axis}, true, this->caller()));
    }
    pooled = cat(parts, axis, this->caller());
  }
  return pooled;
}

Tensor GlobalAvgPool::forward(const Tensor& x) const {
  static const OpDef& op = op_named("GlobalAveragePool");
  return eager::apply(op, {x}, caller());
}
Tensor GlobalMaxPool::forward(const Tensor& x) const {
  static const OpDef& op = op_named("GlobalMaxPool");
  return eager::apply(op, {x}, caller());
}

Tensor max_pool2d(const Tensor& x, Sizes kernel, MaxPoolOptions options, Loc loc) {
  static const OpDef& op = op_named("MaxPool");
  return pool(op, x, *parsed("MaxPool", max_attrs("max_pool2d", 2, kernel, options)), 2, loc);
}
Tensor avg_pool2d(const Tensor& x, Sizes kernel, AvgPoolOptions options, Loc loc) {
  static const OpDef& op = op_named("AveragePool");
  return pool(op, x, *parsed("AveragePool", average_attrs("avg_pool2d", 2, kernel, options)), 2,
              loc);
}

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
