#include "eager/nn/loss/ctc_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/core/run_control.h"

namespace sardonyx::eager::nn {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b) + exp(c))
double log_sum(double a, double b, double c) {
  if (std::isnan(a + b + c)) return std::numeric_limits<double>::quiet_NaN();
  const double most = std::max({a, b, c});
  if (most == kNone) return kNone;
  double sum = 0;
  for (const double part : {a, b, c})
    sum += part == most ? 1 : part == kNone ? 0 : std::exp(part - most);
  return most + std::log(sum);
}

// One sample: its target with blanks between and around, and the log-probabilities of what paths
// do.
template <typename T>
class Paths {
 public:
  Paths(const CtcArguments& arguments, int64_t sample)
      : classes_(arguments.log_probabilities.shape()[2]),
        row_(arguments.log_probabilities.shape()[1] * classes_),
        scores_(arguments.log_probabilities.values<T>().data() + sample * classes_),
        steps_(std::clamp<int64_t>(
            arguments.input_lengths.values<int64_t>()[static_cast<size_t>(sample)], 1,
            arguments.log_probabilities.shape()[0])) {
    const int64_t labels = arguments.targets.shape()[1];
    const int64_t length = arguments.target_lengths.values<int64_t>()[static_cast<size_t>(sample)];
    if (length < 0 || length > labels) return;  // no path makes such a target
    const int64_t* target = arguments.targets.values<int64_t>().data() + sample * labels;
    places_.assign(static_cast<size_t>(2 * length + 1), arguments.blank);
    for (int64_t i = 0; i < length; ++i)
      places_[static_cast<size_t>(2 * i + 1)] = target[i];
    for (size_t place = 0; place < places_.size(); ++place) {
      may_skip_.push_back(place >= 2 && places_[place] != arguments.blank &&
                          places_[place] != places_[place - 2]);
    }
  }

  double loss(std::vector<double>* kept) {
    if (places_.empty()) return -kNone;
    walk_forward(kept != nullptr);
    const double found = -total();
    if (kept) *kept = std::move(reached_);
    return found;
  }

  // Adds weight * d(loss) / d(log-probability) to the sample's part of a gradient.
  void add_gradient(double weight, T* gradient, const std::vector<double>* kept) {
    if (places_.empty()) return;
    if (kept) {
      keeps_all_ = true;
      from_ = kept->data();
    } else {
      walk_forward(true);
    }
    const double all = total();
    if (all == kNone) return;
    std::vector<double> after(places_.size(), kNone), next(places_.size());
    after.back() = 0;
    if (places_.size() > 1) after[places_.size() - 2] = 0;
    for (int64_t step = steps_ - 1; step >= 0; --step) {
      for (size_t place = 0; place < places_.size(); ++place) {
        const double share = std::exp(known(step)[place] + after[place] - all);
        gradient[step * row_ + places_[place]] -= static_cast<T>(weight * share);
      }
      for (size_t place = 0; place < places_.size() && step > 0; ++place) {
        const auto from = [&](size_t at) { return after[at] + score(step, at); };
        const bool skips = place + 2 < places_.size() && may_skip_[place + 2];
        next[place] = log_sum(from(place), place + 1 < places_.size() ? from(place + 1) : kNone,
                              skips ? from(place + 2) : kNone);
      }
      after.swap(next);
    }
  }

 private:
  double score(int64_t step, size_t place) const {
    return double{scores_[step * row_ + places_[place]]};
  }
  int64_t begin_of(int64_t step) const {
    return (keeps_all_ ? step : step % 2) * static_cast<int64_t>(places_.size());
  }
  double* reached(int64_t step) { return reached_.data() + begin_of(step); }
  const double* known(int64_t step) const {
    return (from_ ? from_ : reached_.data()) + begin_of(step);
  }

  // reached(step)[place]: of all paths that are there by then.
  void walk_forward(bool keeps_all) {
    keeps_all_ = keeps_all;
    reached_.assign(places_.size() * static_cast<size_t>(keeps_all ? steps_ : 2), kNone);
    for (size_t place = 0; place < std::min<size_t>(2, places_.size()); ++place)
      reached(0)[place] = score(0, place);
    for (int64_t step = 1; step < steps_; ++step) {
      const double* before = reached(step - 1);
      double* now = reached(step);
      for (size_t place = 0; place < places_.size(); ++place) {
        now[place] =
            score(step, place) + log_sum(before[place], place > 0 ? before[place - 1] : kNone,
                                         may_skip_[place] ? before[place - 2] : kNone);
      }
    }
  }
  double total() const {
    const double* last = known(steps_ - 1);
    const size_t places = places_.size();
    return log_sum(last[places - 1], places > 1 ? last[places - 2] : kNone, kNone);
  }

  int64_t classes_, row_;
  const T* scores_;
  int64_t steps_;
  std::vector<int64_t> places_;
  std::vector<bool> may_skip_;  // the blank before the place
  std::vector<double> reached_;
  const double* from_ = nullptr;  // what an earlier walk reached
  bool keeps_all_ = false;
};

template <typename Run>
void for_each_sample(const CtcArguments& arguments, const Run& run) {
  for (int64_t sample = 0; sample < arguments.log_probabilities.shape()[1]; ++sample) {
    check_interrupted();
    if (arguments.log_probabilities.dtype() == DType::kDouble)
      run(Paths<double>(arguments, sample), double{}, sample);
    else
      run(Paths<float>(arguments, sample), float{}, sample);
  }
}

}  // namespace

std::optional<CtcArguments> ctc_arguments(const sardonyx::Tensor& log_probabilities,
                                          const sardonyx::Tensor& targets,
                                          const sardonyx::Tensor& input_lengths,
                                          const sardonyx::Tensor& target_lengths, int64_t blank) {
  const DType dtype = log_probabilities.dtype();
  if (dtype != DType::kFloat && dtype != DType::kDouble) return std::nullopt;
  const int64_t batch = log_probabilities.shape()[1], classes = log_probabilities.shape()[2];
  const bool fits = targets.shape()[0] == batch && input_lengths.count() == batch &&
                    target_lengths.count() == batch && log_probabilities.shape()[0] > 0;
  const auto is_class = [&](int64_t label) { return label >= 0 && label < classes; };
  if (!fits || !is_class(blank) || !std::ranges::all_of(targets.values<int64_t>(), is_class))
    return std::nullopt;
  return CtcArguments{log_probabilities, targets, input_lengths, target_lengths, blank};
}

sardonyx::Tensor ctc_losses(const CtcArguments& arguments, CtcReached* kept) {
  const sardonyx::Tensor& scores = arguments.log_probabilities;
  auto losses = sardonyx::Tensor::allocate(scores.dtype(), {scores.shape()[1]});
  if (kept) kept->resize(static_cast<size_t>(scores.shape()[1]));
  for_each_sample(arguments, [&]<typename T>(Paths<T> paths, T, int64_t sample) {
    const auto at = static_cast<size_t>(sample);
    losses.mutable_values<T>()[at] = static_cast<T>(paths.loss(kept ? &(*kept)[at] : nullptr));
  });
  return losses;
}

sardonyx::Tensor ctc_gradient(const CtcArguments& arguments, const sardonyx::Tensor& weights,
                              const CtcReached& kept) {
  const sardonyx::Tensor& scores = arguments.log_probabilities;
  auto gradient = sardonyx::Tensor::zeros(scores.dtype(), scores.shape());
  for_each_sample(arguments, [&]<typename T>(Paths<T> paths, T, int64_t sample) {
    const auto at = static_cast<size_t>(sample);
    T* part = gradient.mutable_values<T>().data() + sample * scores.shape()[2];
    paths.add_gradient(double{weights.values<T>()[at]}, part, kept.empty() ? nullptr : &kept[at]);
  });
  return gradient;
}

}  // namespace sardonyx::eager::nn
