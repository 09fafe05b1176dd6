// How training goes, on the terminal: a bar with step, time left, loss, rate and throughput; plain
// lines where the output is no terminal; JSON lines in a file on request.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx::eager {

struct ProgressOptions {
  int64_t epochs = 0;                // for "epoch 2/10"; 0: not known
  std::filesystem::path jsonl = {};  // one object a step and one an epoch, appended
  // Between two images of the bar, and between two plain lines.
  double bar_seconds = 0.1, line_seconds = 10;
  std::FILE* out = nullptr;              // stderr
  std::optional<bool> is_terminal = {};  // asked of the system where not given
};

//   Progress progress({.epochs = 10});
//   for (int64_t epoch = 0; epoch < 10; ++epoch) {
//     progress.begin_epoch(loader.size());
//     for (const Sample& batch : loader) { ...; progress.step({.loss = l, .lr = r, .samples = n});
//     } progress.end_epoch({{"accuracy", a}});
//   }
class Progress {
 public:
  struct Step {
    std::optional<double> loss = {}, lr = {};
    int64_t samples = 0;
  };
  using Measures = std::vector<std::pair<std::string, double>>;

  explicit Progress(ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_epoch(int64_t steps);
  void step(const Step& step);
  // Prints the epoch's line: its mean loss, time, throughput and what the caller measured.
  void end_epoch(const Measures& measures = {});

 private:
  std::string line() const;
  void clear_bar();
  void write_json(const std::string& object);
  double seconds() const;

  ProgressOptions options_;
  bool is_terminal_ = false, has_bar_ = false;
  std::FILE* json_ = nullptr;
  int64_t epoch_ = 0, total_ = 0, done_ = 0, samples_ = 0, all_steps_ = 0;
  double loss_sum_ = 0;
  int64_t loss_count_ = 0;
  std::optional<double> lr_;
  double begin_ = 0, shown_ = 0;  // in seconds of a steady clock
};

}  // namespace sardonyx::eager
