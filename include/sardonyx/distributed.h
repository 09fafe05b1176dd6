// Training on several processes over MPI: find_package(sardonyx COMPONENTS distributed).
#pragma once

#include "eager/data/distributed_sampler.h"
#include "eager/distributed/checkpoint.h"
#include "eager/distributed/data_parallel.h"
#include "eager/distributed/exchanged_tensors.h"
#include "eager/distributed/process_group.h"
#include "eager/distributed/sharded_optimizer.h"
#include "eager/distributed/sync_batch_norm.h"
