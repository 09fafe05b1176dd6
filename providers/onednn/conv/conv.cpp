// Conv and FusedConv in float32 and bfloat16.
#include <utility>

#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_igemm.h"
#include "providers/cpu/conv/conv_kn2row.h"
#include "providers/cpu/conv/conv_nchw.h"
#include "providers/cpu/conv/winograd/conv_winograd.h"
#include "providers/onednn/conv/conv.h"
#include "providers/onednn/conv/conv_row_tiles.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/post_op_eltwise.h"
#include "providers/onednn/post_op_sum.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_cache.h"
#include "providers/onednn/separate_activation.h"
#include "providers/onednn/training.h"

namespace sardonyx::onednn {
namespace {

struct ConvProblem {
  ConvolutionSpec spec;  // with layouts of the primitive's choice
  Desc stored_weights;
  PostOps activation;
  PostOps afterwards;  // an activation that the primitive has no form with
  bool has_bias;
  bool has_new_weights = false;  // with every run, as in training
  bool is_transposed = false;    // rows and columns are exchanged
};

constexpr int64_t kBlock = ImageLayout::kChannelBlock;

bool fills_blocks(int64_t channels) {
  return channels % kBlock == 0;
}

// oneDNN's kernels compute tiles of columns of one row, so an image of one column is described as
// an image of one row, which has the same memory layout.
bool is_single_column(const Shape& x, const Shape& w, const Shape& y) {
  return x.size() == 4 && x[3] == 1 && w[3] == 1 && y[3] == 1 && x[2] > 1;
}

void swap_spatial(Extents& dims) {
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
}

void swap_spatial(ConvProblem& problem) {
  problem.is_transposed = true;
  ConvolutionSpec& spec = problem.spec;
  for (Desc* desc : {&spec.src, &spec.weights, &spec.dst}) {
    Extents dims = desc->dims();
    swap_spatial(dims);
    *desc = any_desc(desc->data_type(), dims);
  }
  Extents stored = problem.stored_weights.dims();
  swap_spatial(stored);
  problem.stored_weights = plain_desc(problem.stored_weights.data_type(), stored);
  for (Extents* dims : {&spec.strides, &spec.dilations, &spec.pads_begin, &spec.pads_end})
    swap_spatial(*dims);
}

// The descriptor under which other kernels know the layout of such an image.
std::optional<Desc> transposed_back(const Desc& desc) {
  if (is_row_major(desc)) return desc;  // the bias, too, which has one dim
  Extents dims = desc.dims();
  swap_spatial(dims);
  return same_format(desc, dims);
}

ConvProblem describe(const KernelRequest& request, const ops::ConvAttrs& attrs,
                     const ops::FusedActivation& activation) {
  const KernelTensor& x = request.inputs[0];
  const KernelTensor& w = request.inputs[1];
  const KernelTensor& y = request.outputs[0];
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  ConvProblem problem{{}, {}, post_ops_of(activation), {}, request.has(2)};
  const auto type = data_type_of(x.dtype);
  const Extents weight_dims = grouped_weights(w.shape, attrs.group);
  problem.stored_weights = plain_desc(type, weight_dims);
  problem.spec.src = any_desc(type, x.shape);
  problem.spec.weights = any_desc(type, weight_dims);
  problem.spec.dst = any_desc(type, y.shape);
  if (problem.has_bias) problem.spec.bias = plain_desc(type, {w.shape[0]});
  problem.spec.strides = window.strides;
  problem.spec.dilations = window.dilations;
  problem.spec.pads_begin = window.pads_begin;
  problem.spec.pads_end = window.pads_end;
  problem.has_new_weights = request.layouts && !w.constant;
  if (is_single_column(x.shape, w.shape, y.shape)) swap_spatial(problem);
  return problem;
}

MaybePrimitive make_primitive(const ConvProblem& problem, const ConvolutionSpec& spec,
                              Residual residual) {
  static auto& answers = *new PrimitiveCache;
  PostOps post_ops = residual_post_ops(residual, spec.dst);
  post_ops.insert(post_ops.end(), problem.activation.begin(), problem.activation.end());
  PrimitiveKey question;
  question << static_cast<int64_t>(problem.has_new_weights) << static_cast<int64_t>(spec.method)
           << spec.src << spec.weights << spec.bias << spec.dst << spec.strides << spec.dilations
           << spec.pads_begin << spec.pads_end << post_ops;
  return answers.get(question, [&] {
    return problem.has_new_weights ? convolution_of_new_weights(spec, attributes(post_ops))
                                   : convolution(spec, attributes(post_ops));
  });
}

Desc row_major(memory::data_type type, const Extents& dims) {
  return plain_desc(type, dims);
}

// The primitive in oneDNN's choice of layouts, or, if that is its reference implementation, in the
// first other layouts that avoid it.
MaybePrimitive choose_layouts(const ConvProblem& problem) {
  const MaybePrimitive chosen = make_primitive(problem, problem.spec, Residual::kNone);
  if (!chosen || !chosen->is_reference()) return chosen;
  for (const auto layout : {&blocked_desc, &row_major}) {
    ConvolutionSpec spec = problem.spec;
    spec.src = layout(spec.src.data_type(), spec.src.dims());
    spec.dst = layout(spec.dst.data_type(), spec.dst.dims());
    MaybePrimitive other = make_primitive(problem, spec, Residual::kNone);
    if (other && !other->is_reference()) return other;
  }
  return chosen;
}

// The primitive of Winograd's algorithm, for training, where it pays.
MaybePrimitive choose_winograd(ConvProblem& problem) {
  const ConvolutionSpec direct = problem.spec;
  const Extents dst = direct.dst.dims();
  if (dst.size() != 4 || dst[0] * dst[2] * dst[3] < kMinWinogradWindows) return std::nullopt;
  problem.spec.method = algorithm::convolution_winograd;
  MaybePrimitive primitive = make_primitive(problem, problem.spec, Residual::kNone);
  if (!primitive && !problem.activation.empty()) {
    problem.afterwards = std::exchange(problem.activation, {});
    primitive = make_primitive(problem, problem.spec, Residual::kNone);
  }
  if (primitive && !primitive->is_reference()) return primitive;
  if (!problem.afterwards.empty()) problem.activation = std::exchange(problem.afterwards, {});
  problem.spec = direct;
  return std::nullopt;
}

// A direct convolution whose input is NCHW16c stays in NCHW16c: it is as fast as in any other
// layout and needs no reorder. In training NCHW16c is chosen as early as possible, because
// gradients and the ops between convolutions are computed in it.
MaybePrimitive choose_blocks(const ConvProblem& problem, const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  if (problem.is_transposed || problem.spec.dst.dims().size() != 4) return std::nullopt;
  ConvolutionSpec spec = problem.spec;
  const Extents in = spec.src.dims(), out = spec.dst.dims();
  if (!fills_blocks(out[1]) && out[1] > kBlock) return std::nullopt;
  if (fills_blocks(in[1])) {
    spec.src = blocked_desc(spec.src.data_type(), in);
    if (!problem.has_new_weights && (!x.layout || spec.src != desc_of(x))) return std::nullopt;
  } else if (problem.has_new_weights && !x.layout && in[1] < kBlock && fills_blocks(out[1])) {
    spec.src = plain_desc(spec.src.data_type(), in);
  } else {
    return std::nullopt;
  }
  spec.dst = blocked_desc(spec.dst.data_type(), out);
  MaybePrimitive primitive = make_primitive(problem, spec, Residual::kNone);
  return primitive && !primitive->is_reference() ? primitive : std::nullopt;
}

std::vector<PrimitivePart> parts_of(const ConvProblem& problem, const Primitive& primitive,
                                    Residual residual, int threads) {
  ConvolutionSpec spec = problem.spec;
  spec.src = primitive.src(), spec.weights = primitive.weights(), spec.dst = primitive.dst();
  const auto make = [&](const ConvolutionSpec& part) {
    return make_primitive(problem, part, residual);
  };
  const auto parts = [&](const ConvolutionSpec& whole) {
    return parts_of(work_of_convolution(whole, make, residual == Residual::kRead), primitive,
                    threads);
  };
  if (const auto line = in_one_line(spec)) {
    if (auto of_line = parts(*line); !of_line.empty()) return of_line;
  }
  return parts(spec);
}

Prepared build(const ConvProblem& problem, const KernelRequest& request, const Primitive& primitive,
               Residual residual) {
  SequenceBuilder builder(request);
  if (problem.is_transposed) builder.name_layouts(transposed_back);
  SequenceBuilder::Args args{
      {DNNL_ARG_SRC, builder.input(0, primitive.src())},
      {DNNL_ARG_WEIGHTS, builder.weights(1, problem.stored_weights, primitive.weights())}};
  if (problem.has_bias) args.emplace_back(DNNL_ARG_BIAS, builder.input(2, problem.spec.bias));
  const auto dst = builder.output(0, primitive.dst());
  if (residual == Residual::kRead) {
    args.emplace_back(binary_argument(0), builder.input(3, primitive.dst()));
  }
  if (residual == Residual::kInPlace) builder.require_layout(3, primitive.dst());
  if (residual == Residual::kCopied) builder.copy(builder.input(3, primitive.dst()), dst);
  args.emplace_back(DNNL_ARG_DST, dst);
  builder.step(primitive, args, parts_of(problem, primitive, residual, builder.threads()));
  if (!add_eltwise(builder, problem.afterwards, primitive.dst(), dst, dst))
    return Prepared::refuse("oneDNN has no such elementwise operation");
  return builder.finish(primitive.implementation());
}

// Winograd's algorithm may hold the whole image transformed, several times its own size. Where
// that is more than this the image is computed in tiles of rows that take the other; each tile
// transforms the weights anew.
constexpr size_t kMaxScratch = size_t{128} << 20, kTileScratch = size_t{40} << 20;
constexpr int64_t kTileRows = 4;  // rows that Winograd transforms at once

TiledConvolution tiled(const ConvProblem& problem, const KernelRequest& request,
                       const Primitive& primitive) {
  const Residual residual = request.has(3) ? Residual::kInPlace : Residual::kNone;
  TiledConvolution whole;
  whole.spec = problem.spec;
  whole.from = primitive.src(), whole.weights = primitive.weights(), whole.made = primitive.dst();
  whole.layouts = request.layouts;
  whole.make = [&problem, residual](const ConvolutionSpec& spec) {
    return make_primitive(problem, spec, residual);
  };
  if (request.has(3)) whole.residual = 3;
  return whole;
}

// The tiles of the convolution; empty where the whole is small enough, or oneDNN has no such tiles.
std::vector<ConvTile> tiles_of(const ConvProblem& problem, const TiledConvolution& whole,
                               const Primitive& primitive) {
  if (problem.is_transposed) return {};
  ConvTileSize size = tile_size(whole);
  const int64_t rows = primitive.dst().dims()[2];
  const bool is_winograd = problem.spec.method == algorithm::convolution_winograd;
  const size_t scratch = primitive.scratchpad().get_size();
  if (is_winograd && scratch > kMaxScratch && !whole.residual) {
    const auto share = static_cast<int64_t>(kTileScratch) * rows;
    size.rows = std::min(size.rows, share / static_cast<int64_t>(scratch));
  }
  const int64_t tile_rows = is_winograd ? kTileRows : 1;
  if (size.rows < rows) size.rows = std::max<int64_t>(size.rows / tile_rows, 1) * tile_rows;
  return tiles_of(whole, size);
}

Prepared build_tiles(const ConvProblem& problem, const KernelRequest& request,
                     const TiledConvolution& whole, const std::vector<ConvTile>& tiles,
                     const Primitive& primitive) {
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{
      {DNNL_ARG_WEIGHTS, builder.weights(1, problem.stored_weights, whole.weights)}};
  if (problem.has_bias) args.emplace_back(DNNL_ARG_BIAS, builder.input(2, problem.spec.bias));
  const auto dst = add_tiles(builder, whole, tiles, args);
  if (!add_eltwise(builder, problem.afterwards, stored(whole, whole.made), dst, dst))
    return Prepared::refuse("oneDNN has no such elementwise operation");
  return builder.finish(primitive.implementation() + " in tiles");
}

// The primitive without residual decides the layouts, so that both sequences share them.
Prepared build_with_residual(const ConvProblem& problem, const KernelRequest& request,
                             const Primitive& bare) {
  ConvolutionSpec spec = problem.spec;
  spec.src = bare.src();
  spec.weights = bare.weights();
  spec.dst = bare.dst();
  const auto build_one = [&](const KernelRequest& shared, Residual residual) {
    MaybePrimitive primitive = make_primitive(problem, spec, residual);
    if (residual == Residual::kRead && way_to_read(primitive) == Residual::kCopied) {
      residual = Residual::kCopied;
      primitive = make_primitive(problem, spec, residual);
    }
    if (!primitive)
      return Prepared::refuse("oneDNN has no convolution of this form with a residual");
    return build(problem, shared, *primitive, residual);
  };
  return prepare_with_residual(request, 3, spec.dst, build_one);
}

// Rows of windows in the padding alone have no tile (conv_row_tiles.h), so an image would be one
// call of oneDNN, which checks no deadline: seconds, for images that are padded to many times their
// size.
bool is_long_and_mostly_padding(const TiledConvolution& whole) {
  const bool is_long = tile_size(whole).rows < whole.made.dims()[2];
  const Extents from = whole.from.dims();
  bool is_padding = false;
  for (size_t axis = 0; axis < whole.spec.pads_begin.size(); ++axis) {
    const int64_t pads = whole.spec.pads_begin[axis] + whole.spec.pads_end[axis];
    is_padding = is_padding || pads > 2 * from[2 + axis];
  }
  return is_long && is_padding;
}

Prepared prepare_by_onednn(const KernelRequest& request, const ops::ConvAttrs& attrs,
                           const ops::FusedActivation& activation, bool allows_winograd) {
  if (!find_post_ops(activation)) return Prepared::refuse("oneDNN has no such activation");
  ConvProblem problem = describe(request, attrs, activation);
  MaybePrimitive bare;
  if (allows_winograd && problem.has_new_weights) bare = choose_winograd(problem);
  if (request.layouts && !bare) bare = choose_blocks(problem, request);
  if (!bare) bare = choose_layouts(problem);
  if (!bare) return Prepared::refuse("oneDNN has no convolution of this form");
  const TiledConvolution whole = tiled(problem, request, *bare);
  if (is_long_and_mostly_padding(whole))
    return Prepared::refuse("images that are mostly padding are left to others");
  const std::vector<ConvTile> tiles = tiles_of(problem, whole, *bare);
  if (!tiles.empty()) return build_tiles(problem, request, whole, tiles, *bare);
  if (request.has(3)) return build_with_residual(problem, request, *bare);
  return build(problem, request, *bare, Residual::kNone);
}

constexpr InnerKernel kConvInner[] = {
    {"conv_winograd", "providers/cpu/conv/winograd/conv_winograd.cpp"},
    {"conv_nchw", "providers/cpu/conv/conv_nchw.cpp"},
    {"conv_kn2row", "providers/cpu/conv/conv_kn2row.cpp"},
    {"conv_igemm", "providers/cpu/conv/conv_igemm.cpp"}};

Prepared prepare(const KernelRequest& request, const ops::ConvAttrs& attrs,
                 const ops::FusedActivation& activation, bool allows_winograd) {
  const auto& [winograd, nchw, kn2row, igemm] = kConvInner;
  if (const char* refusal = why_unsupported_conv(request)) return Prepared::refuse(refusal);
  if (const char* why = why_unsupported_windows(request.inputs[1].shape, request.outputs[0].shape))
    return Prepared::refuse(why);
  if (allows_winograd) {
    Prepared own = noted(request, winograd, cpu::prepare_conv_winograd(request, attrs, activation));
    if (own.kernel) return own;
  }
  Prepared in_rows = noted(request, nchw, cpu::prepare_conv_nchw(request, attrs, activation));
  if (in_rows.kernel) return in_rows;
  Prepared by_taps = noted(request, kn2row, cpu::prepare_conv_kn2row(request, attrs, activation));
  if (by_taps.kernel) return by_taps;
  Prepared direct = noted(request, igemm, cpu::prepare_conv_igemm(request, attrs, activation));
  if (direct.kernel) return direct;
  if (!is_faster_after(activation, request))
    return prepare_by_onednn(request, attrs, activation, allows_winograd);
  return with_activation_after(prepare_by_onednn(request, attrs, {}, allows_winograd), activation,
                               request);
}

Prepared prepare_conv(const KernelRequest& request) {
  return prepare(request, request.attrs<ops::ConvAttrs>(), {}, false);
}

Prepared prepare_fused_conv(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::FusedConvAttrs>();
  return prepare(request, attrs, {attrs.activation, attrs.activation_params},
                 attrs.allows_winograd);
}

constexpr KernelEntry kConvolutionKernels[] = {
    {"Conv", "convolution", guarded<prepare_conv>, kConvInner},
    {"sardonyx::FusedConv", "convolution", guarded<prepare_fused_conv>, kConvInner},
};

}  // namespace

Extents grouped_weights(const Shape& weights, int64_t group) {
  if (group == 1) return weights;
  Extents dims{group, weights[0] / group};
  dims.insert(dims.end(), weights.begin() + 1, weights.end());
  return dims;
}

const char* why_unsupported_conv(const KernelRequest& request) {
  if (const char* why = why_unsupported_type(request, request.inputs[0].dtype)) return why;
  const size_t rank = request.inputs[0].shape.size();
  if (rank < 3 || rank > 5) return "only 1 to 3 spatial axes";
  return nullptr;
}

const char* why_unsupported_windows(const Shape& weights, const Shape& results) {
  constexpr double kManyTaps = 2048;
  double taps = 1;
  for (size_t axis = 2; axis < weights.size(); ++axis)
    taps *= static_cast<double>(weights[axis]);
  const double products =
      static_cast<double>(element_count(results)) * static_cast<double>(weights[1]) * taps;
  const bool is_long = taps > kManyTaps && products > static_cast<double>(kProductsPerBlock);
  return is_long ? "large windows are left to others" : nullptr;
}

std::span<const KernelEntry> conv_kernels() {
  return kConvolutionKernels;
}

}  // namespace sardonyx::onednn
