// BeamSearch, GreedySearch and Sampling on models whose scores are a formula, so that the test
// computes them from the words alone.
#include <algorithm>
#include <cmath>

#include "ir/core/run_control.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/generation/text_generation.h"
#include "tests/support/expect_op_error.h"
#include "tests/support/subgraph_builder.h"

namespace sardonyx::ops {
namespace {

constexpr int32_t kWords = 5, kPadding = 0, kEnd = 4;
constexpr float kHistory = 0.03f, kPlace = -0.04f, kSource = 0.05f;

float table(int32_t last, int32_t next) {
  return static_cast<float>((last * 7 + next * 5 + last * next * 3) % 11) / 3;
}

// The logit of `next` behind `words`, of which padding is not seen; `source` is the sum of what an
// encoder read.
float logit(const std::vector<int32_t>& words, int32_t next, bool has_places, int32_t source = 0) {
  float sum = 0;
  int32_t place = -1;
  for (const int32_t word : words) {
    sum += static_cast<float>(word);
    place += word != kPadding || !has_places;
  }
  const auto weight = static_cast<float>(next);
  return table(words.back(), next) + sum * kHistory * weight +
         (has_places ? static_cast<float>(place) * kPlace * weight : 0) +
         static_cast<float>(source) * kSource * weight;
}

double log_probability(const std::vector<int32_t>& words, int32_t next) {
  double sum = 0;
  for (int32_t word = 0; word < kWords; ++word)
    sum += std::exp(logit(words, word, true));
  return logit(words, next, true) - std::log(sum);
}

// A subgraph under construction.
class Builder : public SubgraphBuilder {
 public:
  Val floats(const Val& x) { return cast_to(e, x, DType::kFloat); }
  // values[rows, 1 or length, 1] times the words' numbers.
  Val times_words(const Val& values, float factor) {
    std::vector<float> numbers;
    for (int32_t word = 0; word < kWords; ++word)
      numbers.push_back(static_cast<float>(word) * factor);
    return e.call("Mul", {values, e.constant(Tensor::vector(numbers))});
  }
  Val row_of_table(const Val& ids) {
    std::vector<float> values;
    for (int32_t last = 0; last < kWords; ++last) {
      for (int32_t next = 0; next < kWords; ++next)
        values.push_back(table(last, next));
    }
    return e.call("Gather", {e.constant(Tensor::of(values, {kWords, kWords})), ids});
  }
  Val sum(const Val& x, std::vector<int64_t> axes) {
    return e.call("ReduceSum", {x, e.int64s(axes)});
  }
  Val add(const Val& a, const Val& b) { return e.call("Add", {a, b}); }
  Val concat(const Val& a, const Val& b, int64_t axis) {
    return e.call("Concat", {a, b}, {{"axis", axis}});
  }
};

Dim named(const char* name) {
  return Dim::symbol(name);
}

// As GPT-2: the words so far are the state, times the mask. With `shares`, state is large enough
// for all words and is written into.
GraphPtr decoder(bool shares = false) {
  Builder b;
  const Dim rows = named("rows"), length = named("length");
  const Val ids = b.input("input_ids", DType::kInt32, {rows, length});
  const Val places = b.input("position_ids", DType::kInt32, {rows, length});
  const Val mask = b.input("attention_mask", DType::kInt32, {rows, named("all")});
  const Val past = b.input("past_0", DType::kFloat, {2, rows, 1, named("past"), 1});
  const Val words = unsqueeze(b.e, b.floats(ids), {0, 2, 4});
  const Val both = b.concat(words, words, 0);
  Val present;
  if (shares) {
    const Val done =
        cast_to(b.e, b.input("past_sequence_length", DType::kInt32, {1}), DType::kInt64);
    const Val end = b.add(done, dim_of(b.e, ids, 1));
    present = b.concat(b.concat(slice(b.e, past, b.e.int64s({0}), done, 3), both, 3),
                       slice(b.e, past, end, dim_of(b.e, past, 3), 3), 3);
  } else {
    present = b.concat(past, both, 3);
  }
  const Val all = b.e.call("Mul", {b.floats(mask), b.floats(mask)});
  const Val kept = unsqueeze(b.e, all, {0, 2, 4});
  const Val seen = slice(b.e, present, b.e.int64s({0}), dim_of(b.e, mask, 1), 3);
  const Val total = reshape(b.e, b.sum(b.e.call("Mul", {seen, kept}), {0, 2, 3, 4}), {-1, 1, 1});
  const Val half = b.times_words(total, kHistory / 2);  // the state holds every word twice
  const Val place = b.times_words(reshape(b.e, b.floats(places), {0, 0, 1}), kPlace);
  b.output("logits", b.add(b.add(b.row_of_table(ids), half), place));
  b.output("present_0", present);
  return b.graph();
}

Tensor words_of(const std::vector<int32_t>& words, Shape shape) {
  return Tensor::of<int32_t>(words, std::move(shape));
}
Tensor one(int32_t value) {
  return Tensor::vector<int32_t>({value});
}

AttrMap attributes(const GraphPtr& graph) {
  return {{"decoder", graph}, {"eos_token_id", int64_t{kEnd}}, {"pad_token_id", int64_t{kPadding}}};
}

// Without padding, which a prompt alone may hold, and with or without the end.
const Tensor kAllButTheEnd = Tensor::vector<int32_t>({0, 1, 1, 1, 0});
const Tensor kAllWords = Tensor::vector<int32_t>({0, 1, 1, 1, 1});

// The most likely word at each step, without the end.
std::vector<int32_t> greedy_words(std::vector<int32_t> words, size_t length) {
  while (words.size() < length) {
    int32_t best = 1;
    for (int32_t word = 2; word < kEnd; ++word) {
      if (logit(words, word, true) > logit(words, best, true)) best = word;
    }
    words.push_back(best);
  }
  return words;
}

std::vector<int32_t> row(const Datum& datum, size_t index, size_t length) {
  const std::vector<int32_t> all = elements<int32_t>(datum);
  return {all.begin() + static_cast<ptrdiff_t>(index * length),
          all.begin() + static_cast<ptrdiff_t>((index + 1) * length)};
}

TEST(GreedySearch, FollowsTheHighestLogitThroughTheState) {
  for (const bool shares : {false, true}) {
    const auto out =
        run_op("com.microsoft::GreedySearch",
               {words_of({0, 2, 3, 1, 3, 2}, {2, 3}), one(8), Datum(), Datum(), kAllButTheEnd},
               attributes(decoder(shares)));
    EXPECT_EQ(row(out[0], 0, 8), greedy_words({0, 2, 3}, 8)) << shares;
    EXPECT_EQ(row(out[0], 1, 8), greedy_words({1, 3, 2}, 8)) << shares;
  }
}

TEST(GreedySearch, PaddingFollowsTheEnd) {
  const std::vector<int32_t> only_end{0, 0, 0, 0, 1};
  const auto out =
      run_op("com.microsoft::GreedySearch",
             {words_of({1, 2}, {1, 2}), one(6), one(4), Datum(),
              Tensor::vector<int32_t>({0, 0, 1, 0, 1}), Datum(), words_of({1, 1}, {1, 2})},
             attributes(decoder()));
  // Up to min_length word 2 alone is left, then the higher of 2 and the end.
  std::vector<int32_t> wanted{1, 2, 2, 2};
  while (wanted.size() < 6 && logit(wanted, 2, true) > logit(wanted, kEnd, true))
    wanted.push_back(2);
  wanted.resize(6, kPadding);
  EXPECT_EQ(row(out[0], 0, 6), wanted);
  const auto ended = run_op(
      "com.microsoft::GreedySearch",
      {words_of({1, 2}, {1, 2}), one(5), Datum(), Datum(), Tensor::vector<int32_t>(only_end)},
      attributes(decoder()));
  EXPECT_EQ(row(ended[0], 0, 5), (std::vector<int32_t>{1, 2, 0, 0, 0}));
}

struct Scored {
  std::vector<int32_t> words;
  double score;
};

// All sequences of words 1 .. 3 behind `prompt`, the likeliest first.
std::vector<Scored> every_sequence(const std::vector<int32_t>& prompt, size_t length) {
  std::vector<Scored> found{{prompt, 0}};
  for (size_t i = prompt.size(); i < length; ++i) {
    std::vector<Scored> longer;
    for (const Scored& one : found) {
      for (int32_t word = 1; word < kEnd; ++word) {
        longer.push_back({one.words, one.score + log_probability(one.words, word)});
        longer.back().words.push_back(word);
      }
    }
    found = std::move(longer);
  }
  std::ranges::sort(found, std::greater{}, &Scored::score);
  return found;
}

TEST(BeamSearch, WithEnoughBeamsFindsTheLikeliestSequences) {
  const Tensor penalty = Tensor::vector<float>({1.5f});
  AttrMap attrs = attributes(decoder());
  attrs["init_decoder"] = decoder();
  const auto out = run_op("com.microsoft::BeamSearch",
                          {words_of({2, 1, 0, 3}, {2, 2}), one(5), Datum(), one(16), one(3),
                           penalty, Datum(), kAllButTheEnd},
                          attrs, 3);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(out[2].tensor().shape(), (Shape{3, 2, 16, kWords}));
  const std::vector<float> scores = elements<float>(out[1]);
  for (size_t entry = 0; entry < 2; ++entry) {
    const std::vector<int32_t> prompt =
        entry ? std::vector<int32_t>{0, 3} : std::vector<int32_t>{2, 1};
    const std::vector<Scored> wanted = every_sequence(prompt, 5);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(row(out[0], entry * 3 + i, 5), wanted[i].words) << entry << ' ' << i;
      EXPECT_NEAR(scores[entry * 3 + i], wanted[i].score / std::pow(5.0, 1.5), 1e-4);
    }
  }
  // The first step of the first beam, before masks other than the vocabulary's.
  const std::vector<float> history = elements<float>(out[2]);
  for (int32_t word = 1; word < kEnd; ++word)
    EXPECT_NEAR(history[static_cast<size_t>(word)], log_probability({2, 1}, word), 1e-4);
}

TEST(BeamSearch, KeepsFinishedSequences) {
  // Two beams over two steps, by hand: from {3}, candidates are words and the end.
  const std::vector<int32_t> prompt{3};
  const auto out = run_op("com.microsoft::BeamSearch",
                          {words_of(prompt, {1, 1}), one(3), Datum(), one(2), one(2),
                           Tensor::vector<float>({1}), Datum(), kAllWords},
                          attributes(decoder()), 2);
  std::vector<Scored> finished, open{{prompt, 0}};
  for (int step = 0; step < 2; ++step) {
    std::vector<Scored> candidates;
    for (const Scored& beam : open) {
      for (int32_t word = 1; word < kWords; ++word) {
        candidates.push_back({beam.words, beam.score + log_probability(beam.words, word)});
        candidates.back().words.push_back(word);
      }
    }
    std::ranges::sort(candidates, std::greater{}, &Scored::score);
    open.clear();
    for (size_t i = 0; i < 4 && open.size() < 2; ++i) {
      Scored& one = candidates[i];
      if (one.words.back() != kEnd) {
        open.push_back(one);
      } else if (i < 2) {
        one.words.pop_back();
        finished.push_back({one.words, one.score / static_cast<double>(one.words.size())});
      }
    }
  }
  for (const Scored& beam : open)
    finished.push_back({beam.words, beam.score / static_cast<double>(beam.words.size())});
  std::ranges::stable_sort(finished, std::greater{}, &Scored::score);
  for (size_t i = 0; i < 2; ++i) {
    finished[i].words.resize(3, kPadding);
    EXPECT_EQ(row(out[0], i, 3), finished[i].words);
    EXPECT_NEAR(elements<float>(out[1])[i], finished[i].score, 1e-4);
  }
}

TEST(ScoreRules, EachChangesWhatItNames) {
  const float low = std::numeric_limits<float>::lowest();
  const Sequences sequences{{1, 2, 1}};
  const auto after = [&](const ScoreRules& rules, bool is_first = true) {
    std::vector<float> scores{4, -4, 2, 1};
    apply_rules(rules, sequences, is_first, scores);
    return scores;
  };
  ScoreRules rules{.vocabulary = 4};
  rules.repetition_penalty = 2;
  EXPECT_EQ(after(rules), (std::vector<float>{4, -8, 1, 1}));
  rules = {.vocabulary = 4, .no_repeat_ngram_size = 2};
  EXPECT_EQ(after(rules), (std::vector<float>{4, -4, low, 1}));
  rules.no_repeat_ngram_size = 1;
  EXPECT_EQ(after(rules), (std::vector<float>{4, low, low, 1}));
  const std::vector<int32_t> mask{1, 0, 1, 1};
  rules = {.vocabulary = 4, .first_vocab_mask = mask, .min_length = 4, .end = 3, .temperature = 2};
  EXPECT_EQ(after(rules), (std::vector<float>{2, low / 2, 1, low / 2}));
  EXPECT_EQ(after(rules, false), (std::vector<float>{2, -2, 1, low / 2}));
  rules = {.vocabulary = 4, .presence_mask = mask, .presence_penalty = 0.5f};
  EXPECT_EQ(after(rules), (std::vector<float>{3.5f, -4, 1.5f, 0.5f}));
}

TEST(Sampling, TakesTheLikeliestWordWhereNoOtherIsLeft) {
  AttrMap attrs = attributes(decoder());
  attrs["custom"] = int64_t{1};
  attrs["top_p"] = 0.01f;
  const std::vector<Datum> inputs{words_of({1, 3}, {1, 2}), one(7), Datum(), Datum(),
                                  kAllButTheEnd};
  const auto out = run_op("com.microsoft::Sampling", inputs, attrs, 2);
  EXPECT_EQ(row(out[0], 0, 7), greedy_words({1, 3}, 7));
  const std::vector<float> filtered = elements<float>(out[1]);
  EXPECT_EQ(std::ranges::count(filtered, -1e20f), kWords - 1);
}

TEST(Sampling, DrawsByProbabilityAndSeed) {
  AttrMap attrs = attributes(decoder());
  attrs["top_p"] = 1.f;
  std::vector<int> counts(kWords);
  const std::vector<int32_t> prompt{2};
  constexpr int kDraws = 600;
  const auto draw = [&](int32_t seed) {
    const std::vector<Datum> inputs{words_of(prompt, {1, 1}),
                                    one(2),
                                    Datum(),
                                    Datum(),
                                    kAllButTheEnd,
                                    Datum(),
                                    Datum(),
                                    Datum(),
                                    one(seed)};
    return row(run_op("com.microsoft::Sampling", inputs, attrs)[0], 0, 2)[1];
  };
  EXPECT_EQ(draw(7), draw(7));
  for (int seed = 0; seed < kDraws; ++seed)
    ++counts[static_cast<size_t>(draw(seed))];
  double whole = 0;
  for (int32_t word = 1; word < kEnd; ++word)
    whole += std::exp(log_probability(prompt, word));
  for (int32_t word = 1; word < kEnd; ++word) {
    const double share = std::exp(log_probability(prompt, word)) / whole;
    EXPECT_NEAR(counts[static_cast<size_t>(word)], share * kDraws, 5 * std::sqrt(share * kDraws));
  }
  EXPECT_EQ(counts[kEnd], 0);
}

// ---- An encoder and a decoder

struct EncoderDecoder {
  GraphPtr encoder, decoder;
};

// Self states are the decoder's words, cross states the encoder's without what is masked.
EncoderDecoder encoder_decoder(bool is_old) {
  const Dim batch = named("batch"), length = named("length");
  Builder b;
  const Val ids = b.input("encoder_input_ids", DType::kInt32, {batch, length});
  const Val mask = b.input("encoder_attention_mask", DType::kInt32, {batch, length});
  const Val read = b.e.call("Mul", {b.floats(ids), b.floats(mask)});
  const Val cross = reshape(b.e, read, {0, 1, -1, 1});
  if (is_old) {
    const Val start = b.input("decoder_input_ids", DType::kInt32, {batch, 1});
    const Val source = reshape(b.e, b.sum(read, {1}), {0, 1, 1});
    const Val self = reshape(b.e, b.floats(start), {0, 1, 1, 1});
    const Val history = reshape(b.e, b.floats(start), {0, 1, 1});
    b.output("logits", b.add(b.add(b.row_of_table(start), b.times_words(source, kSource)),
                             b.times_words(history, kHistory)));
    b.output("encoder_hidden_states", reshape(b.e, read, {0, 0, 1}));
    b.output("present_key_self_0", self);
    b.output("present_value_self_0", self);
  }
  b.output("present_key_cross_0", cross);
  b.output("present_value_cross_0", cross);

  Builder d;
  const Dim rows = named("rows");
  const Val word = d.input("input_ids", DType::kInt32, {rows, 1});
  d.input("encoder_attention_mask", DType::kInt32, {rows, named("source")});
  if (is_old) d.input("encoder_hidden_states", DType::kFloat, {rows, named("source"), 1});
  const Val past_key = d.input("past_key_self_0", DType::kFloat, {rows, 1, named("past"), 1});
  const Val past_value = d.input("past_value_self_0", DType::kFloat, {rows, 1, named("past"), 1});
  const Val key = d.input("past_key_cross_0", DType::kFloat, {rows, 1, named("source"), 1});
  d.input("past_value_cross_0", DType::kFloat, {rows, 1, named("source"), 1});
  const Val self = reshape(d.e, d.floats(word), {0, 1, 1, 1});
  const Val present = d.concat(past_key, self, 2);
  const auto in_row = [&](const Val& x) { return reshape(d.e, d.sum(x, {1, 2, 3}), {-1, 1, 1}); };
  d.output("logits", d.add(d.add(d.row_of_table(word), d.times_words(in_row(key), kSource)),
                           d.times_words(in_row(present), kHistory)));
  d.output("present_key_self_0", present);
  d.output("present_value_self_0", d.concat(past_value, self, 2));
  return {b.graph(), d.graph()};
}

TEST(BeamSearch, EncoderAndDecoder) {
  for (const bool is_old : {true, false}) {
    const EncoderDecoder model = encoder_decoder(is_old);
    AttrMap attrs = attributes(model.decoder);
    attrs["encoder"] = model.encoder;
    attrs["model_type"] = int64_t{1};
    attrs["decoder_start_token_id"] = int64_t{2};
    const auto out = run_op("com.microsoft::BeamSearch",
                            {words_of({0, 3, 1, 0}, {1, 4}), one(4), Datum(), one(16), one(2),
                             Datum(), Datum(), kAllButTheEnd},
                            attrs, 2);
    const auto log_of = [&](const std::vector<int32_t>& words, int32_t next) {
      double sum = 0;
      for (int32_t word = 0; word < kWords; ++word)
        sum += std::exp(logit(words, word, false, 4));
      return logit(words, next, false, 4) - std::log(sum);
    };
    std::vector<Scored> all{{{2}, 0}};
    for (int i = 0; i < 3; ++i) {
      std::vector<Scored> longer;
      for (const Scored& one : all) {
        for (int32_t word = 1; word < kEnd; ++word) {
          longer.push_back({one.words, one.score + log_of(one.words, word)});
          longer.back().words.push_back(word);
        }
      }
      all = std::move(longer);
    }
    std::ranges::sort(all, std::greater{}, &Scored::score);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(row(out[0], i, 4), all[i].words) << is_old;
      EXPECT_NEAR(elements<float>(out[1])[i], all[i].score / 4, 1e-4);
    }
  }
}

TEST(Generation, RefusesWhatDoesNotFit) {
  const AttrMap attrs = attributes(decoder());
  const auto error = [&](const std::vector<Datum>& inputs, const AttrMap& with) {
    return error_of("com.microsoft::GreedySearch", inputs, with);
  };
  const Datum prompt = words_of({1, 2}, {1, 2});
  EXPECT_NE(error({prompt, one(2)}, attrs).find("max_length"), std::string::npos);
  EXPECT_NE(error({prompt, one(5), Datum(), Tensor::vector<float>({0})}, attrs)
                .find("repetition_penalty"),
            std::string::npos);
  EXPECT_NE(error({prompt, one(5), Datum(), Datum(), one(1)}, attrs).find("vocab_mask"),
            std::string::npos);
  const RunControl control{std::make_shared<MemoryBudget>(size_t{1} << 20), std::nullopt, {}};
  const ControlScope scope(control);
  EXPECT_NE(error({prompt, one(INT32_MAX)}, attrs).find("memory limit"), std::string::npos);
  AttrMap wide = attrs;
  wide["vocab_size"] = int64_t{50};
  EXPECT_NE(error({prompt, one(5)}, wide).find("vocab_size"), std::string::npos);
  AttrMap heard = attrs;
  heard["model_type"] = int64_t{2};
  EXPECT_NE(error({prompt, one(5)}, heard).find("model_type"), std::string::npos);
  AttrMap alone = attrs;
  alone["model_type"] = int64_t{1};
  EXPECT_NE(error({prompt, one(5)}, alone).find("encoder"), std::string::npos);
}

// A decoder whose logits and present are what `make` makes of ids and past.
template <typename Make>
GraphPtr odd_decoder(const Make& make, Dims past = {2, named("rows"), 1, named("past"), 1}) {
  Builder b;
  const Dim rows = named("rows"), length = named("length");
  const Val ids = b.input("input_ids", DType::kInt32, {rows, length});
  b.input("position_ids", DType::kInt32, {rows, length});
  b.input("attention_mask", DType::kInt32, {rows, named("all")});
  const Val state = b.input("past_0", DType::kFloat, std::move(past));
  const auto [logits, present] = make(b, ids, state);
  b.output("logits", logits);
  b.output("present_0", present);
  return b.graph();
}

TEST(Generation, RefusesSettings) {
  const AttrMap attrs = attributes(decoder());
  const auto with = [&](const char* name, AttrValue value) {
    AttrMap changed = attrs;
    changed[name] = std::move(value);
    return changed;
  };
  const char *beam = "com.microsoft::BeamSearch", *greedy = "com.microsoft::GreedySearch";
  const Datum prompt = words_of({1, 2}, {1, 2}), five = one(5), n;
  const Datum two = words_of({1, 2}, {2});
  const GraphPtr short_decoder = [] {
    Builder b;
    b.output("logits", b.row_of_table(b.input("input_ids", DType::kInt32, {1, named("length")})));
    return b.graph();
  }();
  const GraphPtr flat = odd_decoder([](Builder& b, const Val& ids, const Val& past) {
    return std::pair(reshape(b.e, b.row_of_table(ids), {-1, kWords}), past);
  });
  const GraphPtr lost = odd_decoder([](Builder& b, const Val& ids, const Val& past) {
    return std::pair(b.row_of_table(ids), reshape(b.e, past, {2, -1}));
  });
  const GraphPtr unsized =
      odd_decoder([](Builder& b, const Val& ids,
                     const Val& past) { return std::pair(b.row_of_table(ids), past); },
                  {2, named("rows"), named("heads"), named("past"), 1});
  const GraphPtr of_sequences = [] {
    auto graph = std::make_shared<Graph>();
    const Type type = Type::sequence(Type::tensor(DType::kInt32));
    graph->add_output(graph->add_input("input_ids", type));
    return graph;
  }();
  expect_refused(std::vector<Refused>{
      {beam,
       {prompt, five, n, one(0), one(1)},
       attrs,
       "num_beams: expected 1 to 4096, got 0",
       kBadArgument},
      {beam,
       {prompt, five, n, one(4097), one(1)},
       attrs,
       "expected 1 to 4096, got 4097",
       kBadArgument},
      {beam,
       {prompt, five, n, one(2), one(3)},
       attrs,
       "num_return_sequences: expected 1 to num_beams (2), got 3",
       kBadArgument},
      {beam, {prompt, five, n, one(2), one(0)}, attrs, "(2), got 0", kBadArgument},
      {beam,
       {prompt, five, n, one(2), one(1), n, n, n, n, n, n, one(-1)},
       attrs,
       "logits_processor: expected 0 or more, got -1",
       kBadArgument},
      {greedy, {prompt, five}, with("eos_token_id", int64_t{-1}), "expected words, got -1 and 0"},
      {greedy, {prompt, five}, with("pad_token_id", int64_t{1} << 40), "expected words, got 4 and"},
      {greedy,
       {prompt, five},
       with("decoder_start_token_id", int64_t{1} << 40),
       "decoder_start_token_id: expected a word"},
      {greedy, {two, five}, attrs, "expected rank 2, got 1"},
      {greedy, {prompt, two}, attrs, "input max_length (int32[2]): expected a scalar"},
      {greedy,
       {prompt, five, n, Tensor::vector<float>({1, 2})},
       attrs,
       "repetition_penalty: expected one element",
       kBadArgument},
      {greedy, {words_of({}, {1, 0}), five}, attrs, "expected [batch, length] with", kBadArgument},
      {greedy, {prompt, five}, with("decoder", short_decoder), "expected the inputs input_ids"},
      {greedy, {prompt, five}, with("decoder", flat), "the decoder's logits: expected [1, length"},
      {greedy, {prompt, five}, with("decoder", lost), "expected [2, 1, heads, length, size], got"},
      {greedy,
       {prompt, five},
       with("decoder", unsized),
       "expected rank 5 and a known size of dim 2"},
      {greedy,
       {prompt, five},
       with("decoder", of_sequences),
       "decoder: input input_ids: expected a"},
  });
}

}  // namespace
}  // namespace sardonyx::ops
