#include "eager/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "ir/core/error.h"

namespace sardonyx::eager {
namespace {

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string time_text(double seconds) {
  std::ostringstream out;
  if (seconds < 60) {
    out << std::fixed << std::setprecision(1) << seconds << " s";
    return out.str();
  }
  const auto whole = static_cast<int64_t>(seconds);
  out << std::setfill('0');
  if (whole >= 3600) out << whole / 3600 << ':' << std::setw(2);
  out << whole / 60 % 60 << ':' << std::setw(2) << whole % 60;
  return out.str();
}

std::string rate_text(double rate) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(rate < 10 ? 1 : 0) << rate;
  return out.str();
}

// JSON has no infinities and no NaN.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::ostringstream out;
  out << std::setprecision(17) << value;
  return out.str();
}

std::string json_text(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out << '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << int{c} << std::dec;
    else
      out << c;
  }
  out << '"';
  return out.str();
}

}  // namespace

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  if (!options_.out) options_.out = stderr;
  is_terminal_ = options_.is_terminal.value_or(isatty(fileno(options_.out)) == 1);
  if (options_.jsonl.empty()) return;
  json_ = std::fopen(options_.jsonl.c_str(), "ae");
  if (!json_) {
    fail(ErrorCode::kInvalidArgument, "progress: ", options_.jsonl.string(),
         " cannot be opened for writing");
  }
}
Progress::~Progress() {
  clear_bar();
  if (json_) std::fclose(json_);
}

double Progress::seconds() const {
  return steady_seconds() - begin_;
}

void Progress::begin_epoch(int64_t steps) {
  ++epoch_;
  total_ = steps;
  done_ = samples_ = loss_count_ = 0;
  loss_sum_ = 0;
  begin_ = shown_ = steady_seconds();
}

std::string Progress::line() const {
  constexpr int64_t kWidth = 24;
  const double elapsed = seconds();
  std::ostringstream out;
  out << "epoch " << epoch_;
  if (options_.epochs > 0) out << '/' << options_.epochs;
  if (is_terminal_ && total_ > 0) {
    const int64_t filled = std::min(kWidth, kWidth * done_ / total_);
    out << " [" << std::string(static_cast<size_t>(filled), '=')
        << std::string(static_cast<size_t>(kWidth - filled), ' ') << ']';
  }
  out << " step " << done_;
  if (total_ > 0) out << '/' << total_;
  if (loss_count_ > 0)
    out << ", loss " << std::setprecision(4) << loss_sum_ / static_cast<double>(loss_count_);
  if (lr_) out << ", lr " << std::setprecision(3) << *lr_;
  if (samples_ > 0 && elapsed > 0)
    out << ", " << rate_text(static_cast<double>(samples_) / elapsed) << " samples/s";
  if (done_ > 0 && total_ > done_)
    out << ", ETA "
        << time_text(elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_));
  return out.str();
}

void Progress::clear_bar() {
  if (!has_bar_) return;
  std::fputs("\r\x1b[K", options_.out);
  std::fflush(options_.out);
  has_bar_ = false;
}

void Progress::write_json(const std::string& object) {
  if (!json_) return;
  std::fputs((object + "\n").c_str(), json_);
  std::fflush(json_);
}

void Progress::step(const Step& step) {
  ++done_;
  ++all_steps_;
  samples_ += step.samples;
  if (step.loss) {
    loss_sum_ += *step.loss;
    ++loss_count_;
  }
  if (step.lr) lr_ = step.lr;
  if (json_) {
    std::string object = text("{\"step\": ", all_steps_, ", \"epoch\": ", epoch_);
    if (step.loss) object += ", \"loss\": " + json_number(*step.loss);
    if (step.lr) object += ", \"lr\": " + json_number(*step.lr);
    object += text(", \"samples\": ", step.samples, ", \"seconds\": ", json_number(seconds()), "}");
    write_json(object);
  }
  const double since = steady_seconds() - shown_;
  if (since < (is_terminal_ ? options_.bar_seconds : options_.line_seconds)) return;
  shown_ = steady_seconds();
  if (is_terminal_) {
    std::fputs(("\r" + line() + "\x1b[K").c_str(), options_.out);
    has_bar_ = true;
  } else {
    std::fputs((line() + "\n").c_str(), options_.out);
  }
  std::fflush(options_.out);
}

void Progress::end_epoch(const Measures& measures) {
  clear_bar();
  const double elapsed = seconds();
  std::ostringstream out;
  out << "epoch " << epoch_;
  if (options_.epochs > 0) out << '/' << options_.epochs;
  out << ": " << done_ << " steps in " << time_text(elapsed);
  std::string json =
      text("{\"epoch\": ", epoch_, ", \"steps\": ", done_, ", \"seconds\": ", json_number(elapsed));
  if (samples_ > 0 && elapsed > 0) {
    const double rate = static_cast<double>(samples_) / elapsed;
    out << ", " << rate_text(rate) << " samples/s";
    json += ", \"samples_per_second\": " + json_number(rate);
  }
  if (loss_count_ > 0) {
    const double loss = loss_sum_ / static_cast<double>(loss_count_);
    out << ", loss " << std::setprecision(4) << loss;
    json += ", \"loss\": " + json_number(loss);
  }
  if (lr_) out << ", lr " << std::setprecision(3) << *lr_;
  for (const auto& [name, value] : measures) {
    out << ", " << name << ' ' << std::setprecision(4) << value;
    json += ", " + json_text(name) + ": " + json_number(value);
  }
  std::fputs((out.str() + "\n").c_str(), options_.out);
  std::fflush(options_.out);
  write_json(json + "}");
}

}  // namespace sardonyx::eager
