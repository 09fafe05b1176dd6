#include "eager/distributed/exchanged_tensors.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager::distributed {

Tensor summed_over_ranks(const Tensor& x, const ProcessGroup& group) {
  CustomFunction sum;
  sum.forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{group.all_reduce(inputs[0])};
  };
  sum.backward = [group](const std::vector<Tensor>&, const std::vector<Tensor>&,
                         const std::vector<Tensor>& gradients) {
    return std::vector<Tensor>{summed_over_ranks(gradients[0], group)};
  };
  return apply(sum, {x})[0];
}

// Each rank's own tensor stands between zeros for the others': 0 + x is x.
Tensor gathered_from_ranks(const Tensor& x, const ProcessGroup& group) {
  const Tensor own = x.unsqueeze(0);
  if (group.size() == 1) return own;
  std::vector<Tensor> rows;
  for (int rank = 0; rank < group.size(); ++rank)
    rows.push_back(rank == group.rank() ? own : zeros_like(own));
  return summed_over_ranks(cat(rows, 0), group);
}

}  // namespace sardonyx::eager::distributed
