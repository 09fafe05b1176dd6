// One call of BeamSearch, WhisperBeamSearch, GreedySearch or Sampling: attributes, inputs, and the
// model that is asked for words.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/core/memory/memory_reservation.h"
#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {

enum ModelType { kDecoderOnly = 0, kEncoderDecoder = 1, kSpeech = 2 };

struct SearchAttrs {
  GraphPtr decoder;
  int64_t decoder_start_token_id = -1;
  std::optional<GraphPtr> encoder;
  int64_t eos_token_id = 0;
  std::optional<GraphPtr> init_decoder;
  int64_t model_type = kDecoderOnly;
  int64_t no_repeat_ngram_size = 0;
  int64_t pad_token_id = 0;
  int64_t vocab_size = -1;
  static auto shared_fields() {
    return std::tuple{field("decoder_start_token_id", &SearchAttrs::decoder_start_token_id),
                      field("encoder", &SearchAttrs::encoder),
                      field("init_decoder", &SearchAttrs::init_decoder),
                      field("model_type", &SearchAttrs::model_type),
                      field("no_repeat_ngram_size", &SearchAttrs::no_repeat_ngram_size),
                      field("vocab_size", &SearchAttrs::vocab_size),
                      required("decoder", &SearchAttrs::decoder),
                      required("eos_token_id", &SearchAttrs::eos_token_id),
                      required("pad_token_id", &SearchAttrs::pad_token_id)};
  }
};

struct GreedyAttrs : SearchAttrs {
  static auto fields() { return shared_fields(); }
};

struct BeamAttrs : SearchAttrs {
  bool early_stopping = false;
  static auto fields() {
    return std::tuple_cat(shared_fields(),
                          std::tuple{field("early_stopping", &BeamAttrs::early_stopping)});
  }
};

struct WhisperAttrs : BeamAttrs {
  int64_t beginning_timestamp_token_id = -1;
  bool decoder_output_cross_qk = false;
  int64_t no_speech_token_id = -1, no_timestamps_token_id = -1, start_of_lm_token_id = -1;
  int64_t transcribe_token_id = -1, translate_token_id = -1;
  WhisperAttrs() { model_type = kSpeech; }
  static auto fields() {
    using A = WhisperAttrs;
    return std::tuple_cat(
        BeamAttrs::fields(),
        std::tuple{field("beginning_timestamp_token_id", &A::beginning_timestamp_token_id),
                   field("decoder_output_cross_qk", &A::decoder_output_cross_qk),
                   field("no_speech_token_id", &A::no_speech_token_id),
                   field("no_timestamps_token_id", &A::no_timestamps_token_id),
                   field("start_of_lm_token_id", &A::start_of_lm_token_id),
                   field("transcribe_token_id", &A::transcribe_token_id),
                   field("translate_token_id", &A::translate_token_id)});
  }
};

struct SamplingAttrs : SearchAttrs {
  bool custom = false;
  float filter_value = -1e20f;
  int64_t min_tokens_to_keep = 0;
  float presence_penalty = 0, temperature = 1, top_p = 0;
  static auto fields() {
    using A = SamplingAttrs;
    return std::tuple_cat(
        shared_fields(),
        std::tuple{field("custom", &A::custom), field("filter_value", &A::filter_value),
                   field("min_tokens_to_keep", &A::min_tokens_to_keep),
                   field("presence_penalty", &A::presence_penalty),
                   field("temperature", &A::temperature), field("top_p", &A::top_p)});
  }
};

enum SharedInput { kIds, kMaxLength, kMinLength };
enum BeamInput {
  kBeams = 3,
  kReturned,
  kLengthPenalty,
  kBeamRepetition,
  kBeamVocab,
  kBeamPrefix,
  kBeamMask,
  kStartIds,
  kLogitsProcessor,
  // Of WhisperBeamSearch alone.
  kCrossHeads,
  kExtraIds,
  kTemperature
};
enum GreedyInput { kRepetition = 3, kVocab, kPrefix, kMask, kPresence, kSeed };

// A single integer or number; `otherwise` where the input is omitted.
int64_t integer_of(const EvalCall& call, size_t input, int64_t otherwise);
float number_of(const EvalCall& call, size_t input, float otherwise);
// int32 of this shape; not defined where the input is omitted.
Tensor int32s_of(const EvalCall& call, size_t input, const Shape& shape);

// The model of one call, what it has said so far, and what changes its scores.
class Search {
 public:
  // Throws kInvalidArgument where an input does not fit.
  Search(const EvalCall& call, const SearchAttrs& attrs, int64_t beams, size_t mask_input);
  // Which inputs are repetition_penalty, vocab_mask and prefix_vocab_mask.
  void read_rules(size_t repetition, size_t vocab, size_t prefix);

  // Logits [rows, vocabulary] of the first word. `start` is input decoder_input_ids, where the op
  // has it.
  std::vector<float> begin(const Tensor& start = {});
  // Of the next word; row i goes on from row origins[i], or all from themselves.
  std::vector<float> go_on(std::span<const int64_t> origins);
  // Changes scores by the rules.
  void apply(std::span<float> scores) const;
  bool is_full() const { return static_cast<int64_t>(sequences[0].size()) >= max_length; }

  const EvalCall& call;
  const SearchAttrs& attrs;
  int64_t beams, batch = 0, max_length = 0, prompt_length = 0;
  ScoreRules rules;
  Sequences sequences;

 private:
  void set_vocabulary();
  // What rows hold outside of tensors counts from now on.
  void count_rows(const Tensor& start);
  std::vector<float> cut(std::vector<float> logits) const;

  size_t vocab_input_ = 0, prefix_input_ = 0;
  Tensor mask_, vocab_mask_, prefix_mask_;
  std::optional<BudgetShare> rows_share_, scores_share_;
  std::unique_ptr<LanguageModel> model_;
};

std::vector<Datum> beam_search(const EvalCall& call);
std::vector<Datum> whisper_beam_search(const EvalCall& call);
std::vector<Datum> greedy_search(const EvalCall& call);
std::vector<Datum> sampling(const EvalCall& call);

}  // namespace sardonyx::ops
