// Measures eager functions, forward and backward, in turns with libtorch on one thread.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "ir/core/tensor.h"
#include "tools/bench-eager/cases.h"

namespace sardonyx::bench_eager {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

at::ScalarType their_type(DType dtype) {
  return dtype == DType::kDouble  ? at::kDouble
         : dtype == DType::kInt64 ? at::kLong
         : dtype == DType::kBool  ? at::kBool
                                  : at::kFloat;
}
at::Tensor theirs_of(const eager::Tensor& ours) {
  const sardonyx::Tensor& value = ours.data();
  const std::vector<int64_t> shape(value.shape().begin(), value.shape().end());
  return torch::from_blob(const_cast<void*>(static_cast<const void*>(value.raw())), shape,
                          their_type(value.dtype()))
      .clone();
}

eager::Tensor drawn(const CaseInput& input) {
  const Shape shape(input.shape.begin(), input.shape.end());
  if (input.limit > 0) return eager::randint(0, input.limit, to_dims(shape));
  const DType dtype = input.is_double ? DType::kDouble : DType::kFloat;
  return eager::randn(to_dims(shape), {.dtype = dtype, .requires_grad = true});
}

// One case on both sides.
class Pair {
 public:
  explicit Pair(const Case& one) : case_(one) {
    for (const CaseInput& input : one.inputs) {
      ours_.push_back(drawn(input));
      theirs_.push_back(theirs_of(ours_.back().detach()));
      if (input.limit == 0) theirs_.back().set_requires_grad(true);
    }
  }

  double our_forward() const {
    const eager::NoGrad no_grad;
    return seconds_of([&] { case_.ours(ours_); });
  }
  double their_forward() const {
    const torch::NoGradGuard no_grad;
    return seconds_of([&] { case_.theirs(theirs_); });
  }
  double our_backward() {
    const eager::Tensor y = case_.ours(ours_);
    if (!our_weights_.defined()) our_weights_ = weights_of(y);
    for (const eager::Tensor& input : ours_)
      input.zero_grad();
    return seconds_of([&] { y.backward(our_weights_); });
  }
  double their_backward() {
    const at::Tensor y = case_.theirs(theirs_);
    if (!their_weights_.defined()) their_weights_ = theirs_of(weights_of(case_.ours(ours_)));
    for (at::Tensor& input : theirs_)
      input.mutable_grad().reset();
    return seconds_of([&] { y.backward(their_weights_); });
  }

  // The largest difference of results and gradients, relative to the largest magnitude.
  double difference() {
    double largest = difference_of(case_.ours(ours_).detach(), case_.theirs(theirs_).detach());
    if (!case_.has_gradient) return largest;
    our_backward();
    their_backward();
    for (size_t i = 0; i < ours_.size(); ++i) {
      if (ours_[i].grad().defined() && theirs_[i].grad().defined())
        largest = std::max(largest, difference_of(ours_[i].grad(), theirs_[i].grad()));
    }
    return largest;
  }

 private:
  // The gradient of a result: one that differs from element to element.
  static eager::Tensor weights_of(const eager::Tensor& y) {
    const eager::Tensor steps = eager::arange(y.numel(), {.dtype = y.dtype()});
    return eager::cos(steps * 0.7).reshape(y.shape()).detach();
  }
  static double difference_of(const eager::Tensor& ours, const at::Tensor& theirs) {
    const at::Tensor a = theirs_of(ours).to(at::kDouble), b = theirs.to(at::kDouble);
    if (a.sizes() != b.sizes()) return INFINITY;
    if (a.numel() == 0) return 0;
    return ((a - b).abs().max() / (b.abs().max() + 1e-12)).item<double>();
  }

  const Case& case_;
  Ours ours_;
  Theirs theirs_;
  eager::Tensor our_weights_;
  at::Tensor their_weights_;
};

// Medians of both sides, which take turns.
std::pair<double, double> measured(double duration, const std::function<double()>& ours,
                                   const std::function<double()>& theirs) {
  std::vector<double> our_times, their_times;
  for (int i = 0; i < 3; ++i) {
    ours();
    theirs();
  }
  const auto begin = Clock::now();
  while (our_times.size() < 5 ||
         std::chrono::duration<double>(Clock::now() - begin).count() < duration) {
    our_times.push_back(ours());
    their_times.push_back(theirs());
  }
  return {median(our_times), median(their_times)};
}

struct Totals {
  double log_sum = 0;
  int count = 0, slow = 0, differing = 0;
  void add(double ratio, double limit) {
    log_sum += std::log(ratio);
    ++count;
    slow += ratio > limit;
  }
};

void run(const Case& one, double duration, double limit, Totals& totals) {
  Pair pair(one);
  const double difference = one.is_random ? 0 : pair.difference();
  totals.differing += !(difference < 1e-4);
  const auto print = [&](const char* way, std::pair<double, double> times) {
    const double ratio = times.first / times.second;
    totals.add(ratio, limit);
    std::printf("%-24s %-8s %10.1f %10.1f %7.2f%s%s\n", one.name.c_str(), way, 1e6 * times.first,
                1e6 * times.second, ratio, ratio > limit ? "  slow" : "",
                difference < 1e-4 ? "" : "  DIFFERENT");
    std::fflush(stdout);
  };
  print("forward",
        measured(
            duration, [&] { return pair.our_forward(); }, [&] { return pair.their_forward(); }));
  if (!one.has_gradient) return;
  print("backward",
        measured(
            duration, [&] { return pair.our_backward(); }, [&] { return pair.their_backward(); }));
}

}  // namespace
}  // namespace sardonyx::bench_eager

int main(int argc, char** argv) {
  using namespace sardonyx::bench_eager;
  CLI::App app("bench-eager: eager functions beside libtorch's, on one thread, in microseconds");
  std::string filter;
  double duration = 0.1, limit = 1.5;
  app.add_option("filter", filter, "a part of the names of the functions to measure");
  app.add_option("--duration", duration, "seconds for each line")->check(CLI::PositiveNumber);
  app.add_option("--limit", limit, "the ratio from which a line is called slow");
  CLI11_PARSE(app, argc, argv);
  sardonyx::eager::set_num_threads(1);
  torch::set_num_threads(1);
  sardonyx::eager::manual_seed(1);
  std::printf("%-24s %-8s %10s %10s %7s\n", "", "", "ours", "torch", "ratio");
  Totals totals;
  for (const auto& cases :
       {elementwise_cases(), reduction_cases(), arrangement_cases(), network_cases()}) {
    for (const Case& one : cases) {
      if (one.name.find(filter) != std::string::npos) run(one, duration, limit, totals);
    }
  }
  if (totals.count == 0) {
    std::fprintf(stderr, "bench-eager: no function has %s in its name\n", filter.c_str());
    return 2;
  }
  std::printf("%d lines, geometric mean of ratios %.2f, %d over %.1f, %d that differ\n",
              totals.count, std::exp(totals.log_sum / totals.count), totals.slow, limit,
              totals.differing);
  return totals.differing == 0 ? 0 : 1;
}
