// Resize: the operator whose inputs and attributes changed with nearly every version.
#include <algorithm>

#include "ir/core/error.h"
#include "onnx_io/export/written_call.h"

namespace sardonyx::onnx_export {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;

Tensor no_floats() {
  return Tensor::zeros(DType::kFloat, {0});
}

// Whether some size or scale is there; an empty constant stands for none.
bool is_given(const WrittenCall& call, size_t index) {
  if (!call.has_input(index)) return false;
  const Tensor* value = call.inputs[index]->constant.get();
  return !value || value->count() > 0;
}

// Numbers for the chosen axes only, as numbers for all of them.
template <typename T>
std::string spread(WrittenCall& call, size_t index, const char* name,
                   const std::vector<int64_t>& axes, std::vector<T> all) {
  const Tensor* value = call.inputs[index]->constant.get();
  if (!value) return text("input ", name, " for some axes must be a constant");
  const std::vector<double> some = value->to_doubles();
  if (some.size() != axes.size()) return text("input ", name, " must have a number for each axis");
  for (size_t i = 0; i < axes.size(); ++i)
    all[static_cast<size_t>(axes[i])] = static_cast<T>(some[i]);
  call.set_constant(index, name, Tensor::vector<T>(all));
  return "";
}

std::string sizes_for_all(WrittenCall& call, const std::vector<int64_t>& axes) {
  std::vector<int64_t> all;
  const Dims& shape = *call.inputs[0]->type.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_chosen = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
    if (!is_chosen && !shape[i].is_known())
      return text("the size of axis ", i, ", which is not resized, must be known");
    all.push_back(is_chosen ? 0 : shape[i].value());
  }
  return spread(call, kSizes, "sizes", axes, std::move(all));
}

// The scales that make the wanted sizes exactly; an empty list where there are none.
std::vector<float> exact_scales(const WrittenCall& call) {
  const Tensor* sizes = call.inputs[kSizes]->constant.get();
  const std::optional<Shape> from = call.inputs[0]->type.known_shape();
  if (!sizes || !from) return {};
  const std::vector<int64_t> to = sizes->to_int64s();
  std::vector<float> scales;
  for (size_t i = 0; i < to.size() && i < from->size(); ++i) {
    if ((*from)[i] <= 0 || to[i] % (*from)[i] != 0) return {};
    scales.push_back(static_cast<float>(to[i] / (*from)[i]));
  }
  return scales;
}

}  // namespace

std::string resize_19(WrittenCall& call, int64_t) {
  const bool is_symmetric =
      call.attribute_or("coordinate_transformation_mode", std::string()) == "half_pixel_symmetric";
  return is_symmetric ? "coordinate_transformation_mode half_pixel_symmetric came with opset 19"
                      : "";
}

std::string resize_18(WrittenCall& call, int64_t) {
  for (const char* late : {"antialias", "keep_aspect_ratio_policy"}) {
    if (call.attrs.contains(late)) return text("attribute ", late, " came with opset 18");
  }
  const auto found = call.attrs.find("axes");
  if (found == call.attrs.end()) return "";
  const Type& type = call.inputs[0]->type;
  if (!type.has_rank()) return "the rank of its input must be known";
  std::vector<int64_t> axes = std::get<std::vector<int64_t>>(found->second);
  for (int64_t& axis : axes)
    axis += axis < 0 ? static_cast<int64_t>(type.rank()) : 0;
  call.attrs.erase(found);
  if (is_given(call, kRoi)) return "input roi for some axes came with opset 18";
  if (is_given(call, kSizes)) return sizes_for_all(call, axes);
  return spread(call, kScales, "scales", axes, std::vector<float>(type.rank(), 1.0f));
}

std::string resize_13(WrittenCall& call, int64_t) {
  if (!call.has_input(kRoi)) call.set_constant(kRoi, "roi", no_floats());
  if (!call.has_input(kScales)) call.set_constant(kScales, "scales", no_floats());
  return "";
}

// Resize before its coordinates were an attribute.
std::string resize_11(WrittenCall& call, int64_t opset) {
  const std::string mode = call.attribute_or("mode", std::string("nearest"));
  const std::string rounding = call.attribute_or("nearest_mode", std::string("round_prefer_floor"));
  const bool asymmetric = call.attribute_or("coordinate_transformation_mode",
                                            std::string("half_pixel")) == "asymmetric";
  if (is_given(call, kSizes)) {
    if (std::vector<float> scales = exact_scales(call); !scales.empty())
      call.set_constant(kScales, "scales", Tensor::vector<float>(scales));
  }
  if (!asymmetric || mode == "cubic" || !is_given(call, kScales) ||
      (mode == "nearest" && rounding != "floor")) {
    return "only asymmetric coordinates, mode linear or nearest with floor, and scales";
  }
  const Tensor* scales = call.inputs[kScales]->constant.get();
  const std::vector<double> values = scales ? scales->to_doubles() : std::vector<double>{0};
  if (std::any_of(values.begin(), values.end(), [](double scale) { return scale < 1; })) {
    return "its scales must be constants of 1 or more";
  }
  call.attrs = {{"mode", mode}};
  call.inputs = {call.inputs[0], call.inputs[kScales]};
  if (opset >= 10) return "";
  call.op = "Upsample";
  if (opset >= 9) return "";
  call.attrs["scales"] = std::vector<float>(values.begin(), values.end());
  call.inputs.resize(1);
  return "";
}

}  // namespace sardonyx::onnx_export
