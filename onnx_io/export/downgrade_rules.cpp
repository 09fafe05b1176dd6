// The table of downgrade rules, and what each does. Versions of an op that have no rule are written
// as the newest form is.
#include "onnx_io/export/downgrade.h"

#include <algorithm>
#include <cmath>

#include "ir/core/error.h"
#include "onnx_io/export/older_forms.h"
#include "onnx_io/load.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

using Ints = std::vector<int64_t>;

const std::string& kGood = *new std::string;

std::string axes_to_attribute(WrittenCall& call, int64_t) {
  if (call.attribute_or("noop_with_empty_axes", int64_t{0}) != 0) {
    if (!call.has_input(1)) return "noop_with_empty_axes without axes";
    call.attrs.erase("noop_with_empty_axes");
  }
  if (std::string why = ints_to_attribute(call, 1, "axes"); !why.empty()) return why;
  const auto axes = call.attrs.find("axes");
  const bool is_empty = axes != call.attrs.end() && std::get<Ints>(axes->second).empty();
  if (is_empty && call.op.starts_with("Reduce")) call.attrs.erase("axes");
  return kGood;
}

std::string softmax_13(WrittenCall& call, int64_t) {
  const Type& type = call.inputs.at(0)->type;
  if (!type.has_rank()) return "the rank of its input must be known";
  const auto rank = static_cast<int64_t>(type.rank());
  int64_t axis = call.attribute_or("axis", int64_t{-1});
  if (axis < 0) axis += rank;
  for (int64_t i = axis + 1; i < rank; ++i) {
    if (!((*type.shape)[static_cast<size_t>(i)] == 1)) return "axis must be the last one";
  }
  call.attrs["axis"] = axis;
  return kGood;
}

// Sizes without a 0, or those of another tensor: unless one of these is 0, the older form gives the
// same.
std::string reshape_14(WrittenCall& call, int64_t) {
  if (call.attribute_or("allowzero", int64_t{0}) == 0 || !call.has_input(1)) return kGood;
  const Value& shape = *call.inputs[1];
  const bool is_of_tensor = shape.producer && shape.producer->op->name == "Shape";
  const bool has_sizes =
      shape.constant && std::ranges::count(shape.constant->to_int64s(), int64_t{0}) == 0;
  if (is_of_tensor || has_sizes) call.attrs.erase("allowzero");
  return kGood;
}

std::string split_18(WrittenCall& call, int64_t) {
  const int64_t count = call.attribute_or("num_outputs", int64_t{0});
  call.attrs.erase("num_outputs");
  if (count <= 1 || call.has_input(1)) return kGood;
  const Type& type = call.inputs.at(0)->type;
  const int64_t axis = call.attribute_or("axis", int64_t{0});
  if (!type.has_rank()) return "the length of its axis must be known";
  const auto rank = static_cast<int64_t>(type.rank());
  const int64_t index = axis < 0 ? axis + rank : axis;
  const Dim& length = (*type.shape)[static_cast<size_t>(index)];
  return exact_div(length, Dim(count)) ? kGood : "its pieces must be of one length";
}

std::string split_13(WrittenCall& call, int64_t) {
  return ints_to_attribute(call, 1, "split");
}

std::string slice_10(WrittenCall& call, int64_t) {
  if (call.has_input(4)) {
    const Tensor* steps = call.take_constant(4);
    const Ints values = steps ? steps->to_int64s() : Ints{0};
    if (std::any_of(values.begin(), values.end(), [](int64_t step) { return step != 1; })) {
      return "steps other than 1";
    }
  }
  for (const auto& [index, name] : {std::pair{3, "axes"}, {2, "ends"}, {1, "starts"}}) {
    const std::string why = ints_to_attribute(call, static_cast<size_t>(index), name);
    if (!why.empty()) return why;
  }
  return kGood;
}

// Pads for the chosen axes only, as pads for all of them.
std::string pad_18(WrittenCall& call, int64_t) {
  if (!call.has_input(3)) return kGood;
  const Type& type = call.inputs[0]->type;
  const Tensor *axes = call.inputs[3]->constant.get(), *pads = call.inputs[1]->constant.get();
  if (!axes || !pads || !type.has_rank())
    return "the input axes came with opset 18, unless axes and pads are constants";
  const size_t rank = type.rank();
  const Ints chosen = axes->to_int64s(), some = pads->to_int64s();
  if (some.size() != 2 * chosen.size()) return "input pads must have two numbers for each axis";
  Ints all(2 * rank, 0);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto axis = static_cast<size_t>(chosen[i] + (chosen[i] < 0 ? int64_t(rank) : 0));
    all[axis] = some[i];
    all[rank + axis] = some[chosen.size() + i];
  }
  call.set_constant(1, "pads", Tensor::vector<int64_t>(all));
  call.inputs.resize(3);
  return kGood;
}

std::string pad_19(WrittenCall& call, int64_t) {
  const bool wraps = call.attribute_or("mode", std::string("constant")) == "wrap";
  return wraps ? "mode wrap came with opset 19" : kGood;
}

std::string pad_11(WrittenCall& call, int64_t) {
  if (std::string why = float_to_attribute(call, 2, "value"); !why.empty()) return why;
  return ints_to_attribute(call, 1, "pads");
}

std::string clip_11(WrittenCall& call, int64_t) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (std::string why = float_to_attribute(call, 2, "max"); !why.empty()) return why;
  if (std::string why = float_to_attribute(call, 1, "min"); !why.empty()) return why;
  // The old form has finite bounds where none are given.
  call.attrs.try_emplace("min", -INFINITY);
  call.attrs.try_emplace("max", INFINITY);
  for (const auto& [name, bound] : {std::pair{"min", -kLargest}, {"max", kLargest}}) {
    if (call.attrs.find(name)->second == AttrValue(bound)) call.attrs.erase(name);
  }
  return kGood;
}

// MaxPool 10 as its older form, which has no dilations: only windows without gaps can be written.
std::string max_pool_10(WrittenCall& call, int64_t) {
  const Ints dilations = call.attribute_or("dilations", Ints{});
  if (std::ranges::all_of(dilations, [](int64_t one) { return one == 1; }))
    call.attrs.erase("dilations");
  return kGood;
}

std::string topk_10(WrittenCall& call, int64_t) {
  if (std::string why = ints_to_attribute(call, 1, "k"); !why.empty()) return why;
  const Ints k = call.attribute_or("k", Ints{});
  if (k.size() != 1) return "K must be one number";
  call.attrs["k"] = k[0];
  return kGood;
}

std::string dropout_12(WrittenCall& call, int64_t) {
  if (call.has_input(2)) {
    const Tensor* training = call.take_constant(2);
    if (!training || training->count() != 1 || training->to_int64s()[0] != 0)
      return "training_mode";
  }
  call.attrs.erase("seed");
  if (!call.has_input(1)) return kGood;
  return float_to_attribute(call, 1, "ratio");
}

std::string grid_sample_20(WrittenCall& call, int64_t) {
  const std::string mode = call.attribute_or("mode", std::string("linear"));
  call.attrs["mode"] = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
  const Type& type = call.inputs.at(0)->type;
  return type.has_rank() && type.rank() == 4 ? kGood : "its input must be of rank 4";
}

std::string dft_20(WrittenCall& call, int64_t) {
  int64_t axis = -2;
  if (call.has_input(2)) {
    const Tensor* value = call.take_constant(2);
    if (!value || value->count() != 1) return "the axis must be a constant";
    axis = value->to_int64s()[0];
  }
  const Type& type = call.inputs.at(0)->type;
  if (axis < 0 && !type.has_rank()) return "the rank of its input must be known";
  call.attrs["axis"] = axis < 0 ? axis + static_cast<int64_t>(type.rank()) : axis;
  return kGood;
}

std::string roi_align_16(WrittenCall& call, int64_t) {
  const std::string mode =
      call.attribute_or("coordinate_transformation_mode", std::string("half_pixel"));
  if (mode != "output_half_pixel") return "coordinate_transformation_mode half_pixel";
  call.attrs.erase("coordinate_transformation_mode");
  return kGood;
}

std::string gemm_11(WrittenCall& call, int64_t) {
  if (!call.has_input(2)) call.set_constant(2, "C", Tensor::zeros(call.inputs[0]->type.dtype, {1}));
  return kGood;
}

std::string scatter_18(WrittenCall& call, int64_t) {
  const std::string reduction = call.attribute_or("reduction", std::string("none"));
  const bool is_late = reduction == "min" || reduction == "max";
  return is_late ? text("reduction ", reduction, " came with opset 18") : kGood;
}

std::string scatter_elements_11(WrittenCall& call, int64_t) {
  call.op = "Scatter";
  return kGood;
}

// Max, Min, Mean and Sum did not broadcast.
std::string equal_shapes_8(WrittenCall& call, int64_t) {
  const Type& first = call.inputs.at(0)->type;
  const auto differs = [&](const Value* input) {
    return !first.has_rank() || !input->type.has_rank() || *input->type.shape != *first.shape;
  };
  return std::ranges::any_of(call.inputs, differs) ? "its inputs must have one shape" : kGood;
}

bool may_be_equal(const Type& a, const Type& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.rank(); ++i) {
    const Dim &left = (*a.shape)[i], &right = (*b.shape)[i];
    if (left.is_known() && right.is_known() && left.value() != right.value()) return false;
  }
  return true;
}

std::string if_11(WrittenCall& call, int64_t) {
  const Graph& taken = *call.attribute_or("then_branch", GraphPtr());
  const Graph& other = *call.attribute_or("else_branch", GraphPtr());
  for (size_t i = 0; i < taken.outputs().size(); ++i) {
    const Type &a = taken.outputs()[i]->type, &b = other.outputs()[i]->type;
    if (!may_be_equal(a, b))
      return text("output ", i, " has the shape ", a, " in one branch and ", b,
                  " in the other, which opset 11 allowed");
  }
  return kGood;
}

std::string loop_11(WrittenCall& call, int64_t) {
  const Graph& body = *call.attribute_or("body", GraphPtr());
  for (size_t i = 2; i < body.inputs().size(); ++i) {
    const Type &before = call.inputs[i]->type, &after = body.outputs()[i - 1]->type;
    if (!may_be_equal(before, after))
      return text("state ", i - 2, " changes its shape from ", before, " to ", after,
                  ", which opset 11 allowed");
  }
  return kGood;
}

std::string never(WrittenCall&, int64_t) {
  return "its older form means something else";
}

constexpr DowngradeRule kRules[] = {
    {"Clip", 11, clip_11},
    {"DFT", 20, dft_20},
    {"Dropout", 12, dropout_12},
    {"Gemm", 11, gemm_11},
    {"GridSample", 20, grid_sample_20},
    {"GroupNormalization", 21, never},
    {"Hardmax", 13, softmax_13},
    {"If", 11, if_11},
    {"LogSoftmax", 13, softmax_13},
    {"Loop", 11, loop_11},
    {"Max", 8, equal_shapes_8},
    {"MaxPool", 10, max_pool_10},
    {"Mean", 8, equal_shapes_8},
    {"Min", 8, equal_shapes_8},
    {"Pad", 19, pad_19},
    {"Pad", 18, pad_18},
    {"Pad", 11, pad_11},
    {"ReduceL1", 18, axes_to_attribute},
    {"ReduceL2", 18, axes_to_attribute},
    {"ReduceLogSum", 18, axes_to_attribute},
    {"ReduceLogSumExp", 18, axes_to_attribute},
    {"ReduceMax", 18, axes_to_attribute},
    {"ReduceMean", 18, axes_to_attribute},
    {"ReduceMin", 18, axes_to_attribute},
    {"ReduceProd", 18, axes_to_attribute},
    {"ReduceSum", 13, axes_to_attribute},
    {"ReduceSumSquare", 18, axes_to_attribute},
    {"Reshape", 14, reshape_14},
    {"Resize", 19, resize_19},
    {"Resize", 18, resize_18},
    {"Resize", 13, resize_13},
    {"Resize", 11, resize_11},
    {"RoiAlign", 16, roi_align_16},
    {"Scan", 9, never},
    {"ScatterElements", 18, scatter_18},
    {"ScatterElements", 11, scatter_elements_11},
    {"ScatterND", 18, scatter_18},
    {"Slice", 10, slice_10},
    {"Softmax", 13, softmax_13},
    {"Split", 18, split_18},
    {"Split", 13, split_13},
    {"Squeeze", 13, axes_to_attribute},
    {"Sum", 8, equal_shapes_8},
    {"TopK", 10, topk_10},
    {"Unsqueeze", 13, axes_to_attribute},
};

}  // namespace

std::span<const DowngradeRule> downgrade_rules() {
  return kRules;
}

}  // namespace sardonyx::onnx_export
