// Batch norms whose statistics are those of all ranks' batches, for batches that are too
// small by themselves.
#pragma once

#include "eager/distributed/process_group.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::distributed {

// Each BatchNorm of `module` (itself and below) takes mean and variance in training mode over the
// batches of all ranks, as torch's SyncBatchNorm does, and gradients flow through them to all of
// these; results in evaluation mode, parameters and state_dict() are as before. The modules stay
// the same ones. Every rank makes the same calls; a rank may bring no rows, and one row per rank is
// enough. Gradients can be differentiated again, which every rank must do. Gives the number of
// batch norms.
//
//   Classifier net;
//   distributed::sync_batch_norms(net, group);
//   distributed::DataParallel model(net, group);
size_t sync_batch_norms(const nn::Module& module, const ProcessGroup& group);

}  // namespace sardonyx::eager::distributed
