// Operators of 2017 and 2018 that never became stable, in today's operators.
#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

// The shape that ConstantFill and GivenTensorFill ask for.
Val filled_shape(RawCall& call) {
  Emitter& e = call.emitter;
  const auto shape = call.take<Ints>("shape");
  const Ints extra = call.take_or("extra_shape", Ints{});
  const bool is_shape = call.take_or("input_as_shape", int64_t{0}) != 0;
  if (!call.has_input(0)) return e.int64s(shape.value_or(Ints{}));
  const Val given =
      is_shape ? e.call("Cast", {call.inputs[0]}, {{"to", static_cast<int64_t>(DType::kInt64)}})
               : e.call("Shape", {call.inputs[0]});
  if (extra.empty()) return given;
  return e.call_many("Concat", Vals{given, e.int64s(extra)}, {{"axis", int64_t{0}}}, 1)[0];
}

}  // namespace

Upgraded affine(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  const Val scaled = e.call("Mul", {x, e.scalar_like(x, call.take_or("alpha", 1.0f))});
  return Vals{e.call("Add", {scaled, e.scalar_like(x, call.take_or("beta", 0.0f))})};
}

Upgraded constant_fill(RawCall& call) {
  Emitter& e = call.emitter;
  const int64_t number = call.take_or("dtype", static_cast<int64_t>(DType::kFloat));
  const Val value = e.constant(Tensor::scalar(call.take_or("value", 0.0f)));
  const Val cast = e.call("Cast", {value}, {{"to", number}});
  return Vals{e.call("Expand", {cast, filled_shape(call)})};
}

Upgraded given_tensor_fill(RawCall& call) {
  const Val values = floats(call, call.take_or("values", Floats{}));
  return Vals{call.emitter.call("Reshape", {values, filled_shape(call)})};
}

// Over (N, C, H, W): border is (left, top, right, bottom); scale, where given, the height and width
// that stay.
Upgraded crop(RawCall& call) {
  Emitter& e = call.emitter;
  const auto border = call.take<Ints>("border");
  const auto scale = call.take<Ints>("scale");
  if (!border || border->size() != 4) {
    fail(ErrorCode::kInvalidModel, "attribute border of Crop needs 4 elements");
  }
  if (scale && scale->size() != 2) {
    fail(ErrorCode::kInvalidModel, "attribute scale of Crop needs 2 elements");
  }
  const int64_t left = (*border)[0], top = (*border)[1];
  const Val starts = e.int64s({top, left});
  const Val axes = e.int64s({2, 3});
  if (scale) {
    const Val ends = e.call("Add", {starts, e.int64s(*scale)});
    return Vals{e.call("Slice", {call.input(0), starts, ends, axes})};
  }
  const Val size = e.call("Shape", {call.input(0)}, {{"start", int64_t{2}}, {"end", int64_t{4}}});
  const Val ends = e.call("Sub", {size, e.int64s({(*border)[3], (*border)[2]})});
  return Vals{e.call("Slice", {call.inputs[0], starts, ends, axes})};
}

Upgraded dynamic_slice(RawCall& call) {
  call.op = "Slice";
  call.version = 10;
  return edited();
}

Upgraded image_scaler(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  const Val scaled = e.call("Mul", {x, e.scalar_like(x, call.take_or("scale", 1.0f))});
  const Floats bias = call.take_or("bias", Floats{});
  if (bias.empty()) return Vals{scaled};
  return Vals{e.call("Add", {scaled, per_channel(call, bias, x, 4)})};
}

// alpha * ln(exp(beta * x) + 1)
Upgraded parametric_softplus(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  const Val inner = e.call("Mul", {x, e.scalar_like(x, call.take_or("beta", 1.0f))});
  const Val alpha = e.scalar_like(x, call.take_or("alpha", 1.0f));
  return Vals{e.call("Mul", {e.call("Softplus", {inner}), alpha})};
}

Upgraded scale(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  return Vals{e.call("Mul", {x, e.scalar_like(x, call.take_or("scale", 1.0f))})};
}

// alpha * tanh(beta * x)
Upgraded scaled_tanh(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  const Val inner = e.call("Mul", {x, e.scalar_like(x, call.take_or("beta", 1.0f))});
  const Val alpha = e.scalar_like(x, call.take_or("alpha", 1.0f));
  return Vals{e.call("Mul", {e.call("Tanh", {inner}), alpha})};
}

Upgraded not_supported(RawCall& call) {
  fail(ErrorCode::kUnsupported, "the experimental operator ", call.op, " is not supported");
}

}  // namespace sardonyx::upgrades
