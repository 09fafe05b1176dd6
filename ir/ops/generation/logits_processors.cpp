// Processors that change the scores of the next words.
#include <algorithm>
#include <limits>

#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {
namespace {

constexpr float kForbidden = std::numeric_limits<float>::lowest();

using Row = std::span<float>;

// Words of a prompt may be outside of the vocabulary; those have no score.
bool has_score(int32_t word, Row row) {
  return word >= 0 && static_cast<size_t>(word) < row.size();
}

void penalize_repetition(float penalty, const std::vector<int32_t>& words, Row row) {
  std::vector<int32_t> unique = words;
  std::ranges::sort(unique);
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  for (const int32_t word : unique) {
    if (!has_score(word, row)) continue;
    float& score = row[static_cast<size_t>(word)];
    score = score < 0 ? score * penalty : score / penalty;
  }
}

// Forbids every word that once followed the last size - 1 words.
void forbid_ngrams(size_t size, const std::vector<int32_t>& words, Row row) {
  if (words.size() < size) return;
  const auto prefix = words.end() - static_cast<ptrdiff_t>(size - 1);
  for (auto at = words.begin(); at + static_cast<ptrdiff_t>(size) <= words.end(); ++at) {
    const int32_t follower = at[static_cast<ptrdiff_t>(size - 1)];
    if (has_score(follower, row) && std::equal(prefix, words.end(), at))
      row[static_cast<size_t>(follower)] = kForbidden;
  }
}

void forbid_masked(std::span<const int32_t> mask, Row row) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (mask[i] == 0) row[i] = kForbidden;
  }
}

void penalize_presence(const ScoreRules& rules, size_t entry, Row row) {
  const auto mask = rules.presence_mask.subspan(entry * row.size(), row.size());
  for (size_t i = 0; i < row.size(); ++i)
    row[i] -= static_cast<float>(mask[i]) * rules.presence_penalty;
}

}  // namespace

void apply_rules(const ScoreRules& rules, const Sequences& sequences, bool is_first,
                 std::span<float> scores) {
  const auto width = static_cast<size_t>(rules.vocabulary);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const std::vector<int32_t>& words = sequences[i];
    const Row row = scores.subspan(i * width, width);
    const size_t entry = i / static_cast<size_t>(rules.beams);
    if (rules.repetition_penalty != 1) penalize_repetition(rules.repetition_penalty, words, row);
    if (rules.no_repeat_ngram_size > 0)
      forbid_ngrams(static_cast<size_t>(rules.no_repeat_ngram_size), words, row);
    if (!rules.vocab_mask.empty()) forbid_masked(rules.vocab_mask, row);
    if (is_first && !rules.first_vocab_mask.empty())
      forbid_masked(rules.first_vocab_mask.subspan(entry * width, width), row);
    if (static_cast<int64_t>(words.size()) < rules.min_length && rules.end < rules.vocabulary)
      row[static_cast<size_t>(rules.end)] = kForbidden;
    if (rules.temperature > 0 && rules.temperature != 1) {
      for (float& score : row)
        score /= rules.temperature;
    }
    if (!rules.presence_mask.empty() && rules.presence_penalty != 0)
      penalize_presence(rules, entry, row);
    if (rules.timestamps) apply_timestamp_rules(*rules.timestamps, words, row);
  }
}

}  // namespace sardonyx::ops
