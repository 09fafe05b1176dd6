// Which beams go on, and which finished sequences are the best.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {
namespace {

// Indices of the `count` largest, the largest first; of equal ones the first. A NaN counts as the
// lowest.
std::vector<size_t> largest(std::span<const float> values, size_t count) {
  const auto rank = [&](size_t i) {
    return std::isnan(values[i]) ? -std::numeric_limits<float>::infinity() : values[i];
  };
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto end = order.begin() + static_cast<ptrdiff_t>(count);
  std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a < b;
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace

BeamKeeper::BeamKeeper(const BeamSettings& settings)
    : settings_(settings), entries_(static_cast<size_t>(settings.batch)) {}

float BeamKeeper::score_of(float sum, size_t length) const {
  return sum / std::pow(static_cast<float>(length), settings_.length_penalty);
}

void BeamKeeper::add(BatchEntry& entry, const std::vector<int32_t>& words, float sum) const {
  Finished finished{words, score_of(sum, words.size())};
  const bool is_full = static_cast<int64_t>(entry.best.size()) >= settings_.beams;
  if (is_full && !(finished.score > entry.best.back().score)) return;
  const auto place = std::ranges::find_if(
      entry.best, [&](const Finished& other) { return finished.score > other.score; });
  entry.best.insert(place, std::move(finished));
  if (is_full) entry.best.pop_back();
}

BeamStep BeamKeeper::advance(const Sequences& sequences, std::span<const float> scores,
                             int64_t vocabulary) {
  if (vocabulary < 2) {
    fail(ErrorCode::kInvalidArgument, "beam search needs a vocabulary of at least two words");
  }
  BeamStep step;
  for (int64_t entry = 0; entry < settings_.batch; ++entry)
    advance_entry(entry, sequences, scores, vocabulary, step);
  return step;
}

// Twice as many candidates as beams are looked at, so that enough are left when all beams end.
void BeamKeeper::advance_entry(int64_t index, const Sequences& sequences,
                               std::span<const float> scores, int64_t vocabulary, BeamStep& step) {
  BatchEntry& entry = entries_[static_cast<size_t>(index)];
  const int64_t first_row = index * settings_.beams;
  const auto go_on = [&](int32_t word, int64_t origin, float score) {
    step.words.push_back(word);
    step.origins.push_back(origin);
    step.scores.push_back(score);
  };
  if (entry.is_done) {
    for (int64_t beam = 0; beam < settings_.beams; ++beam)
      go_on(settings_.padding, first_row, 0);
    return;
  }
  const auto own = scores.subspan(static_cast<size_t>(first_row * vocabulary),
                                  static_cast<size_t>(settings_.beams * vocabulary));
  const std::vector<size_t> candidates = largest(own, static_cast<size_t>(2 * settings_.beams));
  int64_t open = 0;
  for (size_t rank = 0; rank < candidates.size() && open < settings_.beams; ++rank) {
    const auto word = static_cast<int32_t>(candidates[rank] % static_cast<size_t>(vocabulary));
    const int64_t origin = first_row + static_cast<int64_t>(candidates[rank]) / vocabulary;
    const float score = own[candidates[rank]];
    if (word != settings_.end) {
      go_on(word, origin, score);
      ++open;
    } else if (static_cast<int64_t>(rank) < settings_.beams) {
      add(entry, sequences[static_cast<size_t>(origin)], score);
    }
  }
  if (static_cast<int64_t>(entry.best.size()) < settings_.beams) return;
  const size_t length = sequences[static_cast<size_t>(first_row)].size();
  entry.is_done =
      settings_.stops_early || entry.best.back().score >= score_of(own[candidates.front()], length);
}

bool BeamKeeper::is_done() const {
  return std::ranges::all_of(entries_, &BatchEntry::is_done);
}

void BeamKeeper::finish(const Sequences& sequences, std::span<const float> scores, int32_t* words,
                        float* word_scores) {
  std::fill_n(words, settings_.batch * settings_.returned * settings_.max_length,
              settings_.padding);
  for (int64_t index = 0; index < settings_.batch; ++index) {
    BatchEntry& entry = entries_[static_cast<size_t>(index)];
    for (int64_t beam = 0; beam < settings_.beams && !entry.is_done; ++beam) {
      const auto row = static_cast<size_t>(index * settings_.beams + beam);
      add(entry, sequences[row], scores[row]);
    }
    for (int64_t i = 0; i < settings_.returned; ++i) {
      const Finished& finished = entry.best[static_cast<size_t>(i)];
      const int64_t place = index * settings_.returned + i;
      std::ranges::copy(finished.words, words + place * settings_.max_length);
      word_scores[place] = finished.score;
    }
  }
}

}  // namespace sardonyx::ops
