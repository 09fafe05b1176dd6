#include "tools/onnx-run/score/score_progress.h"

#include <unistd.h>

#include <cstdio>

#include "ir/core/error.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  const auto two_digits = [](int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  if (whole < 60) return std::to_string(whole) + " s";
  const std::string tail = two_digits(whole % 60);
  if (whole < 3600) return std::to_string(whole / 60) + ":" + tail;
  return std::to_string(whole / 3600) + ":" + two_digits(whole / 60 % 60) + ":" + tail;
}

ScoreProgress::ScoreProgress(int64_t rows)
    : rows_(rows), is_terminal_(isatty(STDERR_FILENO) == 1) {}

ScoreProgress::~ScoreProgress() {
  if (has_line_) remarks() << "\r\x1b[K" << std::flush;
}

double ScoreProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string ScoreProgress::line() const {
  const double rate = static_cast<double>(done_) / seconds();
  std::string line = text(done_, " of ", rows_, " rows");
  if (rate <= 0) return line;
  line += text(", ", static_cast<int64_t>(rate + 0.5), " rows/s, ");
  return line + duration_text(static_cast<double>(rows_ - done_) / rate) + " left";
}

void ScoreProgress::add(int64_t rows) {
  done_ += rows;
  const auto pause = is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10);
  if (Clock::now() - shown_ < pause) return;
  shown_ = Clock::now();
  has_line_ = is_terminal_;
  if (is_terminal_)
    remarks() << '\r' << line() << "\x1b[K" << std::flush;
  else
    remarks() << "score: " << line() << std::endl;
}

}  // namespace sardonyx::tool
