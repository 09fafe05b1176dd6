// Transcripts: the rules of timestamps, and beam search with a model that hears.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/generation/text_generation.h"
#include "tests/support/expect_op_error.h"
#include "tests/support/subgraph_builder.h"

namespace sardonyx::ops {
namespace {

constexpr float kLow = std::numeric_limits<float>::lowest();

// Words: 0 .. 1 text, 2 the end, 3 start, 4 translate, 5 transcribe, 6 start of lm, 7 no
// timestamps, 8 .. times.
const SpeechWords kSpecial{.end = 2,
                           .start = 3,
                           .translate = 4,
                           .transcribe = 5,
                           .start_of_lm = 6,
                           .no_timestamps = 7,
                           .first_timestamp = 8};

// The words that may follow; scores fall with the word, so that no times are preferred.
std::vector<int32_t> allowed(const std::vector<int32_t>& words, size_t vocabulary = 12) {
  std::vector<float> scores;
  for (size_t i = 0; i < vocabulary; ++i)
    scores.push_back(-20 * static_cast<float>(i));
  apply_timestamp_rules(kSpecial, words, scores);
  std::vector<int32_t> found;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != kLow) found.push_back(static_cast<int32_t>(i));
  }
  return found;
}

TEST(TimestampRules, TimesComeInPairsAndDoNotDecrease) {
  using Words = std::vector<int32_t>;
  // Before the first time all but the marks that never follow.
  EXPECT_EQ(allowed({3, 5}), (Words{0, 1, 2, 3, 4, 5, 8, 9, 10, 11}));
  // The first time is alone: text, or the end, follows.
  EXPECT_EQ(allowed({3, 5, 9}), (Words{0, 1, 2, 3, 4, 5}));
  // Behind text any later time or text, but no mark of a beginning.
  EXPECT_EQ(allowed({3, 5, 9, 1}), (Words{0, 1, 2, 10, 11}));
  // A time behind text ends it: the next one starts, at the same time or later.
  EXPECT_EQ(allowed({3, 5, 9, 1, 10}), (Words{2, 10, 11}));
  // Behind a pair comes text.
  EXPECT_EQ(allowed({3, 5, 9, 1, 10, 10}), (Words{0, 1, 2}));
}

TEST(TimestampRules, TheFirstTimeIsWithinASecond) {
  const std::vector<int32_t> first = allowed({3, 5}, 70);
  EXPECT_EQ(first.back(), 8 + 50);
  EXPECT_EQ(allowed({3, 5, 8, 1}, 70).back(), 69);
}

TEST(TimestampRules, TimesWinTogether) {
  // Each time is less likely than word 0, all four as one are more likely.
  std::vector<float> scores(12, -9);
  scores[0] = -1;
  for (size_t time = 8; time < 12; ++time)
    scores[time] = -1.2f;
  apply_timestamp_rules(kSpecial, {3, 5}, scores);
  EXPECT_EQ(std::count(scores.begin(), scores.begin() + 8, kLow), 8);
  EXPECT_EQ(std::count(scores.begin() + 8, scores.end(), -1.2f), 4);
}

// ---- A model that hears

constexpr int64_t kSpeechWords = 5;
constexpr int32_t kSpeechEnd = 4;

float speech_table(int32_t last, int32_t next) {
  return static_cast<float>((last * 7 + next * 5 + last * next * 3) % 11) / 3;
}
// `heard` is the sum of the sound.
float speech_logit(int32_t last, int32_t next, float heard) {
  return speech_table(last, next) + heard * static_cast<float>(next) / 8;
}

// Encoders and decoders under construction.
class Speech : public SubgraphBuilder {
 public:
  // `heard`: [rows, 1, 1].
  Val logits(const Val& ids, const Val& heard) {
    std::vector<float> values, weights;
    for (int32_t last = 0; last < kSpeechWords; ++last) {
      weights.push_back(static_cast<float>(last) / 8);
      for (int32_t next = 0; next < kSpeechWords; ++next)
        values.push_back(speech_table(last, next));
    }
    const Val rows =
        e.call("Gather", {e.constant(Tensor::of(values, {kSpeechWords, kSpeechWords})), ids});
    return e.call("Add", {rows, e.call("Mul", {heard, e.constant(Tensor::vector(weights))})});
  }
  Val state(const Val& ids) { return unsqueeze(e, cast_to(e, ids, DType::kFloat), {1, 3}); }
};

Dim dim_named(const char* name) {
  return Dim::symbol(name);
}

GraphPtr listener() {
  Speech s;
  const Dim batch = dim_named("batch");
  const Val sound = s.input("encoder_input_ids", DType::kFloat, {batch, 2, dim_named("frames")});
  const Val ids = s.input("decoder_input_ids", DType::kInt32, {batch, dim_named("length")});
  const Val hidden = transpose(s.e, sound, {0, 2, 1});
  const Val heard = s.e.call("ReduceSum", {hidden, s.e.int64s({1, 2})});
  s.output("logits", s.logits(ids, heard));
  s.output("encoder_hidden_states", hidden);
  for (const char* name : {"present_key_self_0", "present_value_self_0"})
    s.output(name, s.state(ids));
  for (const char* name : {"present_key_cross_0", "present_value_cross_0"})
    s.output(name, unsqueeze(s.e, hidden, {1}));
  return s.graph();
}

// With `hidden` it hears what the encoder gave, else the keys of the cross attention. With
// `shares`, the states have the length of the longest sequence.
GraphPtr speaker(bool hidden, bool shares = false) {
  Speech s;
  const Dim rows = dim_named("rows"), frames = dim_named("frames"), past = dim_named("past");
  const Val ids = s.input("input_ids", DType::kInt32, {rows, 1});
  Val heard;
  if (hidden) {
    const Val states = s.input("encoder_hidden_states", DType::kFloat, {rows, frames, 2});
    heard = s.e.call("ReduceSum", {states, s.e.int64s({1, 2})});
  }
  Vals self;
  for (const char* name : {"past_key_self_0", "past_value_self_0"})
    self.push_back(s.input(name, DType::kFloat, {rows, 1, past, 1}));
  const Val key = s.input("past_key_cross_0", DType::kFloat, {rows, 1, frames, 2});
  s.input("past_value_cross_0", DType::kFloat, {rows, 1, frames, 2});
  if (!hidden) {
    heard = s.e.call("ReduceSum", {key, s.e.int64s({1, 2, 3})});
    heard = reshape(s.e, heard, {-1, 1, 1});
  }
  if (shares) {
    // What beams a word has shows in the logits: nothing is added where all is as it should be.
    const Val done = s.input("past_sequence_length", DType::kInt32, {1});
    const Val width = s.input("beam_width", DType::kInt32, {1});
    const Val beams =
        s.input("cache_indirection", DType::kInt32, {dim_named("batch"), dim_named("beams"), past});
    const Val own = cast_to(s.e, count_up(s.e, cast_to(s.e, width, DType::kInt64)), DType::kInt32);
    const Val other = s.e.call("Sub", {beams, unsqueeze(s.e, own, {0, 2})});
    const Val used = slice(s.e, self[0], s.e.int64s({0}), cast_to(s.e, done, DType::kInt64), 2);
    const Val unused =
        slice(s.e, self[0], cast_to(s.e, done, DType::kInt64), dim_of(s.e, self[0], 2), 2);
    const Val wrong = s.e.call(
        "Add",
        {cast_to(s.e, s.e.call("ReduceMax", {s.e.call("Abs", {other})}, {{"keepdims", int64_t{0}}}),
                 DType::kFloat),
         s.e.call("ReduceMax", {unused}, {{"keepdims", int64_t{0}}})});
    const Val none_used =
        s.e.call("Equal", {s.e.call("Size", {used}), s.e.scalar(DType::kInt64, 0)});
    heard =
        s.e.call("Add", {heard, s.e.call("Add", {wrong, cast_to(s.e, none_used, DType::kFloat)})});
    for (Val& state : self) {
      const Val at = cast_to(s.e, done, DType::kInt64);
      state = s.e.call("TensorScatter",
                       {state, s.state(ids), s.e.call("Expand", {at, dim_of(s.e, ids, 0)})});
    }
  } else {
    for (Val& state : self)
      state = s.e.call("Concat", {state, s.state(ids)}, {{"axis", int64_t{2}}});
  }
  s.output("logits", s.logits(ids, heard));
  s.output("present_key_self_0", self[0]);
  s.output("present_value_self_0", self[1]);
  return s.graph();
}

Datum single(int32_t value) {
  return Tensor::vector<int32_t>({value});
}

AttrMap whisper_attributes(const GraphPtr& speaker) {
  return {{"decoder", speaker},
          {"encoder", listener()},
          {"eos_token_id", int64_t{kSpeechEnd}},
          {"pad_token_id", int64_t{0}},
          {"model_type", int64_t{2}},
          {"decoder_start_token_id", int64_t{1}}};
}

// Two batch entries of three frames.
const std::vector<float> kSound{0.1f, 0.2f, 0.3f, -0.1f, 0, 0.4f, 1, 0.5f, 0.5f, -2, 0.1f, 0.2f};
Datum sound() {
  return Tensor::of(kSound, {2, 2, 3});
}
float heard(size_t entry) {
  float sum = 0;
  for (size_t i = 0; i < 6; ++i)
    sum += kSound[entry * 6 + i];
  return sum;
}

double speech_log_probability(int32_t last, int32_t next, float what) {
  double sum = 0;
  for (int32_t word = 0; word < kSpeechWords; ++word)
    sum += std::exp(speech_logit(last, word, what));
  return speech_logit(last, next, what) - std::log(sum);
}

struct Line {
  std::vector<int32_t> words;
  double score;
};

// All sequences of words 1 .. 3 behind `prompt`, the likeliest first.
std::vector<Line> every_line(const std::vector<int32_t>& prompt, size_t length, float what) {
  std::vector<Line> found{{prompt, 0}};
  for (size_t i = prompt.size(); i < length; ++i) {
    std::vector<Line> longer;
    for (const Line& line : found) {
      for (int32_t word = 1; word < kSpeechEnd; ++word) {
        longer.push_back(
            {line.words, line.score + speech_log_probability(line.words.back(), word, what)});
        longer.back().words.push_back(word);
      }
    }
    found = std::move(longer);
  }
  std::ranges::sort(found, std::greater{}, &Line::score);
  return found;
}

const Datum kSpokenWords = Tensor::vector<int32_t>({0, 1, 1, 1, 0});  // no padding, no end

TEST(WhisperBeamSearch, FindsTheBestTranscripts) {
  const std::vector<GraphPtr> decoders{speaker(false), speaker(true), speaker(false, true)};
  for (size_t form = 0; form < decoders.size(); ++form) {
    for (const bool has_prompt : {true, false}) {
      SCOPED_TRACE(form * 2 + has_prompt);
      const Datum prompt = has_prompt ? Datum(Tensor::of<int32_t>({1, 3, 2, 2}, {2, 2})) : Datum();
      const auto out = run_op("com.microsoft::WhisperBeamSearch",
                              {sound(), single(5), none(), single(81), single(3), none(), none(),
                               kSpokenWords, none(), none(), prompt},
                              whisper_attributes(decoders[form]), 3);
      const size_t given = has_prompt ? 2 : 1;
      EXPECT_EQ(out[2].tensor().shape(),
                (Shape{static_cast<int64_t>(5 - given), 2, 81, kSpeechWords}));
      const std::vector<int32_t> words = elements<int32_t>(out[0]);
      for (size_t entry = 0; entry < 2; ++entry) {
        const std::vector<int32_t> begin = !has_prompt  ? std::vector<int32_t>{1}
                                           : entry == 0 ? std::vector<int32_t>{1, 3}
                                                        : std::vector<int32_t>{2, 2};
        const std::vector<Line> wanted = every_line(begin, 5, heard(entry));
        for (size_t i = 0; i < 3; ++i) {
          const auto at = words.begin() + static_cast<ptrdiff_t>((entry * 3 + i) * 5);
          EXPECT_EQ(std::vector<int32_t>(at, at + 5), wanted[i].words);
          EXPECT_NEAR(elements<float>(out[1])[entry * 3 + i], wanted[i].score / 5, 1e-4);
        }
      }
    }
  }
}

TEST(WhisperBeamSearch, SaysHowLikelySilenceIs) {
  AttrMap attrs = whisper_attributes(speaker(false));
  attrs["no_speech_token_id"] = int64_t{3};
  const auto out = run_op("com.microsoft::WhisperBeamSearch",
                          {sound(), single(4), none(), single(2), single(1)}, attrs, 5);
  for (size_t entry = 0; entry < 2; ++entry)
    EXPECT_NEAR(elements<float>(out[4])[entry],
                std::exp(speech_log_probability(1, 3, heard(entry))), 1e-5);
}

TEST(WhisperBeamSearch, TemperatureDividesScores) {
  const auto scores = [](const Datum& temperature) {
    return elements<float>(
        run_op("com.microsoft::WhisperBeamSearch",
               {sound(), single(3), none(), single(9), single(1), none(), none(), kSpokenWords,
                none(), none(), none(), none(), none(), none(), temperature},
               whisper_attributes(speaker(false)), 2)[1]);
  };
  const std::vector<float> plain = scores({}), halved = scores(Tensor::vector<float>({2}));
  for (size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(halved[i], plain[i] / 2, 1e-5);
}

// BeamSearch knows the same models, but no times.
TEST(WhisperBeamSearch, IsBeamSearchWithModelTypeTwo) {
  const std::vector<Datum> inputs{sound(), single(5), none(), single(4), single(2)};
  const AttrMap attrs = whisper_attributes(speaker(true));
  EXPECT_EQ(elements<int32_t>(run_op("com.microsoft::BeamSearch", inputs, attrs)[0]),
            elements<int32_t>(run_op("com.microsoft::WhisperBeamSearch", inputs, attrs)[0]));
}

TEST(WhisperBeamSearch, TimesFollowTheRules) {
  AttrMap attrs = whisper_attributes(speaker(false));
  attrs["eos_token_id"] = int64_t{0};
  attrs["beginning_timestamp_token_id"] = int64_t{2};
  const auto out = run_op("com.microsoft::WhisperBeamSearch",
                          {sound(), single(9), single(9), single(3), single(3), none(), none(),
                           none(), none(), none(), none(), single(1)},
                          attrs, 1);
  const std::vector<int32_t> words = elements<int32_t>(out[0]);
  for (size_t line = 0; line < 6; ++line) {
    int32_t last = 2;
    for (size_t i = 1; i < 9; ++i) {
      const int32_t word = words[line * 9 + i];
      if (word < 2) continue;
      EXPECT_GE(word, last);
      last = word;
    }
  }
}

TEST(WhisperBeamSearch, RefusesWhatItCannotDo) {
  const char *op = "com.microsoft::WhisperBeamSearch", *beam = "com.microsoft::BeamSearch";
  const AttrMap attrs = whisper_attributes(speaker(false));
  const auto with = [&](const char* name, int64_t value) {
    AttrMap changed = attrs;
    changed[name] = value;
    return changed;
  };
  const Datum o, n = single(4);
  const Datum words = Tensor::of<int32_t>({1, 1}, {1, 2});
  const std::vector<Datum> plain{sound(), n, o, single(1), single(1)};
  const auto extended = [&](std::vector<Datum> more) {
    std::vector<Datum> inputs = plain;
    inputs.resize(11);
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  };
  AttrMap of_text = attrs;
  of_text["decoder"] = listener();
  AttrMap deaf = attrs;
  deaf["encoder"] = speaker(false);
  expect_refused(std::vector<Refused>{
      {op, plain, with("model_type", 1), "attribute model_type: expected 2, got 1"},
      {beam, plain, with("model_type", 3), "1 (an encoder and a decoder) or 2 (the same for"},
      {op, {words, n, o, single(1), single(1)}, attrs, "expected rank 3, got 2"},
      {op,
       {zeros({1, 2, 3}, DType::kInt32), n, o, single(1), single(1)},
       attrs,
       "expected sound, [batch, features, frames] of floats, got int32"},
      {op, plain, with("decoder_output_cross_qk", 1), "decoder_output_cross_qk", kNotSupported},
      {op, extended({o, o, Tensor::of<int32_t>({1, 1}, {2, 1})}), attrs, "extra_decoding_ids",
       kNotSupported},
      {op, extended({single(-1)}), attrs, "logits_processor: expected 0 or more, got -1",
       kBadArgument},
      {op, extended({single(1)}), attrs,
       "attribute beginning_timestamp_token_id: expected 1 to 4 for logits_processor 1, got -1"},
      {op, extended({single(1)}), with("beginning_timestamp_token_id", 5), "expected 1 to 4"},
      {op, plain, attrs, "attribute no_speech_token_id: expected 0 to 4", kBadModel, 5},
      {op, plain, of_text, "decoder: expected the inputs input_ids, perhaps encoder_hidden_states"},
      {op, plain, deaf, "encoder: expected 2 inputs and 6 outputs for the decoder's layers"},
  });
}

}  // namespace
}  // namespace sardonyx::ops
