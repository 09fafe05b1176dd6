// Ops that move the elements of images, and AffineGrid.
#include "ir/ops/data_movement/space_depth.h"

#include <algorithm>
#include <array>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/data_movement/image_gradient.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/reference/as_doubles.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {

namespace {

// DepthToSpace and SpaceToDepth

int64_t checked_square(const InferContext& c, int64_t blocksize) {
  c.require(blocksize >= 1, "blocksize: expected at least 1, got ", blocksize);
  c.require(blocksize < int64_t{1} << 31, "blocksize: ", blocksize, " is too large");
  return blocksize * blocksize;
}

Dim divided(const Dim& whole, int64_t parts) {
  return exact_div(whole, parts).value_or(floor_div(whole, parts));
}

void infer_depth_to_space(InferContext& c) {
  const auto& attrs = c.attrs<DepthToSpaceAttrs>();
  c.require(attrs.mode == "DCR" || attrs.mode == "CRD", "mode: expected DCR or CRD, got \"",
            attrs.mode, '"');
  const int64_t square = checked_square(c, attrs.blocksize);
  c.require_rank(0, 4);
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, 4));
  require_divides(c, square, x[1], "blocksize * blocksize", "channels");
  c.set(
      0, c.dtype(0),
      Dims{x[0], divided(x[1], square), x[2] * Dim(attrs.blocksize), x[3] * Dim(attrs.blocksize)});
}

void infer_space_to_depth(InferContext& c) {
  const int64_t blocksize = c.attrs<SpaceToDepthAttrs>().blocksize;
  const int64_t square = checked_square(c, blocksize);
  c.require_rank(0, 4);
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, 4));
  require_divides(c, blocksize, x[2], "blocksize", "rows");
  require_divides(c, blocksize, x[3], "blocksize", "columns");
  c.set(0, c.dtype(0),
        Dims{x[0], x[1] * Dim(square), divided(x[2], blocksize), divided(x[3], blocksize)});
}

void reference_depth_to_space(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  copy_strided(x.dtype, x.raw, call.outputs[0].raw,
               depth_to_space_block(call.attrs<DepthToSpaceAttrs>(), x.shape));
}

void reference_space_to_depth(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  copy_strided(x.dtype, x.raw, call.outputs[0].raw,
               space_to_depth_block(call.attrs<SpaceToDepthAttrs>(), x.shape));
}

// CenterCropPad

std::vector<int64_t> crop_axes(const CenterCropPadAttrs& attrs, size_t rank) {
  std::vector<int64_t> axes;
  if (!attrs.axes) {
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<int64_t>(i));
  } else {
    for (const int64_t axis : *attrs.axes)
      axes.push_back(static_cast<int64_t>(axis_of(axis, rank)));
  }
  return axes;
}

void infer_center_crop_pad(InferContext& c) {
  const auto& attrs = c.attrs<CenterCropPadAttrs>();
  require_vector(c, 1);
  const Dims* x = c.shape(0);
  if (!x) return c.set(0, c.dtype(0), std::nullopt);
  if (attrs.axes) normalized_axes(c, *attrs.axes, x->size());
  const std::vector<int64_t> axes = crop_axes(attrs, x->size());
  require_length(c, 1, static_cast<int64_t>(axes.size()), "sizes, one for each axis");
  const auto sizes = sized_dims(c, 1, axes.size());
  Dims out = *x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim size = sizes ? (*sizes)[i] : c.unknown();
    if (size.is_known() && size.value() < 0) {
      c.fail_input(1, "expected sizes that are not negative, got ", size);
    }
    out[static_cast<size_t>(axes[i])] = size;
  }
  c.set(0, c.dtype(0), std::move(out));
}

// Copies the middle of one onto the middle of the other; the odd element is at the end.
void reference_center_crop_pad(const KernelCall& call) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const Strides x_strides = row_major_strides(x.shape), y_strides = row_major_strides(y.shape);
  DimValues shape;
  int64_t x_begin = 0, y_begin = 0;
  for (size_t axis = 0; axis < x.rank(); ++axis) {
    const int64_t surplus = x.shape[axis] - y.shape[axis];
    shape.push_back(std::min(x.shape[axis], y.shape[axis]));
    if (surplus > 0)
      x_begin += surplus / 2 * x_strides[axis];
    else
      y_begin += -surplus / 2 * y_strides[axis];
  }
  const Strides operands[] = {y_strides, x_strides};
  const RowWalk walk(shape, operands);
  dispatch_width(x.dtype, [&]<typename T>() {
    T* out = y.data<T>();
    std::fill_n(out, y.count(), T{});
    walk.for_each([&](const int64_t* offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        assign_element(out[y_begin + offsets[0] + i * walk.step(0)],
                       x.data<T>()[x_begin + offsets[1] + i * walk.step(1)]);
      }
    });
  });
}

// AffineGrid

// theta [N, spatial, spatial + 1], size [N, C, spatial...] -> [N, spatial..., spatial].
void infer_affine_grid(InferContext& c) {
  c.require_rank(0, 3);
  require_vector(c, 1);
  const Dims* theta = c.shape(0);
  std::optional<int64_t> spatial;
  if (theta && (*theta)[1].is_known()) spatial = (*theta)[1].value();
  const Dims* length = c.shape(1);
  if (!spatial && length && (*length)[0].is_known()) spatial = (*length)[0].value() - 2;
  if (!spatial) return c.set(0, c.dtype(0), std::nullopt);
  c.require(*spatial == 2 || *spatial == 3, "theta: expected 2 or 3 rows, got ", *spatial);
  if (theta) c.merged((*theta)[2], *spatial + 1, "columns of theta and its rows + 1");
  require_length(c, 1, *spatial + 2, "sizes: batch, channels and spatial ones");
  const auto size = sized_dims(c, 1, static_cast<size_t>(*spatial) + 2);
  Dims out = unknown_dims(c, static_cast<size_t>(*spatial) + 2);
  if (theta) out[0] = (*theta)[0];
  out.back() = *spatial;
  for (size_t i = 0; size && i < size->size(); ++i) {
    const Dim& dim = (*size)[i];
    if (dim.is_known() && dim.value() < 0) {
      c.fail_input(1, "expected sizes that are not negative, got ", dim);
    }
    if (i == 0) out[0] = c.merged(out[0], dim, "batch of theta and size");
    if (i >= 2) out[i - 1] = dim;
  }
  c.set(0, c.dtype(0), std::move(out));
}

// The positions of `size` elements on [-1, 1]: their middles, or (align_corners) from end to end. A
// single element stands in the middle either way.
std::pmr::vector<double> grid_positions(int64_t size, bool align_corners) {
  std::pmr::vector<double> positions(scratch());
  const auto length = static_cast<double>(size);
  for (int64_t index = 0; index < size; ++index) {
    const auto i = static_cast<double>(index);
    if (!align_corners)
      positions.push_back((2 * i + 1) / length - 1);
    else
      positions.push_back(size == 1 ? 0 : 2 * i / (length - 1) - 1);
  }
  return positions;
}

// The points of one line from `start` on, `steps` from [-1, 1] to the next ones.
template <size_t kSpatial, typename T>
T* write_line(const std::array<double, 3>& start, const std::array<double, 3>& steps,
              std::span<const double> positions, T* out) {
  for (const double x : positions) {
    for (size_t i = 0; i < kSpatial; ++i)
      *out++ = narrowed<T>(start[i] + steps[i] * x);
  }
  return out;
}

void reference_affine_grid(const KernelCall& call) {
  const bool align_corners = call.attrs<AffineGridAttrs>().align_corners;
  const TensorView& y = call.outputs[0];
  if (y.count() == 0) return;
  const auto spatial = static_cast<size_t>(y.shape.back());
  // x, the last axis, comes first; a plane is one image deep.
  const std::pmr::vector<double> xs = grid_positions(y.shape[y.rank() - 2], align_corners),
                                 ys = grid_positions(y.shape[y.rank() - 3], align_corners);
  const std::pmr::vector<double> zs = grid_positions(spatial == 3 ? y.shape[1] : 1, align_corners);
  const std::pmr::vector<double> theta = to_reals(call.inputs[0], 0);
  const double* matrix = theta.data();
  dispatch_floats(y.dtype, [&]<typename T>() {
    T* out = y.data<T>();
    for (int64_t n = 0; n < y.shape[0]; ++n, matrix += spatial * (spatial + 1)) {
      for (const double z : zs) {
        for (const double row : ys) {
          check_interrupted();
          std::array<double, 3> start{}, steps{};  // of a line, for each coordinate
          for (size_t i = 0; i < spatial; ++i) {
            const double* coefficients = matrix + i * (spatial + 1);
            steps[i] = coefficients[0];
            start[i] = coefficients[spatial] + coefficients[1] * row;
            if (spatial == 3) start[i] += coefficients[2] * z;
          }
          out = spatial == 2 ? write_line<2>(start, steps, xs, out)
                             : write_line<3>(start, steps, xs, out);
        }
      }
    }
  });
}

std::vector<Sample> depth_to_space_samples() {
  return {{{{{2, 8, 2, 3}}}, {{"blocksize", int64_t{2}}}},
          {{{{1, 9, 1, 2}}}, {{"blocksize", int64_t{3}}, {"mode", std::string("CRD")}}}};
}

std::vector<Sample> space_to_depth_samples() {
  return {{{{{2, 3, 4, 6}}}, {{"blocksize", int64_t{2}}}}};
}

std::vector<Sample> center_crop_pad_samples() {
  return {{{{{5, 4, 3}}, given({2, 7, 3})}},
          {{{{3, 6, 5}}, given({4, 9})}, {{"axes", std::vector<int64_t>{-1, 1}}}}};
}

std::vector<Sample> affine_grid_samples() {
  return {{{{{2, 2, 3}}, given({2, 3, 4, 5})}},
          {{{{1, 3, 4}}, given({1, 1, 2, 1, 3})}, {{"align_corners", int64_t{1}}}}};
}

constexpr DTypeSet kMovable = kClassicTypes | DType::kBFloat16;

const OpDef kImageOps[] = {
    {.name = "DepthToSpace",
     .doc = "Blocks of channels of [N, C, H, W] laid out in space: [N, C / b^2, H * b, W * b].",
     .since = 13,
     .signature = "(input: T) -> (output: T)",
     .types = {{"T", kMovable}},
     .attrs = attr_schema<DepthToSpaceAttrs>(),
     .infer = infer_depth_to_space,
     .reference = reference_depth_to_space,
     .grad = depth_to_space_gradient,
     .facts = kBFloat16Between,
     .samples = depth_to_space_samples},
    {.name = "SpaceToDepth",
     .doc = "Blocks of space of [N, C, H, W] laid out in channels: [N, C * b^2, H / b, W / b].",
     .since = 13,
     .signature = "(input: T) -> (output: T)",
     .types = {{"T", kMovable}},
     .attrs = attr_schema<SpaceToDepthAttrs>(),
     .infer = infer_space_to_depth,
     .reference = reference_space_to_depth,
     .grad = space_to_depth_gradient,
     .facts = kBFloat16Between,
     .samples = space_to_depth_samples},
    {.name = "CenterCropPad",
     .doc = "The middle of the input, or the input in the middle of zeros, in the sizes that "
            "`shape` lists for `axes`.",
     .since = 18,
     .signature = "(input_data: T, shape: Tind) -> (output_data: T)",
     .types = {{"T", kMovable}, {"Tind", DTypeSet{DType::kInt32, DType::kInt64}}},
     .attrs = attr_schema<CenterCropPadAttrs>(),
     .infer = infer_center_crop_pad,
     .reference = reference_center_crop_pad,
     .grad = center_crop_pad_gradient,
     .shape_inputs = 0b10,
     .samples = center_crop_pad_samples},
    {.name = "AffineGrid",
     .doc = "The grid of coordinates in [-1, 1] that theta [N, 2, 3] or [N, 3, 4] maps an image of "
            "`size` to: [N, H, W, 2] or [N, D, H, W, 3].",
     .since = 20,
     .signature = "(theta: T1, size: T2) -> (grid: T1)",
     .types = {{"T1", kFloats}, {"T2", DType::kInt64}},
     .attrs = attr_schema<AffineGridAttrs>(),
     .infer = infer_affine_grid,
     .reference = reference_affine_grid,
     .grad = affine_grid_grad,
     .shape_inputs = 0b10,
     .samples = affine_grid_samples},
};

}  // namespace

// Y is [N, C, H, row of the block, W, column of the block].
StridedBlock depth_to_space_block(const DepthToSpaceAttrs& attrs, std::span<const int64_t> x) {
  const int64_t block = attrs.blocksize, channels = x[1] / (block * block);
  const int64_t width = x[3], size = x[2] * width;
  const bool is_depth_first =
      attrs.mode == "DCR";  // channels of X: block, then C; CRD: C, then block
  const int64_t channel_step = is_depth_first ? size : block * block * size;
  const int64_t block_step = is_depth_first ? channels * size : size;
  StridedBlock moved{{x[0], channels, x[2], block, width, block},
                     {x[1] * size, channel_step, width, block * block_step, 1, block_step},
                     {}};
  moved.to_strides = row_major_strides(moved.sizes);
  return moved;
}

// Y is [N, row of the block, column of the block, C, H, W].
StridedBlock space_to_depth_block(const SpaceToDepthAttrs& attrs, std::span<const int64_t> x) {
  const int64_t block = attrs.blocksize, channels = x[1], width = x[3], size = x[2] * width;
  StridedBlock moved{{x[0], block, block, channels, x[2] / block, width / block},
                     {channels * size, width, 1, size, block * width, block},
                     {}};
  moved.to_strides = row_major_strides(moved.sizes);
  return moved;
}

std::span<const OpDef> image_ops() {
  return kImageOps;
}

}  // namespace sardonyx::ops
