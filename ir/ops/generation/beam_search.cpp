// BeamSearch.
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
  if (integer_of(call, kLogitsProcessor, 0) != 0) {
    fail(ErrorCode::kUnsupported, "logits_processor: only 0 is supported");
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

Tensor as_dtype(const Tensor& floats, DType dtype) {
  if (dtype == DType::kFloat) return floats;
  Tensor out = Tensor::allocate(dtype, floats.shape());
  store_numbers<float>(dtype, out.raw(), 0, out.count(), floats.values<float>().data());
  return out;
}

}  // namespace

std::vector<Datum> beam_search(const EvalCall& call) {
  const auto& attrs = call.attrs<BeamAttrs>();
  Search search(call, attrs, beams_of(call), kBeamMask);
  search.read_rules(kBeamRepetition, kBeamVocab, kBeamPrefix);
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
  const int64_t vocabulary = search.rules.vocabulary, rows = settings.batch * settings.beams;
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
  return outputs;
}

}  // namespace sardonyx::ops
