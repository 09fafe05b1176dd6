#include "ir/ops/moe/mixture_of_experts.h"

#include <algorithm>
#include <array>

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/quantization/blockwise_checks.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kExpertFloats{DType::kFloat, DType::kFloat16, DType::kBFloat16};
// float8e8m0 and the scales of other quantisations, so that those are refused by their names.
constexpr DTypeSet kExpertScales =
    kExpertFloats | DTypeSet{DType::kFloat8E8M0, DType::kFloat8E4M3FN};

void check_mixture_attributes(InferContext& c, const MoEAttrs& attrs) {
  c.require(attrs.k >= 1, "attribute k: expected at least 1, got ", attrs.k);
  c.require(!attrs.use_sparse_mixer || attrs.k == 2,
            "attribute use_sparse_mixer: SparseMixer chooses two experts: expected k 2, got ",
            attrs.k);
  c.require(!attrs.swiglu_limit || *attrs.swiglu_limit >= 0,
            "attribute swiglu_limit: expected a number from 0 on, got ",
            attrs.swiglu_limit.value_or(0));
}

// Input `slot`, if it is given, must have one of these shapes.
void expect_shape(InferContext& c, size_t slot, const Shape& wanted,
                  const std::optional<Shape>& other = std::nullopt) {
  if (!c.has(slot)) return;
  const std::optional<Shape> got = c.type(slot).known_shape();
  if (!got || *got == wanted || (other && *got == *other)) return;
  c.fail_input(slot, "expected shape ", to_text(wanted), " by the other inputs");
}

// The shapes that sizes follow from, once all are known.
struct MixtureShapes {
  Shape input, router, fc2;
};
std::optional<MixtureShapes> mixture_shapes(InferContext& c,
                                            std::span<const ExpertLayerSlots> layers) {
  if (const Dims* input = c.shape(kMixtureInput); input && input->size() != 2 && input->size() != 3)
    c.fail_input(kMixtureInput, "expected [tokens, hidden] or [batch, length, hidden]");
  c.require_rank(kMixtureRouter, 2);
  for (const ExpertLayerSlots& layer : layers) {
    if (c.has(layer.weights)) c.require_rank(layer.weights, 3);
  }
  MixtureShapes out;
  const std::pair<size_t, Shape*> slots[]{
      {kMixtureInput, &out.input}, {kMixtureRouter, &out.router}, {layers[kFc2].weights, &out.fc2}};
  for (const auto& [slot, shape] : slots) {
    const std::optional<Shape> known = c.type(slot).known_shape();
    if (!known) return std::nullopt;
    for (const int64_t dim : *known) {
      if (dim >= kMaxBlockwiseSize) c.fail_input(slot, "expected dims below 2^31");
    }
    *shape = *known;
  }
  return out;
}

// The sizes, where all are known; sets the output.
std::optional<ExpertSizes> infer_mixture(InferContext& c, const MoEAttrs& attrs,
                                         std::span<const ExpertLayerSlots> layers,
                                         int64_t values_per_element) {
  check_mixture_attributes(c, attrs);
  const bool has_fc3 = c.has(layers[kFc3].weights);
  for (const size_t slot : {layers[kFc3].scales, layers[kFc3].bias, layers[kFc3].zero_points}) {
    if (c.has(slot) && !has_fc3) c.fail_input(slot, "expected none without fc3_experts_weights");
  }
  const ExpertGate gate = gate_of(attrs, has_fc3);
  c.set(0, c.dtype(kMixtureInput), shape_of(c, kMixtureInput));
  const std::optional<MixtureShapes> shapes = mixture_shapes(c, layers);
  if (!shapes) return std::nullopt;
  const ExpertSizes s =
      expert_sizes(gate, shapes->input, shapes->router, shapes->fc2, values_per_element);
  if (s.hidden < 1) c.fail_input(kMixtureInput, "expected at least one feature");
  if (s.inner < 1) c.fail_input(layers[kFc2].weights, "expected no empty layer");
  c.require(attrs.k <= s.experts, "attribute k: expected at most the number of experts, ",
            s.experts, ", got ", attrs.k);
  expect_shape(c, kMixtureRouter, {s.tokens, s.experts});
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const int64_t inputs = s.inputs_of(layer), outputs = s.outputs_of(layer);
    c.require(inputs % values_per_element == 0, "the features of layer fc", layer + 1,
              ": expected a multiple of the ", values_per_element, " in a byte, got ", inputs);
    // Files from before the layout was settled swap the dims of the same elements.
    const bool swaps = outputs % values_per_element == 0;
    expect_shape(c, layers[layer].weights, {s.experts, outputs, inputs / values_per_element},
                 swaps ? std::optional<Shape>({s.experts, inputs, outputs / values_per_element})
                       : std::nullopt);
    expect_shape(c, layers[layer].bias, {s.experts, outputs});
  }
  return s;
}

void infer_moe(InferContext& c) {
  infer_mixture(c, c.attrs<MoEAttrs>(), kMoELayers, 1);
}

void check_quantization(InferContext& c, const QMoEAttrs& attrs) {
  if (attrs.quant_type != "int") {
    fail(ErrorCode::kUnsupported, "QMoE: attribute quant_type: only 'int' is supported, got '",
         attrs.quant_type, "'; weights quantised to integers run, and MoE with whole floats");
  }
  if (attrs.weights_prepacked != 0 && attrs.weights_prepacked != -1) {
    fail(ErrorCode::kUnsupported,
         "QMoE: attribute weights_prepacked: only 0 and -1 are supported, ", "got ",
         attrs.weights_prepacked, " (weights packed for one device cannot be read on another)");
  }
  const int64_t bits = attrs.expert_weight_bits;
  c.require(bits == 2 || bits == 4 || bits == 8,
            "attribute expert_weight_bits: expected 2, 4 or 8, got ", bits);
  if (attrs.block_size != 0) require_block_size(c, attrs.block_size);
  c.require(!attrs.use_sparse_mixer || !c.has(kRouterWeights),
            "attribute use_sparse_mixer: expected no router_weights beside it");
  for (size_t slot = kRouterWeights + 1; slot < c.input_count(); ++slot) {
    if (c.has(slot)) c.fail_input(slot, "expected none with quant_type 'int'");
  }
  for (size_t layer = 0; layer < std::size(kQMoELayers); ++layer) {
    const ExpertLayerSlots& slots = kQMoELayers[layer];
    if (!c.has(slots.weights)) continue;
    if (!c.has(slots.scales)) c.fail("input fc", layer + 1, "_scales: expected one");
    if (c.dtype(slots.weights) != DType::kUInt8) c.fail_input(slots.weights, "expected uint8");
    if (!kExpertFloats.has(c.dtype(slots.scales)))
      c.fail_input(slots.scales, "expected float, float16 or bfloat16");
    if (c.has(slots.zero_points) && c.dtype(slots.zero_points) != DType::kUInt8)
      c.fail_input(slots.zero_points, "expected uint8");
  }
}

void infer_qmoe(InferContext& c) {
  const auto& attrs = c.attrs<QMoEAttrs>();
  check_quantization(c, attrs);
  const int64_t packed = attrs.values_per_byte();
  const std::optional<ExpertSizes> s = infer_mixture(c, attrs, kQMoELayers, packed);
  if (!s) return;
  expect_shape(c, kRouterWeights, {s->tokens, s->experts});
  for (size_t layer = 0; layer < std::size(kQMoELayers); ++layer) {
    const ExpertLayerSlots& slots = kQMoELayers[layer];
    const int64_t inputs = s->inputs_of(layer), outputs = s->outputs_of(layer);
    if (attrs.block_size == 0) {
      const Shape columns{s->experts, outputs}, points{s->experts, blocks_of(outputs, packed)};
      expect_shape(c, slots.scales, columns, Shape{s->experts, outputs, 1});
      expect_shape(c, slots.zero_points, points, Shape{s->experts, outputs, 1});
      continue;
    }
    c.require(inputs % attrs.block_size == 0, "the features of layer fc", layer + 1,
              ": expected a multiple of block_size, ", attrs.block_size, ", got ", inputs);
    const int64_t blocks = inputs / attrs.block_size;
    expect_shape(c, slots.scales, {s->experts, outputs, blocks});
    expect_shape(c, slots.zero_points, {s->experts, outputs, blocks_of(blocks, packed)});
  }
}

// --- samples: 3 experts of 16 features and 8 within, 5 tokens ---

SampleInput router_of(int64_t tokens) {
  return {.shape = {tokens, 3}, .low = -8, .high = 8};
}

std::vector<Sample> moe_samples() {
  const SampleInput none{.omitted = true}, x{.shape = {5, 4}};
  const SampleInput fc1{.shape = {3, 6, 4}}, fc1_wide{.shape = {3, 12, 4}}, fc2{.shape = {3, 4, 6}};
  const SampleInput bias{.shape = {3, 6}}, bias_wide{.shape = {3, 12}}, bias2{.shape = {3, 4}};
  const auto attrs = [](const char* activation, int64_t k, AttrMap more = {}) {
    more["activation_type"] = std::string(activation);
    more["k"] = k;
    return more;
  };
  return {
      {.inputs = {x, router_of(5), fc1, none, fc2}, .attrs = attrs("silu", 1)},
      {.inputs = {{.shape = {2, 3, 4}}, router_of(6), fc1, bias, fc2, bias2},
       .attrs = attrs("gelu", 2, {{"normalize_routing_weights", int64_t{1}}})},
      {.inputs = {x, router_of(5), fc1, bias, fc2, bias2, fc1, bias}, .attrs = attrs("silu", 3)},
      {.inputs = {x, router_of(5), fc1_wide, bias_wide, fc2},
       .attrs = attrs("swiglu", 2,
                      {{"swiglu_fusion", int64_t{1}},
                       {"swiglu_limit", 1.5f},
                       {"activation_alpha", 1.702f},
                       {"activation_beta", 1.0f}})},
      {.inputs = {x, router_of(5), fc1_wide, none, fc2, bias2},
       .attrs =
           attrs("swiglu", 2, {{"swiglu_fusion", int64_t{2}}, {"use_sparse_mixer", int64_t{1}}})},
      {.inputs = {x, router_of(5), fc1, none, fc2, none, fc1}, .attrs = attrs("swiglu", 1)},
      {.inputs = {x, router_of(5), {.shape = {3, 4, 6}}, none, {.shape = {3, 6, 4}}},
       .attrs = attrs("identity", 2)},
  };
}

SampleInput expert_bytes(Shape shape) {
  return {.shape = std::move(shape), .low = 0, .high = 255, .dtype = DType::kUInt8};
}

std::vector<Sample> qmoe_samples() {
  const SampleInput none{.omitted = true};
  const auto scales = [](Shape shape) {
    return SampleInput{.shape = std::move(shape), .low = -0.2, .high = 0.2, .dtype = DType::kFloat};
  };
  const SampleInput x{.shape = {5, 16}}, wide{.shape = {5, 32}};
  const AttrMap by_column{{"k", int64_t{2}}, {"activation_type", std::string("silu")}};
  AttrMap by_block = by_column, bytes = by_column, pairs = by_column;
  by_block["block_size"] = int64_t{16};
  by_block["activation_type"] = std::string("swiglu");
  by_block["swiglu_fusion"] = int64_t{1};
  by_block["normalize_routing_weights"] = int64_t{1};
  bytes["expert_weight_bits"] = int64_t{8};
  pairs["expert_weight_bits"] = int64_t{2};
  pairs["activation_type"] = std::string("swiglu");
  return {
      {.inputs = {x,
                  router_of(5),
                  expert_bytes({3, 8, 8}),
                  scales({3, 8}),
                  {.shape = {3, 8}},
                  expert_bytes({3, 16, 4}),
                  scales({3, 16})},
       .attrs = by_column},
      {.inputs = {wide,
                  router_of(5),
                  expert_bytes({3, 64, 16}),
                  scales({3, 64, 2}),
                  {.shape = {3, 64}},
                  expert_bytes({3, 32, 16}),
                  scales({3, 32, 2}),
                  {.shape = {3, 32}},
                  none,
                  none,
                  none,
                  expert_bytes({3, 64, 1}),
                  expert_bytes({3, 32, 1})},
       .attrs = by_block},
      {.inputs = {x,
                  router_of(5),
                  expert_bytes({3, 5, 16}),
                  scales({3, 5}),
                  none,
                  expert_bytes({3, 16, 5}),
                  scales({3, 16}),
                  none,
                  none,
                  none,
                  none,
                  expert_bytes({3, 5}),
                  expert_bytes({3, 16}),
                  none,
                  {.shape = {5, 3}, .low = 0, .high = 1}},
       .attrs = bytes},
      {.inputs = {x,
                  router_of(5),
                  expert_bytes({3, 8, 4}),
                  scales({3, 8}),
                  none,
                  expert_bytes({3, 16, 2}),
                  scales({3, 16}),
                  none,
                  expert_bytes({3, 8, 4}),
                  scales({3, 8}),
                  {.shape = {3, 8}},
                  expert_bytes({3, 2}),
                  none,
                  expert_bytes({3, 2})},
       .attrs = pairs},
  };
}

const OpDef kContribMixtureOps[] = {
    {.name = "MoE",
     .doc = "For each token [..., hidden] the sum of the answers of the k experts that its "
            "router_probs [tokens, experts] choose, by their shares.",
     .domain = kMicrosoft,
     .signature = "(input: T, router_probs: T, fc1_experts_weights: T, fc1_experts_bias?: T, "
                  "fc2_experts_weights: T, fc2_experts_bias?: T, fc3_experts_weights?: T, "
                  "fc3_experts_bias?: T) -> (output: T)",
     .types = {{"T", kExpertFloats}},
     .attrs = attr_schema<MoEAttrs>(),
     .infer = infer_moe,
     .reference = moe_reference,
     .grad = moe_grad,
     .facts = kFloat32Kernels,
     .weight_inputs = 1u << 2 | 1u << 4 | 1u << 6,
     .samples = moe_samples},
    {.name = "QMoE",
     .doc = "MoE with weights of 2, 4 or 8 bits, in blocks or columns that have a scale each.",
     .domain = kMicrosoft,
     .signature =
         "(input: T, router_probs: T, fc1_experts_weights: T1, fc1_scales?: T2, "
         "fc1_experts_bias?: T, fc2_experts_weights: T1, fc2_scales?: T2, fc2_experts_bias?: T, "
         "fc3_experts_weights?: T1, fc3_scales?: T2, fc3_experts_bias?: T, fc1_zero_points?: T1, "
         "fc2_zero_points?: T1, fc3_zero_points?: T1, router_weights?: T, fc1_global_scale?: T4, "
         "fc2_global_scale?: T4, fc1_act_scale?: T4, fc2_act_scale?: T4, "
         "fc1_act_block_scale?: T2, fc2_act_block_scale?: T2) -> (output: T)",
     .types = {{"T", kExpertFloats},
               {"T1", DTypeSet{DType::kUInt8, DType::kFloat8E4M3FN}},
               {"T2", kExpertScales},
               {"T4", DType::kFloat}},
     .attrs = attr_schema<QMoEAttrs>(),
     .infer = infer_qmoe,
     .reference = qmoe_reference,
     .grad = qmoe_grad,
     .facts = kFloat32Kernels,
     .samples = qmoe_samples},
};

}  // namespace

ExpertGate gate_of(const MoEAttrs& attrs, bool has_fc3) {
  constexpr std::array kTypes{"relu", "gelu", "silu", "swiglu", "identity"};
  const std::string& type = attrs.activation_type;
  if (std::ranges::find(kTypes, type) == kTypes.end()) {
    fail(ErrorCode::kInvalidModel, "attribute activation_type: expected relu, gelu, silu, swiglu ",
         "or identity, got '", type, "'");
  }
  const int64_t fusion = attrs.swiglu_fusion;
  if (fusion < 0 || fusion > 2) {
    fail(ErrorCode::kInvalidModel, "attribute swiglu_fusion: expected 0, 1 or 2, got ", fusion);
  }
  const bool is_glu = type == "swiglu";
  if (fusion != 0 && (!is_glu || has_fc3)) {
    fail(ErrorCode::kInvalidModel, "attribute swiglu_fusion: expected 0 ",
         is_glu ? "beside fc3_experts_weights" : "where activation_type is not swiglu", ", got ",
         fusion);
  }
  if (fusion != 0) return fusion == 1 ? ExpertGate::kInterleaved : ExpertGate::kHalves;
  if (is_glu && !has_fc3) {
    fail(ErrorCode::kInvalidModel, "attribute activation_type: swiglu without swiglu_fusion needs ",
         "the input fc3_experts_weights");
  }
  return has_fc3 ? ExpertGate::kSeparate : ExpertGate::kNone;
}

ExpertSizes expert_sizes(ExpertGate gate, const Shape& input, const Shape& router,
                         const Shape& fc2_weights, int64_t values_per_element) {
  int64_t tokens = 1;
  for (size_t i = 0; i + 1 < input.size(); ++i)
    tokens *= input[i];
  const int64_t hidden = input.back();
  const int64_t inner =
      fc2_weights[1] == hidden ? fc2_weights[2] * values_per_element : fc2_weights[1];
  return {tokens, hidden, inner, router[1], gate};
}

ExpertRouting expert_routing(const MoEAttrs& attrs, int64_t experts) {
  return {experts, attrs.k, attrs.normalize_routing_weights != 0, attrs.use_sparse_mixer != 0};
}

SwiGlu swiglu_of(const MoEAttrs& attrs) {
  return {attrs.activation_alpha, attrs.activation_beta,
          attrs.swiglu_limit.value_or(std::numeric_limits<float>::infinity())};
}

std::span<const OpDef> contrib_mixture_ops() {
  return kContribMixtureOps;
}

}  // namespace sardonyx::ops
