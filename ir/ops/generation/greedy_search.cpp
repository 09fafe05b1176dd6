// GreedySearch and Sampling.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ir/core/random.h"
#include "ir/core/run_control.h"
#include "ir/ops/generation/search.h"

namespace sardonyx::ops {
namespace {

// Appends the next word of every row, of scores [rows, vocabulary]. A row that has ended goes on
// with padding.
template <typename Choose>
Tensor search_words(Search& search, std::vector<float> scores, const Choose& choose) {
  const SearchAttrs& attrs = search.attrs;
  const auto padding = static_cast<int32_t>(attrs.pad_token_id);
  // First of all, for max_length comes with the data: what it asks for may be too much.
  Tensor out = Tensor::allocate(DType::kInt32, {search.batch, search.max_length});
  std::vector<bool> ended(static_cast<size_t>(search.batch), false);
  for (;;) {
    check_interrupted();
    search.apply(scores);
    const std::vector<int32_t> words = choose(scores);
    for (size_t i = 0; i < words.size(); ++i) {
      ended[i] = ended[i] || words[i] == attrs.eos_token_id;
      search.sequences[i].push_back(ended[i] ? padding : words[i]);
    }
    if (std::ranges::all_of(ended, std::identity()) || search.is_full()) break;
    scores = search.go_on({});
  }
  std::ranges::fill(out.mutable_values<int32_t>(), padding);
  auto* row = out.mutable_values<int32_t>().data();
  for (const std::vector<int32_t>& sequence : search.sequences) {
    std::ranges::copy(sequence, row);
    row += search.max_length;
  }
  return out;
}

}  // namespace

std::vector<Datum> greedy_search(const EvalCall& call) {
  Search search(call, call.attrs<GreedyAttrs>(), 1, kMask);
  search.read_rules(kRepetition, kVocab, kPrefix);
  std::vector<float> scores = search.begin();
  const auto width = static_cast<ptrdiff_t>(search.rules.vocabulary);
  return {search_words(search, std::move(scores), [&](const std::vector<float>& row_scores) {
    std::vector<int32_t> words;
    for (auto row = row_scores.begin(); row != row_scores.end(); row += width)
      words.push_back(static_cast<int32_t>(std::max_element(row, row + width) - row));
    return words;
  })};
}

namespace {

// The probabilities of a row, in double.
std::vector<double> probabilities(std::span<const float> scores) {
  const double highest = *std::ranges::max_element(scores);
  std::vector<double> out;
  for (const float score : scores)
    out.push_back(std::exp(score - highest));
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& value : out)
    value /= sum;
  return out;
}

// Sets the words that are left out to the filter value: those behind the smallest set of the most
// probable ones that reaches top_p. The custom form counts from the most probable on and always
// leaves the first; the other counts from the least probable on and leaves min_tokens_to_keep.
void filter_words(const SamplingAttrs& attrs, std::span<float> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return attrs.custom ? scores[a] > scores[b] : scores[a] < scores[b];
  });
  const std::vector<double> shares = probabilities(scores);
  const auto kept = static_cast<size_t>(std::max<int64_t>(attrs.min_tokens_to_keep, 0));
  double sum = 0;
  for (size_t i = 0; i + (attrs.custom ? 1 : kept) < order.size(); ++i) {
    sum += shares[order[i]];
    if (attrs.custom) {
      if (sum > static_cast<double>(attrs.top_p)) scores[order[i + 1]] = attrs.filter_value;
    } else if (sum <= 1 - static_cast<double>(attrs.top_p)) {
      scores[order[i]] = attrs.filter_value;
    }
  }
}

int32_t draw_word(std::span<const float> scores, double uniform) {
  const std::vector<double> shares = probabilities(scores);
  double left = uniform;
  size_t last = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= 0) continue;
    last = i;
    left -= shares[i];
    if (left < 0) break;
  }
  return static_cast<int32_t>(last);
}

}  // namespace

std::vector<Datum> sampling(const EvalCall& call) {
  const auto& attrs = call.attrs<SamplingAttrs>();
  Search search(call, attrs, 1, kMask);
  search.read_rules(kRepetition, kVocab, kPrefix);
  search.rules.temperature = attrs.temperature;
  std::vector<float> scores = search.begin();
  const int64_t width = search.rules.vocabulary;
  const Tensor presence = int32s_of(call, kPresence, {search.batch, width});
  if (presence) search.rules.presence_mask = presence.values<int32_t>();
  search.rules.presence_penalty = attrs.presence_penalty;
  std::optional<float> seed;
  if (call.has(kSeed)) seed = static_cast<float>(integer_of(call, kSeed, 0));
  const RandomStream random = next_random_stream(seed);
  uint64_t drawn = 0;
  Tensor filtered = Tensor::allocate(DType::kFloat, {search.batch, width});
  const Tensor words = search_words(search, std::move(scores), [&](std::vector<float>& row_scores) {
    std::vector<int32_t> chosen;
    for (int64_t row = 0; row < search.batch; ++row) {
      const auto own = std::span(row_scores)
                           .subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
      filter_words(attrs, own);
      chosen.push_back(draw_word(own, random.uniform(drawn++)));
    }
    std::ranges::copy(row_scores, filtered.mutable_values<float>().begin());
    return chosen;
  });
  std::vector<Datum> outputs{words, filtered};
  return outputs;
}

}  // namespace sardonyx::ops
