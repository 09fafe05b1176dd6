// Resize and its predecessor before the coordinates were an attribute: output x is at input x /
// scale.
#include <algorithm>

#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

AttrMap resize_attributes(const std::string& mode, std::string_view rounding) {
  AttrMap attrs{{"mode", mode}, {"coordinate_transformation_mode", std::string("asymmetric")}};
  if (mode == "nearest") attrs["nearest_mode"] = std::string(rounding);
  return attrs;
}

Val resized(RawCall& call, const Val& x, const Val& scales, const std::string& mode,
            std::string_view rounding) {
  return call.emitter.call("Resize", {x, Val(), scales}, resize_attributes(mode, rounding));
}

std::string mode_of(RawCall& call) {
  const std::string mode = call.take_or("mode", std::string("nearest"));
  return mode == "bilinear" || mode == "trilinear" ? "linear" : mode;
}

}  // namespace

Upgraded upsample_1(RawCall& call) {
  const auto width = call.take<float>("width_scale"), height = call.take<float>("height_scale");
  if (!width || !height) {
    fail(ErrorCode::kInvalidModel,
         "attributes width_scale and height_scale of Upsample are required");
  }
  call.attrs["scales"] = Floats{1, 1, *height, *width};
  return edited();
}

Upgraded upsample_7(RawCall& call) {
  const auto scales = call.take<Floats>("scales");
  if (!scales) fail(ErrorCode::kInvalidModel, "attribute scales of Upsample is required");
  call.set_input(1, floats(call, *scales));
  return edited();
}

Upgraded upsample_9(RawCall& call) {
  if (!call.has_input(0) || !call.has_input(1)) {
    fail(ErrorCode::kInvalidModel, "Upsample takes the inputs X and scales");
  }
  return Vals{resized(call, call.inputs[0], call.inputs[1], mode_of(call), "floor")};
}

// The nearest pixel was that before when growing, that after when shrinking: two steps where both
// may happen.
Upgraded resize_10(RawCall& call) {
  if (!call.has_input(0) || !call.has_input(1)) {
    fail(ErrorCode::kInvalidModel, "Resize takes the inputs X and scales");
  }
  Emitter& e = call.emitter;
  const Val x = call.inputs[0], scales = call.inputs[1];
  const std::string mode = mode_of(call);
  if (mode != "nearest") return Vals{resized(call, x, scales, mode, "")};
  if (const std::optional<Tensor> known = e.constant_value(scales)) {
    const std::vector<double> values = known->to_doubles();
    const bool grows = std::any_of(values.begin(), values.end(), [](double s) { return s > 1; });
    const bool shrinks = std::any_of(values.begin(), values.end(), [](double s) { return s < 1; });
    if (!shrinks) return Vals{resized(call, x, scales, mode, "floor")};
    if (!grows) return Vals{resized(call, x, scales, mode, "ceil")};
  }
  const Val one = e.constant(Tensor::scalar(1.0f));
  const Val grown = resized(call, x, e.call("Max", {scales, one}), mode, "floor");
  return Vals{resized(call, grown, e.call("Min", {scales, one}), mode, "ceil")};
}

}  // namespace sardonyx::upgrades
