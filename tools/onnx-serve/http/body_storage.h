// Where bodies of requests are kept while they come: memory and the budget follow what has come,
// not what was announced.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ir/core/tensor.h"

namespace sardonyx::serve {

constexpr size_t kJsonPadding = 64;  // what simdjson may read behind the text

// Counts the bytes that requests hold: their bodies, and answers over gRPC until they are sent.
class BodyBudget {
 public:
  explicit BodyBudget(uint64_t limit) : limit_(limit) {}
  bool try_take(uint64_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= limit_) return true;
    used_.fetch_sub(bytes);
    return false;
  }
  bool has_left(uint64_t bytes) const {
    const uint64_t used = used_;
    return used <= limit_ && bytes <= limit_ - used;
  }
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_ = 0;
};

// `bytes` of a budget until it is destroyed.
class TakenBytes {
 public:
  explicit TakenBytes(BodyBudget& budget) : budget_(budget) {}
  ~TakenBytes() { give_back(); }
  TakenBytes(const TakenBytes&) = delete;
  TakenBytes& operator=(const TakenBytes&) = delete;
  bool try_take(uint64_t bytes) {
    if (!budget_.try_take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  bool has_left(uint64_t bytes) const { return budget_.has_left(bytes); }
  uint64_t bytes() const { return bytes_; }
  void give_back() { budget_.give_back(std::exchange(bytes_, 0)); }

 private:
  BodyBudget& budget_;
  uint64_t bytes_ = 0;
};

inline constexpr std::string_view kBudgetIsUsedUp =
    "requests that are being served hold too much memory";

// Empty, with space for the padding.
std::string padded_string();
// Space for `bytes` more at the end of `text`, which is to have at most `most`, and for padding;
// where they begin.
char* extend(std::string& text, size_t bytes, uint64_t most, size_t padding = kJsonPadding);
// The same of a buffer of which `used` bytes count. It ends as one of `most` bytes.
char* extend(std::shared_ptr<Buffer>& buffer, size_t used, size_t bytes, uint64_t most);

// How many bytes to wait for next where `got` have come: a client that sends nothing costs little.
size_t next_piece(uint64_t got);

// Until when more must have come of what is being sent: a slow client is borne with as long as each
// period brings what `kSlowestBytesPerSecond` make of it.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kSlowestBytesPerSecond = 64 << 10;
  static constexpr std::chrono::seconds kLeastForAnswer{30};
  // The time that a client has to take an answer.
  static std::chrono::seconds time_for_answer(uint64_t bytes,
                                              std::chrono::seconds least = kLeastForAnswer) {
    return least + std::chrono::seconds(bytes / kSlowestBytesPerSecond);
  }

  explicit Progress(std::chrono::seconds period) : period_(period) {}
  Clock::time_point deadline() const { return begin_ + period_; }
  void add(uint64_t bytes) {
    bytes_ += bytes;
    if (bytes_ < kSlowestBytesPerSecond * static_cast<uint64_t>(period_.count())) return;
    bytes_ = 0;
    begin_ = Clock::now();
  }

 private:
  const std::chrono::seconds period_;
  Clock::time_point begin_ = Clock::now();
  uint64_t bytes_ = 0;  // in this period
};

}  // namespace sardonyx::serve
