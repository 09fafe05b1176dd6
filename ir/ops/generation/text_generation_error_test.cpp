// BeamSearch over encoders and decoders that do not fit: graphs that give the same tensors whatever
// they are given.
#include "ir/graph.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

// One entry, one beam, one layer of one head of size 1, and a vocabulary of 3.
const Tensor kLogits = Tensor::zeros(DType::kFloat, {1, 1, 3});
const Tensor kState = Tensor::zeros(DType::kFloat, {1, 1, 1, 1});
const Tensor kHidden = Tensor::zeros(DType::kFloat, {1, 2, 1});

GraphPtr giving(size_t inputs, const std::vector<Tensor>& outputs) {
  auto graph = std::make_shared<Graph>();
  for (size_t i = 0; i < inputs; ++i)
    graph->add_input("i" + std::to_string(i), Type::tensor(DType::kInt32));
  for (const Tensor& output : outputs)
    graph->add_output(graph->add_constant("o" + std::to_string(graph->outputs().size()), output));
  return graph;
}

GraphPtr decoder(const std::vector<Tensor>& outputs = {kLogits, kState, kState}, size_t states = 4,
                 bool reads_hidden = false) {
  auto graph = std::make_shared<Graph>();
  const auto input = [&](DType dtype, Dims dims) {
    graph->add_input("i" + std::to_string(graph->inputs().size()),
                     Type::tensor(dtype, std::move(dims)));
  };
  const Dim rows = Dim::symbol("rows"), length = Dim::symbol("length");
  input(DType::kInt32, {rows, 1});
  input(DType::kInt32, {rows, length});
  if (reads_hidden) input(DType::kFloat, {rows, length, 1});
  for (size_t i = 0; i < states; ++i)
    input(DType::kFloat, {rows, 1, Dim::symbol("past" + std::to_string(i)), 1});
  for (const Tensor& output : outputs)
    graph->add_output(graph->add_constant("o" + std::to_string(graph->outputs().size()), output));
  return graph;
}

GraphPtr with_length_input(const GraphPtr& graph) {
  graph->add_input("past_sequence_length", Type::tensor(DType::kInt32, Dims{1}));
  return graph;
}

TEST(GenerationRefusals, EncodersAndDecoders) {
  const std::vector<Tensor> all{kLogits, kHidden, kState, kState, kState, kState};
  const GraphPtr old_encoder = giving(3, all), encoder = giving(2, {kState, kState});
  const Tensor flat = Tensor::zeros(DType::kFloat, {1, 1});
  const Tensor two_rows = Tensor::zeros(DType::kFloat, {2, 1, 1, 1});
  const Tensor longer = Tensor::zeros(DType::kFloat, {1, 1, 9, 1});
  const Tensor narrow = Tensor::zeros(DType::kFloat, {1, 1, 2});
  const Tensor single = Tensor::zeros(DType::kFloat, {1, 1, 1});
  const auto attributes = [](const GraphPtr& first, const GraphPtr& second, int64_t start) {
    return AttrMap{{"decoder", second}, {"encoder", first},
                   {"model_type", 1},   {"decoder_start_token_id", start},
                   {"eos_token_id", 2}, {"pad_token_id", 0}};
  };
  const char* op = "com.microsoft::BeamSearch";
  const auto one = [](int32_t value) -> Datum { return Tensor::vector<int32_t>({value}); };
  const std::vector<Datum> inputs{Tensor::of<int32_t>({1, 1}, {1, 2}), one(4), none(), one(1),
                                  one(1)};
  const auto call = [&](const GraphPtr& first, const GraphPtr& second, const char* mention,
                        int64_t start = 1, ErrorCode code = kBadModel) -> Refused {
    return {op, inputs, attributes(first, second, start), mention, code};
  };
  EXPECT_EQ(error_of(op, inputs, attributes(old_encoder, decoder(), 1)), "");
  EXPECT_EQ(error_of(op, inputs, attributes(encoder, decoder(), 1)), "");
  expect_refused(std::vector<Refused>{
      call(encoder, decoder({kLogits, kState, kState}, 3), "it has 5 inputs and 3 outputs"),
      call(encoder, decoder({kLogits, kState}), "it has 6 inputs and 2 outputs"),
      call(encoder, decoder({kLogits}), "it has 6 inputs and 1 outputs"),
      call(giving(2, {kState, kState, kState}), decoder(),
           "encoder: expected 2 inputs and 2 outputs, or 3 inputs and 6 outputs, for the decoder's "
           "layers; got 2 and 3"),
      call(giving(4, all), decoder(), "got 4 and 6"),
      call(encoder, decoder({kLogits, kState, kState}, 4, true),
           "decoder: it takes encoder_hidden_states, which an encoder of 2 inputs does not give"),
      call(encoder, decoder(), "attribute decoder_start_token_id: expected a word, got -1", -1),
      call(giving(2, {flat, kState}), decoder(),
           "encoder: output o0: expected a first dim of 1, got float[1, 1]"),
      call(giving(2, {kState, two_rows}), decoder(),
           "encoder: output o1: expected a first dim of 1, got float[2, 1, 1, 1]"),
      call(giving(3, {kLogits, kHidden, longer, kState, kState, kState}),
           with_length_input(decoder()),
           "encoder: a present state: expected rank 4 and at most 4 words, got float[1, 1, 9, 1]"),
      call(giving(3, {kLogits, kHidden, kHidden, kState, kState, kState}),
           with_length_input(decoder()), "expected rank 4 and at most 4 words, got float[1, 2, 1]"),
      call(encoder, decoder({kLogits, two_rows, kState}),
           "decoder: output o1: expected a first dim of 1, got float[2, 1, 1, 1]"),
      call(old_encoder, decoder({narrow, kState, kState}),
           "the decoder's logits: expected a vocabulary of 3, got 2"),
      call(encoder, decoder({single, kState, kState}),
           "beam search needs a vocabulary of at least two words", 1, kBadArgument),
  });
}

TEST(GenerationRefusals, Inputs) {
  const auto ints_of = [](const std::vector<int32_t>& values) -> Datum {
    return Tensor::vector(values);
  };
  const Datum prompt = Tensor::of<int32_t>({1, 1}, {1, 2}), five = ints_of({5}), o = none();
  const Datum one = ints_of({1}), two = ints_of({1, 1});
  const AttrMap attrs{{"decoder", decoder()}, {"eos_token_id", 2}, {"pad_token_id", 0}};
  AttrMap alone = attrs;
  alone["model_type"] = 1;
  const char *beam = "com.microsoft::BeamSearch", *greedy = "com.microsoft::GreedySearch";
  expect_refused(std::vector<Refused>{
      {greedy, {prompt, five}, alone, "model_type 1 needs the attribute encoder"},
      {beam,
       {zeros({1, 2}), five, o, one, one},
       attrs,
       "input input_ids: expected int32, got float[1, 2]; for models that hear sounds, model_type"},
      {beam, {prompt, five, o, two, one}, attrs, "input num_beams (int32[2]): expected a scalar"},
      {beam,
       {prompt, five, o, one, two},
       attrs,
       "input num_return_sequences (int32[2]): expected a scalar"},
      {greedy, {prompt, five, two}, attrs, "min_length: expected one element, got", kBadArgument},
  });
}

}  // namespace
}  // namespace sardonyx
