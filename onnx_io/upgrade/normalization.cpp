#include "ir/core/error.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

Val cast(RawCall& call, const Val& val, DType dtype) {
  return call.emitter.call("Cast", {val}, {{"to", static_cast<int64_t>(dtype)}});
}

// Normalising over [axis, rank) is normalising over `axis` alone where all other dims of these
// are 1.
bool spans_one_dim(const Type& type, int64_t axis) {
  const auto first = static_cast<size_t>(axis);
  for (size_t i = first + 1; i < type.rank(); ++i) {
    if (!((*type.shape)[i] == 1)) return false;
  }
  return first < type.rank();
}

// The statistics of a batch: mean and variance over all dims but the channels.
std::pair<Val, Val> batch_statistics(RawCall& call, const Val& x) {
  Emitter& e = call.emitter;
  const int64_t rank = required_rank(call, x, "the saved statistics are outputs");
  Ints axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  const Val over = e.int64s(axes);
  const Val kept = e.call("ReduceMean", {x, over});
  const Val difference = e.call("Sub", {x, kept});
  const Val squared = e.call("Mul", {difference, difference});
  const AttrMap drops{{"keepdims", int64_t{0}}};
  return {e.call("ReduceMean", {x, over}, drops), e.call("ReduceMean", {squared, over}, drops)};
}

// Y, mean, var, saved_mean, saved_var of the forms before opset 14.
Vals batch_normalization(RawCall& call, const Vals& inputs) {
  call.input(0);  // is there
  AttrMap attrs = call.attrs;
  const bool trains = call.outputs > 1;
  attrs["training_mode"] = int64_t{trains};
  Vals results =
      call.emitter.call_many("BatchNormalization", inputs, attrs, trains ? size_t{3} : size_t{1});
  if (call.outputs > 3) {
    const auto [mean, variance] = batch_statistics(call, inputs[0]);
    results.push_back(mean);
    results.push_back(variance);
  }
  return results;
}

}  // namespace

Upgraded flattening_softmax(RawCall& call) {
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  int64_t axis = call.take_or("axis", int64_t{1});
  const Type type = e.type(x);
  if (type.has_rank()) {
    const auto rank = static_cast<int64_t>(type.rank());
    if (axis < -rank || axis > rank) {
      fail(ErrorCode::kInvalidModel, "attribute axis of ", call.op, " is ", axis,
           ", out of range for rank ", rank);
    }
    if (axis < 0) axis += rank;
    if (axis < rank && spans_one_dim(type, axis)) {
      call.attrs["axis"] = axis;
      return edited();
    }
  }
  const Val flat = e.call("Flatten", {x}, {{"axis", axis}});
  const Val result = e.call(call.op, {flat}, {{"axis", int64_t{-1}}});
  return Vals{e.call("Reshape", {result, e.call("Shape", {x})}, {{"allowzero", int64_t{1}}})};
}

// Statistics of the batch are used only by nodes that have them as outputs.
Upgraded batch_normalization_1(RawCall& call) {
  call.drop("consumed_inputs");
  if (call.take_or("is_test", int64_t{0}) != 0 && call.outputs > 1) {
    fail(ErrorCode::kInvalidModel, "BatchNormalization with is_test has one output, got ",
         call.outputs);
  }
  return edited();
}

Upgraded batch_normalization_7(RawCall& call) {
  if (call.take_or("spatial", int64_t{1}) != 0) return edited();
  // Each activation has statistics of its own: every one is a channel.
  Emitter& e = call.emitter;
  if (call.inputs.size() != 5) fail(ErrorCode::kInvalidModel, "BatchNormalization takes 5 inputs");
  Vals inputs{e.call("Flatten", {call.inputs[0]}, {{"axis", int64_t{1}}})};
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    inputs.push_back(e.call("Reshape", {call.inputs[i], e.int64s({-1})}));
  }
  Vals results = batch_normalization(call, inputs);
  const Val shape = e.call("Shape", {call.inputs[0]});
  const Val statistics_shape = e.call("Shape", {call.inputs[1]});
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = e.call("Reshape", {results[i], i == 0 ? shape : statistics_shape},
                        {{"allowzero", int64_t{1}}});
  }
  return results;
}

Upgraded batch_normalization_9(RawCall& call) {
  if (call.outputs == 1) return edited();
  return batch_normalization(call, call.inputs);
}

// Scale and bias were one for each group, not for each channel.
Upgraded group_normalization_18(RawCall& call) {
  const auto found = call.attrs.find("num_groups");
  const int64_t* groups =
      found == call.attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  if (!groups || *groups < 1) {
    fail(ErrorCode::kInvalidModel, "attribute num_groups of GroupNormalization must be positive");
  }
  if (call.inputs.size() != 3) fail(ErrorCode::kInvalidModel, "GroupNormalization takes 3 inputs");
  Emitter& e = call.emitter;
  const Val channels =
      e.call("Shape", {call.inputs[0]}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const Val per_group = e.call("Div", {channels, e.int64s({*groups})});
  const Val shape =
      e.call_many("Concat", Vals{e.int64s({*groups}), per_group}, {{"axis", int64_t{0}}}, 1)[0];
  for (size_t i = 1; i < 3; ++i) {
    const Val column = e.call("Reshape", {call.inputs[i], e.int64s({*groups, 1})});
    call.inputs[i] = e.call("Reshape", {e.call("Expand", {column, shape}), e.int64s({-1})});
  }
  return edited();
}

// Over N, H and W of (N, C, H, W), as ONNX Runtime has it and the later form by default:
// across_channels takes the channels into the mean, normalize_variance divides by the deviation.
Upgraded mean_variance_normalization_1(RawCall& call) {
  Emitter& e = call.emitter;
  const bool across = call.take_or("across_channels", int64_t{0}) != 0;
  const bool divides = call.take_or("normalize_variance", int64_t{1}) != 0;
  const Val x = call.input(0);
  const int64_t rank = required_rank(call, x, "the mean is over its dims");
  Ints axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != 1 || across) axes.push_back(axis);
  }
  const Val over = e.int64s(axes);
  const Val centered = e.call("Sub", {x, e.call("ReduceMean", {x, over})});
  if (!divides) return Vals{centered};
  const Val variance = e.call("ReduceMean", {e.call("Mul", {centered, centered}), over});
  const Val deviation = e.call("Sqrt", {variance});
  return Vals{e.call("Div", {centered, e.call("Add", {deviation, e.scalar_like(x, 1e-9)})})};
}

// Drops unless is_test says that the model is being tested.
Upgraded dropout_1(RawCall& call) {
  call.drop("consumed_inputs");
  if (call.take_or("is_test", int64_t{0}) != 0) return edited();
  Emitter& e = call.emitter;
  const Val x = call.input(0);
  const Val ratio = e.constant(Tensor::scalar(call.take_or("ratio", 0.5f)));
  const Val training = e.constant(Tensor::scalar(true));
  Vals results = e.call_many("Dropout", Vals{x, ratio, training}, {}, call.outputs);
  if (results.size() > 1) results[1] = cast(call, results[1], e.type(x).dtype);
  return results;
}

// The mask had the type of the data.
Upgraded dropout_7(RawCall& call) {
  if (call.outputs == 1) return edited();
  call.drop("ratio");
  Vals results = call.emitter.call_many("Dropout", call.inputs, {}, 2);
  results[1] = cast(call, results[1], call.emitter.type(call.input(0)).dtype);
  return results;
}

// Only inference was left: the ratio means nothing.
Upgraded dropout_10(RawCall& call) {
  call.drop("ratio");
  return edited();
}

}  // namespace sardonyx::upgrades
