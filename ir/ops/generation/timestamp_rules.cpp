// Which words may follow in a transcript that says when it was spoken, as Whisper's vocabulary has
// it: words from some number on are times.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {
namespace {

// The last timestamp that may come first: one second, in steps of 20 ms.
constexpr int64_t kLatestStart = 50;

class Transcript {
 public:
  Transcript(const SpeechWords& special, const std::vector<int32_t>& words, std::span<float> scores)
      : special_(special), words_(words), scores_(scores) {}

  void apply() {
    forbid_word(special_.no_timestamps);
    forbid_word(special_.start_of_lm);
    const auto first = std::ranges::find_if(words_, [&](int32_t word) { return is_time(word); });
    const bool goes_on = first != words_.end() && first + 1 != words_.end();
    if (goes_on) {
      for (const int64_t word : {special_.start, special_.translate, special_.transcribe})
        forbid_word(word);
    }
    // The first time is alone; all others come in pairs.
    const bool is_time_last = !words_.empty() && is_time(words_.back());
    const bool is_pair = is_time_last && (!goes_on || is_time(*(words_.end() - 2)));
    if (is_pair) {
      forbid(special_.first_timestamp, size());
    } else if (is_time_last) {
      forbid(0, special_.end);
    }
    forbid_the_past(is_time_last && !is_pair);
    if (!goes_on) forbid(special_.first_timestamp + kLatestStart + 1, size());
    prefer_times();
  }

 private:
  static constexpr float kForbidden = std::numeric_limits<float>::lowest();

  int64_t size() const { return static_cast<int64_t>(scores_.size()); }
  bool is_time(int64_t word) const { return word >= special_.first_timestamp; }

  // Words [begin, end), as far as there are such.
  void forbid(int64_t begin, int64_t end) {
    for (int64_t word = begin; word < std::min(end, size()); ++word)
      scores_[static_cast<size_t>(word)] = kForbidden;
  }
  void forbid_word(int64_t word) {
    if (word >= 0) forbid(word, word + 1);
  }

  // Times before the last one; that one may come again where it begins a pair.
  void forbid_the_past(bool may_repeat) {
    for (auto word = words_.rbegin(); word != words_.rend(); ++word) {
      if (!is_time(*word)) continue;
      forbid(special_.first_timestamp, *word + (may_repeat ? 0 : 1));
      return;
    }
  }

  // One of the times comes where their joint probability is above that of every other word.
  void prefer_times() {
    const auto begin = scores_.begin() + static_cast<ptrdiff_t>(special_.first_timestamp);
    const float highest = *std::max_element(begin, scores_.end());
    float sum = 0;
    for (auto score = begin; score != scores_.end(); ++score) {
      if (*score > kForbidden) sum += std::exp(*score - highest);
    }
    if (sum > 0 && std::log(sum) + highest > *std::max_element(scores_.begin(), begin))
      forbid(0, special_.first_timestamp);
  }

  const SpeechWords& special_;
  const std::vector<int32_t>& words_;
  std::span<float> scores_;
};

}  // namespace

void apply_timestamp_rules(const SpeechWords& special, const std::vector<int32_t>& words,
                           std::span<float> scores) {
  Transcript(special, words, scores).apply();
}

}  // namespace sardonyx::ops
