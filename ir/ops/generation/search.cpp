#include "ir/ops/generation/search.h"

#include <algorithm>

#include "ir/core/run_control.h"

namespace sardonyx::ops {

int64_t integer_of(const EvalCall& call, size_t input, int64_t otherwise) {
  if (!call.has(input)) return otherwise;
  const Tensor& tensor = call.inputs[input].tensor();
  if (tensor.count() != 1) {
    fail(ErrorCode::kInvalidArgument, signature_of(call.op).input(input).name,
         ": expected one element, got ", call.inputs[input].type());
  }
  return tensor.to_int64s()[0];
}

float number_of(const EvalCall& call, size_t input, float otherwise) {
  if (!call.has(input)) return otherwise;
  const Tensor& tensor = call.inputs[input].tensor();
  if (tensor.count() != 1) {
    fail(ErrorCode::kInvalidArgument, signature_of(call.op).input(input).name,
         ": expected one element, got ", call.inputs[input].type());
  }
  return static_cast<float>(tensor.to_doubles()[0]);
}

// int32 of this shape.
Tensor int32s_of(const EvalCall& call, size_t input, const Shape& shape) {
  if (!call.has(input)) return {};
  const Tensor& tensor = call.inputs[input].tensor();
  if (tensor.dtype() != DType::kInt32 || tensor.shape() != shape) {
    fail(ErrorCode::kInvalidArgument, signature_of(call.op).input(input).name, ": expected int32",
         to_text(shape), ", got ", call.inputs[input].type());
  }
  return tensor;
}

Search::Search(const EvalCall& call, const SearchAttrs& attrs, int64_t beams, size_t mask_input)
    : call(call), attrs(attrs), beams(beams) {
  const Tensor& ids = call.inputs[kIds].tensor();
  const bool hears = attrs.model_type == kSpeech;
  if (ids.rank() != (hears ? 3u : 2u) || ids.count() == 0) {
    fail(ErrorCode::kInvalidArgument, "input_ids: expected ",
         hears ? "[batch, features, frames] with sound" : "[batch, length] with words", ", got ",
         call.inputs[kIds].type());
  }
  batch = ids.shape()[0];
  max_length = integer_of(call, kMaxLength, 0);
  rules.beams = beams;
  rules.no_repeat_ngram_size = attrs.no_repeat_ngram_size;
  rules.min_length = integer_of(call, kMinLength, 0);
  rules.end = attrs.eos_token_id;
  if (!hears) mask_ = int32s_of(call, mask_input, ids.shape());
}

void Search::read_rules(size_t repetition, size_t vocab, size_t prefix) {
  rules.repetition_penalty = number_of(call, repetition, 1);
  if (!(rules.repetition_penalty > 0)) {
    fail(ErrorCode::kInvalidArgument, "repetition_penalty: expected a positive number, got ",
         rules.repetition_penalty);
  }
  vocab_input_ = vocab;
  prefix_input_ = prefix;
}

std::vector<float> Search::begin(const Tensor& start) {
  ModelSetup setup{.call = call, .decoder = attrs.decoder.get()};
  if (attrs.init_decoder) setup.init_decoder = attrs.init_decoder->get();
  if (attrs.encoder) setup.encoder = attrs.encoder->get();
  setup.start = attrs.decoder_start_token_id;
  setup.padding = attrs.pad_token_id;
  setup.hears = attrs.model_type == kSpeech;
  setup.attention_mask = mask_;
  setup.start_ids = start;
  setup.beams = beams;
  setup.max_length = max_length;
  count_rows(start);
  model_ = attrs.model_type == kDecoderOnly ? make_decoder_model(setup)
                                            : make_encoder_decoder_model(setup);
  sequences = model_->prompt();
  prompt_length = static_cast<int64_t>(sequences[0].size());
  if (max_length <= prompt_length) {
    fail(ErrorCode::kInvalidArgument, "max_length: expected more than the ", prompt_length,
         " words that are given, got ", max_length);
  }
  std::vector<float> logits = model_->first();
  // The scores, and those of the step before while they are made.
  scores_share_.emplace(2 * logits.size() * sizeof(float));
  set_vocabulary();
  return cut(std::move(logits));
}

void Search::count_rows(const Tensor& start) {
  constexpr size_t kOfAllocation = 16;  // what the C library keeps beside each
  const size_t rows = static_cast<size_t>(batch) * static_cast<size_t>(beams);
  const Tensor& ids = call.inputs[kIds].tensor();
  const int64_t given = attrs.model_type != kSpeech ? ids.shape()[1] : start ? start.shape()[1] : 1;
  const size_t words = static_cast<size_t>(given) + 1;
  constexpr size_t kOfModel = sizeof(int64_t) + sizeof(int32_t);  // an origin and a position
  rows_share_.emplace(rows * (kOfModel + sizeof(Sequences::value_type) + kOfAllocation +
                              std::max(2 * words * sizeof(int32_t), kOfAllocation)));
}

std::vector<float> Search::go_on(std::span<const int64_t> origins) {
  check_interrupted();
  return cut(model_->next(sequences, origins));
}

void Search::apply(std::span<float> scores) const {
  const bool is_first = static_cast<int64_t>(sequences[0].size()) == prompt_length;
  apply_rules(rules, sequences, is_first, scores);
}

// The decoder's logits may be padded beyond the vocabulary.
void Search::set_vocabulary() {
  rules.vocabulary = attrs.vocab_size > 0 ? attrs.vocab_size : model_->vocabulary();
  if (rules.vocabulary > model_->vocabulary()) {
    fail(ErrorCode::kInvalidModel, "attribute vocab_size: ", attrs.vocab_size,
         ", but the decoder gives ", model_->vocabulary(), " logits");
  }
  vocab_mask_ = int32s_of(call, vocab_input_, {rules.vocabulary});
  prefix_mask_ = int32s_of(call, prefix_input_, {batch, rules.vocabulary});
  if (vocab_mask_) rules.vocab_mask = vocab_mask_.values<int32_t>();
  if (prefix_mask_) rules.first_vocab_mask = prefix_mask_.values<int32_t>();
}

std::vector<float> Search::cut(std::vector<float> logits) const {
  const int64_t given = model_->vocabulary(), kept = rules.vocabulary;
  if (given == kept) return logits;
  if (given < kept) {
    fail(ErrorCode::kInvalidModel, "the decoder's logits: expected a vocabulary of ", kept,
         ", got ", given);
  }
  for (int64_t row = 1; row < batch * beams; ++row)
    std::copy_n(logits.begin() + row * given, kept, logits.begin() + row * kept);
  logits.resize(static_cast<size_t>(batch * beams * kept));
  return logits;
}

}  // namespace sardonyx::ops
