// What was sent, and how much of it clients have taken: one that reads slowly is told from one that
// does not read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace sardonyx::serve {

struct SentBytes {
  uint64_t taken = 0;  // that the other side has acknowledged since the connection began
  uint64_t left = 0;   // that it has not: they are lost if the connection is cut
};

// Of one connection; nullopt: the system does not tell.
std::optional<SentBytes> sent_bytes(int descriptor);
// Of all connections of this process that were accepted at the port.
std::optional<SentBytes> sent_bytes_at(int port);

// Clients that have taken nothing for long.
class Stall {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{5};

  // To be called now and then: has nothing been taken for kLongest?
  bool is_long(const std::optional<SentBytes>& sent, Clock::time_point now = Clock::now()) {
    const bool has_moved =
        !is_begun_ || !sent || sent->taken > taken_ + kNoise || sent->taken < taken_;
    if (has_moved) {
      is_begun_ = true;
      taken_ = sent ? sent->taken : 0;
      since_ = now;
    }
    return now - since_ >= kLongest;
  }
  // Begins anew: something else is being done than to wait for clients.
  void restart() { is_begun_ = false; }

 private:
  static constexpr uint64_t kNoise = 4096;  // pings, and answers to them, are no progress
  bool is_begun_ = false;
  uint64_t taken_ = 0;
  Clock::time_point since_;
};

}  // namespace sardonyx::serve
