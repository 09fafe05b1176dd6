// Linear regression, the smallest of the training examples.
#pragma once

namespace sardonyx::models {

struct Line {
  double slope, offset;
};

// Fits y = slope x + offset to points of y = 2x by gradient descent, with gradients of a function
// (value_and_grad).
Line fit_line(int steps);
// The same with a compiled step that updates its parameters.
Line fit_line_compiled(int steps);

}  // namespace sardonyx::models
