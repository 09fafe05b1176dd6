// MaxUnpool, and the pools over regions that data names: MaxRoiPool, RoiAlign.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/detection/roi_gradient.h"
#include "ir/ops/detection/roi_samples.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/pooling/pool.h"
#include "ir/ops/pooling/pool_gradient.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {

namespace {

// MaxUnpool

// The input dims of the MaxPool with these attributes that gave `x`, if its windows fitted exactly.
Dims unpooled_dims(std::string_view op, const MaxUnpoolAttrs& attrs, const Dims& x) {
  const WindowSpec spec{
      .op = op, .strides = given_ints(attrs.strides), .pads = given_ints(attrs.pads)};
  return joined(x[0], x[1],
                transposed_window_dims(spec, spatial_dims(x), to_dims(attrs.kernel_shape)));
}

void infer_max_unpool(InferContext& c) {
  const auto& attrs = c.attrs<MaxUnpoolAttrs>();
  const auto rank = rank_of(c, 0);
  if (rank && *rank < 3)
    c.fail_input(0, "expected at least rank 3: batch, channels and spatial dims");
  c.require(!attrs.kernel_shape.empty(),
            "kernel_shape: expected a size for each spatial axis, got none");
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, attrs.kernel_shape.size() + 2));
  if (const Dims* indices = c.shape(1)) {
    c.require_rank(1, x.size());
    for (size_t i = 0; i < x.size(); ++i)
      c.merged(x[i], (*indices)[i], "shapes of X and I");
  }
  const Dims natural = unpooled_dims(c.op().name, attrs, x);
  if (!c.has(2)) return c.set(0, c.dtype(0), natural);
  require_length(c, 2, static_cast<int64_t>(x.size()), "sizes, one for each dim of X");
  const auto wanted = sized_dims(c, 2, x.size());
  if (!wanted) return c.set(0, c.dtype(0), unknown_dims(c, x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto size = (*wanted)[i].try_value(), least = natural[i].try_value();
    if (!size || !least) continue;
    if (i < 2 ? *size != *least : *size < *least) {
      c.fail_input(2, "expected at least ", to_text(natural), " (batch and channels equal), got ",
                   to_text(*wanted));
    }
  }
  c.set(0, c.dtype(0), *wanted);
}

// Where an element of the natural shape is in a larger one.
int64_t place_in(std::span<const int64_t> larger, const Shape& natural, int64_t index) {
  int64_t at = 0, step = 1;
  for (size_t axis = natural.size(); axis > 0; --axis) {
    at += index % natural[axis - 1] * step;
    index /= natural[axis - 1];
    step *= larger[axis - 1];
  }
  return at;
}

// All indices are looked at without a branch for each, which compilers make vectors of: the sign of
// `odd` is set where one is negative or above limit - 1.
void require_unpool_indices(std::span<const int64_t> indices, int64_t limit) {
  const auto last = static_cast<uint64_t>(limit - 1);
  uint64_t odd = 0;
  for (const int64_t index : indices)
    odd |= static_cast<uint64_t>(index) | (last - static_cast<uint64_t>(index));
  if (static_cast<int64_t>(odd) >= 0) return;
  const auto is_odd = [limit](int64_t index) { return index < 0 || index >= limit; };
  fail(ErrorCode::kInvalidArgument, "MaxUnpool: input I: index ",
       *std::ranges::find_if(indices, is_odd), " is out of range [0, ", limit, ")");
}

// Indices count the elements of the natural shape, which is at the beginning of a larger output.
template <typename T>
void unpool(const KernelCall& call, const Shape& natural) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const int64_t* indices = call.inputs[1].data<int64_t>();
  const int64_t limit = element_count(natural);
  const bool is_whole = std::ranges::equal(natural, y.shape);
  const T* from = x.data<T>();
  T* to = y.data<T>();
  std::fill_n(to, y.count(), T(0.0f));
  constexpr int64_t kPiece = 1 << 10;
  for (int64_t begin = 0, count = x.count(); begin < count; begin += kPiece) {
    check_interrupted();
    const std::span<const int64_t> piece(indices + begin, std::min(kPiece, count - begin));
    require_unpool_indices(piece, limit);
    const T* values = from + begin;
    if (is_whole) {
      for (size_t i = 0; i < piece.size(); ++i)
        to[piece[i]] = values[i];
      continue;
    }
    for (size_t i = 0; i < piece.size(); ++i)
      to[place_in(y.shape, natural, piece[i])] = values[i];
  }
}

void reference_max_unpool(const KernelCall& call) {
  const std::span<const int64_t> x = call.inputs[0].shape;
  const Dims natural =
      unpooled_dims(call.op.name, call.attrs<MaxUnpoolAttrs>(), to_dims(Shape(x.begin(), x.end())));
  dispatch_floats(call.inputs[0].dtype,
                  [&]<typename T>() { unpool<T>(call, *known_shape(natural)); });
}

// Regions

// X [N, C, H, W], rois [regions, `columns`] -> [regions, C, height, width].
void infer_regions(InferContext& c, int64_t columns, int64_t height, int64_t width) {
  c.require_rank(0, 4);
  c.require_rank(1, 2);
  const Dims* x = c.shape(0);
  const Dims* rois = c.shape(1);
  if (rois) c.merged((*rois)[1], columns, "columns of rois and those expected");
  c.set(0, c.dtype(0),
        Dims{rois ? (*rois)[0] : c.unknown(), x ? (*x)[1] : c.unknown(), height, width});
}

void infer_max_roi_pool(InferContext& c) {
  const auto& shape = c.attrs<MaxRoiPoolAttrs>().pooled_shape;
  c.require(shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1,
            "pooled_shape: expected a height and a width of at least 1, got ", to_text(shape));
  infer_regions(c, 5, shape[0], shape[1]);
}

// More samples along one axis of a bin than this are a mistake, and would run for hours.
constexpr int64_t kMaxSamples = 1 << 16;

void infer_roi_align(InferContext& c) {
  const auto& attrs = c.attrs<RoiAlignAttrs>();
  c.require(attrs.mode == "avg" || attrs.mode == "max", "mode: expected avg or max, got \"",
            attrs.mode, '"');
  const std::string& transform = attrs.coordinate_transformation_mode;
  c.require(transform == "half_pixel" || transform == "output_half_pixel",
            "coordinate_transformation_mode: expected half_pixel or output_half_pixel, got \"",
            transform, '"');
  c.require(attrs.output_height >= 1, "output_height: expected at least 1, got ",
            attrs.output_height);
  c.require(attrs.output_width >= 1, "output_width: expected at least 1, got ", attrs.output_width);
  c.require(attrs.sampling_ratio >= 0 && attrs.sampling_ratio <= kMaxSamples,
            "sampling_ratio: expected 0 to ", kMaxSamples, ", got ", attrs.sampling_ratio);
  infer_regions(c, 4, attrs.output_height, attrs.output_width);
  const Dim regions = (*c.outputs()[0].type.shape)[0];
  require_length(c, 2, regions, "batch indices, one for each region");
}

// MaxRoiPool

// The elements [begin, end) of one axis that a bin covers.
struct Bin {
  int64_t begin, end;
};

Bin bin_of(float first, float last, int64_t index, int64_t bins, int64_t size) {
  const float bin = std::max(last - first + 1, 1.0f) / static_cast<float>(bins);
  const auto limit = static_cast<float>(size);
  // The bounds are not negative before they become integers; NaN becomes 0.
  const auto clamp = [limit](float at) {
    return static_cast<int64_t>(at >= 0 ? std::min(at, limit) : 0.0f);
  };
  return {clamp(std::floor(static_cast<float>(index) * bin) + first),
          clamp(std::ceil(static_cast<float>(index + 1) * bin) + first)};
}

std::pmr::vector<Bin> bins_of(float first, float last, int64_t bins, int64_t size) {
  std::pmr::vector<Bin> result(scratch());
  for (int64_t index = 0; index < bins; ++index)
    result.push_back(bin_of(first, last, index, bins, size));
  return result;
}

template <typename T>
T bin_maximum(const T* image, int64_t width, const Bin& rows, const Bin& columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return T(0.0f);
  T best = image[rows.begin * width + columns.begin];
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x)
      best = std::max(best, image[y * width + x]);
  }
  return best;
}

template <typename T>
void max_roi_pool(const KernelCall& call) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const float scale = call.attrs<MaxRoiPoolAttrs>().spatial_scale;
  const int64_t channels = y.shape[1], height = y.shape[2], width = y.shape[3];
  T* out = y.data<T>();
  for (int64_t region = 0; region < y.shape[0]; ++region) {
    const T* roi = call.inputs[1].data<T>() + region * 5;
    const int64_t batch =
        checked_batch(call.op.name, "rois", static_cast<double>(roi[0]), x.shape[0]);
    float corners[4];  // x1, y1, x2, y2
    for (int i = 0; i < 4; ++i)
      corners[i] = std::round(static_cast<float>(roi[i + 1]) * scale);
    if (y.count() == 0) continue;  // there may be more bins than memory holds
    const ScratchMark mark;
    const auto rows = bins_of(corners[1], corners[3], height, x.shape[2]);
    const auto columns = bins_of(corners[0], corners[2], width, x.shape[3]);
    for (int64_t channel = 0; channel < channels; ++channel) {
      check_interrupted();
      const T* image = x.data<T>() + (batch * channels + channel) * x.shape[2] * x.shape[3];
      for (const Bin& row : rows) {
        for (const Bin& column : columns)
          *out++ = bin_maximum(image, x.shape[3], row, column);
      }
    }
  }
}

void reference_max_roi_pool(const KernelCall& call) {
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() { max_roi_pool<T>(call); });
}

// RoiAlign

// The samples of one bin along one axis. Those that are outside the image are counted only.
struct AxisSamples {
  std::vector<AxisSample> inside;
  double count = 0;
};

template <typename T>
double pooled_bin(const T* image, int64_t width, const AxisSamples& rows,
                  const AxisSamples& columns, bool is_maximum) {
  double sum = 0;
  std::optional<double> best;
  for (const AxisSample& row : rows.inside) {
    check_interrupted();
    for (const AxisSample& column : columns.inside) {
      const double corners[] = {
          row.low_weight * column.low_weight * widened(image[row.low * width + column.low]),
          row.low_weight * column.high_weight * widened(image[row.low * width + column.high]),
          row.high_weight * column.low_weight * widened(image[row.high * width + column.low]),
          row.high_weight * column.high_weight * widened(image[row.high * width + column.high])};
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      if (is_maximum) {
        const double most = *std::max_element(corners, corners + 4);
        best = best ? std::max(*best, most) : most;
      }
    }
  }
  const double count = rows.count * columns.count;
  if (!is_maximum) return sum / std::max(count, 1.0);
  const bool all_inside =
      count == static_cast<double>(rows.inside.size()) * static_cast<double>(columns.inside.size());
  if (all_inside) return best.value_or(0);
  return std::max(best.value_or(0), 0.0);  // a sample outside is a zero
}

// The samples for each output row or column of a region.
template <typename C>
std::vector<AxisSamples> axis_bins(C first, C last, const RoiAlignAttrs& attrs, int64_t bins,
                                   int64_t size) {
  const RoiAxis<C> axis(first, last, attrs, bins, size);
  std::vector<AxisSamples> result;
  for (int64_t i = 0; i < bins; ++i) {
    check_interrupted();
    result.push_back({{}, axis.samples});
    axis.for_each_sample(i,
                         [&](const AxisSample& sample) { result.back().inside.push_back(sample); });
  }
  return result;
}

template <typename T>
void roi_align(const KernelCall& call) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto& attrs = call.attrs<RoiAlignAttrs>();
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const int64_t channels = y.shape[1], size = x.shape[2] * x.shape[3];
  T* out = y.data<T>();
  for (int64_t region = 0; region < y.shape[0]; ++region) {
    const T* roi = call.inputs[1].data<T>() + region * 4;
    const int64_t batch =
        checked_batch(call.op.name, "batch_indices",
                      static_cast<double>(call.inputs[2].data<int64_t>()[region]), x.shape[0]);
    const auto rows = axis_bins<C>(roi[1], roi[3], attrs, y.shape[2], x.shape[2]);
    const auto columns = axis_bins<C>(roi[0], roi[2], attrs, y.shape[3], x.shape[3]);
    for (int64_t channel = 0; channel < channels; ++channel) {
      const T* image = x.data<T>() + (batch * channels + channel) * size;
      for (const AxisSamples& row : rows) {
        check_interrupted();
        for (const AxisSamples& column : columns) {
          *out++ = narrowed<T>(pooled_bin(image, x.shape[3], row, column, attrs.mode == "max"));
        }
      }
    }
  }
}

void reference_roi_align(const KernelCall& call) {
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() { roi_align<T>(call); });
}

using Ints = std::vector<int64_t>;

std::vector<Sample> max_unpool_samples() {
  const SampleInput indices = given(Tensor::of(Ints{5, 7, 13, 15}, {1, 1, 2, 2}));
  const AttrMap attrs{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  return {{{{{1, 1, 2, 2}}, indices}, attrs},
          {{{{1, 1, 2, 2}}, indices, given(Tensor::vector(Ints{1, 1, 5, 6}))}, attrs}};
}

std::vector<Sample> max_roi_pool_samples() {
  const std::vector<float> rois{0, 0, 0, 3, 4, 1, 1, 2, 5, 5};
  return {{.inputs = {{{2, 3, 6, 6}}, given(Tensor::of(rois, {2, 5}))},
           .attrs = {{"pooled_shape", Ints{2, 3}}},
           .only = DType::kFloat}};
}

std::vector<Sample> roi_align_samples() {
  const SampleInput batches = given(Tensor::vector(Ints{1, 0}));
  return {{{{{2, 3, 6, 7}}, {{2, 4}, 0, 5}, batches},
           {{"output_height", int64_t{2}},
            {"output_width", int64_t{3}},
            {"sampling_ratio", int64_t{2}}}},
          {{{{2, 1, 5, 5}}, {{2, 4}, 0, 9}, batches},
           {{"output_height", int64_t{2}},
            {"output_width", int64_t{2}},
            {"mode", std::string("max")},
            {"spatial_scale", 0.5f},
            {"coordinate_transformation_mode", std::string("output_half_pixel")}}}};
}

const OpDef kRegionOps[] = {
    {.name = "MaxUnpool",
     .doc = "Zeros but for the elements of X at the indices that MaxPool gave; the shape follows "
            "from the windows or from output_shape.",
     .since = 22,
     .signature = "(X: T1, I: T2, output_shape?: T2) -> (output: T1)",
     .types = {{"T1", kFloats}, {"T2", DType::kInt64}},
     .attrs = attr_schema<MaxUnpoolAttrs>(),
     .infer = infer_max_unpool,
     .reference = reference_max_unpool,
     .grad = max_unpool_grad,
     .shape_inputs = 0b100,
     .samples = max_unpool_samples},
    {.name = "MaxRoiPool",
     .doc = "The largest elements of a grid of pooled_shape over each region [regions, 5] (image, "
            "x1, y1, x2, y2) of X [N, C, H, W].",
     .since = 22,
     .signature = "(X: T, rois: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<MaxRoiPoolAttrs>(),
     .infer = infer_max_roi_pool,
     .reference = reference_max_roi_pool,
     .grad = max_roi_pool_grad,
     .samples = max_roi_pool_samples},
    {.name = "RoiAlign",
     .doc = "Interpolated samples of X [N, C, H, W] pooled over a grid for each region [regions, "
            "4] (x1, y1, x2, y2) of the image batch_indices says.",
     .since = 22,
     .signature = "(X: T1, rois: T1, batch_indices: T2) -> (Y: T1)",
     .types = {{"T1", kFloats}, {"T2", DType::kInt64}},
     .attrs = attr_schema<RoiAlignAttrs>(),
     .infer = infer_roi_align,
     .reference = reference_roi_align,
     .grad = roi_align_grad,
     .samples = roi_align_samples},
};

}  // namespace

int64_t checked_batch(std::string_view op, std::string_view input, double index, int64_t batch) {
  if (!(index >= 0 && index < static_cast<double>(batch))) {
    fail(ErrorCode::kInvalidArgument, op, ": input ", input, ": batch index ", index,
         " is out of range [0, ", batch, ")");
  }
  return static_cast<int64_t>(index);
}

std::span<const OpDef> region_ops() {
  return kRegionOps;
}

}  // namespace sardonyx::ops
