// com.microsoft: BeamSearch, WhisperBeamSearch, GreedySearch, Sampling.
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

// Words, or what an encoder hears.
void check_input(InferContext& c, bool hears) {
  c.require_rank(kIds, hears ? 3 : 2);
  if (!hears)
    c.require(c.dtype(kIds) == DType::kInt32, "input input_ids: expected int32, got ", c.type(kIds),
              "; for models that hear sounds, model_type is 2");
  else
    c.require(c.dtype(kIds) != DType::kInt32, "input input_ids: expected sound, [batch, features, ",
              "frames] of floats, got ", c.type(kIds));
}

void infer_subgraphs(InferContext& c, const SearchAttrs& attrs) {
  c.require(attrs.eos_token_id >= 0 && attrs.eos_token_id <= INT32_MAX && attrs.pad_token_id >= 0 &&
                attrs.pad_token_id <= INT32_MAX,
            "attributes eos_token_id and pad_token_id: expected words, got ", attrs.eos_token_id,
            " and ", attrs.pad_token_id);
  c.require(attrs.decoder_start_token_id <= INT32_MAX,
            "attribute decoder_start_token_id: expected a word");
  c.require(attrs.model_type == kDecoderOnly || attrs.encoder, "model_type ", attrs.model_type,
            " needs the attribute encoder");
  type_as_declared(c, attrs.decoder, "decoder");
  if (attrs.encoder) type_as_declared(c, *attrs.encoder, "encoder");
  if (attrs.init_decoder) type_as_declared(c, *attrs.init_decoder, "init_decoder");
  check_input(c, attrs.model_type == kSpeech);
  require_single(c, kMaxLength);
}

// The value of a single integer as a dim.
Dim dim_given(InferContext& c, size_t input) {
  const std::optional<Dims> dims = c.dims(input);
  return dims && dims->size() == 1 ? (*dims)[0] : c.unknown();
}

void require_model_type(InferContext& c, int64_t model_type, bool allows_speech) {
  c.require(model_type == kDecoderOnly || model_type == kEncoderDecoder ||
                (allows_speech && model_type == kSpeech),
            "attribute model_type: expected 0 (a decoder)",
            allows_speech ? ", 1 (an encoder and a decoder) or 2 (the same for sounds)"
                          : " or 1 (an encoder and a decoder)",
            ", got ", model_type);
}

void infer_beams(InferContext& c, const BeamAttrs& attrs) {
  infer_subgraphs(c, attrs);
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

void infer_beam_search(InferContext& c) {
  const auto& attrs = c.attrs<BeamAttrs>();
  require_model_type(c, attrs.model_type, true);
  infer_beams(c, attrs);
}

void infer_whisper(InferContext& c) {
  const auto& attrs = c.attrs<WhisperAttrs>();
  c.require(attrs.model_type == kSpeech, "attribute model_type: expected 2, got ",
            attrs.model_type);
  if (attrs.decoder_output_cross_qk) {
    fail(ErrorCode::kUnsupported, "WhisperBeamSearch: attribute decoder_output_cross_qk: ",
         "attention (the output cross_qk) is not supported");
  }
  infer_beams(c, attrs);
  if (c.output_count() > 3) c.set(3, DType::kFloat, std::nullopt);
  if (c.output_count() > 4) {
    const Dims* ids = c.shape(kIds);
    c.set(4, c.outputs()[1].type.dtype, Dims{ids ? (*ids)[0] : c.unknown()});
  }
}

template <typename A>
void infer_search(InferContext& c) {
  require_model_type(c, c.attrs<A>().model_type, false);
  infer_subgraphs(c, c.attrs<A>());
  const Dims* ids = c.shape(kIds);
  const Dim batch = ids ? (*ids)[0] : c.unknown();
  c.set(0, DType::kInt32, Dims{batch, dim_given(c, kMaxLength)});
  if (c.output_count() > 1) c.set(1, DType::kFloat, Dims{batch, c.unknown()});
}

// ---- Samples and rows

// A subgraph of a sample under construction.
class SampleModel {
 public:
  SampleModel() : graph_(std::make_shared<Graph>()), e_(*graph_) {}
  Val input(const char* name, DType dtype, Dims dims) {
    return GraphEmitter::wrap(graph_->add_input(name, Type::tensor(dtype, std::move(dims))));
  }
  void output(const char* name, const Val& value) {
    Value* made = GraphEmitter::unwrap(e_.call("Identity", {value}));
    graph_->rename(*made, name);
    graph_->add_output(made);
  }
  // Logits of the words behind `ids`, each by the one before alone.
  Val logits(const Val& ids) {
    constexpr int64_t kWords = 4;
    std::vector<float> table;
    for (int64_t i = 0; i < kWords * kWords; ++i)
      table.push_back(static_cast<float>(i * 7 % 11) / 4);
    return e_.call("Gather", {e_.constant(Tensor::of(table, {kWords, kWords})), ids});
  }
  Val join(const Val& a, const Val& b, int64_t axis) {
    return e_.call("Concat", {a, b}, {{"axis", axis}});
  }
  // int32 [rows, length] as a state [rows, heads, length, size] of one head of size 1.
  Val state(const Val& ids) { return unsqueeze(e_, cast_to(e_, ids, DType::kFloat), {1, 3}); }
  GraphPtr graph() const { return graph_; }
  GraphEmitter& emitter() { return e_; }

 private:
  std::shared_ptr<Graph> graph_;
  GraphEmitter e_;
};

Dim named_dim(const char* name) {
  return Dim::symbol(name);
}

// A decoder of GPT-2's form.
GraphPtr sample_decoder() {
  SampleModel m;
  const Dim rows = named_dim("rows"), length = named_dim("length");
  const Val ids = m.input("input_ids", DType::kInt32, {rows, length});
  const Val places = m.input("position_ids", DType::kInt32, {rows, length});
  m.input("attention_mask", DType::kInt32, {rows, named_dim("all")});
  const Val past = m.input("past_0", DType::kFloat, {2, rows, 1, named_dim("past"), 1});
  const Val state = unsqueeze(m.emitter(), cast_to(m.emitter(), places, DType::kFloat), {0, 2, 4});
  m.output("logits", m.logits(ids));
  m.output("present_0", m.join(past, m.join(state, state, 0), 3));
  return m.graph();
}

// Whisper's form: an encoder that begins the text, and a decoder that goes on.
GraphPtr sample_listener() {
  SampleModel m;
  const Dim batch = named_dim("batch"), frames = named_dim("frames");
  const Val sound = m.input("encoder_input_ids", DType::kFloat, {batch, 2, frames});
  const Val ids = m.input("decoder_input_ids", DType::kInt32, {batch, named_dim("length")});
  const Val hidden = transpose(m.emitter(), sound, {0, 2, 1});
  const Val self = m.state(ids), cross = unsqueeze(m.emitter(), hidden, {1});
  m.output("logits", m.logits(ids));
  m.output("encoder_hidden_states", hidden);
  m.output("present_key_self_0", self);
  m.output("present_value_self_0", self);
  m.output("present_key_cross_0", cross);
  m.output("present_value_cross_0", cross);
  return m.graph();
}

GraphPtr sample_speaker() {
  SampleModel m;
  const Dim rows = named_dim("rows"), past = named_dim("past"), frames = named_dim("frames");
  const Val ids = m.input("input_ids", DType::kInt32, {rows, 1});
  const Val key = m.input("past_key_self_0", DType::kFloat, {rows, 1, past, 1});
  const Val value = m.input("past_value_self_0", DType::kFloat, {rows, 1, past, 1});
  m.input("past_key_cross_0", DType::kFloat, {rows, 1, frames, 2});
  m.input("past_value_cross_0", DType::kFloat, {rows, 1, frames, 2});
  m.output("logits", m.logits(ids));
  m.output("present_key_self_0", m.join(key, m.state(ids), 2));
  m.output("present_value_self_0", m.join(value, m.state(ids), 2));
  return m.graph();
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

std::vector<Sample> whisper_samples() {
  const auto one = [](int32_t value) { return given<int32_t>({value}, {1}); };
  const SampleInput none{.omitted = true};
  const AttrMap attrs{{"decoder", sample_speaker()},
                      {"encoder", sample_listener()},
                      {"eos_token_id", int64_t{0}},
                      {"pad_token_id", int64_t{0}},
                      {"decoder_start_token_id", int64_t{1}},
                      {"no_speech_token_id", int64_t{1}},
                      {"beginning_timestamp_token_id", int64_t{2}}};
  return {{.inputs = {{.shape = {2, 2, 3}, .dtype = DType::kFloat},
                      one(6),
                      one(0),
                      one(2),
                      one(2),
                      {.shape = {1}, .low = 1, .high = 1},
                      none,
                      none,
                      none,
                      none,
                      given<int32_t>({1, 2, 1, 3}, {2, 2}),
                      one(1)},
           .attrs = attrs,
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
    {.name = "WhisperBeamSearch",
     .doc = "Token sequences [batch, returned sequences, max_length] of a model that hears sounds "
            "[batch, features, frames], by the best of several beams.",
     .domain = kMicrosoft,
     .signature =
         "(input_ids: F, max_length: I, min_length?: I, num_beams: I, num_return_sequences: I, "
         "length_penalty?: T, repetition_penalty?: T, vocab_mask?: M, prefix_vocab_mask?: M, "
         "attention_mask?: I, decoder_input_ids?: I, logits_processor?: I, "
         "cross_qk_layer_head?: I, extra_decoding_ids?: I, temperature?: T) -> "
         "(sequences: I, sequences_scores?: T, scores?: T, cross_qk?: V, non_speech_probs?: T)",
     .types = {{"F", kScores | DType::kInt32},
               {"T", kScores},
               {"I", DType::kInt32},
               {"M", DType::kInt32},
               {"V", DType::kFloat}},
     .attrs = attr_schema<WhisperAttrs>(),
     .infer = infer_whisper,
     .evaluate = evaluate_anew<whisper_beam_search>,
     .samples = whisper_samples},
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
