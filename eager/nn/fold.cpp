#include "eager/nn/fold.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

constexpr size_t kAxes = 2;

struct FoldWindow {
  std::vector<int64_t> kernel, dilation, padding, stride;
};
FoldWindow windows_of(const char* what, const Sizes& kernel, const FoldOptions& options,
                      const Loc& loc) {
  const std::string name = what;
  return at_line(loc, [&] {
    return FoldWindow{kernel.on(kAxes, 1, name + ": kernel"),
                      options.dilation.on(kAxes, 1, name + ": dilation"),
                      options.padding.on(kAxes, 0, name + ": padding"),
                      options.stride.on(kAxes, 1, name + ": stride")};
  });
}

// Which element of an axis each window has at each place of the kernel: [windows, kernel].
Tensor places(const Dim& size, const FoldWindow& windows, size_t axis, const Loc& loc) {
  const int64_t reach = windows.dilation[axis] * (windows.kernel[axis] - 1);
  const Dim count = floor_div(size - Dim(reach + 1), windows.stride[axis]) + 1;
  const CreateOptions integers{.dtype = DType::kInt64};
  const Tensor begins = mul({arange(Dim(0), count, 1, integers, loc).reshape({-1, 1}, loc), loc},
                            windows.stride[axis]);
  const Tensor within = mul({arange(Dim(0), Dim(windows.kernel[axis]), 1, integers, loc), loc},
                            windows.dilation[axis]);
  return add({begins, loc}, within);
}

}  // namespace

namespace {

// By ops of every opset: what the windows hold is picked along one axis after the other.
Tensor picked_windows(const Tensor& x, const FoldWindow& windows, const Loc& loc) {
  const std::vector<int64_t>& edge = windows.padding;
  const bool pads = edge[0] != 0 || edge[1] != 0;
  const Tensor padded = pads ? pad(x, {edge[1], edge[1], edge[0], edge[0]}, "constant", 0, loc) : x;
  const Tensor rows = places(padded.size(2, loc), windows, 0, loc);
  const Tensor columns = places(padded.size(3, loc), windows, 1, loc);
  // [N, C, windows down, kernel rows, windows across, kernel columns].
  const Tensor picked = index_select(index_select(padded, 2, rows, loc), 4, columns, loc);
  const Tensor ordered = picked.permute({0, 1, 3, 5, 2, 4}, loc);
  return ordered.flatten(4, 5, loc).flatten(1, 3, loc);
}

Tensor summed_windows(const Tensor& x, const std::vector<int64_t>& output_size,
                      const FoldWindow& windows, const Loc& loc) {
  static const OpDef& op = op_named("Col2Im");
  std::vector<int64_t> pads = windows.padding;
  pads.insert(pads.end(), windows.padding.begin(), windows.padding.end());
  return eager::apply(
      op, {x, int64s(output_size), int64s(windows.kernel)},
      {{"dilations", windows.dilation}, {"pads", pads}, {"strides", windows.stride}}, loc);
}

}  // namespace

Tensor unfold(const Tensor& x, const Sizes& kernel, const FoldOptions& options, Loc loc) {
  const FoldWindow windows = windows_of("unfold", kernel, options, loc);
  require_defined(x, "unfold", "x", loc);
  if (x.rank() != kAxes + 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": unfold: expected x [N, C, H, W], got ",
         x.type());
  }
  // The gradient is one op, which a trace leaves out for the sake of older opsets.
  if (TraceContext::active() || x.is_symbolic()) return picked_windows(x, windows, loc);
  using Tensors = std::vector<Tensor>;
  const std::vector<int64_t> size{x.size(2, loc).value(), x.size(3, loc).value()};
  const auto forward = [=](const Tensors& in) {
    return Tensors{picked_windows(in[0], windows, loc)};
  };
  const auto backward = [=](const Tensors&, const Tensors&, const Tensors& d) {
    return Tensors{summed_windows(d[0], size, windows, loc)};
  };
  return eager::apply(CustomFunction{forward, backward}, {x}, loc)[0];
}

Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel,
            const FoldOptions& options, Loc loc) {
  const FoldWindow windows = windows_of("fold", kernel, options, loc);
  require_defined(x, "fold", "x", loc);
  if (x.rank() != 3) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": fold: expected x [N, C * kernel's elements, windows], got ", x.type());
  }
  const auto size = at_line(loc, [&] { return output_size.on(kAxes, 1, "fold: output size"); });
  return summed_windows(x, size, windows, loc);
}

}  // namespace sardonyx::eager::nn
