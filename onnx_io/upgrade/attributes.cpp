// Attributes that became inputs, were dropped, or changed their kind or default.
#include <cmath>
#include <limits>

#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();

// A scalar of the input's type; values beyond it mean no bound.
Val bound(RawCall& call, float value) {
  const DType dtype = call.emitter.type(call.input(0)).dtype;
  constexpr float kLargestHalf = 65504;
  if (dtype == DType::kFloat16 && std::abs(value) > kLargestHalf) return {};
  return call.emitter.scalar(dtype, value);
}

}  // namespace

std::optional<int64_t> rank_of(const RawCall& call, const Val& val) {
  const Type type = call.emitter.type(val);
  return type.has_rank() ? std::optional(static_cast<int64_t>(type.rank())) : std::nullopt;
}

int64_t required_rank(const RawCall& call, const Val& val, std::string_view why) {
  const std::optional<int64_t> rank = rank_of(call, val);
  if (!rank) {
    fail(ErrorCode::kUnsupported, call.op, " of version ", call.version,
         " over an input of unknown rank: ", why, "; declare the shape of the input");
  }
  return *rank;
}

Val rank_value(RawCall& call, const Val& val) {
  if (const std::optional<int64_t> rank = rank_of(call, val)) return call.emitter.int64s({*rank});
  return call.emitter.call("Shape", {call.emitter.call("Shape", {val})});
}

Val floats(RawCall& call, const Floats& values) {
  return call.emitter.constant(Tensor::vector(values));
}

Val floats_like(RawCall& call, const Floats& values, const Val& like) {
  const DType dtype = call.emitter.type(like).dtype;
  const Val made = floats(call, values);
  return dtype == DType::kFloat
             ? made
             : call.emitter.call("Cast", {made}, {{"to", static_cast<int64_t>(dtype)}});
}

Val per_channel(RawCall& call, const Floats& values, const Val& like, int64_t rank) {
  Ints shape(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  shape[0] = static_cast<int64_t>(values.size());
  return call.emitter.call("Reshape",
                           {floats_like(call, values, like), call.emitter.int64s(shape)});
}

Upgraded drop_consumed_inputs(RawCall& call) {
  call.drop("consumed_inputs");
  return edited();
}

Upgraded axes_to_input(RawCall& call) {
  if (const auto axes = call.take<Ints>("axes")) call.set_input(1, call.emitter.int64s(*axes));
  return edited();
}

Upgraded slice_1(RawCall& call) {
  const auto starts = call.take<Ints>("starts"), ends = call.take<Ints>("ends");
  if (!starts || !ends) {
    fail(ErrorCode::kInvalidModel, "attributes starts and ends of Slice are required");
  }
  call.set_input(1, call.emitter.int64s(*starts));
  call.set_input(2, call.emitter.int64s(*ends));
  if (const auto axes = call.take<Ints>("axes")) call.set_input(3, call.emitter.int64s(*axes));
  return edited();
}

Upgraded split_1(RawCall& call) {
  // The lengths may be an input of the data's type.
  if (!call.has_input(1)) return edited();
  call.inputs[1] =
      call.emitter.call("Cast", {call.inputs[1]}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  call.drop("split");
  return edited();
}

Upgraded split_attribute(RawCall& call) {
  if (const auto lengths = call.take<Ints>("split")) {
    call.set_input(1, call.emitter.int64s(*lengths));
  }
  return edited();
}

Upgraded split_count(RawCall& call) {
  if (!call.has_input(1)) call.attrs["num_outputs"] = static_cast<int64_t>(call.outputs);
  return edited();
}

Upgraded pad_1(RawCall& call) {
  if (auto paddings = call.take<Ints>("paddings")) call.attrs["pads"] = std::move(*paddings);
  return edited();
}

Upgraded pad_2(RawCall& call) {
  const auto pads = call.take<Ints>("pads");
  if (!pads) fail(ErrorCode::kInvalidModel, "attribute pads of Pad is required");
  const float value = call.take_or("value", 0.0f);
  call.set_input(1, call.emitter.int64s(*pads));
  if (value != 0) call.set_input(2, call.emitter.scalar_like(call.input(0), value));
  return edited();
}

// Clip 1, whose bounds are attributes: one that is not given does not bound.
Upgraded clip_1(RawCall& call) {
  call.drop("consumed_inputs");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  call.attrs.try_emplace("min", -kInfinity);
  call.attrs.try_emplace("max", kInfinity);
  return edited();
}

Upgraded clip_6(RawCall& call) {
  const float low = call.take_or("min", -kLargestFloat), high = call.take_or("max", kLargestFloat);
  if (const Val min = bound(call, low); min && low != -INFINITY) call.set_input(1, min);
  if (const Val max = bound(call, high); max && high != INFINITY) call.set_input(2, max);
  return edited();
}

Upgraded topk_1(RawCall& call) {
  const auto k = call.take<int64_t>("k");
  if (!k) fail(ErrorCode::kInvalidModel, "attribute k of TopK is required");
  call.set_input(1, call.emitter.int64s({*k}));
  return edited();
}

// Copies along one axis: repeats are 1 but for that axis.
Upgraded tile_1(RawCall& call) {
  if (!call.has_input(1) || !call.has_input(2)) {
    fail(ErrorCode::kInvalidModel, "Tile of the first opset takes the inputs tiles and axis");
  }
  Emitter& e = call.emitter;
  const auto as_vector = [&](const Val& val) {
    const Val flat = e.call("Reshape", {val, e.int64s({1})});
    return e.call("Cast", {flat}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  };
  const Val one = e.int64s({1});
  const Val values =
      e.call_many("Concat", Vals{one, as_vector(call.inputs[1])}, {{"axis", int64_t{0}}}, 1)[0];
  const Val rank = rank_value(call, call.inputs[0]);
  const Val repeats = e.call("OneHot", {as_vector(call.inputs[2]), rank, values});
  call.inputs = {call.inputs[0], e.call("Reshape", {repeats, e.int64s({-1})})};
  return edited();
}

Upgraded reshape_1(RawCall& call) {
  call.drop("consumed_inputs");
  const auto shape = call.take<Ints>("shape");
  if (!shape) fail(ErrorCode::kInvalidModel, "attribute shape of Reshape is required");
  call.set_input(1, call.emitter.int64s(*shape));
  return edited();
}

Upgraded concat_1(RawCall& call) {
  call.attrs.try_emplace("axis", int64_t{1});
  return edited();
}

// The element type was written as its name in TensorProto.
Upgraded cast_1(RawCall& call) {
  auto name = call.take<std::string>("to");
  if (!name) fail(ErrorCode::kInvalidModel, "attribute to of Cast is required");
  for (char& c : *name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const DType dtype = dtype_named(*name);
  if (dtype == DType::kUndefined) {
    fail(ErrorCode::kInvalidModel, "attribute to of Cast: there is no element type \"", *name,
         "\"");
  }
  call.attrs["to"] = static_cast<int64_t>(dtype);
  return edited();
}

Upgraded float_p_to_int(RawCall& call) {
  const float p = call.take_or("p", 2.0f);
  if (p != std::trunc(p) || std::abs(p) > 1e6f) {
    fail(ErrorCode::kUnsupported, "attribute p of ", call.op, " is ", p,
         "; only whole numbers are supported");
  }
  call.attrs["p"] = static_cast<int64_t>(p);
  return edited();
}

Upgraded selu_1(RawCall& call) {
  call.drop("consumed_inputs");
  call.attrs.try_emplace("alpha", 1.6732f);
  call.attrs.try_emplace("gamma", 1.0507f);
  return edited();
}

Upgraded dft_17(RawCall& call) {
  const int64_t axis = call.take_or("axis", int64_t{1});
  call.set_input(2, call.emitter.constant(Tensor::scalar(axis)));
  return edited();
}

Upgraded grid_sample_16(RawCall& call) {
  const std::string mode = call.take_or("mode", std::string("bilinear"));
  call.attrs["mode"] = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  return edited();
}

Upgraded roi_align_10(RawCall& call) {
  call.attrs["coordinate_transformation_mode"] = std::string("output_half_pixel");
  return edited();
}

// Negative indices were out of range, and so were off everywhere; later they count from the end.
Upgraded one_hot_9(RawCall& call) {
  if (!call.has_input(0) || !call.has_input(1)) return edited();
  Emitter& e = call.emitter;
  const Val indices = call.inputs[0];
  const DType dtype = e.type(indices).dtype;
  if (!is_signed_integer(dtype) && !is_floating(dtype)) return edited();
  if (const std::optional<Tensor> known = e.constant_value(indices)) {
    bool is_negative = false;
    for (const double value : known->to_doubles())
      is_negative |= value < 0;
    if (!is_negative) return edited();
  }
  const Val depth = e.call("Reshape", {call.inputs[1], e.int64s({1})});
  const Val outside = e.call("Cast", {depth}, {{"to", static_cast<int64_t>(dtype)}});
  const Val is_negative = e.call("Less", {indices, e.scalar(dtype, 0)});
  const Val flat = e.call("Where", {is_negative, outside, indices});
  call.inputs[0] = e.call("Reshape", {flat, e.call("Shape", {indices})});
  return edited();
}

Upgraded scatter_9(RawCall& call) {
  call.op = "ScatterElements";
  call.version = 11;
  return edited();
}

// Whether the whole sequence is an output is told by the outputs that the node names.
Upgraded recurrent_1(RawCall& call) {
  call.drop("output_sequence");
  // GRU's own default was spelt so.
  if (const auto found = call.attrs.find("direction"); found != call.attrs.end()) {
    if (found->second == AttrValue(std::string("foward"))) found->second = std::string("forward");
  }
  return edited();
}

}  // namespace sardonyx::upgrades
