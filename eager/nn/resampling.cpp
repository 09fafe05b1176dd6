#include "eager/nn/resampling.h"

#include <algorithm>

#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/pooling.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

// Torch's name of a mode in ONNX's words.
struct ResizeMode {
  const char *torch, *mode, *nearest_mode, *coordinates;
};
constexpr ResizeMode kModes[] = {
    {"nearest", "nearest", "floor", "asymmetric"},
    {"nearest-exact", "nearest", "round_prefer_ceil", "half_pixel"},
    {"linear", "linear", "floor", "half_pixel"},
    {"bilinear", "linear", "floor", "half_pixel"},
    {"trilinear", "linear", "floor", "half_pixel"},
    {"bicubic", "cubic", "floor", "half_pixel"},
};

const ResizeMode& mode_named(const std::string& name, const std::string& where) {
  for (const ResizeMode& mode : kModes) {
    if (name == mode.torch) return mode;
  }
  fail(ErrorCode::kInvalidArgument, where,
       "expected mode nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area, got ",
       name);
}

void check_options(const InterpolateOptions& options, const std::string& where) {
  if (options.size.empty() == options.scale_factor.empty()) {
    fail(ErrorCode::kInvalidArgument, where, "expected either a size or a scale_factor");
  }
  if (options.mode == "area") {
    if (options.size.empty() || options.align_corners || options.antialias) {
      fail(ErrorCode::kInvalidArgument, where, "mode area takes a size, and no other options");
    }
    return;
  }
  const ResizeMode& mode = mode_named(options.mode, where);
  if ((options.align_corners || options.antialias) && mode.mode == std::string("nearest")) {
    fail(ErrorCode::kInvalidArgument, where,
         "align_corners and antialias are of modes linear and bicubic, got ", options.mode);
  }
}

// One for all spatial axes, or one for each.
template <typename List>
List for_each_axis(const List& list, const Tensor& x, const char* what, const std::string& where) {
  const size_t axes = x.rank() < 3 ? 0 : x.rank() - 2;
  List full = list;
  if (full.size() == 1) full.resize(axes, list[0]);
  if (axes > 0 && full.size() == axes) return full;
  fail(ErrorCode::kInvalidArgument, where, what, " has ", list.size(), " numbers for x ", x.type(),
       "; expected x [N, C, spatial axes] and 1 number or one for each of these axes");
}

Tensor area_of(const Tensor& x, const Dims& sizes, const std::string& where, const Loc& loc) {
  std::vector<int64_t> known;
  for (const sardonyx::Dim& size : sizes) {
    if (!size.is_known())
      fail(ErrorCode::kInvalidArgument, where, "mode area takes sizes that are known in the trace");
    known.push_back(size.value());
  }
  switch (sizes.size()) {
    case 1:
      return adaptive_avg_pool1d(x, known, loc);
    case 2:
      return adaptive_avg_pool2d(x, known, loc);
    default:
      return adaptive_avg_pool3d(x, known, loc);
  }
}

std::vector<int64_t> spatial_axes(size_t count) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < count; ++i)
    axes.push_back(static_cast<int64_t>(i) + 2);
  return axes;
}

std::string where_of(const Loc& loc) {
  return text(text_of(loc), ": interpolate: ");
}

}  // namespace

Tensor interpolate(const Tensor& x, const InterpolateOptions& options, Loc loc) {
  static const OpDef& op = op_named("Resize");
  require_defined(x, "interpolate", "x", loc);
  const std::string where = where_of(loc);
  check_options(options, where);
  Dims sizes;
  if (!options.size.empty()) sizes = for_each_axis(options.size, x, "size", where);
  if (options.mode == "area") return area_of(x, sizes, where, loc);
  const ResizeMode& mode = mode_named(options.mode, where);
  AttrMap attrs{{"mode", std::string(mode.mode)},
                {"nearest_mode", std::string(mode.nearest_mode)},
                {"cubic_coeff_a", -0.75f},
                {"coordinate_transformation_mode",
                 std::string(options.align_corners ? "align_corners" : mode.coordinates)}};
  if (options.antialias) attrs["antialias"] = int64_t{1};
  if (sizes.empty()) {
    const std::vector<double> factors =
        for_each_axis(options.scale_factor, x, "scale_factor", where);
    attrs["axes"] = spatial_axes(factors.size());
    const Tensor scales =
        literal(sardonyx::Tensor::vector(std::vector<float>(factors.begin(), factors.end())));
    return eager::apply(op, {x, Tensor(), scales}, attrs, loc);
  }
  if (known_shape(sizes)) {
    attrs["axes"] = spatial_axes(sizes.size());
  } else {
    // All axes: older opsets have no list of them, and one can be made of constants only.
    const Dims all = x.shape(loc);
    sizes.insert(sizes.begin(), all.begin(), all.begin() + 2);
  }
  return eager::apply(op, {x, Tensor(), Tensor(), dims_tensor(sizes, loc)}, attrs, loc);
}

Upsample::Upsample(UpsampleOptions options, Loc loc) try : options_(std::move(options)) {
  check_options(options_, "Upsample: ");
} catch (const Error& error) {
  throw placed(error, loc);
}
UpsamplingNearest2d::UpsamplingNearest2d(const UpsampleOptions& options, Loc loc)
    : Upsample({.size = options.size, .scale_factor = options.scale_factor}, loc) {}
UpsamplingBilinear2d::UpsamplingBilinear2d(const UpsampleOptions& options, Loc loc)
    : Upsample({.size = options.size,
                .scale_factor = options.scale_factor,
                .mode = "bilinear",
                .align_corners = true},
               loc) {}
Tensor Upsample::forward(const Tensor& x) const {
  return interpolate(x, options_, caller());
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options, Loc loc) {
  static const OpDef& op = op_named("GridSample");
  const std::string& mode = options.mode;
  const char* name = mode == "bilinear"  ? "linear"
                     : mode == "bicubic" ? "cubic"
                     : mode == "nearest" ? "nearest"
                                         : nullptr;
  if (!name) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": grid_sample: expected mode bilinear, nearest or bicubic, got ", mode);
  }
  return eager::apply(op, {x, grid},
                      {{"mode", std::string(name)},
                       {"padding_mode", options.padding_mode},
                       {"align_corners", int64_t{options.align_corners}}},
                      loc);
}
Tensor affine_grid(const Tensor& theta, const Dims& size, bool align_corners, Loc loc) {
  static const OpDef& op = op_named("AffineGrid");
  return eager::apply(op, {theta, dims_tensor(size, loc)},
                      {{"align_corners", int64_t{align_corners}}}, loc);
}

Tensor channel_shuffle(const Tensor& x, int64_t groups, Loc loc) {
  require_defined(x, "channel_shuffle", "x", loc);
  const bool is_image = x.rank() >= 3 && x.size(1, loc).is_known();
  if (!is_image || groups < 1 || x.size(1, loc).value() % groups != 0) {
    fail_at(loc, "channel_shuffle: expected x [N, C, ...] with channels in ", groups,
            " groups, got ", x.type());
  }
  const Dims shape = x.shape(loc);
  return x.unflatten(1, {groups, -1}, loc).transpose(1, 2, loc).reshape(shape, loc);
}
Tensor pixel_shuffle(const Tensor& x, int64_t factor, Loc loc) {
  static const OpDef& op = op_named("DepthToSpace");
  return eager::apply(op, {x}, {{"blocksize", factor}, {"mode", std::string("CRD")}}, loc);
}
// SpaceToDepth orders the results by blocks first; channels come first here.
Tensor pixel_unshuffle(const Tensor& x, int64_t factor, Loc loc) {
  static const OpDef& op = op_named("SpaceToDepth");
  const Tensor blocks = eager::apply(op, {x}, {{"blocksize", factor}}, loc);
  const Tensor split = unflatten(blocks, 1, {factor * factor, -1}, loc);
  return split.transpose(1, 2, loc).flatten(1, 2, loc);
}

}  // namespace sardonyx::eager::nn
