// ConvInputGrad and ConvWeightGrad in float32: a convolution's gradients by its input and its
// weights.
#include "ir/ops/conv/conv.h"
#include "providers/onednn/conv/conv.h"
#include "providers/onednn/conv/conv_row_tiles.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"
#include "providers/onednn/training.h"

namespace sardonyx::onednn {
namespace {

struct BackwardProblem {
  ConvolutionSpec spec;  // with layouts of the primitive's choice
  Desc stored_weights;
};

// `x`, `w` and `y` have the shapes of the convolution's input, weights and output.
BackwardProblem describe(const KernelRequest& request, const Shape& x, const Shape& w,
                         const Shape& y) {
  const auto& attrs = request.attrs<ops::ConvAttrs>();
  const ops::Window window = ops::conv_window(request.op.name, attrs, x, w);
  const auto type = data_type_of(request.inputs[0].dtype);
  const Extents weights = grouped_weights(w, attrs.group);
  BackwardProblem problem{{}, plain_desc(type, weights)};
  problem.spec.src = any_desc(type, x);
  problem.spec.weights = any_desc(type, weights);
  problem.spec.dst = any_desc(type, y);
  problem.spec.strides = window.strides;
  problem.spec.dilations = window.dilations;
  problem.spec.pads_begin = window.pads_begin;
  problem.spec.pads_end = window.pads_end;
  return problem;
}

using Make = MaybePrimitive (*)(const ConvolutionSpec& spec, const dnnl::primitive_attr& attr);

// Winograd's algorithm where windows are of a form that it knows: 2.5 times as fast, and nearly as
// exact as the direct sum. Says so in the problem.
MaybePrimitive choose_winograd(BackwardProblem& problem, Make make) {
  const Extents dst = problem.spec.dst.dims();
  if (dst.size() != 4 || dst[0] * dst[2] * dst[3] < kMinWinogradWindows) return std::nullopt;
  ConvolutionSpec spec = problem.spec;
  spec.method = algorithm::convolution_winograd;
  MaybePrimitive primitive = make(spec, attributes());
  if (!primitive || primitive->is_reference()) return std::nullopt;
  problem.spec.method = spec.method;
  return primitive;
}

// Winograd's primitive where there is one, else the primitive in oneDNN's choice of layouts, or, if
// that is its reference implementation, in the first other layouts that avoid it.
MaybePrimitive choose(BackwardProblem& problem, Make make) {
  if (MaybePrimitive winograd = choose_winograd(problem, make)) return winograd;
  const MaybePrimitive chosen = make(problem.spec, attributes());
  if (!chosen || !chosen->is_reference()) return chosen;
  for (const bool blocked : {true, false}) {
    const auto arranged = [&](const Desc& desc) {
      return blocked ? blocked_desc(desc.data_type(), desc.dims())
                     : plain_desc(desc.data_type(), desc.dims());
    };
    ConvolutionSpec spec = problem.spec;
    spec.src = arranged(spec.src);
    spec.dst = arranged(spec.dst);
    MaybePrimitive other = make(spec, attributes());
    if (other && !other->is_reference()) return other;
  }
  return chosen;
}

constexpr const char* kNone = "oneDNN has no gradient of a convolution of this form";

Prepared prepare_input_grad(const KernelRequest& request) {
  if (const char* refusal = why_unsupported_conv(request)) return Prepared::refuse(refusal);
  if (const char* why = why_unsupported_windows(request.inputs[1].shape, request.inputs[0].shape))
    return Prepared::refuse(why);
  BackwardProblem problem =
      describe(request, request.outputs[0].shape, request.inputs[1].shape, request.inputs[0].shape);
  const MaybePrimitive primitive = choose(problem, convolution_input_gradient);
  if (!primitive) return Prepared::refuse(kNone);
  const TiledConvolution whole{.kind = TiledConvolution::Kind::kInputGrad,
                               .spec = problem.spec,
                               .from = primitive->argument(DNNL_ARG_DIFF_DST),
                               .weights = primitive->weights(),
                               .made = primitive->argument(DNNL_ARG_DIFF_SRC),
                               .layouts = request.layouts,
                               .make = [](const ConvolutionSpec& tile) {
                                 return convolution_input_gradient(tile, attributes());
                               }};
  const std::vector<ConvTile> tiles = tiles_of(whole, tile_size(whole));
  SequenceBuilder builder(request);
  if (!tiles.empty()) {
    const auto w = builder.weights(1, problem.stored_weights, whole.weights);
    add_tiles(builder, whole, tiles, {{DNNL_ARG_WEIGHTS, w}});
    return builder.finish(primitive->implementation() + " in tiles");
  }
  const auto d_y = builder.input(0, primitive->argument(DNNL_ARG_DIFF_DST));
  const auto w = builder.weights(1, problem.stored_weights, primitive->weights());
  const auto d_x = builder.output(0, primitive->argument(DNNL_ARG_DIFF_SRC));
  ConvolutionSpec spec = problem.spec;
  spec.dst = whole.from, spec.weights = whole.weights, spec.src = whole.made;
  builder.step(*primitive,
               {{DNNL_ARG_DIFF_DST, d_y}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DIFF_SRC, d_x}},
               work_of_input_gradient(spec, whole.make));
  return builder.finish();
}

MaybePrimitive convolution_weight_gradient_of(const ConvolutionSpec& part) {
  return convolution_weight_gradient(part, attributes());
}

// Each thread computes the gradient of some images, then they are summed. False if not worthwhile.
bool add_up_images(SequenceBuilder& builder, const Primitive& primitive,
                   const ConvolutionSpec& spec, const SequenceBuilder::Args& args) {
  const std::vector<PrimitivePart> parts =
      parts_of(work_of_images(spec, convolution_weight_gradient_of), primitive, builder.threads());
  if (parts.empty()) return false;
  const auto add = [](const ArgumentDescs& own) {
    const Desc& desc = own.at(DNNL_ARG_DST);
    return binary(algorithm::binary_add, desc, desc, desc, attributes());
  };
  const ArgumentDescs alike{
      {DNNL_ARG_SRC_0, spec.weights}, {DNNL_ARG_SRC_1, spec.weights}, {DNNL_ARG_DST, spec.weights}};
  const MaybePrimitive adds = add(alike);
  if (!adds || adds->is_reference()) return false;
  const auto sum = args.back().second;
  std::vector<SequenceBuilder::Place> sums{sum};
  std::vector<SequenceBuilder::Args> of_parts(parts.size(), args);
  for (size_t part = 1; part < parts.size(); ++part) {
    sums.push_back(builder.scratch(spec.weights));
    of_parts[part].back().second = sums.back();
  }
  builder.step(parts, of_parts);
  const Work work = work_of_elements(alike, spec.weights, add);
  for (size_t part = 1; part < parts.size(); ++part) {
    builder.step(*adds, {{DNNL_ARG_SRC_0, sum}, {DNNL_ARG_SRC_1, sums[part]}, {DNNL_ARG_DST, sum}},
                 work);
  }
  return true;
}

Prepared prepare_weight_grad(const KernelRequest& request) {
  if (const char* refusal = why_unsupported_conv(request)) return Prepared::refuse(refusal);
  if (const char* why = why_unsupported_windows(request.outputs[0].shape, request.inputs[0].shape))
    return Prepared::refuse(why);
  BackwardProblem problem =
      describe(request, request.inputs[1].shape, request.outputs[0].shape, request.inputs[0].shape);
  const MaybePrimitive primitive = choose(problem, convolution_weight_gradient);
  if (!primitive) return Prepared::refuse(kNone);
  TiledConvolution whole{.kind = TiledConvolution::Kind::kWeightGrad,
                         .spec = problem.spec,
                         .from = primitive->argument(DNNL_ARG_DIFF_DST),
                         .made = primitive->argument(DNNL_ARG_DIFF_WEIGHTS),
                         .layouts = request.layouts,
                         .make = convolution_weight_gradient_of};
  whole.spec.src = primitive->src();
  const std::vector<ConvTile> tiles = tiles_of(whole, tile_size(whole));
  SequenceBuilder builder(request);
  if (!tiles.empty()) {
    add_tiles(builder, whole, tiles, {{DNNL_ARG_SRC, builder.input(1, primitive->src())}});
    return builder.finish(primitive->implementation() + " in tiles");
  }
  const auto d_y = builder.input(0, primitive->argument(DNNL_ARG_DIFF_DST));
  const auto x = builder.input(1, primitive->src());
  const auto d_w = builder.output(0, primitive->argument(DNNL_ARG_DIFF_WEIGHTS));
  ConvolutionSpec spec = problem.spec;
  spec.dst = whole.from, spec.src = primitive->src(), spec.weights = whole.made;
  const SequenceBuilder::Args args{
      {DNNL_ARG_DIFF_DST, d_y}, {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_WEIGHTS, d_w}};
  if (!add_up_images(builder, *primitive, spec, args))
    builder.step(*primitive, args, work_of_weight_gradient(spec, convolution_weight_gradient_of));
  return builder.finish(primitive->implementation());
}

constexpr KernelEntry kConvolutionBackwardKernels[] = {
    {"sardonyx::ConvInputGrad", "convolution_backward", guarded<prepare_input_grad, 2>},
    {"sardonyx::ConvWeightGrad", "convolution_backward", guarded<prepare_weight_grad, 2>},
};

}  // namespace

std::span<const KernelEntry> conv_backward_kernels() {
  return kConvolutionBackwardKernels;
}

}  // namespace sardonyx::onednn
