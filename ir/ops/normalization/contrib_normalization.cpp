// com.microsoft: layer normalizations with what stands before them in transformers.
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

constexpr DTypeSet kNormTypes{DType::kFloat, DType::kFloat16, DType::kBFloat16};

struct SkipAttrs {
  float epsilon = 1e-12f;
  static auto fields() { return std::tuple{field("epsilon", &SkipAttrs::epsilon)}; }
};

// y, mean and 1 / standard deviation (of shape [..., 1], in float) along the last dim; `shift` may
// be empty.
Vals normalize(Emitter& e, const Val& x, const Val& scale, const Val& shift, float epsilon) {
  const Vals operands{x, scale, shift};
  return e.call_many("LayerNormalization", operands, {{"epsilon", epsilon}}, 3);
}

// Normalizes by the root mean square alone: RMSNormalization, then its divisor.
Vals simply_normalize(Emitter& e, const Val& x, const Val& scale, int64_t axis, float epsilon,
                      size_t outputs) {
  Vals out{e.call("RMSNormalization", {x, scale}, {{"axis", axis}, {"epsilon", epsilon}})};
  if (outputs < 2) return out;
  const auto rank = static_cast<int64_t>(input_rank(e, x, "X"));
  Ints axes;
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i)
    axes.push_back(i);
  const Val wide = cast_to(e, x, DType::kFloat);
  const Val square = e.call("ReduceMean", {e.call("Mul", {wide, wide}), e.int64s(axes)});
  const Val root = e.call("Sqrt", {e.call("Add", {square, e.scalar_like(square, epsilon)})});
  out.push_back(e.call("ReduceMean", {wide, e.int64s(axes)}));
  out.push_back(e.call("Reciprocal", {root}));
  return out;
}

// input + skip (+ bias)
Val residual(Emitter& e, const BodyCall& c, size_t bias) {
  const Val sum = e.call("Add", {c.inputs[0], c.inputs[1]});
  return c.has(bias) ? e.call("Add", {sum, c.inputs[bias]}) : sum;
}

// (input, skip, gamma, beta?, bias?) -> (output, mean?, inv_std_var?, input_skip_bias_sum?)
Vals skip_layer_normalization(Emitter& e, const BodyCall& c) {
  const Val sum = residual(e, c, 4);
  Vals out =
      normalize(e, sum, c.inputs[2], c.has(3) ? c.inputs[3] : Val(), c.attrs<SkipAttrs>().epsilon);
  out.push_back(sum);
  out.resize(c.output_count);
  return out;
}

// (input, skip, gamma, bias?) -> the same outputs
Vals skip_simplified(Emitter& e, const BodyCall& c) {
  const Val sum = residual(e, c, 3);
  Vals out =
      simply_normalize(e, sum, c.inputs[2], -1, c.attrs<SkipAttrs>().epsilon, c.output_count);
  out.resize(3);
  out.push_back(sum);
  out.resize(c.output_count);
  return out;
}

// X, scale -> Y, inv_std_var?: an experimental op of ai.onnx in files of ONNX Runtime.
Vals simplified(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<LayerNormalizationAttrs>();
  const Vals all =
      simply_normalize(e, c.inputs[0], c.inputs[1], attrs.axis, attrs.epsilon, c.output_count);
  Vals out{all[0]};
  if (c.output_count > 1) out.push_back(all[2]);
  return out;
}

// (X, Scale, B?) -> (Y, Mean?, InvStdDev?), as ai.onnx has it since opset 17.
Vals layer_normalization(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<LayerNormalizationAttrs>();
  const Vals operands(c.inputs.begin(), c.inputs.end());
  return e.emit(op_named("LayerNormalization"), operands, Attrs(attrs), c.output_count);
}

// --- EmbedLayerNormalization ---

struct EmbedAttrs {
  float epsilon = 1e-12f;
  int64_t mask_index_type = 1;
  static auto fields() {
    return std::tuple{field("epsilon", &EmbedAttrs::epsilon),
                      field("mask_index_type", &EmbedAttrs::mask_index_type)};
  }
};

enum EmbedInput {
  kIds,
  kSegments,
  kWords,
  kPositions,
  kSegmentTable,
  kGamma,
  kBeta,
  kMask,
  kPlaces
};

// How many entries of each row of the mask are 1; zeros where there is no mask. Ids and mask are at
// these places with and without quantization.
Val count_words(Emitter& e, const BodyCall& c) {
  if (c.has(kMask)) {
    const Val kept = e.call("Equal", {c.inputs[kMask], e.scalar(DType::kInt32, 1)});
    return e.call("ReduceSum", {cast_to(e, kept, DType::kInt32), e.int64s({1})},
                  {{"keepdims", int64_t{0}}});
  }
  const Val rows = dim_of(e, c.inputs[kIds], 0);
  return e.call("ConstantOfShape", {rows}, {{"value", Tensor::vector<int32_t>({0})}});
}

Vals embed_layer_normalization(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<EmbedAttrs>();
  const Val ids = c.inputs[kIds];
  if (input_rank(e, ids, "input_ids") != 2) {
    fail(ErrorCode::kInvalidModel, "input input_ids: expected [batch, length], got ", e.type(ids));
  }
  if (c.has(kSegments) != c.has(kSegmentTable)) {
    fail(ErrorCode::kInvalidModel, "inputs segment_ids and segment_embedding go together");
  }
  const Val places =
      c.has(kPlaces) ? c.inputs[kPlaces] : unsqueeze(e, count_up(e, dim_of(e, ids, 1)), {0});
  Val sum = e.call("Add", {e.call("Gather", {c.inputs[kWords], ids}),
                           e.call("Gather", {c.inputs[kPositions], places})});
  if (c.has(kSegments)) {
    sum = e.call("Add", {sum, e.call("Gather", {c.inputs[kSegmentTable], c.inputs[kSegments]})});
  }
  Vals out{normalize(e, sum, c.inputs[kGamma], c.inputs[kBeta], attrs.epsilon)[0]};
  if (c.output_count > 1) out.push_back(count_words(e, c));
  if (c.output_count > 2) out.push_back(sum);
  return out;
}

// --- QEmbedLayerNormalization ---

struct QuantizedEmbedAttrs {
  float epsilon = 1e-12f;
  static auto fields() { return std::tuple{field("epsilon", &QuantizedEmbedAttrs::epsilon)}; }
};

// Inputs: ids, segments, five tables of 8-bit integers (words, positions, segments, gamma, beta),
// the mask, then the tables' scales and their zero points.
struct QuantizedEmbedInput {
  enum : size_t {
    kIds,
    kSegments,
    kWords,
    kPositions,
    kSegmentTable,
    kGamma,
    kBeta,
    kMask,
    kFirstScale,
    kFirstZero = kFirstScale + 5
  };
};

Vals quantized_embed_layer_normalization(Emitter& e, const BodyCall& c) {
  using In = QuantizedEmbedInput;
  const Val ids = c.inputs[In::kIds];
  if (input_rank(e, ids, "input_ids") != 2) {
    fail(ErrorCode::kInvalidModel, "input input_ids: expected [batch, length], got ", e.type(ids));
  }
  constexpr size_t kSegmentPlace = In::kSegmentTable - In::kWords;
  for (const size_t input : {size_t{In::kSegmentTable}, In::kFirstScale + kSegmentPlace,
                             In::kFirstZero + kSegmentPlace}) {
    if (c.has(input) != c.has(In::kSegments)) {
      fail(ErrorCode::kInvalidModel, "inputs segment_ids, segment_embedding, its scale and its ",
           "zero point: expected all or none");
    }
  }
  const auto real = [&](size_t table, const Val& codes) {
    const size_t place = table - In::kWords;
    return e.call("DequantizeLinear",
                  {codes, c.inputs[In::kFirstScale + place], c.inputs[In::kFirstZero + place]});
  };
  const auto looked_up = [&](size_t table, const Val& indices) {
    return real(table, e.call("Gather", {c.inputs[table], indices}));
  };
  const Val places = unsqueeze(e, count_up(e, dim_of(e, ids, 1)), {0});
  Val sum = e.call("Add", {looked_up(In::kWords, ids), looked_up(In::kPositions, places)});
  if (c.has(In::kSegments))
    sum = e.call("Add", {sum, looked_up(In::kSegmentTable, c.inputs[In::kSegments])});
  const Val gamma = real(In::kGamma, c.inputs[In::kGamma]);
  const Val beta = real(In::kBeta, c.inputs[In::kBeta]);
  Vals out{normalize(e, sum, gamma, beta, c.attrs<QuantizedEmbedAttrs>().epsilon)[0]};
  if (c.output_count > 1) out.push_back(count_words(e, c));
  return out;
}

// --- samples ---

std::vector<Sample> skip_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}},
                      {.shape = {2, 3, 4}},
                      {.shape = {4}},
                      {.shape = {4}},
                      {.shape = {4}}},
           .outputs = 4},
          {.inputs = {{.shape = {3, 4}}, {.shape = {3, 4}}, {.shape = {4}}}}};
}

std::vector<Sample> skip_simplified_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 3, 4}}, {.shape = {4}}, {.shape = {4}}},
           .outputs = 4}};
}

std::vector<Sample> simplified_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {4}}}, .outputs = 2}};
}

std::vector<Sample> skip_layer_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {4}}, {.shape = {4}}}, .outputs = 3}};
}

SampleInput int32s(const std::vector<int32_t>& values, Shape shape) {
  return {.shape = shape, .value = Tensor::of<int32_t>(values, shape)};
}

std::vector<Sample> embed_samples() {
  const SampleInput ids = int32s({0, 2, 4, 1, 1, 3}, {2, 3}),
                    segments = int32s({0, 0, 1, 0, 1, 1}, {2, 3});
  const SampleInput mask = int32s({1, 1, 0, 1, 1, 1}, {2, 3}), none{.omitted = true};
  const SampleInput row{.shape = {4}};
  return {
      {.inputs =
           {ids, segments, {.shape = {5, 4}}, {.shape = {6, 4}}, {.shape = {2, 4}}, row, row, mask},
       .outputs = 3},
      {.inputs = {ids,
                  none,
                  {.shape = {5, 4}},
                  {.shape = {6, 4}},
                  none,
                  row,
                  row,
                  none,
                  int32s({5, 4, 3}, {1, 3})},
       .outputs = 2}};
}

// Tables of bytes by their zero points.
std::vector<Sample> quantized_embed_samples() {
  const auto bytes = [](Shape shape) {
    std::vector<uint8_t> values;
    for (int64_t i = 0; i < element_count(shape); ++i)
      values.push_back(static_cast<uint8_t>(i * 37 % 251));
    return SampleInput{.shape = shape, .value = Tensor::of<uint8_t>(values, shape)};
  };
  const SampleInput ids = int32s({0, 2, 4, 1, 1, 3}, {2, 3}),
                    mask = int32s({1, 1, 0, 1, 1, 1}, {2, 3}), none{.omitted = true};
  const SampleInput scale{.shape = {}, .low = 0.01, .high = 0.1}, zero = bytes({});
  return {{.inputs = {ids, int32s({0, 0, 1, 0, 1, 1}, {2, 3}), bytes({5, 4}), bytes({6, 4}),
                      bytes({2, 4}), bytes({4}), bytes({4}), mask, scale, scale, scale, scale,
                      scale, zero, zero, zero, zero, zero},
           .outputs = 2},
          {.inputs = {ids, none, bytes({5, 4}), bytes({6, 4}), none, bytes({4}), bytes({4}), none,
                      scale, scale, none, scale, scale, zero, zero, none, zero, zero},
           .outputs = 2}};
}

const OpDef kContribNormalizationOps[] = {
    {.name = "SkipLayerNormalization",
     .doc = "LayerNormalization of input + skip + bias over the last axis; the sum comes as well.",
     .domain = kMicrosoft,
     .signature = "(input: T, skip: T, gamma: T, beta?: T, bias?: T) -> "
                  "(output: T, mean?: U, inv_std_var?: U, input_skip_bias_sum?: T)",
     .types = {{"T", kNormTypes}, {"U", DType::kFloat}},
     .attrs = attr_schema<SkipAttrs>(),
     .infer = infer_by_body,
     .body = skip_layer_normalization,
     .facts = kIgnoresConstants,
     .samples = skip_samples},
    {.name = "SkipSimplifiedLayerNormalization",
     .doc = "RMS normalization of input + skip + bias over the last axis; the sum comes as well.",
     .domain = kMicrosoft,
     .signature = "(input: T, skip: T, gamma: T, bias?: T) -> "
                  "(output: T, mean?: U, inv_std_var?: U, input_skip_bias_sum?: T)",
     .types = {{"T", kNormTypes}, {"U", DType::kFloat}},
     .attrs = attr_schema<SkipAttrs>(),
     .infer = infer_by_body,
     .body = skip_simplified,
     .samples = skip_simplified_samples},
    {.name = "SimplifiedLayerNormalization",
     .doc = "X divided by its root mean square over the axes from `axis` on, times scale.",
     .domain = kMicrosoft,
     .signature = "(X: T, scale: V) -> (Y: V, inv_std_var?: U)",
     .types = {{"T", kFloats}, {"V", kFloats}, {"U", DType::kFloat}},
     .attrs = attr_schema<LayerNormalizationAttrs>(),
     .infer = infer_by_body,
     .body = simplified,
     .samples = simplified_samples},
    {.name = "LayerNormalization",
     .doc = "X made of mean 0 and variance 1 over the axes from `axis` on, times scale plus bias.",
     .domain = kMicrosoft,
     .signature = "(X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U)",
     .types = {{"T", kFloats}, {"U", DType::kFloat}},
     .attrs = attr_schema<LayerNormalizationAttrs>(),
     .infer = infer_by_body,
     .body = layer_normalization,
     .samples = skip_layer_samples},
    {.name = "EmbedLayerNormalization",
     .doc = "The sum of word, position and segment embeddings of ids [batch, length], normalised; "
            "and each row's number of ids that count.",
     .domain = kMicrosoft,
     .signature = "(input_ids: T1, segment_ids?: T1, word_embedding: T, position_embedding: T, "
                  "segment_embedding?: T, gamma: T, beta: T, mask?: T1, position_ids?: T1) -> "
                  "(output: T, mask_index?: T1, embedding_sum?: T)",
     .types = {{"T1", DType::kInt32}, {"T", DTypeSet{DType::kFloat, DType::kFloat16}}},
     .attrs = attr_schema<EmbedAttrs>(),
     .infer = infer_by_body,
     .body = embed_layer_normalization,
     .samples = embed_samples},
    {.name = "QEmbedLayerNormalization",
     .doc = "The sum of word, position and segment embeddings of ids [batch, length] in 8-bit "
            "integers, normalised; and each row's number of ids that count.",
     .domain = kMicrosoft,
     .signature =
         "(input_ids: T1, segment_ids?: T1, word_embedding_quant: T2, "
         "position_embedding_quant: T2, segment_embedding?: T2, gamma_quant: T2, beta_quant: T2, "
         "mask?: T1, word_embedding_scale: T, position_embedding_scale: T, "
         "segment_embedding_scale?: T, gamma_scale: T, beta_scale: T, "
         "word_embedding_zero_point: T2, position_embedding_zero_point: T2, "
         "segment_embedding_zero_point?: T2, gamma_zero_point: T2, beta_zero_point: T2) -> "
         "(layernorm_out: T, mask_index_out: T1)",
     .types = {{"T1", DType::kInt32},
               {"T2", DTypeSet{DType::kInt8, DType::kUInt8}},
               {"T", DType::kFloat}},
     .attrs = attr_schema<QuantizedEmbedAttrs>(),
     .infer = infer_by_body,
     .body = quantized_embed_layer_normalization,
     .samples = quantized_embed_samples},
};

}  // namespace

std::span<const OpDef> contrib_normalization_ops() {
  return kContribNormalizationOps;
}

}  // namespace sardonyx::ops
