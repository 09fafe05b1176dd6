// What fuzz targets share: reading choices from bytes, and the frame that tells a refusal from a
// finding.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "ir/core/error.h"
#include "ir/core/run_control.h"

namespace sardonyx::fuzz {

// Hands out the bytes of an input as choices; zeros when they are used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool is_empty() const { return at_ >= size_; }
  uint8_t byte() { return is_empty() ? 0 : data_[at_++]; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = value << 8 | byte();
    return value;
  }
  // Less than `count`; 0 where that is 0.
  size_t below(size_t count) {
    const size_t value = count > 256 ? size_t{byte()} << 8 | byte() : byte();
    return count == 0 ? 0 : value % count;
  }
  bool one_in(size_t count) { return below(count) == count - 1; }
  // Text up to the next zero byte, or to the end.
  std::string text() {
    std::string out;
    while (!is_empty()) {
      const uint8_t next = byte();
      if (next == 0) break;
      out += static_cast<char>(next);
    }
    return out;
  }
  std::string rest() {
    std::string out(reinterpret_cast<const char*>(data_) + at_, size_ - at_);
    at_ = size_;
    return out;
  }
  // An integer: small ones, and those at which sizes and indices go wrong.
  int64_t integer() {
    constexpr int64_t kEdges[] = {INT64_MIN,
                                  INT64_MIN + 1,
                                  INT32_MIN,
                                  -(int64_t{1} << 31) - 1,
                                  -1,
                                  0,
                                  1,
                                  2,
                                  INT32_MAX,
                                  int64_t{1} << 31,
                                  (int64_t{1} << 32) + 2,
                                  int64_t{1} << 40,
                                  INT64_MAX - 1,
                                  INT64_MAX};
    constexpr size_t kCount = sizeof kEdges / sizeof *kEdges;
    const uint8_t kind = byte();
    if (kind < kCount) return kEdges[kind];
    if (kind < 240) return kind % 16 - 4;
    return static_cast<int64_t>(word());
  }
  double real() {
    constexpr double kEdges[] = {0.0,
                                 -0.0,
                                 1e-45,
                                 -1e-38,
                                 1e38,
                                 -3.4e38,
                                 1e308,
                                 __builtin_nan(""),
                                 __builtin_inf(),
                                 -__builtin_inf(),
                                 2147483648.0,
                                 -9.3e18,
                                 65504,
                                 0.5,
                                 -1.5,
                                 255.5};
    constexpr size_t kCount = sizeof kEdges / sizeof *kEdges;
    const uint8_t kind = byte();
    return kind < kCount ? kEdges[kind] : (kind - 128) / 16.0;
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

// Ends the process with a message: the engine takes that for a finding.
[[noreturn]] inline void finding(std::string_view what) {
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Computing time of this thread: what other processes do on the machine does not count.
inline double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr size_t kMemoryLimit = size_t{64} << 20;
constexpr std::chrono::milliseconds kDeadline{200};
// The deadline, and 100 ms more to notice it; sanitizers make the code ten times slower.
constexpr double kLongestSeconds = 0.2 + 10 * 0.1;

// Runs `work` under a memory limit and a deadline. True where it came to its end, false where
// sardonyx refused. A broken invariant, any other exception and a deadline that nobody looked at
// are findings.
template <typename Work>
bool ends_well(const Work& work) {
  const double start = thread_seconds();
  bool done = false;
  try {
    const RunControl control{std::make_shared<MemoryBudget>(kMemoryLimit),
                             std::chrono::steady_clock::now() + kDeadline,
                             {}};
    const ControlScope scope(control);
    work();
    done = true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) finding(error.what());
    if (std::strlen(error.what()) == 0) finding("an error without a message");
  } catch (const std::exception& error) {
    finding(std::string("another exception: ") + error.what());
  }
  const double seconds = thread_seconds() - start;
  if (seconds > kLongestSeconds) finding(text("took ", seconds, " s of computing"));
  return done;
}

}  // namespace sardonyx::fuzz
