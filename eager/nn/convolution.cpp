#include "eager/nn/convolution.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/nn/module_state.h"
#include "eager/placed.h"

namespace sardonyx::eager::nn {
namespace {

void check_channels(const std::string& name, int64_t in, int64_t out, int64_t groups) {
  if (in > 0 && out > 0 && groups > 0 && in % groups == 0 && out % groups == 0) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected channels that ", groups,
       " groups divide, got ", in, " -> ", out);
}

std::string spatial_text(const std::vector<int64_t>& sizes) {
  std::string joined;
  for (const int64_t size : sizes)
    joined += (joined.empty() ? "" : "x") + std::to_string(size);
  return joined;
}

std::shared_ptr<const Attrs> conv_attributes(const char* op, const AttrMap& attrs) {
  return std::make_shared<const Attrs>(Attrs::parse(*op_named(op).attrs, attrs));
}

Dims shape_of(int64_t first, int64_t second, const std::vector<int64_t>& kernel) {
  Dims shape{first, second};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return shape;
}

void check_pad_mode(const std::string& name, const std::string& mode) {
  if (mode == "zeros" || mode == "reflect" || mode == "replicate" || mode == "circular") return;
  fail(ErrorCode::kInvalidArgument, name,
       ": expected padding_mode zeros, reflect, replicate or circular, got ", mode);
}

Tensor convolve(const OpDef& op, const Attrs& attrs, const Tensor& x, const Tensor& weight,
                const Tensor& bias, size_t axes, const Loc& loc) {
  require_defined(x, op.name, "x", loc);
  require_defined(weight, op.name, "the weight", loc);
  if (x.rank() != axes + 2) {
    fail_at(loc, op.name, ": expected x [N, C, ", axes, " spatial axes], got ", x.type(),
            "; unsqueeze(0) makes a batch of one");
  }
  const Tensor inputs[] = {x, weight, bias};
  return eager::apply(op, std::span(inputs, bias.defined() ? 3 : 2), attrs, loc);
}

}  // namespace

template <size_t axes>
Conv<axes>::Conv(int64_t in, int64_t out, Sizes kernel, ConvOptions options, Loc loc) try
    : Base(text("Conv", axes, "d")) {
  const std::string& name = this->type_name();
  check_channels(name, in, out, options.groups);
  const std::vector<int64_t> sizes = kernel.on(axes, 1, name + ": kernel");
  const std::vector<int64_t> strides = options.stride.on(axes, 1, name + ": stride");
  const std::vector<int64_t> dilations = options.dilation.on(axes, 1, name + ": dilation");
  const std::vector<int64_t> padding = options.padding.on(axes, 0, name + ": padding");
  std::vector<int64_t> pads(2 * axes);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t total = dilations[i] * (sizes[i] - 1);
    pads[i] = options.same ? total / 2 : padding[i];
    pads[axes + i] = options.same ? total - total / 2 : padding[i];
    if (options.same && strides[i] != 1) {
      fail(ErrorCode::kInvalidArgument, name, ": same padding needs strides of 1, got ",
           strides[i]);
    }
  }
  check_pad_mode(name, options.padding_mode);
  pad_mode_ = options.padding_mode;
  if (pad_mode_ != "zeros") {
    for (size_t i = axes; i-- > 0;)
      pads_.insert(pads_.end(), {pads[i], pads[axes + i]});
    pads.assign(2 * axes, 0);
  }
  attrs_ = conv_attributes("Conv", {{"kernel_shape", sizes},
                                    {"strides", strides},
                                    {"dilations", dilations},
                                    {"pads", pads},
                                    {"group", options.groups}});
  double fan = static_cast<double>(in / options.groups);
  for (const int64_t size : sizes)
    fan *= static_cast<double>(size);
  const double bound = 1 / std::sqrt(fan);
  weight = this->parameter("weight",
                           init::uniform_tensor(shape_of(out, in / options.groups, sizes), bound));
  if (options.bias) bias = this->parameter("bias", init::uniform_tensor({out}, bound));
  this->describe(text(in, " -> ", out, ", ", spatial_text(sizes),
                      strides == std::vector<int64_t>(axes, 1) ? "" : ", stride ",
                      strides == std::vector<int64_t>(axes, 1) ? "" : spatial_text(strides)));
} catch (const Error& error) {
  throw placed(error, loc);
}

template <size_t axes>
Tensor Conv<axes>::forward(const Tensor& x) const {
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  static const OpDef& op = op_named("Conv");
  const Loc loc = this->caller();
  const Tensor padded = pads_.empty() ? x : pad(x, pads_, pad_mode_, 0, loc);
  return convolve(op, *attrs_, padded, weight, bias, axes, loc);
}

template <size_t axes>
ConvTranspose<axes>::ConvTranspose(int64_t in, int64_t out, Sizes kernel,
                                   ConvTransposeOptions options, Loc loc) try
    : Base(text("ConvTranspose", axes, "d")) {
  const std::string& name = this->type_name();
  check_channels(name, in, out, options.groups);
  const std::vector<int64_t> sizes = kernel.on(axes, 1, name + ": kernel");
  std::vector<int64_t> pads = options.padding.on(axes, 0, name + ": padding");
  pads.insert(pads.end(), pads.begin(), pads.begin() + axes);
  attrs_ = conv_attributes(
      "ConvTranspose",
      {{"kernel_shape", sizes},
       {"strides", options.stride.on(axes, 1, name + ": stride")},
       {"dilations", options.dilation.on(axes, 1, name + ": dilation")},
       {"pads", pads},
       {"output_padding", options.output_padding.on(axes, 0, name + ": output_padding")},
       {"group", options.groups}});
  double fan = static_cast<double>(out / options.groups);
  for (const int64_t size : sizes)
    fan *= static_cast<double>(size);
  const double bound = 1 / std::sqrt(fan);
  weight = this->parameter("weight",
                           init::uniform_tensor(shape_of(in, out / options.groups, sizes), bound));
  if (options.bias) bias = this->parameter("bias", init::uniform_tensor({out}, bound));
  this->describe(text(in, " -> ", out, ", ", spatial_text(sizes)));
} catch (const Error& error) {
  throw placed(error, loc);
}

template <size_t axes>
Tensor ConvTranspose<axes>::forward(const Tensor& x) const {
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  static const OpDef& op = op_named("ConvTranspose");
  return convolve(op, *attrs_, x, weight, bias, axes, this->caller());
}

namespace {

AttrMap convolution_attrs(const std::string& name, size_t axes, const ConvolutionOptions& options) {
  std::vector<int64_t> pads = options.padding.on(axes, 0, name + ": padding");
  pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<ptrdiff_t>(axes));
  return {{"strides", options.stride.on(axes, 1, name + ": stride")},
          {"dilations", options.dilation.on(axes, 1, name + ": dilation")},
          {"pads", pads},
          {"group", options.groups}};
}

Tensor convolution(size_t axes, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& options, const Loc& loc) {
  const AttrMap attrs =
      at_line(loc, [&] { return convolution_attrs(text("conv", axes, "d"), axes, options); });
  return convolve(op_named("Conv"), *conv_attributes("Conv", attrs), x, weight, bias, axes, loc);
}
Tensor transposed_convolution(size_t axes, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const TransposedConvolutionOptions& options,
                              const Loc& loc) {
  const std::string name = text("conv_transpose", axes, "d");
  const AttrMap attrs = at_line(loc, [&] {
    AttrMap found = convolution_attrs(
        name, axes, {options.stride, options.padding, options.dilation, options.groups});
    found["output_padding"] = options.output_padding.on(axes, 0, name + ": output_padding");
    return found;
  });
  return convolve(op_named("ConvTranspose"), *conv_attributes("ConvTranspose", attrs), x, weight,
                  bias, axes, loc);
}

}  // namespace

#define SARDONYX_CONVOLUTION(axes)                                                          \
  Tensor conv##axes##d(const Tensor& x, const Tensor& weight, const Tensor& bias,           \
                       ConvolutionOptions options, Loc loc) {                               \
    return convolution(axes, x, weight, bias, options, loc);                                \
  }                                                                                         \
  Tensor conv_transpose##axes##d(const Tensor& x, const Tensor& weight, const Tensor& bias, \
                                 TransposedConvolutionOptions options, Loc loc) {           \
    return transposed_convolution(axes, x, weight, bias, options, loc);                     \
  }
SARDONYX_CONVOLUTION(1)
SARDONYX_CONVOLUTION(2)
SARDONYX_CONVOLUTION(3)
#undef SARDONYX_CONVOLUTION

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;

}  // namespace sardonyx::eager::nn
