#include "providers/onednn/primitive/partition_axes.h"

#include <algorithm>

namespace sardonyx::onednn {
namespace {

constexpr size_t kImages = 0, kChannels = 1, kSpatial = 2;
// The tile sizes of oneDNN's kernels, in which parts begin.
constexpr int64_t kChannelUnit = 16, kRowUnit = 4, kColumnUnit = 16;
// The tile of "gemm:jit", which takes transposed sources: a partial tile is summed in another
// order.
constexpr int64_t kTileRows = 8, kTileColumns = 48;

// The arguments of a convolution or of one of its gradients: the one that is read through windows
// or spread by them, and the result.
struct ConvolutionArguments {
  int read, made;
  std::vector<int> like_made;  // sliced like the result
};

const Desc& src_or_dst(const ConvolutionSpec& spec, int argument) {
  return argument == DNNL_ARG_SRC || argument == DNNL_ARG_DIFF_SRC ? spec.src : spec.dst;
}
Desc& src_or_dst(ConvolutionSpec& spec, int argument) {
  return argument == DNNL_ARG_SRC || argument == DNNL_ARG_DIFF_SRC ? spec.src : spec.dst;
}

bool is_grouped(const ConvolutionSpec& spec) {
  return spec.weights.dims().size() > spec.src.dims().size();
}

CutAxis along_all(int64_t extent, const ConvolutionArguments& names, size_t dim) {
  CutAxis axis{extent, {{names.made, dim}}};
  for (const int argument : names.like_made)
    axis.along.push_back({argument, dim});
  return axis;
}

CutAxis image_axis(const ConvolutionSpec& spec, const ConvolutionArguments& names) {
  CutAxis axis = along_all(spec.src.dims()[kImages], names, kImages);
  axis.along.push_back({names.read, kImages});
  return axis;
}

// `weights`: the argument that has the weights or their gradient.
CutAxis group_axis(const ConvolutionSpec& spec, const ConvolutionArguments& names, int weights) {
  const int64_t groups = spec.weights.dims()[0];
  CutAxis axis{groups, {{weights, 0}}};
  const auto cut_channels = [&](int argument, const Desc& desc) {
    axis.along.push_back({argument, kChannels, desc.dims()[kChannels] / groups});
  };
  cut_channels(names.read, src_or_dst(spec, names.read));
  cut_channels(names.made, src_or_dst(spec, names.made));
  for (const int argument : names.like_made)
    cut_channels(argument, src_or_dst(spec, names.made));
  if (!spec.bias.is_zero()) axis.along.push_back({DNNL_ARG_BIAS, 0, spec.bias.dims()[0] / groups});
  return axis;
}

CutAxis channel_axis(const ConvolutionSpec& spec, const ConvolutionArguments& names,
                     size_t weights_dim) {
  CutAxis axis = along_all(src_or_dst(spec, names.made).dims()[kChannels], names, kChannels);
  axis.along.push_back({DNNL_ARG_WEIGHTS, weights_dim});
  if (!spec.bias.is_zero()) axis.along.push_back({DNNL_ARG_BIAS, 0});
  axis.unit = kChannelUnit;
  return axis;
}

CutAxis row_axis(const ConvolutionSpec& spec, const ConvolutionArguments& names, size_t dim,
                 bool are_spread) {
  CutAxis axis = along_all(src_or_dst(spec, names.made).dims()[dim], names, dim);
  const size_t spatial = dim - kSpatial;
  const Extents weights = spec.weights.dims();
  const int64_t kernel = weights[weights.size() - spec.strides.size() + spatial];
  axis.windows = {names.read,
                  dim,
                  spec.strides[spatial],
                  (kernel - 1) * spec.dilations[spatial] + 1,
                  spec.pads_begin[spatial],
                  are_spread};
  if (are_spread) axis.unit = spec.strides[spatial];
  return axis;
}

double products_of(const ConvolutionSpec& spec, bool are_spread) {
  const Extents weights = spec.weights.dims();
  const Desc& windows = are_spread ? spec.src : spec.dst;
  const auto channels = static_cast<double>(windows.dims()[kChannels]);
  return elements_of(windows) / channels * elements_of(spec.weights);
}

Work work_of(const ConvolutionSpec& whole, const ConvolutionArguments& names, bool are_spread,
             size_t weights_dim, const MakeConvolution& make) {
  Work work;
  work.arguments = {{names.read, src_or_dst(whole, names.read)},
                    {names.made, src_or_dst(whole, names.made)},
                    {DNNL_ARG_WEIGHTS, whole.weights}};
  if (!whole.bias.is_zero()) work.arguments[DNNL_ARG_BIAS] = whole.bias;
  for (const int argument : names.like_made)
    work.arguments[argument] = src_or_dst(whole, names.made);
  work.axes = {image_axis(whole, names), is_grouped(whole)
                                             ? group_axis(whole, names, DNNL_ARG_WEIGHTS)
                                             : channel_axis(whole, names, weights_dim)};
  for (size_t dim = kSpatial; dim < whole.src.dims().size(); ++dim)
    work.axes.push_back(row_axis(whole, names, dim, are_spread));
  work.products = products_of(whole, are_spread);
  work.make = [whole, names, make](const ArgumentDescs& own, const std::optional<PartPads>& pads) {
    ConvolutionSpec spec = whole;
    src_or_dst(spec, names.read) = own.at(names.read);
    src_or_dst(spec, names.made) = own.at(names.made);
    spec.weights = own.at(DNNL_ARG_WEIGHTS);
    if (!spec.bias.is_zero()) spec.bias = own.at(DNNL_ARG_BIAS);
    if (pads) {
      spec.pads_begin[pads->dim - kSpatial] = pads->begin;
      spec.pads_end[pads->dim - kSpatial] = pads->end;
    }
    return make(spec);
  };
  return work;
}

bool is_pointwise(const ConvolutionSpec& spec) {
  const auto all_are = [](int64_t value) { return [=](int64_t dim) { return dim == value; }; };
  const Extents weights = spec.weights.dims();
  return std::all_of(weights.end() - static_cast<ptrdiff_t>(spec.strides.size()), weights.end(),
                     all_are(1)) &&
         std::ranges::all_of(spec.strides, all_are(1)) &&
         std::ranges::all_of(spec.pads_begin, all_are(0)) &&
         std::ranges::all_of(spec.pads_end, all_are(0));
}

}  // namespace

std::optional<ConvolutionSpec> in_one_line(const ConvolutionSpec& whole) {
  if (!is_pointwise(whole)) return std::nullopt;
  ConvolutionSpec spec = whole;
  for (Desc* desc : {&spec.src, &spec.dst}) {
    const Extents dims = desc->dims();
    if (*desc != channels_last_desc(desc->data_type(), dims)) return std::nullopt;
    Extents line(dims.size(), 1);
    line[kChannels] = dims[kChannels];
    line.back() = static_cast<int64_t>(elements_of(*desc)) / dims[kChannels];
    *desc = channels_last_desc(desc->data_type(), line);
  }
  return spec;
}

Work work_of_convolution(const ConvolutionSpec& whole, const MakeConvolution& make,
                         bool reads_residual) {
  ConvolutionArguments names{DNNL_ARG_SRC, DNNL_ARG_DST, {}};
  if (reads_residual) names.like_made.push_back(binary_argument(0));
  return work_of(whole, names, false, 0, make);
}

Work work_of_deconvolution(const ConvolutionSpec& whole, const MakeConvolution& make) {
  return work_of(whole, {DNNL_ARG_SRC, DNNL_ARG_DST, {}}, true, 0, make);
}

Work work_of_input_gradient(const ConvolutionSpec& whole, const MakeConvolution& make) {
  Work work = work_of(whole, {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, {}}, true, 1, make);
  work.products = products_of(whole, false);
  return work;
}

Work work_of_weight_gradient(const ConvolutionSpec& whole, const MakeConvolution& make) {
  static constexpr int kRead = DNNL_ARG_SRC, kGiven = DNNL_ARG_DIFF_DST,
                       kMade = DNNL_ARG_DIFF_WEIGHTS;
  Work work;
  work.arguments = {{kRead, whole.src}, {kGiven, whole.dst}, {kMade, whole.weights}};
  if (is_grouped(whole)) {
    work.axes = {group_axis(whole, {kRead, kGiven, {}}, kMade)};
  } else {
    work.axes = {
        {whole.weights.dims()[0], {{kGiven, kChannels}, {kMade, 0}}, std::nullopt, kChannelUnit},
        {whole.weights.dims()[1], {{kRead, kChannels}, {kMade, 1}}, std::nullopt, kChannelUnit}};
  }
  work.products = products_of(whole, false);
  work.make = [whole, make](const ArgumentDescs& own, const auto&) {
    ConvolutionSpec spec = whole;
    spec.src = own.at(kRead), spec.dst = own.at(kGiven), spec.weights = own.at(kMade);
    return make(spec);
  };
  return work;
}

Work work_of_images(const ConvolutionSpec& whole, const MakeConvolution& make) {
  Work work = work_of_weight_gradient(whole, make);
  work.axes = {{whole.src.dims()[kImages],
                {{DNNL_ARG_SRC, kImages}, {DNNL_ARG_DIFF_DST, kImages}},
                std::nullopt}};
  return work;
}

namespace {

// "gemm:jit" adds up a product with a vector in another order than one with a matrix.
bool is_vector_of(const Desc& whole, const Desc& part) {
  const Extents all = whole.dims(), own = part.dims();
  for (size_t dim = all.size() - 2; dim < all.size(); ++dim) {
    if (own[dim] == 1 && all[dim] > 1) return true;
  }
  return false;
}

}  // namespace

Work work_of_product(const ProductSpec& whole, const std::vector<Desc>& operands,
                     const MakeProduct& make) {
  Work work;
  work.arguments = {
      {DNNL_ARG_SRC, whole.src}, {DNNL_ARG_WEIGHTS, whole.weights}, {DNNL_ARG_DST, whole.dst}};
  if (!whole.bias.is_zero()) work.arguments[DNNL_ARG_BIAS] = whole.bias;
  for (size_t i = 0; i < operands.size(); ++i)
    work.arguments[binary_argument(i)] = operands[i];
  const Extents dst = whole.dst.dims();
  const size_t rows = dst.size() - 2, columns = dst.size() - 1;
  const bool in_tiles = !is_row_major(whole.src);
  for (size_t dim = 0; dim < dst.size(); ++dim) {
    CutAxis axis{dst[dim], {}};
    for (const auto& [argument, desc] : work.arguments) {
      const bool is_depth = (argument == DNNL_ARG_SRC && dim == columns) ||
                            (argument == DNNL_ARG_WEIGHTS && dim == rows);
      if (!is_depth && desc.dims()[dim] == dst[dim] && dst[dim] > 1)
        axis.along.push_back({argument, dim});
    }
    const bool is_row = dim == rows;
    const int64_t unit =
        in_tiles ? (is_row ? kTileRows : kTileColumns) : (is_row ? kRowUnit : kColumnUnit);
    if (dim >= rows) axis.unit = unit;
    work.axes.push_back(std::move(axis));
  }
  work.products = elements_of(whole.dst) * static_cast<double>(whole.src.dims().back());
  work.make = [whole, operands, make, in_tiles](const ArgumentDescs& own,
                                                const auto&) -> MaybePrimitive {
    if (in_tiles && is_vector_of(whole.dst, own.at(DNNL_ARG_DST))) return std::nullopt;
    ProductSpec spec = whole;
    spec.src = own.at(DNNL_ARG_SRC);
    spec.weights = own.at(DNNL_ARG_WEIGHTS);
    spec.dst = own.at(DNNL_ARG_DST);
    if (!spec.bias.is_zero()) spec.bias = own.at(DNNL_ARG_BIAS);
    std::vector<Desc> cut;
    for (size_t i = 0; i < operands.size(); ++i)
      cut.push_back(own.at(binary_argument(i)));
    return make(spec, cut);
  };
  return work;
}

Work work_of_pool(const PoolSpec& whole, const MakePool& make) {
  Work work;
  work.arguments = {{DNNL_ARG_SRC, whole.src}, {DNNL_ARG_DST, whole.dst}};
  const Extents dst = whole.dst.dims();
  for (const size_t dim : {kImages, kChannels})
    work.axes.push_back({dst[dim], {{DNNL_ARG_SRC, dim}, {DNNL_ARG_DST, dim}}});
  for (size_t dim = kSpatial; dim < dst.size(); ++dim) {
    const size_t spatial = dim - kSpatial;
    CutAxis axis{dst[dim], {{DNNL_ARG_DST, dim}}};
    axis.windows = {DNNL_ARG_SRC, dim, whole.strides[spatial],
                    (whole.kernel[spatial] - 1) * whole.dilations[spatial] + 1,
                    whole.pads_begin[spatial]};
    work.axes.push_back(std::move(axis));
  }
  work.products = elements_of(whole.dst) * kProductsPerMove;
  for (const int64_t size : whole.kernel)
    work.products *= static_cast<double>(size);
  work.make = [whole, make](const ArgumentDescs& own, const std::optional<PartPads>& pads) {
    PoolSpec spec = whole;
    spec.src = own.at(DNNL_ARG_SRC), spec.dst = own.at(DNNL_ARG_DST);
    if (pads) {
      spec.pads_begin[pads->dim - kSpatial] = pads->begin;
      spec.pads_end[pads->dim - kSpatial] = pads->end;
    }
    return make(spec);
  };
  return work;
}

Work work_of_elements(ArgumentDescs arguments, const Desc& model, const MakeOfElements& make) {
  Work work;
  work.axes = axes_of_elements(arguments, model);
  work.arguments = std::move(arguments);
  work.products = elements_of(model) * kProductsPerMove;
  work.make = [make](const ArgumentDescs& own, const auto&) { return make(own); };
  return work;
}

Work work_of_copy(const Desc& from, const Desc& to) {
  return work_of_elements(
      {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, to, [](const ArgumentDescs& own) {
        return reorder(own.at(DNNL_ARG_FROM), own.at(DNNL_ARG_TO), attributes());
      });
}

}  // namespace sardonyx::onednn
