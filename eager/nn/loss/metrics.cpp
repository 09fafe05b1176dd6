#include "eager/nn/loss/metrics.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

double ratio(int64_t part, int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Rows of scores and their target classes, checked.
struct Scored {
  std::vector<double> scores;
  std::vector<int64_t> targets;
  size_t classes;
};
Scored scored(const Tensor& scores, const Tensor& target) {
  const Shape shape = scores.data().shape();
  if (shape.size() != 2 || target.data().shape() != Shape{shape[0]}) {
    fail(ErrorCode::kInvalidArgument, "accuracy: expected scores [N, C] and targets [N], got ",
         scores.type(), " and ", target.type());
  }
  return {scores.data().to_doubles(), target.data().to_int64s(), static_cast<size_t>(shape[1])};
}

}  // namespace

double accuracy(const Tensor& scores, const Tensor& target, int64_t k) {
  const Scored all = scored(scores, target);
  int64_t hits = 0;
  for (size_t row = 0; row < all.targets.size(); ++row) {
    const double* const first = &all.scores[row * all.classes];
    const int64_t wanted = all.targets[row];
    if (wanted < 0 || wanted >= static_cast<int64_t>(all.classes)) {
      fail(ErrorCode::kInvalidArgument, "accuracy: target ", wanted, " is none of ", all.classes,
           " classes");
    }
    const double own = first[wanted];
    // Of equal scores the first counts, as in argmax.
    int64_t before = 0;
    for (size_t i = 0; i < all.classes; ++i) {
      before += first[i] > own || (first[i] == own && static_cast<int64_t>(i) < wanted);
    }
    hits += before < k && !std::isnan(own);
  }
  return ratio(hits, static_cast<int64_t>(all.targets.size()));
}

void RunningMean::add(double value, double weight) {
  sum_ += value * weight;
  weight_ += weight;
}
double RunningMean::mean() const {
  return weight_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / weight_;
}

ConfusionMatrix::ConfusionMatrix(int64_t classes) : classes_(classes) {
  constexpr int64_t kMaxClasses = 1 << 14;  // squared they are 2 GB
  if (classes <= 0 || classes > kMaxClasses) {
    fail(ErrorCode::kInvalidArgument, "ConfusionMatrix: expected 1 to ", kMaxClasses,
         " classes, got ", classes);
  }
  counts_.resize(static_cast<size_t>(classes * classes));
}

void ConfusionMatrix::check(int64_t label, const char* what) const {
  if (label >= 0 && label < classes_) return;
  fail(ErrorCode::kInvalidArgument, "ConfusionMatrix: ", what, " ", label, " is none of ", classes_,
       " classes");
}

void ConfusionMatrix::add(const Tensor& predicted, const Tensor& target) {
  const Tensor chosen = predicted.rank() == 2 ? predicted.argmax(1) : predicted;
  const std::vector<int64_t> guesses = chosen.data().to_int64s();
  const std::vector<int64_t> targets = target.data().to_int64s();
  if (guesses.size() != targets.size()) {
    fail(ErrorCode::kInvalidArgument, "ConfusionMatrix: ", guesses.size(), " predictions for ",
         targets.size(), " targets");
  }
  for (size_t i = 0; i < guesses.size(); ++i) {
    check(guesses[i], "prediction");
    check(targets[i], "target");
  }
  for (size_t i = 0; i < guesses.size(); ++i)
    ++counts_[static_cast<size_t>(targets[i] * classes_ + guesses[i])];
}

int64_t ConfusionMatrix::count(int64_t target, int64_t predicted) const {
  check(target, "target");
  check(predicted, "prediction");
  return counts_[static_cast<size_t>(target * classes_ + predicted)];
}
int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}
double ConfusionMatrix::accuracy() const {
  int64_t hits = 0;
  for (int64_t label = 0; label < classes_; ++label)
    hits += count(label, label);
  return ratio(hits, total());
}
double ConfusionMatrix::precision(int64_t label) const {
  int64_t all = 0;
  for (int64_t target = 0; target < classes_; ++target)
    all += count(target, label);
  return ratio(count(label, label), all);
}
double ConfusionMatrix::recall(int64_t label) const {
  int64_t all = 0;
  for (int64_t predicted = 0; predicted < classes_; ++predicted)
    all += count(label, predicted);
  return ratio(count(label, label), all);
}
double ConfusionMatrix::f1(int64_t label) const {
  const double p = precision(label), r = recall(label);
  return p + r == 0 ? 0 : 2 * p * r / (p + r);
}
double ConfusionMatrix::mean_of(double (ConfusionMatrix::*measure)(int64_t) const) const {
  double sum = 0;
  for (int64_t label = 0; label < classes_; ++label)
    sum += (this->*measure)(label);
  return sum / static_cast<double>(classes_);
}
double ConfusionMatrix::macro_precision() const {
  return mean_of(&ConfusionMatrix::precision);
}
double ConfusionMatrix::macro_recall() const {
  return mean_of(&ConfusionMatrix::recall);
}
double ConfusionMatrix::macro_f1() const {
  return mean_of(&ConfusionMatrix::f1);
}

std::string ConfusionMatrix::text() const {
  std::ostringstream out;
  out << "target \\ predicted";
  for (int64_t label = 0; label < classes_; ++label)
    out << std::setw(7) << label;
  out << '\n';
  for (int64_t target = 0; target < classes_; ++target) {
    out << std::setw(18) << target;
    for (int64_t predicted = 0; predicted < classes_; ++predicted)
      out << std::setw(7) << count(target, predicted);
    out << '\n';
  }
  return out.str();
}

}  // namespace sardonyx::eager::nn
