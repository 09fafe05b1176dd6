// com.microsoft: BeamSearch, GreedySearch, Sampling.
#include <map>

#include "ir/eval_call.h"
#include "ir/graph.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/generation/search.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/subgraph_inference.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

// ---- Inference

// Types a subgraph as it declares its inputs. Named dims become symbols of its own, so that they
// are not taken for those of the graph around it.
void type_as_declared(InferContext& c, const GraphPtr& graph, std::string_view what) {
  BodyTyper typer(c, graph, what);
  std::map<std::string, Dim> own;
  std::vector<Type> types;
  for (const Value* input : typer.body().inputs()) {
    Type type = input->type;
    c.require(type.is_tensor(), what, ": input ", input->name, ": expected a tensor, got ", type);
    if (type.shape) {
      for (Dim& dim : *type.shape) {
        if (dim.is_known()) continue;
        const auto [at, is_new] = own.try_emplace(dim.text());
        if (is_new) at->second = Graph::fresh_symbol();
        dim = at->second;
      }
    }
    types.push_back(std::move(type));
  }
  typer.type(types);
}

void infer_subgraphs(InferContext& c, const SearchAttrs& attrs) {
  c.require(attrs.model_type == kDecoderOnly || attrs.model_type == kEncoderDecoder,
            "attribute model_type: expected 0 (a decoder) or 1 (an encoder and a decoder), got ",
            attrs.model_type);
  c.require(attrs.eos_token_id >= 0 && attrs.eos_token_id <= INT32_MAX && attrs.pad_token_id >= 0 &&
                attrs.pad_token_id <= INT32_MAX,
            "attributes eos_token_id and pad_token_id: expected words, got ", attrs.eos_token_id,
            " and ", attrs.pad_token_id);
  c.require(attrs.decoder_start_token_id <= INT32_MAX,
            "attribute decoder_start_token_id: expected a word");
  const bool has_encoder = attrs.model_type == kEncoderDecoder;
  c.require(!has_encoder || attrs.encoder, "model_type 1 needs the attribute encoder");
  type_as_declared(c, attrs.decoder, "decoder");
  if (attrs.encoder) type_as_declared(c, *attrs.encoder, "encoder");
  if (attrs.init_decoder) type_as_declared(c, *attrs.init_decoder, "init_decoder");
  c.require_rank(kIds, 2);
  if (c.dtype(kIds) != DType::kInt32) {
    fail(ErrorCode::kUnsupported, c.op().name, ": input input_ids: expected int32, got ",
         c.type(kIds), "; models that hear sounds are not supported");
  }
  require_single(c, kMaxLength);
}

// The value of a single integer as a dim.
Dim dim_given(InferContext& c, size_t input) {
  const std::optional<Dims> dims = c.dims(input);
  return dims && dims->size() == 1 ? (*dims)[0] : c.unknown();
}

void infer_beam_search(InferContext& c) {
  infer_subgraphs(c, c.attrs<BeamAttrs>());
  for (const size_t input : {kBeams, kReturned})
    require_single(c, input);
  const Dims* ids = c.shape(kIds);
  const Dim batch = ids ? (*ids)[0] : c.unknown();
  const Dim returned = dim_given(c, kReturned);
  const DType scores = c.has(kLengthPenalty)    ? c.dtype(kLengthPenalty)
                       : c.has(kBeamRepetition) ? c.dtype(kBeamRepetition)
                                                : DType::kFloat;
  c.set(0, DType::kInt32, Dims{batch, returned, dim_given(c, kMaxLength)});
  c.set(1, scores, Dims{batch, returned});
  c.set(2, scores, Dims{c.unknown(), batch, dim_given(c, kBeams), c.unknown()});
}

template <typename A>
void infer_search(InferContext& c) {
  infer_subgraphs(c, c.attrs<A>());
  const Dims* ids = c.shape(kIds);
  const Dim batch = ids ? (*ids)[0] : c.unknown();
  c.set(0, DType::kInt32, Dims{batch, dim_given(c, kMaxLength)});
  if (c.output_count() > 1) c.set(1, DType::kFloat, Dims{batch, c.unknown()});
}

// ---- Samples and rows

// A decoder of GPT-2's form whose next word depends on the last one alone.
GraphPtr sample_decoder() {
  constexpr int64_t kWords = 4;
  auto graph = std::make_shared<Graph>();
  GraphEmitter e(*graph);
  const auto symbol = [](const char* name) { return Dim::symbol(name); };
  const auto add_input = [&](const char* name, DType dtype, Dims dims) {
    return GraphEmitter::wrap(graph->add_input(name, Type::tensor(dtype, std::move(dims))));
  };
  const Dim rows = symbol("rows"), length = symbol("length");
  const Val ids = add_input("input_ids", DType::kInt32, {rows, length});
  const Val places = add_input("position_ids", DType::kInt32, {rows, length});
  add_input("attention_mask", DType::kInt32, {rows, symbol("all")});
  const Val past = add_input("past_0", DType::kFloat, {2, rows, 1, symbol("past"), 1});
  std::vector<float> table;
  for (int64_t i = 0; i < kWords * kWords; ++i)
    table.push_back(static_cast<float>(i * 7 % 11) / 4);
  const Val logits = e.call("Gather", {e.constant(Tensor::of(table, {kWords, kWords})), ids});
  const Val state = unsqueeze(e, cast_to(e, places, DType::kFloat), {0, 2, 4});
  const Val both = e.call("Concat", {state, state}, {{"axis", int64_t{0}}});
  const Val present = e.call("Concat", {past, both}, {{"axis", int64_t{3}}});
  for (const auto& [name, value] : {std::pair{"logits", logits}, {"present_0", present}}) {
    Value* output = GraphEmitter::unwrap(e.call("Identity", {value}));
    graph->rename(*output, name);
    graph->add_output(output);
  }
  return graph;
}

AttrMap sample_attrs() {
  return {
      {"decoder", sample_decoder()}, {"eos_token_id", int64_t{3}}, {"pad_token_id", int64_t{0}}};
}

std::vector<Sample> beam_samples() {
  const auto one = [](int32_t value) { return given<int32_t>({value}, {1}); };
  return {{.inputs = {given<int32_t>({1, 2, 0, 1}, {2, 2}),
                      one(6),
                      one(0),
                      one(2),
                      one(2),
                      {.shape = {1}, .low = 1, .high = 1}},
           .attrs = sample_attrs(),
           .outputs = 3}};
}

std::vector<Sample> search_samples() {
  return {{.inputs = {given<int32_t>({1, 2, 0, 1}, {2, 2}), given<int32_t>({6}, {1})},
           .attrs = sample_attrs()}};
}

constexpr DTypeSet kScores{DType::kFloat, DType::kFloat16};

const OpDef kContribGenerationOps[] = {
    {.name = "BeamSearch",
     .doc = "Token sequences [batch, returned sequences, max_length] of a decoder model, by the "
            "best of several beams.",
     .domain = kMicrosoft,
     .signature =
         "(input_ids: F, max_length: I, min_length?: I, num_beams: I, num_return_sequences: I, "
         "length_penalty?: T, repetition_penalty?: T, vocab_mask?: M, prefix_vocab_mask?: M, "
         "attention_mask?: I, decoder_input_ids?: I, logits_processor?: I) -> "
         "(sequences: I, sequences_scores?: T, scores?: T)",
     .types = {{"F", kScores | DType::kInt32},
               {"T", kScores},
               {"I", DType::kInt32},
               {"M", DType::kInt32}},
     .attrs = attr_schema<BeamAttrs>(),
     .infer = infer_beam_search,
     .evaluate = evaluate_anew<beam_search>,
     .samples = beam_samples},
    {.name = "GreedySearch",
     .doc = "Token sequences [batch, max_length] of a decoder model, by the likeliest token at "
            "each step.",
     .domain = kMicrosoft,
     .signature = "(input_ids: I, max_length: I, min_length?: I, repetition_penalty?: T, "
                  "vocab_mask?: I, prefix_vocab_mask?: I, attention_mask?: I) -> (sequences: I)",
     .types = {{"T", DType::kFloat}, {"I", DType::kInt32}},
     .attrs = attr_schema<GreedyAttrs>(),
     .infer = infer_search<GreedyAttrs>,
     .evaluate = evaluate_anew<greedy_search>,
     .samples = search_samples},
    {.name = "Sampling",
     .doc = "Token sequences [batch, max_length] of a decoder model, drawn among the likeliest "
            "tokens at each step.",
     .domain = kMicrosoft,
     .signature = "(input_ids: I, max_length: I, min_length?: I, repetition_penalty?: T, "
                  "vocab_mask?: I, prefix_vocab_mask?: I, attention_mask?: I, presence_mask?: I, "
                  "seed?: I) -> (sequences: I, filtered_logits?: T)",
     .types = {{"T", DType::kFloat}, {"I", DType::kInt32}},
     .attrs = attr_schema<SamplingAttrs>(),
     .infer = infer_search<SamplingAttrs>,
     .evaluate = evaluate_anew<sampling>,
     .facts = kRandom,
     .samples = search_samples},
};

}  // namespace

std::span<const OpDef> contrib_generation_ops() {
  return kContribGenerationOps;
}

}  // namespace sardonyx::ops
