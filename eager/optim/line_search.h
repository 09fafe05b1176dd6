// A move along a direction after which the strong Wolfe conditions hold; for L-BFGS.
#pragma once

#include <functional>

#include "eager/tensor.h"

namespace sardonyx::eager::optim {

// The function at a distance along the direction.
struct LinePoint {
  double distance = 0;
  double value = 0;
  double slope = 0;  // d value / d distance
  Tensor gradient;
};

// `at` evaluates. Stops after 25 evaluations, or where the bracket is shorter than `least_move` (a
// length of the direction's greatest element, `scale`).
LinePoint strong_wolfe(const std::function<LinePoint(double distance)>& at, const LinePoint& start,
                       double first_distance, double scale, double least_move);

}  // namespace sardonyx::eager::optim
