// Collective calls on memory. For the thread that talks to MPI.
#pragma once

#include <mpi.h>

#include <atomic>

#include "eager/distributed/process_group.h"

namespace sardonyx::eager::distributed {

// Throws kInternal with MPI's text unless `status` is MPI_SUCCESS.
void check_mpi(int status, const char* call);

// A communicator, and how many threads wait for what is done on it: where none does, these compute,
// and the core is theirs.
struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;
  std::atomic<int> waiting = 0;
};

void barrier(const Channel& channel);
void broadcast_bytes(const Channel& channel, std::byte* data, size_t bytes, int root);
// Throws kInvalidArgument for types and ops that ProcessGroup::all_reduce does not know.
void check_reducible(DType dtype, ReduceOp op);
void all_reduce(const Channel& channel, DType dtype, void* data, int64_t count, ReduceOp op,
                Reduction reduction);
// The mean of float32 values that travel as bfloat16: each rank's are rounded, added in float32 in
// the order of the ranks, and the mean is rounded again. Half the bytes, the same bits on all
// ranks.
void mean_in_bfloat16(const Channel& channel, float* data, int64_t count);
// As many bytes of each rank, one behind the other in `all`.
void all_gather(const Channel& channel, const std::byte* own, size_t bytes, std::byte* all);
std::vector<std::string> all_gather_bytes(const Channel& channel, const std::string& bytes);

}  // namespace sardonyx::eager::distributed
