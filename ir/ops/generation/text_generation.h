// Text generation with a language model as subgraph: what BeamSearch, WhisperBeamSearch,
// GreedySearch and Sampling of com.microsoft share. (ONNX Runtime's documentation of its contrib
// operators.)
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/eval_call.h"
#include "ir/graph.h"

namespace sardonyx::ops {

// Words so far; all of one length. Row (entry * beams + beam) is a beam of a batch entry.
using Sequences = std::vector<std::vector<int32_t>>;

// Words of Whisper's vocabulary that have a meaning of their own; -1: it has no such word. Those
// from `first_timestamp` on are times.
struct SpeechWords {
  int64_t end = -1, start = -1;  // of a transcript
  int64_t translate = -1, transcribe = -1, start_of_lm = -1, no_timestamps = -1;
  int64_t first_timestamp = -1;
};
// Forbids what may not follow `words` in a transcript with times: they come in pairs, do not
// decrease, and where their sum is likelier than every other word, one of them comes.
// `first_timestamp` is a word beyond the first.
void apply_timestamp_rules(const SpeechWords& special, const std::vector<int32_t>& words,
                           std::span<float> scores);

// Rules that may change the scores of the next words, in the order in which they are applied.
struct ScoreRules {
  int64_t vocabulary = 0;  // scores of one row
  int64_t beams = 1;       // rows of one batch entry
  // Scores of words that stand in the row already: divided where positive, multiplied where
  // negative.
  float repetition_penalty = 1;
  int64_t no_repeat_ngram_size = 0;           // no such n-gram comes twice; 0: any may
  std::span<const int32_t> vocab_mask;        // [vocabulary]: 0 forbids a word
  std::span<const int32_t> first_vocab_mask;  // [batch, vocabulary]: for the first word alone
  int64_t min_length = 0;                     // below it the end is forbidden
  int64_t end = 0;
  float temperature = 1;                   // divides; not positive: off
  std::span<const int32_t> presence_mask;  // [batch, vocabulary], subtracted times the penalty
  float presence_penalty = 0;
  std::optional<SpeechWords> timestamps;  // where the text has times
};
// `scores` is [rows, vocabulary]. What is forbidden gets the lowest float.
void apply_rules(const ScoreRules& rules, const Sequences& sequences, bool is_first,
                 std::span<float> scores);

// How a model is asked for the next words.
struct ModelSetup {
  const EvalCall& call;  // input 0 is input_ids
  const Graph* decoder;
  const Graph* init_decoder = nullptr;
  const Graph* encoder = nullptr;
  int64_t start = -1;  // decoder_start_token_id
  int64_t padding = 0;
  Tensor attention_mask;  // [batch, length] int32; not defined: from the padding
  Tensor start_ids;       // [batch, length] int32 instead of `start`; may be undefined
  bool hears = false;     // the encoder reads sounds, which have no mask: Whisper's form
  int64_t beams = 1;
  int64_t max_length = 0;
  // The outputs of one of its graphs.
  std::vector<Datum> run(const Graph& graph, std::span<const Datum> feeds) const;
};

// A language model that carries its state from word to word.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  // The tokens that the sequences begin with.
  virtual Sequences prompt() const = 0;
  // Logits [rows, vocabulary] of the word behind the prompt.
  virtual std::vector<float> first() = 0;
  // Like first(), after one more word; row i continues row origins[i].
  virtual std::vector<float> next(const Sequences& sequences, std::span<const int64_t> origins) = 0;
  int64_t vocabulary() const { return vocabulary_; }  // known after first()

 protected:
  // The last position of logits [rows or batch, length, vocabulary], for every row.
  std::vector<float> last_logits(const Tensor& logits, int64_t rows, int64_t beams);

 private:
  int64_t vocabulary_ = 0;
};

// A decoder alone, as GPT-2: inputs input_ids, position_ids, attention_mask, past_0 ...; outputs
// logits, present_0 ... Or an encoder and a decoder, as T5 and Whisper: see
// encoder_decoder_model.cpp.
std::unique_ptr<LanguageModel> make_decoder_model(const ModelSetup& setup);
std::unique_ptr<LanguageModel> make_encoder_decoder_model(const ModelSetup& setup);

// ---- What both models need

// int32 [rows, length] of rows of equal length.
Tensor as_tensor(const Sequences& rows);
// Rows of int32 [rows, length].
Sequences as_rows(const Tensor& tensor);
// Elements `indices` along `axis`.
Tensor select(const Tensor& tensor, size_t axis, std::span<const int64_t> indices);
// 0, 0, 1, 1 ... : every entry `times` times.
std::vector<int64_t> repeated(int64_t entries, int64_t times);
// A known dim of a declared input; throws kInvalidModel naming both.
int64_t declared_dim(const Value& value, size_t rank, size_t axis);

// ---- Beam search

struct BeamSettings {
  int64_t batch, beams, returned, max_length;
  float length_penalty;
  bool stops_early;
  int32_t end, padding;
};

// A beam that goes on, of one batch entry: which word is added to which row.
struct BeamStep {
  std::vector<int32_t> words;
  std::vector<int64_t> origins;
  std::vector<float> scores;
};

// Keeps the best finished sequences of each batch entry.
class BeamKeeper {
 public:
  explicit BeamKeeper(const BeamSettings& settings);
  // `scores` [rows, vocabulary] are sums of logarithms with each row's own score added.
  BeamStep advance(const Sequences& sequences, std::span<const float> scores, int64_t vocabulary);
  bool is_done() const;
  // Takes the open beams in, then writes [batch, returned, max_length] and [batch, returned].
  void finish(const Sequences& sequences, std::span<const float> scores, int32_t* words,
              float* word_scores);

 private:
  struct Finished {
    std::vector<int32_t> words;
    float score;
  };
  struct BatchEntry {
    std::vector<Finished> best;  // the best first
    bool is_done = false;
  };
  float score_of(float sum, size_t length) const;
  void add(BatchEntry& entry, const std::vector<int32_t>& words, float sum) const;
  void advance_entry(int64_t index, const Sequences& sequences, std::span<const float> scores,
                     int64_t vocabulary, BeamStep& step);

  BeamSettings settings_;
  std::vector<BatchEntry> entries_;
};

}  // namespace sardonyx::ops
