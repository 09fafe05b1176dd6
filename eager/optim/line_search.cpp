#include "eager/optim/line_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace sardonyx::eager::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;
constexpr int kMaxEvaluations = 25;

struct Bounds {
  double low, high;
};

// Where the cubic through both points' values and slopes is least, within the bounds.
double cubic_minimum(const LinePoint& a, const LinePoint& b, const Bounds& bounds) {
  const double secant = a.slope + b.slope - 3 * (a.value - b.value) / (a.distance - b.distance);
  const double square = secant * secant - a.slope * b.slope;
  // No minimum (or no number at all): the middle.
  if (!(square >= 0)) return (bounds.low + bounds.high) / 2;
  const double root = std::sqrt(square);
  const bool in_order = a.distance <= b.distance;
  const LinePoint &left = in_order ? a : b, &right = in_order ? b : a;
  const double share = (right.slope + root - secant) / (right.slope - left.slope + 2 * root);
  const double found = right.distance - (right.distance - left.distance) * share;
  return std::min(std::max(found, bounds.low), bounds.high);
}

class LineSearch {
 public:
  LineSearch(const std::function<LinePoint(double)>& at, const LinePoint& start)
      : at_(at), start_(start) {}

  LinePoint run(double distance, double scale, double least_move) {
    const std::optional<LinePoint> found = bracket(distance);
    if (found) return *found;
    zoom(scale, least_move);
    return low_;
  }

 private:
  bool decreases_too_little(const LinePoint& point) const {
    return point.value > start_.value + kDecrease * point.distance * start_.slope;
  }
  bool is_flat_enough(const LinePoint& point) const {
    return std::abs(point.slope) <= -kCurvature * start_.slope;
  }

  // Goes on until a minimum is between the last two points, or one satisfies the conditions.
  std::optional<LinePoint> bracket(double distance) {
    LinePoint before = start_, now = at_(distance);
    for (; count_ < kMaxEvaluations; ++count_) {
      if (decreases_too_little(now) || (count_ > 1 && now.value >= before.value)) {
        set_bracket(before, now);
        return std::nullopt;
      }
      if (is_flat_enough(now)) return now;
      if (now.slope >= 0) {
        set_bracket(before, now);
        return std::nullopt;
      }
      const Bounds bounds{now.distance + 0.01 * (now.distance - before.distance),
                          now.distance * 10};
      const double next = cubic_minimum(before, now, bounds);
      before = std::exchange(now, at_(next));
    }
    set_bracket(start_, now);
    return std::nullopt;
  }

  void set_bracket(const LinePoint& a, const LinePoint& b) {
    low_ = a, high_ = b;
    if (b.value < a.value) std::swap(low_, high_);
  }

  // A point too near to an end of the bracket twice in a row, or on it, moves inwards.
  double kept_inside(double distance, const Bounds& bounds) {
    const double margin = 0.1 * (bounds.high - bounds.low);
    const bool is_near = std::min(bounds.high - distance, distance - bounds.low) < margin;
    const bool is_out = distance >= bounds.high || distance <= bounds.low;
    if (!is_near || !(was_near_ || is_out)) {
      was_near_ = is_near;
      return distance;
    }
    was_near_ = false;
    const bool is_high = std::abs(distance - bounds.high) < std::abs(distance - bounds.low);
    return is_high ? bounds.high - margin : bounds.low + margin;
  }

  void zoom(double scale, double least_move) {
    while (count_ < kMaxEvaluations) {
      if (std::abs(high_.distance - low_.distance) * scale < least_move) return;
      const auto [least, greatest] = std::minmax(low_.distance, high_.distance);
      const Bounds bounds{least, greatest};
      const LinePoint now = at_(kept_inside(cubic_minimum(low_, high_, bounds), bounds));
      ++count_;
      if (decreases_too_little(now) || now.value >= low_.value) {
        high_ = now;
        if (high_.value < low_.value) std::swap(low_, high_);
        continue;
      }
      const bool is_done = is_flat_enough(now);
      if (!is_done && now.slope * (high_.distance - low_.distance) >= 0) high_ = low_;
      low_ = now;
      if (is_done) return;
    }
  }

  const std::function<LinePoint(double)>& at_;
  const LinePoint& start_;
  LinePoint low_, high_;
  int count_ = 0;
  bool was_near_ = false;
};

}  // namespace

LinePoint strong_wolfe(const std::function<LinePoint(double distance)>& at, const LinePoint& start,
                       double first_distance, double scale, double least_move) {
  return LineSearch(at, start).run(first_distance, scale, least_move);
}

}  // namespace sardonyx::eager::optim
