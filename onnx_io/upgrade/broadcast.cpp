// Operands before opset 7: they broadcast only where asked to, and along an axis that an attribute
// names.
#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

// `b` with dims of 1 appended, so that its first dim meets dim `axis` of `a`.
Val aligned(RawCall& call, const Val& a, const Val& b, int64_t axis) {
  Emitter& e = call.emitter;
  const std::optional<int64_t> b_rank = rank_of(call, b);
  const std::optional<int64_t> a_rank = rank_of(call, a);
  if (a_rank && b_rank) {
    if (axis < 0) axis += *a_rank;
    const int64_t missing = *a_rank - axis - *b_rank;
    if (axis < 0 || missing < 0) {
      fail(ErrorCode::kInvalidModel, "attribute axis of ", call.op, " is ", axis,
           ": an input of rank ", *b_rank, " does not fit one of rank ", *a_rank, " from there on");
    }
    if (missing == 0) return b;
    Ints axes;
    for (int64_t i = 0; i < missing; ++i)
      axes.push_back(*b_rank + i);
    return e.call("Unsqueeze", {b, e.int64s(axes)});
  }
  if (axis < 0) required_rank(call, a, "attribute axis counts from its end");
  const Val before = e.call("Add", {rank_value(call, b), e.int64s({axis})});
  const Val missing = e.call("Sub", {rank_value(call, a), before});
  const Val ones = e.call("Expand", {e.int64s({1}), missing});
  const Val shape =
      e.call_many("Concat", Vals{e.call("Shape", {b}), ones}, {{"axis", int64_t{0}}}, 1)[0];
  return e.call("Reshape", {b, shape});
}

}  // namespace

Upgraded broadcast_1(RawCall& call) {
  call.drop("consumed_inputs");
  const bool broadcasts = call.take_or("broadcast", int64_t{0}) != 0;
  const auto axis = call.take<int64_t>("axis");
  if (broadcasts && axis && call.has_input(0) && call.has_input(1)) {
    call.inputs[1] = aligned(call, call.inputs[0], call.inputs[1], *axis);
  }
  return edited();
}

// C was of the result's shape, or broadcast to it as it is today.
Upgraded gemm_1(RawCall& call) {
  call.drop("broadcast");
  return edited();
}

// A slope of one dim was one for each channel.
Upgraded prelu_1(RawCall& call) {
  call.drop("consumed_inputs");
  if (!call.has_input(0) || !call.has_input(1)) return edited();
  const Type slope = call.emitter.type(call.inputs[1]);
  const bool may_be_channels = slope.has_rank() && slope.rank() == 1 && !((*slope.shape)[0] == 1);
  if (!may_be_channels) return edited();
  const int64_t rank = required_rank(call, call.inputs[0], "its channels are dim 1");
  Ints axes;
  for (int64_t axis = 2; axis < rank; ++axis)
    axes.push_back(axis - 1);
  if (!axes.empty()) {
    call.inputs[1] = call.emitter.call("Unsqueeze", {call.inputs[1], call.emitter.int64s(axes)});
  }
  return edited();
}

}  // namespace sardonyx::upgrades
