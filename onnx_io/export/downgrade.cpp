#include "onnx_io/export/downgrade.h"

#include <algorithm>
#include <cmath>

#include "ir/error.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

using Ints = std::vector<int64_t>;

const std::string& kGood = *new std::string;

bool has_input(const WrittenCall& call, size_t index) {
  return index < call.inputs.size() && call.inputs[index];
}

// Takes an input away that is constant; nullptr where it is none.
const Tensor* take_constant(WrittenCall& call, size_t index) {
  const Tensor* value = call.inputs[index]->constant.get();
  if (value) call.inputs[index] = nullptr;
  return value;
}

// An integer input becomes an attribute, which it can where it is a constant.
std::string ints_to_attribute(WrittenCall& call, size_t index, const std::string& name) {
  if (!has_input(call, index)) return kGood;
  const Tensor* value = take_constant(call, index);
  if (!value) return "input " + std::to_string(index) + " (" + name + ") must be a constant";
  call.attrs[name] = value->to_int64s();
  return kGood;
}

std::string float_to_attribute(WrittenCall& call, size_t index, const std::string& name) {
  if (!has_input(call, index)) return kGood;
  const Tensor* value = take_constant(call, index);
  if (!value || value->count() != 1 || value->dtype() == DType::kString) {
    return "input " + std::to_string(index) + " (" + name + ") must be a constant number";
  }
  call.attrs[name] = static_cast<float>(value->to_doubles()[0]);
  return kGood;
}

template <typename T>
T attribute_or(const WrittenCall& call, std::string_view name, T otherwise) {
  const auto found = call.attrs.find(name);
  if (found == call.attrs.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : otherwise;
}

std::string axes_to_attribute(WrittenCall& call, int64_t) {
  if (attribute_or(call, "noop_with_empty_axes", int64_t{0}) != 0) {
    if (!has_input(call, 1)) return "noop_with_empty_axes without axes";
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
  int64_t axis = attribute_or(call, "axis", int64_t{-1});
  if (axis < 0) axis += rank;
  for (int64_t i = axis + 1; i < rank; ++i) {
    if (!((*type.shape)[static_cast<size_t>(i)] == 1)) return "axis must be the last one";
  }
  call.attrs["axis"] = axis;
  return kGood;
}

std::string split_18(WrittenCall& call, int64_t) {
  const int64_t count = attribute_or(call, "num_outputs", int64_t{0});
  call.attrs.erase("num_outputs");
  if (count <= 1 || has_input(call, 1)) return kGood;
  const Type& type = call.inputs.at(0)->type;
  const int64_t axis = attribute_or(call, "axis", int64_t{0});
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
  if (has_input(call, 4)) {
    const Tensor* steps = take_constant(call, 4);
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

std::string pad_18(WrittenCall& call, int64_t) {
  return has_input(call, 3) ? "the input axes came with opset 18" : kGood;
}

std::string pad_19(WrittenCall& call, int64_t) {
  const bool wraps = attribute_or(call, "mode", std::string("constant")) == "wrap";
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

std::string topk_10(WrittenCall& call, int64_t) {
  if (std::string why = ints_to_attribute(call, 1, "k"); !why.empty()) return why;
  const Ints k = attribute_or(call, "k", Ints{});
  if (k.size() != 1) return "K must be one number";
  call.attrs["k"] = k[0];
  return kGood;
}

std::string dropout_12(WrittenCall& call, int64_t) {
  if (has_input(call, 2)) {
    const Tensor* training = take_constant(call, 2);
    if (!training || training->count() != 1 || training->to_int64s()[0] != 0)
      return "training_mode";
  }
  call.attrs.erase("seed");
  if (!has_input(call, 1)) return kGood;
  return float_to_attribute(call, 1, "ratio");
}

std::string grid_sample_20(WrittenCall& call, int64_t) {
  const std::string mode = attribute_or(call, "mode", std::string("linear"));
  call.attrs["mode"] = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
  const Type& type = call.inputs.at(0)->type;
  return type.has_rank() && type.rank() == 4 ? kGood : "its input must be of rank 4";
}

std::string dft_20(WrittenCall& call, int64_t) {
  int64_t axis = -2;
  if (has_input(call, 2)) {
    const Tensor* value = take_constant(call, 2);
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
      attribute_or(call, "coordinate_transformation_mode", std::string("half_pixel"));
  if (mode != "output_half_pixel") return "coordinate_transformation_mode half_pixel";
  call.attrs.erase("coordinate_transformation_mode");
  return kGood;
}

std::string gemm_11(WrittenCall& call, int64_t) {
  return has_input(call, 2) ? kGood : "its input C must be given";
}

std::string scatter_elements_11(WrittenCall& call, int64_t) {
  call.op = "Scatter";
  return kGood;
}

// What Resize did before its coordinates were an attribute.
std::string resize_11(WrittenCall& call, int64_t opset) {
  const std::string mode = attribute_or(call, "mode", std::string("nearest"));
  const std::string rounding =
      attribute_or(call, "nearest_mode", std::string("round_prefer_floor"));
  const bool asymmetric = attribute_or(call, "coordinate_transformation_mode",
                                       std::string("half_pixel")) == "asymmetric";
  if (!asymmetric || mode == "cubic" || !has_input(call, 2) ||
      (mode == "nearest" && rounding != "floor")) {
    return "only asymmetric coordinates, mode linear or nearest with floor, and scales";
  }
  const Tensor* scales = call.inputs[2]->constant.get();
  const std::vector<double> values = scales ? scales->to_doubles() : std::vector<double>{0};
  if (std::any_of(values.begin(), values.end(), [](double scale) { return scale < 1; })) {
    return "its scales must be constants of 1 or more";
  }
  call.attrs = {{"mode", mode}};
  call.inputs = {call.inputs[0], call.inputs[2]};
  if (opset >= 10) return kGood;
  call.op = "Upsample";
  if (opset >= 9) return kGood;
  call.attrs["scales"] = std::vector<float>(values.begin(), values.end());
  call.inputs.resize(1);
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
    {"LogSoftmax", 13, softmax_13},
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
    {"Resize", 11, resize_11},
    {"RoiAlign", 16, roi_align_16},
    {"Scan", 9, never},
    {"ScatterElements", 11, scatter_elements_11},
    {"Slice", 10, slice_10},
    {"Softmax", 13, softmax_13},
    {"Split", 18, split_18},
    {"Split", 13, split_13},
    {"Squeeze", 13, axes_to_attribute},
    {"TopK", 10, topk_10},
    {"Unsqueeze", 13, axes_to_attribute},
};

// Attributes that an op got after its first version. Those that hold their default are not written.
struct LateAttribute {
  std::string_view op, name;
  int since;
};
constexpr LateAttribute kLateAttributes[] = {
    {"ArgMax", "select_last_index", 12},
    {"ArgMin", "select_last_index", 12},
    {"AveragePool", "ceil_mode", 10},
    {"AveragePool", "dilations", 19},
    {"BatchNormalization", "training_mode", 14},
    {"Cast", "round_mode", 24},
    {"Cast", "saturate", 19},
    {"CastLike", "round_mode", 24},
    {"CastLike", "saturate", 19},
    {"Constant", "sparse_value", 11},
    {"Constant", "value_float", 12},
    {"Constant", "value_floats", 12},
    {"Constant", "value_int", 12},
    {"Constant", "value_ints", 12},
    {"Constant", "value_string", 12},
    {"Constant", "value_strings", 12},
    {"DepthToSpace", "mode", 11},
    {"DequantizeLinear", "axis", 13},
    {"DequantizeLinear", "block_size", 21},
    {"DequantizeLinear", "output_dtype", 23},
    {"GRU", "layout", 14},
    {"GatherND", "batch_dims", 12},
    {"LSTM", "layout", 14},
    {"LpPool", "ceil_mode", 18},
    {"LpPool", "dilations", 18},
    {"MaxPool", "ceil_mode", 10},
    {"MaxPool", "dilations", 10},
    {"MaxPool", "storage_order", 8},
    {"QuantizeLinear", "axis", 13},
    {"QuantizeLinear", "block_size", 21},
    {"QuantizeLinear", "output_dtype", 21},
    {"QuantizeLinear", "precision", 23},
    {"QuantizeLinear", "saturate", 19},
    {"RNN", "layout", 14},
    {"Range", "stash_type", 27},
    {"Reshape", "allowzero", 14},
    {"Resize", "antialias", 18},
    {"Resize", "axes", 18},
    {"Resize", "keep_aspect_ratio_policy", 18},
    {"ScatterElements", "reduction", 16},
    {"ScatterND", "reduction", 16},
    {"Shape", "end", 15},
    {"Shape", "start", 15},
    {"TopK", "largest", 11},
    {"TopK", "sorted", 11},
};

std::string late_attribute(const WrittenCall& call, int64_t opset) {
  for (const LateAttribute& late : kLateAttributes) {
    if (late.op == call.op && opset < late.since && call.attrs.contains(late.name)) {
      return text("attribute ", late.name, " came with opset ", late.since);
    }
  }
  return kGood;
}

}  // namespace

std::span<const DowngradeRule> downgrade_rules() {
  return kRules;
}

std::string downgrade(WrittenCall& call, int64_t opset) {
  if (std::string why = late_attribute(call, opset); !why.empty()) return why;
  const std::string op = call.op;
  for (const DowngradeRule& rule : kRules) {
    if (rule.op != op || opset >= rule.since) continue;
    if (std::string why = rule.downgrade(call, opset); !why.empty()) return why;
  }
  const std::optional<OpVersions> versions = versions_of("", call.op);
  const OpVersion version = versions ? version_in(*versions, opset) : OpVersion();
  if (version.since == 0) {
    return text(call.op, " came with opset ", versions ? versions->since.front() : 0);
  }
  return version.removed ? text(call.op, " was removed") : kGood;
}

}  // namespace sardonyx::onnx_export
