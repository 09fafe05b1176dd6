// com.microsoft::CausalConvWithState: ONNX's, with dilation, states of several positions and
// channels in the last dims.
#include "ir/ops/attention/contrib_linear_attention.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {
namespace {

struct ContribCausalConvAttrs : CausalConvAttrs {
  int64_t channels_last = 0, dilation = 1, ndim = 1, state_window = 0;
  static auto fields() {
    using A = ContribCausalConvAttrs;
    return std::tuple_cat(
        CausalConvAttrs::fields(),
        std::tuple{field("channels_last", &A::channels_last), field("dilation", &A::dilation),
                   field("ndim", &A::ndim), field("state_window", &A::state_window)});
  }
};

void check_causal_conv(const ContribCausalConvAttrs& attrs) {
  if (attrs.ndim != 1) {
    fail(ErrorCode::kUnsupported, "attribute ndim: only 1 is supported, got ", attrs.ndim,
         " (the operator's documentation does not say what is beyond the other dims' edges)");
  }
  if (attrs.dilation < 1 || attrs.dilation >= int64_t{1} << 31) {
    fail(ErrorCode::kInvalidModel, "attribute dilation: expected 1 to 2^31 - 1, got ",
         attrs.dilation);
  }
  if (attrs.activation != "none" && attrs.activation != "silu" && attrs.activation != "swish") {
    fail(ErrorCode::kInvalidModel, "attribute activation: expected none, silu or swish, got '",
         attrs.activation, "'");
  }
  check_state_window(attrs.state_window);
}

// One call with tensors as [batch, channels, length], whatever the node's layout is.
class CausalConvBody {
 public:
  CausalConvBody(Emitter& e, const BodyCall& c)
      : e_(e), c_(c), attrs_(c.attrs<ContribCausalConvAttrs>()) {
    const size_t rank = input_rank(e, c.inputs[0], "input");
    const Dims weight = dims_of(e, c.inputs[1], "weight");
    const bool fits = is_last() ? rank >= 3 : rank == 3;
    if (!fits || weight.size() != 3 || (weight[2].is_known() && weight[2].value() < 1)) {
      fail(ErrorCode::kInvalidModel, "expected input [batch, ",
           is_last() ? "length, channels...]" : "channels, length]",
           " and weight [channels, 1, taps] of at least one tap, got ", e.type(c.inputs[0]),
           " and ", e.type(c.inputs[1]));
    }
    channels_ = dim_of(e, c.inputs[1], 0);
    const Val behind = call_folded(e, "Sub", {dim_of(e, c.inputs[1], 2), e.int64s({1})});
    kept_ = call_folded(e, "Mul", {behind, e.int64s({attrs_.dilation})});
  }

  Vals results() const {
    const Val x = as_image(c_.inputs[0]);
    const Val past = c_.has(3) ? as_image(last_slot(c_.inputs[3])) : Val();
    const bool is_onnx = attrs_.dilation == 1 && attrs_.state_window == 0;
    const Vals out = is_onnx ? onnx(x, past, c_.inputs[1]) : over_stream(x, past);
    const size_t leading = attrs_.state_window > 0 ? 1 : 0;
    return {in_layout(out[0], 0), in_layout(out[1], leading)};
  }

 private:
  bool is_last() const { return attrs_.channels_last != 0; }

  Val last_slot(const Val& past) const {
    if (attrs_.state_window == 0) return past;
    return e_.call("Gather",
                   {past, e_.scalar(DType::kInt64, static_cast<double>(attrs_.state_window - 1))});
  }

  // [batch, positions, channels...] -> [batch, channels, positions]
  Val as_image(const Val& x) const {
    if (!is_last()) return x;
    const Val flat =
        e_.call("Reshape", {x, joined_lists(e_, {dims_of(e_, x, int64_t{0}, 2), channels_})});
    return transpose(e_, flat, {0, 2, 1});
  }
  // And back, behind `leading` more dims.
  Val in_layout(const Val& y, size_t leading) const {
    if (!is_last()) return y;
    const auto first = static_cast<int64_t>(leading);
    std::vector<int64_t> permutation{first, first + 2, first + 1};
    if (leading > 0) permutation.insert(permutation.begin(), 0);
    const Val flat = transpose(e_, y, permutation);
    const Val shape = joined_lists(
        e_, {dims_of(e_, flat, int64_t{0}, first + 2), dims_of(e_, c_.inputs[0], int64_t{2})});
    return e_.call("Reshape", {flat, shape});
  }

  Vals onnx(const Val& x, const Val& past, const Val& weight) const {
    const Vals in{x, weight, c_.has(2) ? c_.inputs[2] : Val(), past};
    return e_.emit(op_named("CausalConvWithState"), in,
                   Attrs(static_cast<const CausalConvAttrs&>(attrs_)), 2);
  }

  // The weight with zeros between its taps.
  Val spread_weight() const {
    const Val& weight = c_.inputs[1];
    if (attrs_.dilation == 1) return weight;
    const int64_t zeros = attrs_.dilation - 1;
    const Val apart =
        e_.call("Pad", {unsqueeze(e_, weight, {3}), e_.int64s({0, 0, 0, 0, 0, 0, 0, zeros})});
    const Val behind =
        call_folded(e_, "Mul", {dim_of(e_, weight, 2), e_.int64s({attrs_.dilation})});
    const Val all =
        e_.call("Reshape", {apart, joined_lists(e_, {channels_, e_.int64s({1}), behind})});
    return slice(e_, all, e_.int64s({0}), call_folded(e_, "Add", {kept_, e_.int64s({1})}), 2);
  }

  Val convolved(const Val& stream, const Val& x, const Val& past) const {
    const Dim channels = dims_of(e_, c_.inputs[1], "weight")[0];
    if (!channels.is_known()) return onnx(x, past, spread_weight())[0];
    ConvAttrs conv{.dilations = std::vector<int64_t>{attrs_.dilation}, .group = channels.value()};
    const Vals in{stream, c_.inputs[1], c_.has(2) ? c_.inputs[2] : Val()};
    const Val y = e_.emit(op_named("Conv"), in, Attrs(std::move(conv)), 1)[0];
    return attrs_.activation == "none" ? y : e_.call("Mul", {y, e_.call("Sigmoid", {y})});
  }

  // A convolution of the past and the input, one after the other; states are parts of that.
  Vals over_stream(const Val& x, const Val& past) const {
    const Val begin = past ? past : nothing_before(x);
    const Val stream = e_.call("Concat", {begin, x}, {{"axis", int64_t{2}}});
    const Val y = convolved(stream, x, begin), length = dim_of(e_, x, 2);
    if (attrs_.state_window == 0) return {y, state_behind(stream, length)};
    Vals states;
    for (int64_t left = attrs_.state_window - 1; left >= 0; --left) {
      const Val positions = call_folded(e_, "Sub", {length, e_.int64s({left})});
      states.push_back(state_behind(stream, call_folded(e_, "Max", {positions, e_.int64s({0})})));
    }
    return {y, state_window_of(e_, states, length)};
  }

  Val nothing_before(const Val& x) const {
    return e_.call(
        "Expand", {e_.scalar_like(x, 0), joined_lists(e_, {dims_of(e_, x, int64_t{0}, 2), kept_})});
  }
  Val state_behind(const Val& stream, const Val& positions) const {
    return slice(e_, stream, positions, call_folded(e_, "Add", {positions, kept_}), 2);
  }

  Emitter& e_;
  const BodyCall& c_;
  const ContribCausalConvAttrs& attrs_;
  Val channels_, kept_;  // int64 [1]: all of them, and the length of a state
};

Vals contrib_causal_conv(Emitter& e, const BodyCall& c) {
  check_causal_conv(c.attrs<ContribCausalConvAttrs>());
  return CausalConvBody(e, c).results();
}

std::vector<Sample> contrib_causal_conv_samples() {
  const SampleInput weight{.shape = {3, 1, 3}}, bias{.shape = {3}}, none{.omitted = true};
  return {{.inputs = {{{2, 3, 4}}, weight, bias, {{2, 3, 2}}},
           .attrs = {{"activation", std::string("swish")}},
           .outputs = 2},
          {.inputs = {{{2, 3, 4}}, weight, bias, {{2, 3, 4}}},
           .attrs = {{"activation", std::string("silu")}, {"dilation", int64_t{2}}},
           .outputs = 2},
          {.inputs = {{{2, 2, 3}}, weight, none, {{3, 2, 2, 3}}},
           .attrs = {{"channels_last", int64_t{1}}, {"state_window", int64_t{3}}},
           .outputs = 2},
          {.inputs = {{{1, 4, 3, 2}}, {{6, 1, 2}}},
           .attrs = {{"channels_last", int64_t{1}}, {"dilation", int64_t{3}}},
           .outputs = 2}};
}

const OpDef kContribStreamOps[] = {
    {.name = "CausalConvWithState",
     .doc = "ONNX's CausalConvWithState, with dilation, channels in the last dims, and the state "
            "of some of the last positions, where attributes ask for them.",
     .domain = kMicrosoft,
     .signature =
         "(input: T, weight: T, bias?: T, past_state?: T) -> (output: T, present_state: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}}},
     .attrs = attr_schema<ContribCausalConvAttrs>(),
     .infer = infer_by_body,
     .body = contrib_causal_conv,
     .samples = contrib_causal_conv_samples},
};

}  // namespace

std::span<const OpDef> contrib_stream_ops() {
  return kContribStreamOps;
}

}  // namespace sardonyx::ops
