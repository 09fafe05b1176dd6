// Exchanges between ranks that gradients flow through: for losses over all ranks' results.
#pragma once

#include "eager/distributed/process_group.h"

namespace sardonyx::eager::distributed {

// The sum over the ranks. The gradient of each rank's x is the sum of what the ranks have for the
// result: that of the sum of their losses. Every rank makes the same calls, and calls backward().
Tensor summed_over_ranks(const Tensor& x, const ProcessGroup& group);

// [ranks, ...]: every rank's x in the order of the ranks, all of one type and shape. Gradients flow
// back to each of them, as through torch.distributed.nn.all_gather.
//
//   const Tensor all = gathered_from_ranks(embeddings, group).flatten(0, 1);
//   const Tensor loss = nn::cross_entropy(matmul(embeddings, all.t()) / temperature, own_rows);
Tensor gathered_from_ranks(const Tensor& x, const ProcessGroup& group);

}  // namespace sardonyx::eager::distributed
