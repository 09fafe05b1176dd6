// The sums over paths of connectionist temporal classification (Graves et al., 2006), forward and
// backward, in one go.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx::eager::nn {

// The arguments of ctc_loss as they are stored in memory.
struct CtcArguments {
  sardonyx::Tensor log_probabilities;              // [T, N, C], float or double, T > 0
  sardonyx::Tensor targets;                        // [N, S], int64, labels below C
  sardonyx::Tensor input_lengths, target_lengths;  // [N], int64
  int64_t blank;
};

// nullopt for arguments that are none of these.
std::optional<CtcArguments> ctc_arguments(const sardonyx::Tensor& log_probabilities,
                                          const sardonyx::Tensor& targets,
                                          const sardonyx::Tensor& input_lengths,
                                          const sardonyx::Tensor& target_lengths, int64_t blank);

// By sample the log-probabilities of what paths have come to at each step: what the gradient goes
// back from.
using CtcReached = std::vector<std::vector<double>>;

// -log of the probability of each sample's target; infinity where no path makes it. Fills `kept`,
// unless it is null.
sardonyx::Tensor ctc_losses(const CtcArguments& arguments, CtcReached* kept);
// The gradient of <weights, ctc_losses> by the log-probabilities; 0 where no path makes the target.
// What ctc_losses() has not kept is computed again.
sardonyx::Tensor ctc_gradient(const CtcArguments& arguments, const sardonyx::Tensor& weights,
                              const CtcReached& kept);

}  // namespace sardonyx::eager::nn
