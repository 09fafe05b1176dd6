// GridSample: an image read at points that a second tensor names.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ir/core/dtype_convert.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/data_movement/image_gradient.h"
#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/reference/as_doubles.h"

namespace sardonyx::ops {

namespace {

constexpr size_t kMaxAxes = 8;  // a point blends up to 4^axes elements

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

// X [N, C, in...], grid [N, out..., spatial rank] -> [N, C, out...].
void infer_grid_sample(InferContext& c) {
  const auto& attrs = c.attrs<GridSampleAttrs>();
  c.require(is_one_of(attrs.mode, {"linear", "nearest", "cubic"}),
            "mode: expected linear, nearest or cubic, got \"", attrs.mode, '"');
  c.require(is_one_of(attrs.padding_mode, {"zeros", "border", "reflection"}),
            "padding_mode: expected zeros, border or reflection, got \"", attrs.padding_mode, '"');
  if (c.dtype(0) == DType::kString && attrs.mode != "nearest") {
    c.fail_input(0, "strings can't be blended; expected numbers or mode \"nearest\"");
  }
  const auto x_rank = rank_of(c, 0), grid_rank = rank_of(c, 1);
  if (!x_rank && !grid_rank) return c.set(0, c.dtype(0), std::nullopt);
  const size_t rank = x_rank ? *x_rank : *grid_rank;
  if (rank < 3) c.fail_input(x_rank ? 0 : 1, "expected at least rank 3, got ", rank);
  c.require_rank(1, rank);
  if (rank > kMaxAxes + 2) {
    fail(ErrorCode::kUnsupported, "GridSample: ", rank - 2, " spatial axes; at most ", kMaxAxes,
         " are handled");
  }
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, rank));
  const Dims grid = shape_of(c, 1).value_or(unknown_dims(c, rank));
  c.merged(grid.back(), static_cast<int64_t>(rank - 2),
           "grid's last dim and the spatial axes of X");
  Dims out{c.merged(x[0], grid[0], "batch of X and grid"), x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  for (size_t axis = 2; axis < rank; ++axis) {
    if (x[axis] == 0) c.fail_input(0, "expected elements to sample, got an empty axis");
  }
  c.set(0, c.dtype(0), std::move(out));
}

enum class GridPadding { kZeros, kBorder, kReflection };

// `at` folded back into [low, high] as often as it takes.
template <typename C>
C reflected(C at, C low, C high) {
  const C range = high - low;
  if (!(range > 0)) return low;
  const C distance = std::abs(at - low);
  const C folds = std::floor(distance / range), rest = distance - folds * range;
  return std::fmod(folds, C(2)) == 0 ? low + rest : high - rest;
}

// An axis of the image; `C` is the type that coordinates are computed in.
template <typename C>
struct SampleAxis {
  int64_t size;
  bool align_corners;
  GridPadding padding;

  C low() const { return align_corners ? C(0) : C(-0.5); }
  C high() const { return static_cast<C>(size) - (align_corners ? C(1) : C(0.5)); }

  // From [-1, 1] to elements; what is not finite counts as just outside.
  C coordinate(C normalized) const {
    const auto length = static_cast<C>(size);
    const C at =
        align_corners ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
    return std::isfinite(at) ? at : C(-1);
  }
  // Moves a coordinate beyond the border to where the padding takes it. Padding `border` repeats
  // the image's edges without end: of a cubic point the neighbours are moved, each to the edge
  // nearest to it, and not the point, as torch and ONNX Runtime have it.
  C padded(C at, bool is_cubic) const {
    if (at >= low() && at <= high()) return at;
    if (padding == GridPadding::kBorder)
      return is_cubic ? at : std::clamp(at, C(0), static_cast<C>(size - 1));
    if (padding == GridPadding::kReflection) return reflected(at, low(), high());
    return at;
  }
  // The element at a whole coordinate; -1: a zero of the padding.
  int64_t element(C at) const {
    const bool is_inside = at >= 0 && at < static_cast<C>(size);
    if (is_inside) return static_cast<int64_t>(at);
    if (padding == GridPadding::kZeros) return -1;
    const C moved = padding == GridPadding::kBorder ? at : reflected(at, low(), high());
    return static_cast<int64_t>(clamped_number(std::round(moved), C(0), static_cast<C>(size - 1)));
  }
};

// The weights of cubic convolution with a = -0.75 for the four neighbours of a point at `ratio`
// behind the second.
std::array<double, 4> cubic_weights(double ratio) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)};
}

struct WeightedPixel {
  int64_t element;  // offset in a channel
  double weight;
};

using Parts = std::pmr::vector<WeightedPixel>;

// Multiplies the parts listed so far with the neighbours of `at` along one more axis; `next` is the
// buffer for the products.
template <typename C>
void add_axis(Parts& parts, Parts& next, std::string_view mode, const SampleAxis<C>& axis, C at) {
  const C base = std::floor(at);
  const auto ratio = static_cast<double>(at - base);
  std::array<double, 4> weights{1 - ratio, ratio, 0, 0};
  size_t count = 2;
  C first = base;
  if (mode == "cubic") {
    weights = cubic_weights(ratio);
    count = 4;
    first = base - 1;
  } else if (mode == "nearest") {
    weights[0] = 1;
    count = 1;
  }
  std::array<int64_t, 4> elements{};
  for (size_t i = 0; i < count; ++i)
    elements[i] = axis.element(first + static_cast<C>(i));
  next.clear();
  for (const WeightedPixel& part : parts) {
    for (size_t i = 0; i < count; ++i) {
      if (elements[i] < 0) continue;
      next.push_back({part.element * axis.size + elements[i], part.weight * weights[i]});
    }
  }
  parts.swap(next);
}

// Some points of the grid, and the weighted pixels of each, one point after the other.
struct Points {
  int64_t batch = 0, first = 0;
  std::pmr::vector<size_t> ends{scratch()};  // of the parts of each point
  Parts parts{scratch()};
};
// Calls `visit(points)` for all points of the grid, as many at a time as leave the nearest cache to
// the image.
template <typename Visit>
void for_each_piece(const KernelCall& call, const Visit& visit) {
  constexpr int64_t kPiece = 128;
  const auto& attrs = call.attrs<GridSampleAttrs>();
  const TensorView &x = call.inputs[0], &grid = call.inputs[1];
  const size_t rank = x.rank() - 2;
  const GridPadding padding = attrs.padding_mode == "zeros"    ? GridPadding::kZeros
                              : attrs.padding_mode == "border" ? GridPadding::kBorder
                                                               : GridPadding::kReflection;
  const int64_t batch = grid.shape[0];
  const int64_t points = batch == 0 ? 0 : grid.count() / batch / static_cast<int64_t>(rank);
  Parts parts(scratch()), next(scratch());
  Points piece;
  dispatch_floats(grid.dtype, [&]<typename T>() {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T* coordinates = grid.data<T>();
    for (int64_t i = 0; i < batch * points; ++i, coordinates += rank) {
      const int64_t point = i % points;
      if (point % kPiece == 0) {
        piece.batch = i / points;
        piece.first = point;
        piece.ends.clear();
        piece.parts.clear();
      }
      parts.assign(1, {0, 1.0});
      for (size_t dim = 0; dim < rank; ++dim) {
        const SampleAxis<C> axis{x.shape[dim + 2], attrs.align_corners, padding};
        // The grid names the last axis first.
        C at = axis.coordinate(static_cast<C>(coordinates[rank - 1 - dim]));
        if (attrs.mode == "nearest") at = std::nearbyint(at);
        add_axis(parts, next, attrs.mode, axis, axis.padded(at, attrs.mode == "cubic"));
      }
      piece.parts.insert(piece.parts.end(), parts.begin(), parts.end());
      piece.ends.push_back(piece.parts.size());
      if (point % kPiece != kPiece - 1 && point != points - 1) continue;
      check_interrupted();
      visit(piece);
    }
  });
}

int64_t channel_size(const TensorView& view) {
  int64_t size = 1;
  for (size_t axis = 2; axis < view.rank(); ++axis)
    size *= view.shape[axis];
  return size;
}

// Writes blend(channel of the image, parts of a point) to every point of every channel.
template <typename T, typename Blend>
void sample(const KernelCall& call, const T* image, T* out, const Blend& blend) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const int64_t channels = x.shape[1], in_size = channel_size(x), out_size = channel_size(y);
  for_each_piece(call, [&](const Points& points) {
    for (int64_t channel = points.batch * channels; channel < (points.batch + 1) * channels;
         ++channel) {
      T* to = out + channel * out_size + points.first;
      const WeightedPixel* part = points.parts.data();
      for (const size_t end : points.ends) {
        const WeightedPixel* last = points.parts.data() + end;
        *to++ = blend(image + channel * in_size, std::span(part, last));
        part = last;
      }
    }
  });
}

void sample_nearest(const KernelCall& call) {
  dispatch_width(call.inputs[0].dtype, [&]<typename T>() {
    sample(call, call.inputs[0].data<T>(), call.outputs[0].data<T>(),
           [](const T* image, std::span<const WeightedPixel> parts) {
             return parts.empty() ? T{} : image[parts[0].element];
           });
  });
}

void sample_blended(const KernelCall& call) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  for (int part_index = 0; part_index < part_count(x.dtype); ++part_index) {
    const ScratchMark mark;
    const std::pmr::vector<double> image = to_reals(x, part_index);
    std::pmr::vector<double> out(scratch());
    resize_in_pieces(out, static_cast<size_t>(y.count()));
    sample(call, image.data(), out.data(),
           [](const double* channel, std::span<const WeightedPixel> parts) {
             double sum = 0;
             for (const WeightedPixel& part : parts)
               sum += part.weight * channel[part.element];
             return sum;
           });
    from_reals(out.data(), y, part_index);
  }
}

void reference_grid_sample(const KernelCall& call) {
  if (call.outputs[0].count() == 0) return;
  if (call.attrs<GridSampleAttrs>().mode == "nearest") return sample_nearest(call);
  sample_blended(call);
}

std::vector<Sample> grid_sample_samples() {
  const auto attrs = [](const char* mode, const char* padding, int64_t align) {
    return AttrMap{{"mode", std::string(mode)},
                   {"padding_mode", std::string(padding)},
                   {"align_corners", align}};
  };
  const std::vector<SampleInput> plane{{{2, 3, 4, 5}}, {{2, 3, 2, 2}, -1.4, 1.4}};
  const std::vector<SampleInput> volume{{{1, 2, 3, 4, 2}}, {{1, 2, 2, 3, 3}, -1.4, 1.4}};
  const DTypeSet blended = kNumbers | kComplexes;
  return {{.inputs = plane, .attrs = attrs("nearest", "zeros", 0)},
          {.inputs = plane, .attrs = attrs("linear", "zeros", 0), .only = blended},
          {.inputs = plane, .attrs = attrs("linear", "reflection", 1), .only = blended},
          {.inputs = plane, .attrs = attrs("cubic", "border", 0), .only = blended},
          {.inputs = plane, .attrs = attrs("cubic", "reflection", 0), .only = blended},
          {.inputs = volume, .attrs = attrs("linear", "border", 1), .only = blended},
          {.inputs = volume, .attrs = attrs("nearest", "reflection", 0)}};
}

const OpDef kGridSampleOps[] = {
    {.name = "GridSample",
     .doc = "X [N, C, spatial...] sampled at the coordinates of a grid [N, out..., axes], which "
            "are in [-1, 1] across the image.",
     .since = 22,
     .signature = "(X: T1, grid: T2) -> (Y: T1)",
     .types = {{"T1", kClassicTypes | DType::kBFloat16}, {"T2", kFloats}},
     .attrs = attr_schema<GridSampleAttrs>(),
     .infer = infer_grid_sample,
     .reference = reference_grid_sample,
     .grad = grid_sample_grad,
     .facts = kFloat32InMixed,
     .samples = grid_sample_samples},
};

}  // namespace

std::span<const OpDef> grid_sample_ops() {
  return kGridSampleOps;
}

}  // namespace sardonyx::ops
