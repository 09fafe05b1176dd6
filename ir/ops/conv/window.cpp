#include "ir/ops/conv/window.h"

#include <algorithm>
#include <limits>

#include "ir/core/error.h"

namespace sardonyx::ops {

namespace {

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

AutoPad auto_pad_of(const WindowSpec& spec) {
  if (spec.auto_pad.empty() || spec.auto_pad == "NOTSET") return AutoPad::kNotSet;
  if (spec.auto_pad == "VALID") return AutoPad::kValid;
  if (spec.auto_pad == "SAME_UPPER") return AutoPad::kSameUpper;
  if (spec.auto_pad == "SAME_LOWER") return AutoPad::kSameLower;
  fail(ErrorCode::kInvalidModel, spec.op,
       ": auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, got \"", spec.auto_pad, '"');
}

void check_list(const WindowSpec& spec, std::string_view name, std::span<const int64_t> list,
                size_t count, int64_t least) {
  if (list.empty()) return;
  if (list.size() != count) {
    fail(ErrorCode::kInvalidModel, spec.op, ": ", name, ": expected ", count, " values, got ",
         list.size());
  }
  for (const int64_t value : list) {
    if (value < least) {
      fail(ErrorCode::kInvalidModel, spec.op, ": ", name, ": expected values of at least ", least,
           ", got ", value);
    }
  }
}

int64_t at_or(std::span<const int64_t> list, size_t index, int64_t otherwise) {
  return list.empty() ? otherwise : list[index];
}

// The parameters of one spatial axis.
struct WindowAxis {
  Dim in, kernel;
  int64_t stride, dilation;
  Dim pad_begin, pad_end;
  Dim extent;  // (kernel - 1) * dilation + 1
};

struct AxisResult {
  Dim out, pad_begin, pad_end;
};

void check_spec(const WindowSpec& spec, const Dims& input, const Dims& kernel) {
  const size_t rank = input.size();
  if (kernel.size() != rank) {
    fail(ErrorCode::kInvalidModel, spec.op, ": kernel: expected ", rank,
         " sizes, one for each spatial axis of the input, got ", kernel.size());
  }
  int64_t taps = 1;
  for (const Dim& size : kernel) {
    if (!size.is_known()) continue;
    if (size.value() < 1) {
      fail(ErrorCode::kInvalidModel, spec.op, ": kernel: expected sizes of at least 1, got ",
           to_text(kernel));
    }
    if (size.value() > std::numeric_limits<int64_t>::max() / taps) {
      fail(ErrorCode::kInvalidModel, spec.op, ": kernel: ", to_text(kernel),
           " has more elements than an int64 counts");
    }
    taps *= size.value();
  }
  check_list(spec, "strides", spec.strides, rank, 1);
  check_list(spec, "dilations", spec.dilations, rank, 1);
  check_list(spec, "pads", spec.pads, 2 * rank, std::numeric_limits<int64_t>::min());
  check_list(spec, "output_padding", spec.output_padding, rank, 0);
}

WindowAxis spatial_axis(const WindowSpec& spec, AutoPad auto_pad, const Dims& input,
                        const Dims& kernel, size_t axis) {
  WindowAxis result{.in = input[axis],
                    .kernel = kernel[axis],
                    .stride = at_or(spec.strides, axis, 1),
                    .dilation = at_or(spec.dilations, axis, 1),
                    .pad_begin = 0,
                    .pad_end = 0,
                    .extent = 0};
  if (auto_pad == AutoPad::kNotSet) {
    result.pad_begin = at_or(spec.pads, axis, 0);
    result.pad_end = at_or(spec.pads, axis + input.size(), 0);
  }
  result.extent = (result.kernel - 1) * Dim(result.dilation) + 1;
  return result;
}

// Splits `total` padding; the odd one goes to the end for SAME_UPPER.
AxisResult split_padding(AutoPad auto_pad, Dim out, const Dim& total) {
  const Dim half = floor_div(total, 2);
  if (auto_pad == AutoPad::kSameUpper) return {std::move(out), half, total - half};
  return {std::move(out), total - half, half};
}

void check_crop(const WindowSpec& spec, const WindowAxis& axis, size_t index) {
  if (!axis.in.is_known()) return;
  for (const Dim& pad : {axis.pad_begin, axis.pad_end}) {
    if ((pad + axis.in).value() < 0) {
      fail(ErrorCode::kInvalidModel, spec.op, ": pads: ", pad, " crops more of spatial axis ",
           index, " than its ", axis.in, " elements");
    }
  }
}

// Whether a window that does not fit gives no outputs for everybody. Between these sizes and those
// that fit, ONNX's formula gives none and ONNX Runtime one, of the part of the window that is
// there.
bool has_no_place(const WindowSpec& spec, const WindowAxis& axis, int64_t slack) {
  if (!spec.may_have_no_place) return false;
  return spec.ceil_mode ? slack > -2 * axis.stride : slack == -axis.stride;
}

AxisResult resolve_axis(const WindowSpec& spec, AutoPad auto_pad, const WindowAxis& axis,
                        size_t index) {
  if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower) {
    Dim out = ceil_div(axis.in, axis.stride);
    const Dim total = max(0, (out - 1) * Dim(axis.stride) + axis.extent - axis.in);
    return split_padding(auto_pad, std::move(out), total);
  }
  check_crop(spec, axis, index);
  const Dim padded = axis.in + axis.pad_begin + axis.pad_end;
  const Dim slack = padded - axis.extent;
  // With ceil_mode a window may end behind the padding, the first as well as the last.
  const int64_t least = spec.ceil_mode ? 1 - axis.stride : 0;
  if (slack.is_known() && slack.value() < least && !has_no_place(spec, axis, slack.value())) {
    if (axis.in == 0) return {0, axis.pad_begin, axis.pad_end};  // nothing in, nothing out
    fail(ErrorCode::kInvalidModel, spec.op, ": kernel: expected at most the padded input's size ",
         padded, " on spatial axis ", index, ", got ", axis.extent, " (kernel ", axis.kernel,
         ", dilation ", axis.dilation, ", input ", axis.in, ", pads ", axis.pad_begin, " and ",
         axis.pad_end, ")");
  }
  if (!spec.ceil_mode) {
    return {floor_div(slack, axis.stride) + 1, axis.pad_begin, axis.pad_end};
  }
  // The last window must begin inside the input or the padding before it.
  const Dim begins = ceil_div(axis.in + axis.pad_begin, axis.stride);
  return {min(ceil_div(slack, axis.stride) + 1, begins), axis.pad_begin, axis.pad_end};
}

// The explicit size of a spatial axis, where there is one.
std::optional<int64_t> explicit_size(const WindowSpec& spec, size_t rank, size_t axis) {
  const std::span<const int64_t> shape = spec.output_shape;
  if (shape.empty()) return std::nullopt;
  if (shape.size() != rank && shape.size() != rank + 2) {
    fail(ErrorCode::kInvalidModel, spec.op, ": output_shape: expected ", rank,
         " spatial sizes, got ", shape.size());
  }
  const int64_t size = shape[shape.size() - rank + axis];
  if (size < 0) {
    fail(ErrorCode::kInvalidModel, spec.op,
         ": output_shape: expected sizes that are not negative, got ", size);
  }
  return size;
}

AxisResult resolve_transposed_axis(const WindowSpec& spec, AutoPad auto_pad, const WindowAxis& axis,
                                   size_t index, size_t rank) {
  const Dim full = (axis.in - 1) * Dim(axis.stride) + axis.extent;
  const Dim padded = full + at_or(spec.output_padding, index, 0);
  std::optional<Dim> wanted;
  if (const auto size = explicit_size(spec, rank, index)) {
    wanted = Dim(*size);
  } else if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower) {
    wanted = axis.in * Dim(axis.stride);
  }
  if (wanted) {
    // Where more is wanted than there is, nothing is cut and zeros follow.
    AxisResult result = split_padding(auto_pad, *wanted, max(0, padded - *wanted));
    result.pad_end = full - *wanted - result.pad_begin;
    return result;
  }
  const Dim out = padded - axis.pad_begin - axis.pad_end;
  if (out.is_known() && out.value() < 0) {
    fail(ErrorCode::kInvalidModel, spec.op, ": pads: ", axis.pad_begin, " and ", axis.pad_end,
         " leave nothing of the ", padded, " outputs on spatial axis ", index);
  }
  return {out, axis.pad_begin, full - out - axis.pad_begin};
}

template <typename Resolve>
std::vector<AxisResult> resolve_all(const WindowSpec& spec, const Dims& input, const Dims& kernel,
                                    Resolve&& resolve) {
  check_spec(spec, input, kernel);
  const AutoPad auto_pad = auto_pad_of(spec);
  std::vector<AxisResult> results;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    try {
      results.push_back(resolve(auto_pad, spatial_axis(spec, auto_pad, input, kernel, axis), axis));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kResourceExhausted) throw;
      throw error.with_context(text(spec.op, ": the output's size on spatial axis ", axis,
                                    " (input ", input[axis], ", kernel ", kernel[axis],
                                    ", with its pads, strides and dilations) is too large"));
    }
  }
  return results;
}

std::vector<AxisResult> resolve_window(const WindowSpec& spec, const Dims& input,
                                       const Dims& kernel) {
  return resolve_all(spec, input, kernel,
                     [&](AutoPad auto_pad, const WindowAxis& axis, size_t index) {
                       return resolve_axis(spec, auto_pad, axis, index);
                     });
}

std::vector<AxisResult> resolve_transposed(const WindowSpec& spec, const Dims& input,
                                           const Dims& kernel) {
  return resolve_all(spec, input, kernel,
                     [&](AutoPad auto_pad, const WindowAxis& axis, size_t index) {
                       return resolve_transposed_axis(spec, auto_pad, axis, index, input.size());
                     });
}

Dims dims_of(const std::vector<AxisResult>& results) {
  Dims dims;
  for (const AxisResult& result : results)
    dims.push_back(result.out);
  return dims;
}

Window window_of(const WindowSpec& spec, const Shape& input, const Shape& kernel,
                 const std::vector<AxisResult>& results) {
  Window window;
  window.in = input;
  window.kernel = kernel;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    window.strides.push_back(at_or(spec.strides, axis, 1));
    window.dilations.push_back(at_or(spec.dilations, axis, 1));
    window.pads_begin.push_back(results[axis].pad_begin.value());
    window.pads_end.push_back(results[axis].pad_end.value());
    window.out.push_back(results[axis].out.value());
  }
  return window;
}

}  // namespace

bool Window::is_pointwise() const {
  for (size_t axis = 0; axis < rank(); ++axis) {
    if (kernel[axis] != 1 || pads_begin[axis] != 0 || pads_end[axis] != 0) return false;
  }
  return true;
}

bool Window::has_unit_strides() const {
  return std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; });
}

TapRange taps_inside(int64_t start, int64_t kernel, int64_t dilation, int64_t size) {
  if (start >= size) return {0, 0};
  const int64_t begin = start >= 0 ? 0 : -start / dilation + (-start % dilation != 0);
  const int64_t end = (size - 1 - start) / dilation + 1;
  return {std::min(begin, kernel), std::min(end, kernel)};
}

Dims window_dims(const WindowSpec& spec, const Dims& input, const Dims& kernel) {
  return dims_of(resolve_window(spec, input, kernel));
}

Dims transposed_window_dims(const WindowSpec& spec, const Dims& input, const Dims& kernel) {
  return dims_of(resolve_transposed(spec, input, kernel));
}

Window make_window(const WindowSpec& spec, const Shape& input, const Shape& kernel) {
  return window_of(spec, input, kernel, resolve_window(spec, to_dims(input), to_dims(kernel)));
}

Window make_transposed_window(const WindowSpec& spec, const Shape& input, const Shape& kernel) {
  return window_of(spec, input, kernel, resolve_transposed(spec, to_dims(input), to_dims(kernel)));
}

}  // namespace sardonyx::ops
