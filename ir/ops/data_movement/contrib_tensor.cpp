// com.microsoft: ops on tensors that ai.onnx took over later, and a few that it has not.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/detection/crop_and_resize.h"
#include "ir/ops/detection/roi_gradient.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reduction/reduce.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/signal/cdist.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kThreeFloats{DType::kFloat16, DType::kFloat, DType::kDouble};

// --- bodies ---

Vals trilu(Emitter& e, const BodyCall& c) {
  return e.call_many("Trilu", c.inputs, {{"upper", int64_t{c.attrs<TriluAttrs>().upper}}}, 1);
}

// x -> y, idx, counts: unique values in the order in which they come.
Vals unique(Emitter& e, const BodyCall& c) {
  const Vals all = e.call_many("Unique", c.inputs, {{"sorted", int64_t{0}}}, 4);
  return {all[0], all[2], all[3]};
}

struct ContribPadAttrs {
  std::string mode = "constant";
  static auto fields() { return std::tuple{field("mode", &ContribPadAttrs::mode)}; }
};
// (data, pads, value?); pads may have a dim of 1 before the one that counts.
Vals pad(Emitter& e, const BodyCall& c) {
  const Val value = c.has(2) ? reshape(e, c.inputs[2], {}) : Val();
  return {e.call("Pad", {c.inputs[0], reshape(e, c.inputs[1], {-1}), value},
                 {{"mode", c.attrs<ContribPadAttrs>().mode}})};
}

// (X, axis): one more dim at `axis`.
Vals expand_dims(Emitter& e, const BodyCall& c) {
  std::optional<Tensor> known = e.constant_value(c.inputs[1]);
  const Val axes = known ? e.int64s(known->to_int64s())
                         : reshape(e, cast_to(e, c.inputs[1], DType::kInt64), {1});
  return {e.call("Unsqueeze", {c.inputs[0], axes})};
}

struct GridAttrs {
  int64_t align_corners = 0;
  std::string mode = "bilinear", padding_mode = "zeros";
  static auto fields() {
    return std::tuple{field("align_corners", &GridAttrs::align_corners),
                      field("mode", &GridAttrs::mode),
                      field("padding_mode", &GridAttrs::padding_mode)};
  }
};
Vals grid_sample(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<GridAttrs>();
  std::string mode = attrs.mode;
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  return {e.call("GridSample", {c.inputs[0], c.inputs[1]},
                 {{"align_corners", attrs.align_corners},
                  {"mode", mode},
                  {"padding_mode", attrs.padding_mode}})};
}

// (start, limit, delta?): scalars or single elements; delta is 1 where it is left out.
Vals contrib_range(Emitter& e, const BodyCall& c) {
  const Val delta = c.has(2) ? reshape(e, c.inputs[2], {}) : e.scalar(e.type(c.inputs[0]).dtype, 1);
  return {e.call("Range", {reshape(e, c.inputs[0], {}), reshape(e, c.inputs[1], {}), delta})};
}

Vals contrib_gather_nd(Emitter& e, const BodyCall& c) {
  return {e.call("GatherND", {c.inputs[0], cast_to(e, c.inputs[1], DType::kInt64)})};
}

// --- UnfoldTensor: windows of one axis, as torch's Tensor.unfold gives them ---

struct UnfoldAttrs {
  int64_t dim = -1, size = 0, step = 1;
  static auto fields() {
    return std::tuple{field("dim", &UnfoldAttrs::dim), required("size", &UnfoldAttrs::size),
                      field("step", &UnfoldAttrs::step)};
  }
};

void infer_unfold(InferContext& c) {
  const auto& attrs = c.attrs<UnfoldAttrs>();
  c.require(attrs.size > 0, "attribute size: expected at least 1, got ", attrs.size);
  c.require(attrs.step > 0, "attribute step: expected at least 1, got ", attrs.step);
  const Dims* shape = c.shape(0);
  if (!shape) return c.set(0, c.dtype(0), std::nullopt);
  if (shape->empty()) c.fail_input(0, "expected at least one dim");
  Dims out = *shape;
  Dim& windows = out[static_cast<size_t>(c.normalized_axis(attrs.dim, out.size(), "dim"))];
  if (windows.is_known()) {
    c.require(windows.value() >= attrs.size, "attribute size: expected at most the size of dim ",
              attrs.dim, ", ", windows, ", got ", attrs.size);
    windows = (windows.value() - attrs.size) / attrs.step + 1;
  } else {
    windows = c.unknown();
  }
  out.emplace_back(attrs.size);
  c.set(0, c.dtype(0), std::move(out));
}

// The first index of each window: 0, step ... of an axis of so many elements (int64 [1]). One that
// is too short has a window all the same, which then reads beyond its end: an error of the run.
Val window_starts(Emitter& e, const Val& elements, const UnfoldAttrs& attrs) {
  const auto int64 = [&](int64_t value) { return e.int64s({value}); };
  const Val steps =
      e.call("Div", {e.call("Sub", {elements, int64(attrs.size)}), int64(attrs.step)});
  const Val windows = e.call("Max", {e.call("Add", {steps, int64(1)}), int64(1)});
  return e.call("Mul", {count_up(e, windows), int64(attrs.step)});
}

Vals unfold_tensor(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<UnfoldAttrs>();
  const auto rank = static_cast<int64_t>(input_rank(e, c.inputs[0], "input"));
  const int64_t axis = attrs.dim < 0 ? attrs.dim + rank : attrs.dim;
  const Val starts = window_starts(e, dim_of(e, c.inputs[0], axis), attrs);
  const Val places =
      e.call("Add", {unsqueeze(e, starts, {1}), count_up(e, e.int64s({attrs.size}))});
  const Val windows = e.call("Gather", {c.inputs[0], places}, {{"axis", axis}});
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i != axis + 1) permutation.push_back(i);
  }
  permutation.push_back(axis + 1);
  return {transpose(e, windows, permutation)};
}

Vals echo(Emitter& e, const BodyCall& c) {
  return {e.call("Identity", {c.inputs[0]})};
}

// --- CDist: distances of all rows of A [m, k] to all rows of B [n, k] ---

void infer_cdist(InferContext& c) {
  const std::string& metric = c.attrs<CDistAttrs>().metric;
  c.require(metric == "euclidean" || metric == "sqeuclidean",
            "attribute metric: expected euclidean or sqeuclidean, got '", metric, "'");
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  const Dims *a = c.shape(0), *b = c.shape(1);
  if (a && b) c.merged((*a)[1], (*b)[1], "columns of A and B");
  c.set(0, c.dtype(0), Dims{a ? (*a)[0] : c.unknown(), b ? (*b)[0] : c.unknown()});
}

void cdist(const KernelCall& call) {
  const bool rooted = call.attrs<CDistAttrs>().metric == "euclidean";
  const int64_t m = call.inputs[0].shape[0], n = call.inputs[1].shape[0],
                k = call.inputs[0].shape[1];
  detail::dispatch_among<float, double>(call.inputs[0].dtype, [&]<typename T>() {
    const T *a = call.inputs[0].data<T>(), *b = call.inputs[1].data<T>();
    T* out = call.outputs[0].data<T>();
    for (int64_t i = 0; i < m; ++i) {
      check_interrupted();
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const double difference = static_cast<double>(a[i * k + l]) - b[j * k + l];
          sum += difference * difference;
        }
        *out++ = static_cast<T>(rooted ? std::sqrt(sum) : sum);
      }
    }
  });
}

// With w = d / distance (2 d for its square), every pair pulls a by w * (a - b) and b by the
// opposite. Points that meet have no direction.
Vals cdist_gradient(Emitter& e, const GradCall& c) {
  const Term a = input(e, c, 0), b = input(e, c, 1), d = d_output(e, c, 0);
  Term w = d * 2;
  if (c.attrs<CDistAttrs>().metric == "euclidean") {
    const Term meets = equal(output(e, c, 0), 0);
    w = where(meets, 0, d / where(meets, 1, output(e, c, 0)));
  }
  const auto sum = [&](int64_t axis) {
    const Term total{&e, e.call("ReduceSum", {w, e.int64s({axis})}, {{"keepdims", int64_t{0}}})};
    return apply("Unsqueeze", total, int64s(e, {1}));
  };
  const Term to_b = apply("Gemm", w, b), to_a = apply("Gemm", w, a, {{"transA", int64_t{1}}});
  return {a * sum(1) - to_b, b * sum(0) - to_a};
}

// --- Inverse ---

void infer_inverse(InferContext& c) {
  if (const Dims* shape = c.shape(0)) {
    if (shape->size() < 2) c.fail_input(0, "expected at least two dims");
    c.merged((*shape)[shape->size() - 2], shape->back(), "rows and columns");
  }
  same_as_first(c);
}

// to -= factor * from
void subtract_scaled(const double* from, double factor, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] -= factor * from[i];
}

// Gauss-Jordan elimination with the largest pivot of each column. A singular matrix gives
// infinities or NaNs.
void invert(std::pmr::vector<double>& a, std::pmr::vector<double>& inverse, int64_t n) {
  constexpr int64_t kElementsBetweenChecks = 1 << 14;
  const int64_t rows_between_checks = kElementsBetweenChecks / n + 1;
  int64_t rows = 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    for (int64_t i = 0; i < n && pivot != column; ++i) {
      std::swap(a[pivot * n + i], a[column * n + i]);
      std::swap(inverse[pivot * n + i], inverse[column * n + i]);
    }
    const double scale = 1 / a[column * n + column];
    double* const source = &a[column * n];
    double* const inverse_source = &inverse[column * n];
    for (int64_t i = 0; i < n; ++i) {
      source[i] *= scale;
      inverse_source[i] *= scale;
    }
    for (int64_t row = 0; row < n; ++row) {
      if (++rows % rows_between_checks == 0) check_interrupted();
      const double factor = row == column ? 0 : a[row * n + column];
      if (factor == 0) continue;
      // Elements left of the column have been eliminated before.
      subtract_scaled(source + column, factor, n - column, &a[row * n + column]);
      subtract_scaled(inverse_source, factor, n, &inverse[row * n]);
    }
  }
}

void inverse(const KernelCall& call) {
  const int64_t n = call.inputs[0].shape.back(), size = n * n;
  const int64_t matrices = size == 0 ? 0 : call.inputs[0].count() / size;
  detail::dispatch_among<float, double, Float16>(call.inputs[0].dtype, [&]<typename T>() {
    for (int64_t i = 0; i < matrices; ++i) {
      check_interrupted();
      const T* x = call.inputs[0].data<T>() + i * size;
      const ScratchMark mark;
      std::pmr::vector<double> a(x, x + size, scratch());
      std::pmr::vector<double> identity(static_cast<size_t>(size), 0, scratch());
      for (int64_t j = 0; j < n; ++j)
        identity[static_cast<size_t>(j * n + j)] = 1;
      invert(a, identity, n);
      for (int64_t j = 0; j < size; ++j)
        call.outputs[0].data<T>()[i * size + j] = static_cast<T>(identity[static_cast<size_t>(j)]);
    }
  });
}

// d(inverse) = -inverse * dx * inverse.
Vals inverse_gradient(Emitter& e, const GradCall& c) {
  const Term y = output(e, c, 0);
  const Term left = apply("sardonyx::FusedMatMul", y, d_output(e, c, 0), {{"transA", int64_t{1}}});
  return {-apply("sardonyx::FusedMatMul", left, y, {{"transB", int64_t{1}}})};
}

// --- CropAndResize ---

// X [N, C, H, W], rois [R, 4] (y1, x1, y2, x2 in parts of the image), batch_indices [R], crop_size
// [2]
void infer_crop(InferContext& c) {
  const std::string& mode = c.attrs<CropAttrs>().mode;
  c.require(mode == "bilinear" || mode == "nearest",
            "attribute mode: expected bilinear or nearest, got '", mode, "'");
  c.require_rank(0, 4);
  c.require_rank(1, 2);
  c.require_rank(2, 1);
  c.require_rank(3, 1);
  Dim count = c.unknown();
  if (const Dims* rois = c.shape(1)) {
    c.merged((*rois)[1], 4, "coordinates of a box in rois");
    count = (*rois)[0];
  }
  if (const Dims* batches = c.shape(2))
    count = c.merged(count, (*batches)[0], "rois and batch_indices");
  if (const Dims* size = c.shape(3)) c.merged((*size)[0], 2, "elements of crop_size");
  const std::optional<Dims> size = c.dims(3);
  Dims out{count, c.shape(0) ? (*c.shape(0))[1] : c.unknown(), c.unknown(), c.unknown()};
  if (size && size->size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      c.require(!(*size)[i].is_known() || (*size)[i].value() > 0,
                "input crop_size: expected positive sizes, got ", (*size)[i]);
      out[2 + i] = (*size)[i];
    }
  }
  c.set(0, c.dtype(0), std::move(out));
}

std::pmr::vector<CropPlace> crop_places(double begin, double end, int64_t size, int64_t length,
                                        bool nearest) {
  std::pmr::vector<CropPlace> places(scratch());
  for (int64_t i = 0; i < size; ++i)
    places.push_back(crop_place(begin, end, i, size, length, nearest));
  return places;
}

// On an element all that counts is that one, however large its neighbour is.
double blended(double a, double b, double ratio) {
  return ratio == 0 ? a : a + (b - a) * ratio;
}

template <typename T>
void crop_as(const KernelCall& call) {
  const auto& attrs = call.attrs<CropAttrs>();
  const std::span<const int64_t> x = call.inputs[0].shape, y = call.outputs[0].shape;
  const bool nearest = attrs.mode == "nearest";
  const T outside(attrs.extrapolation_value);
  T* out = call.outputs[0].data<T>();
  for (int64_t roi = 0; roi < y[0]; ++roi) {
    check_interrupted();
    const T* box = call.inputs[1].data<T>() + roi * 4;
    const int64_t batch = call.inputs[2].data<int32_t>()[roi];
    checked_crop_batch(batch, x[0]);
    const ScratchMark mark;
    const auto rows = crop_places(box[0], box[2], y[2], x[2], nearest);
    const auto columns = crop_places(box[1], box[3], y[3], x[3], nearest);
    for (int64_t channel = 0; channel < y[1]; ++channel) {
      const T* image = call.inputs[0].data<T>() + (batch * x[1] + channel) * x[2] * x[3];
      for (const CropPlace& row : rows) {
        const T *top = image + row.low * x[3], *bottom = image + row.high * x[3];
        const auto across = [&](const T* line, const CropPlace& at) {
          return blended(line[at.low], line[at.high], at.ratio);
        };
        for (const CropPlace& column : columns) {
          const double value = blended(across(top, column), across(bottom, column), row.ratio);
          *out++ = row.is_inside && column.is_inside ? narrowed<T>(value) : outside;
        }
      }
    }
  }
}

void crop_and_resize(const KernelCall& call) {
  detail::dispatch_among<float, double, Float16>(call.inputs[0].dtype,
                                                 [&]<typename T>() { crop_as<T>(call); });
}

// --- samples ---

std::vector<Sample> contrib_trilu_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, given(Tensor::scalar<int64_t>(1))},
           .attrs = {{"upper", int64_t{0}}}}};
}
std::vector<Sample> contrib_unique_samples() {
  // Where elements are equal, a small change makes one more unique value: no slope tells of that.
  return {{.inputs = {given(Tensor::vector<int64_t>({2, 1, 1, 3, 4, 3}))}, .outputs = 3},
          {.inputs = {{.shape = {6}}}, .outputs = 3}};
}
std::vector<Sample> contrib_pad_samples() {
  return {{.inputs = {{.shape = {2, 3}}, given(Tensor::vector<int64_t>({0, 1, 2, 0}))}}};
}
std::vector<Sample> expand_dims_samples() {
  return {{.inputs = {{.shape = {2, 3}}, given(Tensor::scalar<int32_t>(-1))}}};
}
std::vector<Sample> grid_samples() {
  return {{.inputs = {{.shape = {1, 2, 3, 4}}, {.shape = {1, 2, 2, 2}}}, .only = DType::kFloat}};
}
std::vector<Sample> contrib_range_samples() {
  return {{.inputs = {given(Tensor::scalar<int32_t>(1)), given(Tensor::scalar<int32_t>(7)),
                      given(Tensor::scalar<int32_t>(2))}},
          {.inputs = {given(Tensor::scalar<int64_t>(-2)), given(Tensor::vector<int64_t>({3}))}}};
}
std::vector<Sample> contrib_gather_nd_samples() {
  return {{.inputs = {{.shape = {3, 2}}, given(std::vector<int32_t>{2, 0, 0, 1}, {2, 2})}}};
}
std::vector<Sample> unfold_samples() {
  return {{.inputs = {{.shape = {2, 7, 3}}},
           .attrs = {{"dim", int64_t{1}}, {"size", int64_t{3}}, {"step", int64_t{2}}}},
          {.inputs = {{.shape = {5}}}, .attrs = {{"size", int64_t{5}}}}};
}
std::vector<Sample> cdist_samples() {
  return {{.inputs = {{.shape = {3, 2}}, {.shape = {4, 2}}}}};
}
std::vector<Sample> inverse_samples() {
  return {{.inputs = {given(Tensor::of<float>({2, 1, 1, 3, 0, 1, -1, 0}, {2, 2, 2}))}}};
}
template <typename T>
Sample crop_sample(int32_t height, int32_t width, const char* mode) {
  const std::vector<T> boxes{T(0),   T(0.01), T(0.99), T(0.98), T(0.23), T(0.51),
                             T(1.5), T(0.9),  T(0.8),  T(0.7),  T(0.1),  T(0.2)};
  return {.inputs = {{.shape = {2, 2, 4, 5}, .dtype = dtype_of<T>()},
                     given(Tensor::of<T>(boxes, {3, 4})),
                     given(Tensor::vector<int32_t>({0, 1, 1})),
                     given(Tensor::vector<int32_t>({height, width}))},
          .attrs = {{"mode", std::string(mode)}, {"extrapolation_value", 0.5f}}};
}
std::vector<Sample> crop_samples() {
  return {crop_sample<float>(3, 2, "bilinear"), crop_sample<double>(3, 1, "bilinear"),
          crop_sample<double>(2, 3, "nearest")};
}

constexpr DTypeSet kTensorTypes = kClassicTypes;

const OpDef kContribTensorOps[] = {
    {.name = "Trilu",
     .doc = "The upper or lower triangle of the last two axes from the k-th diagonal, zeros "
            "elsewhere.",
     .domain = kMicrosoft,
     .signature = "(X: T, k?: int64) -> (Y: T)",
     .types = {{"T", kNumbers | DType::kBool}},
     .attrs = attr_schema<TriluAttrs>(),
     .infer = infer_by_body,
     .body = trilu,
     .samples = contrib_trilu_samples},
    {.name = "Unique",
     .doc = "The distinct elements of x [N] in the order of their first, with inverse indices and "
            "counts.",
     .domain = kMicrosoft,
     .signature = "(x: T) -> (y: T, idx: int64, counts: int64)",
     .types = {{"T", kTensorTypes}},
     .infer = infer_by_body,
     .body = unique,
     .samples = contrib_unique_samples},
    {.name = "Pad",
     .doc = "More elements at the begin and end of each axis, as many as `pads` [2 * rank] lists.",
     .domain = kMicrosoft,
     .signature = "(data: T, pads: int64, value?: T) -> (output: T)",
     .types = {{"T", kThreeFloats}},
     .attrs = attr_schema<ContribPadAttrs>(),
     .infer = infer_by_body,
     .body = pad,
     .shape_inputs = 2,
     .samples = contrib_pad_samples},
    {.name = "ExpandDims",
     .doc = "X with an axis of size 1 at the place that the scalar `axis` says.",
     .domain = kMicrosoft,
     .signature = "(X: T, axis: int32) -> (Y: T)",
     .types = {{"T", kTensorTypes}},
     .infer = infer_by_body,
     .body = expand_dims,
     .facts = kView,
     .shape_inputs = 2,
     .samples = expand_dims_samples},
    {.name = "GridSample",
     .doc = "X [N, C, H, W] sampled at the coordinates of a grid [N, h, w, 2], which are in [-1, "
            "1] across the image.",
     .domain = kMicrosoft,
     .signature = "(X: T1, Grid: T1) -> (Y: T2)",
     .types = {{"T1", kThreeFloats}, {"T2", kThreeFloats}},
     .attrs = attr_schema<GridAttrs>(),
     .infer = infer_by_body,
     .body = grid_sample,
     .samples = grid_samples},
    {.name = "Range",
     .doc = "start, start + delta ... up to limit, exclusive; delta is 1 where it is left out.",
     .domain = kMicrosoft,
     .signature = "(start: T, limit: T, delta?: T) -> (Y: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kDouble, DType::kInt16, DType::kInt32,
                              DType::kInt64}}},
     .infer = infer_by_body,
     .body = contrib_range,
     .shape_inputs = 7,
     .samples = contrib_range_samples},
    {.name = "GatherND",
     .doc = "The elements or slices of `data` at the places that the rows of `indices` say.",
     .domain = kMicrosoft,
     .signature = "(data: T, indices: Tind) -> (output: T)",
     .types = {{"T", kTensorTypes}, {"Tind", DTypeSet{DType::kInt32, DType::kInt64}}},
     .infer = infer_by_body,
     .body = contrib_gather_nd,
     .samples = contrib_gather_nd_samples},
    {.name = "UnfoldTensor",
     .doc = "All windows of `size` elements of one axis, each `step` behind the one before: the "
            "axis counts the windows, a new last one their elements.",
     .domain = kMicrosoft,
     .signature = "(input: T) -> (output: T)",
     .types = {{"T", kTensorTypes}},
     .attrs = attr_schema<UnfoldAttrs>(),
     .infer = infer_unfold,
     .body = unfold_tensor,
     .samples = unfold_samples},
    {.name = "SampleOp",
     .doc = "X, as it is.",
     .domain = kMicrosoft,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kNumbers}},
     .infer = infer_by_body,
     .body = echo,
     .facts = kView,
     .samples = [] { return unary_samples(); }},
    {.name = "CDist",
     .doc = "The distances, or their squares, between all rows of A [M, K] and B [N, K]: [M, N].",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (C: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kDouble}}},
     .attrs = attr_schema<CDistAttrs>(),
     .infer = infer_cdist,
     .reference = cdist,
     .grad = cdist_gradient,
     .samples = cdist_samples},
    {.name = "Inverse",
     .doc = "The inverse of the last two axes, which must be square.",
     .domain = kMicrosoft,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kThreeFloats}},
     .infer = infer_inverse,
     .reference = inverse,
     .grad = inverse_gradient,
     .samples = inverse_samples},
    {.name = "CropAndResize",
     .doc = "Each box of rois [boxes, 4] of the image its index says, resized to crop_size: "
            "[boxes, C, h, w].",
     .domain = kMicrosoft,
     .signature = "(X: T1, rois: T1, batch_indices: T2, crop_size: T2) -> (Y: T1)",
     .types = {{"T1", kThreeFloats}, {"T2", DType::kInt32}},
     .attrs = attr_schema<CropAttrs>(),
     .infer = infer_crop,
     .reference = crop_and_resize,
     .grad = crop_and_resize_grad,
     .shape_inputs = 8,
     .samples = crop_samples},
};

}  // namespace

CropPlace crop_place(double begin, double end, int64_t i, int64_t size, int64_t length,
                     bool nearest) {
  const auto last = static_cast<double>(length - 1);
  const double at = size == 1 ? 0.5 * (begin + end) * last
                              : begin * last + static_cast<double>(i) * (end - begin) * last /
                                                   static_cast<double>(size - 1);
  if (!(at >= 0 && at <= last)) return {0, 0, 0, false};
  if (nearest) return {std::llround(at), std::llround(at), 0, true};
  const double low = std::floor(at);
  return {static_cast<int64_t>(low), static_cast<int64_t>(std::ceil(at)), at - low, true};
}

void checked_crop_batch(int64_t index, int64_t batch) {
  if (index >= 0 && index < batch) return;
  fail(ErrorCode::kInvalidArgument, "CropAndResize: input batch_indices: ", index,
       " is outside 0..", batch, " (exclusive)");
}

std::span<const OpDef> contrib_tensor_ops() {
  return kContribTensorOps;
}

}  // namespace sardonyx::ops
