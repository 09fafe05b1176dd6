// What a training loop counts. These read values, so they do not belong in a traced function.
#pragma once

#include <string>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::nn {

// The share of rows of scores [N, C] whose greatest score is at target [N] (or among the k
// greatest).
double accuracy(const Tensor& scores, const Tensor& target, int64_t k = 1);

// The mean of numbers, each weighted (by its batch size, say).
class RunningMean {
 public:
  void add(double value, double weight = 1);
  double mean() const;  // NaN where nothing was added
  void reset() { *this = RunningMean(); }

 private:
  double sum_ = 0, weight_ = 0;
};

// counts()[target][predicted], over any number of batches. Scores: [N, C] scores or [N] classes.
// Classes out of range throw kInvalidArgument.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int64_t classes);
  void add(const Tensor& predicted, const Tensor& target);
  int64_t count(int64_t target, int64_t predicted) const;
  int64_t total() const;
  double accuracy() const;
  // Of one class; 0 where it is 0/0, as scikit-learn has it.
  double precision(int64_t label) const;
  double recall(int64_t label) const;
  double f1(int64_t label) const;
  // Means over the classes.
  double macro_precision() const;
  double macro_recall() const;
  double macro_f1() const;
  std::string text() const;  // a table

 private:
  double mean_of(double (ConfusionMatrix::*measure)(int64_t) const) const;
  void check(int64_t label, const char* what) const;
  int64_t classes_;
  std::vector<int64_t> counts_;
};

}  // namespace sardonyx::eager::nn
