#include "ir/ops/detection/roi_gradient.h"

#include <limits>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/detection/crop_and_resize.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/pooling/pool.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Term unsqueezed(const Term& x, const Ints& axes) {
  return {x.e, x.e->call("Unsqueeze", {x, x.e->int64s(axes)})};
}

Term reduced(std::string_view op, const Term& x, const Ints& axes, bool keepdims = false) {
  return {x.e, x.e->call(op, {x, x.e->int64s(axes)}, {{"keepdims", int64_t{keepdims}}})};
}

// Column `index` of a matrix.
Term column(const Term& x, int64_t index) {
  return {x.e, x.e->call("Gather", {x, x.e->scalar(DType::kInt64, static_cast<double>(index))},
                         {{"axis", int64_t{1}}})};
}

// The numbers 0 to `count` - 1 in the type of `like`; `count` is a list of one.
Term numbers_to(const Val& count, const Term& like) {
  Emitter& e = *like.e;
  const Val last = call_folded(e, "Reshape", {count, e.int64s({})});
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  return cast({&e, call_folded(e, "Range", {zero, last, one})}, like.dtype());
}

Term size_as(const Val& size, const Term& like) {
  return cast({like.e, size}, like.dtype());
}

// ---- RoiAlign. Along each axis a sample reads two neighbours: as a matrix, the samples of all
// bins select rows or columns of the image.

struct AxisRequest {
  Term first, last;  // [regions], scaled
  int64_t bins;
  Val size;  // of the image, a list of one
  bool is_half_pixel;
  int64_t ratio;
};

struct AxisSelection {
  Term weights;  // [regions, bins, samples, 2, size]
  Term counted;  // bool [regions, 1, samples]
  Term count;    // [regions]
};

// Samples that a bin has along one axis; where each region has a number of its own, the most.
Val max_samples(const AxisRequest& axis, const Term& count) {
  Emitter& e = *count.e;
  if (axis.ratio > 0) return e.int64s({axis.ratio});
  const Term none = reshaped(count.number(0), int64s(e, {1}));
  const Term all{&e, e.call_many("Concat", Vals{count, none}, {{"axis", int64_t{0}}}, 1)[0]};
  return cast(reduced("ReduceMax", all, {0}, true), DType::kInt64);
}

AxisSelection select(const AxisRequest& axis) {
  Emitter& e = *axis.first.e;
  Term length = axis.last - axis.first;
  if (!axis.is_half_pixel) length = apply("Max", length, length.number(1));
  const Term bin = length / static_cast<double>(axis.bins);
  const Term count = axis.ratio > 0 ? bin * 0 + static_cast<double>(axis.ratio)
                                    : apply("Max", apply("Ceil", bin), bin.number(0));
  const Term sample = numbers_to(max_samples(axis, count), bin);
  const Term index = numbers_to(e.int64s({axis.bins}), bin);
  const Term begin = unsqueezed(axis.first, {1}) + index * unsqueezed(bin, {1});  // [R, bins]
  const Term step = bin / apply("Max", count, count.number(1));
  const Term at = unsqueezed(begin, {2}) + (sample + 0.5) * unsqueezed(step, {1, 2});
  const Term counted = sample < unsqueezed(count, {1, 2});
  const Term size = size_as(axis.size, bin), last = size - 1;
  const Term inside = counted && (at >= -1 && at <= size);
  const Term bounded = apply("Min", apply("Max", at, at.number(0)), last);
  const Term low = apply("Floor", bounded), high = apply("Min", low + 1, last);
  const Term share = where(inside, bounded - low, 0), rest = where(inside, 1 - (bounded - low), 0);
  const Term place = numbers_to(axis.size, bin);
  const auto selection = [&](const Term& element, const Term& weight) {
    return unsqueezed(where(equal(place, unsqueezed(element, {3})), unsqueezed(weight, {3}), 0),
                      {3});
  };
  const Vals both{selection(low, rest), selection(high, share)};
  return {{&e, e.call_many("Concat", both, {{"axis", int64_t{3}}}, 1)[0]}, counted, count};
}

// [regions, rows, size] x [regions, C, H, W] x [regions, columns, size].
Term selected(const Term& rows, const Term& images, const Term& columns) {
  const Term transposed =
      apply("Transpose", unsqueezed(columns, {1}), {{"perm", Ints{0, 1, 3, 2}}});
  return apply("MatMul", apply("MatMul", unsqueezed(rows, {1}), images), transposed);
}

Term mean_of_samples(const AxisSelection& rows, const Term& images, const AxisSelection& columns) {
  const auto mean = [](const AxisSelection& axis) {
    const Term count = apply("Max", axis.count, axis.count.number(1));
    return reduced("ReduceSum", axis.weights, {2, 3}) / unsqueezed(count, {1, 2});
  };
  return selected(mean(rows), images, mean(columns));
}

// The largest of all weighed neighbours; a sample outside is a zero.
Term largest_sample(const AxisSelection& rows, const Term& images, const AxisSelection& columns,
                    const RoiAlignAttrs& attrs) {
  Emitter& e = *images.e;
  const Val regions = dims_of(e, images, 0, 1), channels = dims_of(e, images, 1, 2);
  const auto flat = [&](const AxisSelection& axis, int64_t spatial) {
    return reshaped(
        axis.weights,
        {&e, joined_lists(e, {regions, e.int64s({-1}), dims_of(e, images, spatial, spatial + 1)})});
  };
  const auto twice = [&](const AxisSelection& axis) {
    return call_folded(e, "Mul", {dims_of(e, axis.weights, 2, 3), e.int64s({2})});
  };
  const Term values = reshaped(
      selected(flat(rows, 2), images, flat(columns, 3)),
      {&e, joined_lists(e, {regions, channels, e.int64s({attrs.output_height}), twice(rows),
                            e.int64s({attrs.output_width}), twice(columns)})});
  const auto counted = [&](const AxisSelection& axis, const Ints& axes) {
    const Term both = apply("Tile", axis.counted, int64s(e, {1, 1, 2}));
    // Neighbours stand behind each other: 0 0 1 1 ...
    const Term pairs =
        apply("Transpose", reshaped(both, {&e, joined_lists(e, {regions, e.int64s({2, -1})})}),
              {{"perm", Ints{0, 2, 1}}});
    const Term line = reshaped(pairs, {&e, joined_lists(e, {regions, e.int64s({-1})})});
    return unsqueezed(line, axes);
  };
  const Term is_counted = counted(rows, {1, 2, 4, 5}) && counted(columns, {1, 2, 3, 4});
  const Term none = images.number(-std::numeric_limits<double>::infinity());
  const Term best = reduced("ReduceMax", where(is_counted, values, none), {3, 5});
  const Term is_empty = apply("Or", equal(rows.count, 0), equal(columns.count, 0));
  return where(unsqueezed(is_empty, {1, 2, 3}), 0, best);
}

Vals roi_align_decomposition(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<RoiAlignAttrs>();
  const Term x{&e, c.inputs[0]}, rois{&e, c.inputs[1]};
  const bool is_half_pixel = attrs.coordinate_transformation_mode == "half_pixel";
  const Term scaled = rois * double{attrs.spatial_scale} - (is_half_pixel ? 0.5 : 0.0);
  const auto axis = [&](int64_t first, int64_t bins, int64_t spatial) {
    return select({column(scaled, first), column(scaled, first + 2), bins,
                   dims_of(e, x, spatial, spatial + 1), is_half_pixel, attrs.sampling_ratio});
  };
  const AxisSelection rows = axis(1, attrs.output_height, 2);
  const AxisSelection columns = axis(0, attrs.output_width, 3);
  const Term images{&e, e.call("Gather", {x, c.inputs[2]})};
  if (attrs.mode == "max") return {largest_sample(rows, images, columns, attrs)};
  return {mean_of_samples(rows, images, columns)};
}

// ---- MaxRoiPool

// Which elements of an axis each bin covers: bool [regions, bins, size].
Term covered(const Term& first, const Term& last, int64_t bins, const Val& size) {
  Emitter& e = *first.e;
  const Term length = apply("Max", last - first + 1, first.number(1));
  const Term bin = unsqueezed(length / static_cast<double>(bins), {1});
  const Term index = numbers_to(e.int64s({bins}), first), start = unsqueezed(first, {1});
  const Term begin = apply("Floor", index * bin) + start;
  const Term end = apply("Ceil", (index + 1) * bin) + start;
  const Term place = numbers_to(size, first);
  return unsqueezed(begin, {2}) <= place && place < unsqueezed(end, {2});
}

Vals max_roi_pool_decomposition(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<MaxRoiPoolAttrs>();
  const Term x{&e, c.inputs[0]}, rois{&e, c.inputs[1]};
  const Term scaled = rois * double{attrs.spatial_scale};
  // Half away from zero.
  const Term corners = apply("Sign", scaled) * apply("Floor", apply("Abs", scaled) + 0.5);
  const Term rows =
      covered(column(corners, 2), column(corners, 4), attrs.pooled_shape[0], dims_of(e, x, 2, 3));
  const Term columns =
      covered(column(corners, 1), column(corners, 3), attrs.pooled_shape[1], dims_of(e, x, 3, 4));
  const Val batch = cast(column(rois, 0), DType::kInt64);
  const Term images{&e, e.call("Gather", {x, batch})};
  const Term none = x.number(-std::numeric_limits<double>::infinity());
  const Term by_rows =
      reduced("ReduceMax", where(unsqueezed(rows, {1, 4}), unsqueezed(images, {2}), none), {3});
  const Term best =
      reduced("ReduceMax", where(unsqueezed(columns, {1, 2}), unsqueezed(by_rows, {3}), none), {4});
  const auto is_any = [&](const Term& mask) {
    return reduced("ReduceMax", cast(mask, DType::kFloat), {2}) > 0;
  };
  const Term has_elements = unsqueezed(is_any(rows), {1, 3}) && unsqueezed(is_any(columns), {1, 2});
  return {where(has_elements, best, 0)};
}

// ---- CropAndResize. Each row and column of a crop is between two of the image's, or outside.

struct CropAxis {
  Term weights;  // [regions, crop, size]
  Term inside;   // bool [regions, crop]
};

// begin, end: [regions], in parts of the image; crop, size: lists of one.
CropAxis crop_axis(const Term& begin, const Term& end, const Val& crop, const Val& size,
                   bool is_nearest) {
  const Term last = size_as(size, begin) - 1, count = size_as(crop, begin);
  const Term first = unsqueezed(begin, {1}), length = unsqueezed(end, {1}) - first;
  const Term is_single = equal(count, 1), index = numbers_to(crop, begin);
  const Term share = where(is_single, 0.5, index / where(is_single, 1, count - 1));
  const Term at = (first + length * share) * last;
  const Term inside = at >= 0 && at <= last;
  const Term place = numbers_to(size, begin);
  if (is_nearest) {
    const Term nearest = unsqueezed(apply("Floor", at + 0.5), {2});
    return {where(equal(place, nearest), nearest.number(1), nearest.number(0)), inside};
  }
  const Term distance = apply("Abs", place - unsqueezed(at, {2}));
  return {where(distance < 1, 1 - distance, 0), inside};
}

Vals crop_and_resize_decomposition(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<CropAttrs>();
  const Term x{&e, c.inputs[0]}, boxes{&e, c.inputs[1]};
  const AttrMap to_int64{{"to", static_cast<int64_t>(DType::kInt64)}};
  const Val sizes = call_folded(e, "Cast", {c.inputs[3]}, to_int64);
  const auto axis = [&](int64_t k) {
    return crop_axis(column(boxes, k), column(boxes, k + 2), part_of(e, sizes, k, k + 1),
                     dims_of(e, x, 2 + k, 3 + k), attrs.mode == "nearest");
  };
  const CropAxis rows = axis(0), columns = axis(1);
  const Term images{&e, e.call("Gather", {x, c.inputs[2]})};
  const Term inside = unsqueezed(rows.inside, {1, 3}) && unsqueezed(columns.inside, {1, 2});
  const Term crops = selected(rows.weights, images, columns.weights);
  return {where(inside, crops, double{attrs.extrapolation_value})};
}

}  // namespace

Vals roi_align_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, roi_align_decomposition);
}

Vals max_roi_pool_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, max_roi_pool_decomposition);
}

Vals crop_and_resize_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, crop_and_resize_decomposition);
}

}  // namespace sardonyx::ops
