// How far scoring has come, on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sardonyx::tool {

// "1200 of 5000 rows, 300 rows/s, 0:12 left": on a terminal one line that changes, else a line
// every 10 s. Silent with -q.
class ScoreProgress {
 public:
  explicit ScoreProgress(int64_t rows);
  ~ScoreProgress();
  ScoreProgress(const ScoreProgress&) = delete;
  ScoreProgress& operator=(const ScoreProgress&) = delete;

  void add(int64_t rows);
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string line() const;

  int64_t rows_, done_ = 0;
  bool is_terminal_, has_line_ = false;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

// "59 s", "1:02:03".
std::string duration_text(double seconds);

}  // namespace sardonyx::tool
