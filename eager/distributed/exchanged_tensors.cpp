#include "eager/distributed/exchanged_tensors.h"

#include "eager/autograd/autograd.h"
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

Tensor gathered_from_ranks(const Tensor& x, const ProcessGroup& group) {
  if (group.size() == 1) return x.unsqueeze(0);
  CustomFunction gather;
  gather.forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{group.all_gather(inputs[0])};
  };
  gather.backward = [group](const std::vector<Tensor>&, const std::vector<Tensor>&,
                            const std::vector<Tensor>& gradients) {
    return std::vector<Tensor>{summed_over_ranks(gradients[0], group).select(0, group.rank())};
  };
  return apply(gather, {x})[0];
}

}  // namespace sardonyx::eager::distributed
