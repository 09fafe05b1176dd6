// BeamSearch and WhisperBeamSearch.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/ops/generation/search.h"

namespace sardonyx::ops {
namespace {

void to_log_probabilities(std::span<float> scores, int64_t width) {
  for (size_t begin = 0; begin < scores.size(); begin += static_cast<size_t>(width)) {
    const auto row = scores.subspan(begin, static_cast<size_t>(width));
    const float highest = *std::ranges::max_element(row);
    double sum = 0;
    for (const float score : row)
      sum += std::exp(static_cast<double>(score) - highest);
    const double whole = highest + std::log(sum);
    for (float& score : row)
      score = static_cast<float>(score - whole);
  }
}

BeamSettings beam_settings(const EvalCall& call, const BeamAttrs& attrs, const Search& search) {
  const int64_t returned = integer_of(call, kReturned, 1);
  if (returned < 1 || returned > search.beams) {
    fail(ErrorCode::kInvalidArgument, "num_return_sequences: expected 1 to num_beams (",
         search.beams, "), got ", returned);
  }
  return {.batch = search.batch,
          .beams = search.beams,
          .returned = returned,
          .max_length = search.max_length,
          .length_penalty = number_of(call, kLengthPenalty, 1),
          .stops_early = attrs.early_stopping,
          .end = static_cast<int32_t>(attrs.eos_token_id),
          .padding = static_cast<int32_t>(attrs.pad_token_id)};
}

int64_t beams_of(const EvalCall& call) {
  constexpr int64_t kMaxBeams = 4096;
  const int64_t beams = integer_of(call, kBeams, 1);
  if (beams < 1 || beams > kMaxBeams) {
    fail(ErrorCode::kInvalidArgument, "num_beams: expected 1 to ", kMaxBeams, ", got ", beams);
  }
  return beams;
}

// What a transcript adds: the rules of its timestamps, where logits_processor asks for them.
void read_processor(const EvalCall& call, const SpeechWords& special, Search& search) {
  enum LogitsProcessor { kNone = 0, kTimestamps = 1 };
  const int64_t processor = integer_of(call, kLogitsProcessor, kNone);
  if (processor < kNone) {
    fail(ErrorCode::kInvalidArgument, "logits_processor: expected 0 or more, got ", processor);
  }
  // Other numbers, and all of them for models that hear nothing, ask for no rules.
  if (search.attrs.model_type == kSpeech && processor == kTimestamps)
    search.rules.timestamps = special;
}

void check_timestamps(const Search& search) {
  if (!search.rules.timestamps) return;
  const int64_t first = search.rules.timestamps->first_timestamp;
  if (first < 1 || first >= search.rules.vocabulary) {
    fail(ErrorCode::kInvalidModel, "attribute beginning_timestamp_token_id: expected 1 to ",
         search.rules.vocabulary - 1, " for logits_processor 1, got ", first);
  }
}

Tensor as_dtype(const Tensor& floats, DType dtype) {
  if (dtype == DType::kFloat) return floats;
  Tensor out = Tensor::allocate(dtype, floats.shape());
  store_numbers<float>(dtype, out.raw(), 0, out.count(), floats.values<float>().data());
  return out;
}

// The probability of `word` behind the prompt of each batch entry, [batch].
Tensor first_probabilities(const Search& search, const std::vector<float>& logits, int64_t word) {
  const int64_t width = search.rules.vocabulary;
  if (word < 0 || word >= width) {
    fail(ErrorCode::kInvalidModel, "attribute no_speech_token_id: expected 0 to ", width - 1,
         " for the output non_speech_probs, got ", word);
  }
  Tensor out = Tensor::allocate(DType::kFloat, {search.batch});
  for (int64_t entry = 0; entry < search.batch; ++entry) {
    const auto begin = logits.begin() + entry * search.beams * width;
    std::vector<float> row(begin, begin + width);
    to_log_probabilities(row, width);
    out.mutable_values<float>()[static_cast<size_t>(entry)] =
        std::exp(row[static_cast<size_t>(word)]);
  }
  return out;
}

std::vector<Datum> search_beams(const EvalCall& call, const BeamAttrs& attrs,
                                const SpeechWords& special, int64_t no_speech) {
  constexpr size_t kNoSpeech = 4;  // among the outputs
  Search search(call, attrs, beams_of(call), kBeamMask);
  search.read_rules(kBeamRepetition, kBeamVocab, kBeamPrefix);
  read_processor(call, special, search);
  search.rules.temperature = number_of(call, kTemperature, 1);
  const BeamSettings settings = beam_settings(call, attrs, search);
  Tensor words = Tensor::allocate(DType::kInt32, {settings.batch, settings.returned,
                                                  std::max<int64_t>(settings.max_length, 0)});
  Tensor word_scores = Tensor::allocate(DType::kFloat, {settings.batch, settings.returned});
  Tensor start;
  if (call.has(kStartIds)) {
    start = call.inputs[kStartIds].tensor();
    start = int32s_of(call, kStartIds,
                      {settings.batch, start.rank() == 2 ? start.shape()[1] : int64_t{1}});
  }
  std::vector<float> scores = search.begin(start);
  check_timestamps(search);
  const int64_t vocabulary = search.rules.vocabulary, rows = settings.batch * settings.beams;
  Tensor silence;
  if (call.outputs.size() > kNoSpeech) silence = first_probabilities(search, scores, no_speech);
  Tensor history;
  if (call.outputs.size() > 2) {
    history = Tensor::zeros(DType::kFloat, {settings.max_length - search.prompt_length,
                                            settings.batch, settings.beams, vocabulary});
  }
  // All beams but the first start so low that the first word comes from one of them alone.
  std::vector<float> sums(static_cast<size_t>(rows), -1e9f);
  for (int64_t entry = 0; entry < settings.batch; ++entry)
    sums[static_cast<size_t>(entry * settings.beams)] = 0;
  BeamKeeper keeper(settings);
  for (;;) {
    check_interrupted();
    to_log_probabilities(scores, vocabulary);
    search.apply(scores);
    for (int64_t i = 0; i < rows * vocabulary; ++i)
      scores[static_cast<size_t>(i)] += sums[static_cast<size_t>(i / vocabulary)];
    if (history) {
      const int64_t done = static_cast<int64_t>(search.sequences[0].size()) - search.prompt_length;
      std::ranges::copy(scores, history.mutable_values<float>().begin() + done * rows * vocabulary);
    }
    BeamStep step = keeper.advance(search.sequences, scores, vocabulary);
    Sequences longer;
    for (size_t i = 0; i < step.words.size(); ++i) {
      longer.push_back(search.sequences[static_cast<size_t>(step.origins[i])]);
      longer.back().push_back(step.words[i]);
    }
    search.sequences = std::move(longer);
    sums = std::move(step.scores);
    if (keeper.is_done() || search.is_full()) break;
    scores = search.go_on(step.origins);
  }
  keeper.finish(search.sequences, sums, words.mutable_values<int32_t>().data(),
                word_scores.mutable_values<float>().data());
  const DType dtype = call.has(kLengthPenalty)    ? call.inputs[kLengthPenalty].tensor().dtype()
                      : call.has(kBeamRepetition) ? call.inputs[kBeamRepetition].tensor().dtype()
                                                  : DType::kFloat;
  std::vector<Datum> outputs{words, as_dtype(word_scores, dtype)};
  if (history) outputs.emplace_back(as_dtype(history, dtype));
  if (silence) {
    outputs.resize(kNoSpeech);
    outputs.emplace_back(as_dtype(silence, dtype));
  }
  return outputs;
}

}  // namespace

std::vector<Datum> beam_search(const EvalCall& call) {
  return search_beams(call, call.attrs<BeamAttrs>(), {}, -1);
}

std::vector<Datum> whisper_beam_search(const EvalCall& call) {
  const auto& attrs = call.attrs<WhisperAttrs>();
  if (call.has(kExtraIds) && call.inputs[kExtraIds].tensor().count() > 0) {
    fail(ErrorCode::kUnsupported, "extra_decoding_ids: words that are given for their attention ",
         "(cross_qk) are not supported; put them behind decoder_input_ids");
  }
  const SpeechWords special{.end = attrs.eos_token_id,
                            .start = attrs.decoder_start_token_id,
                            .translate = attrs.translate_token_id,
                            .transcribe = attrs.transcribe_token_id,
                            .start_of_lm = attrs.start_of_lm_token_id,
                            .no_timestamps = attrs.no_timestamps_token_id,
                            .first_timestamp = attrs.beginning_timestamp_token_id};
  return search_beams(call, attrs, special, attrs.no_speech_token_id);
}

}  // namespace sardonyx::ops
