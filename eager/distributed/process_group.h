// The processes that train one model, over MPI. A target of its own: sardonyx_distributed.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::distributed {

enum class ReduceOp { kSum, kMean, kMin, kMax };

// How sums over all ranks are computed.
enum class Reduction {
  // In the order of the ranks, each addition rounded to the element type: the same bits each time,
  // and those of one process that adds the ranks' values one after the other. Moves as many bytes
  // as a ring does.
  kRankOrder,
  // As MPI_Allreduce likes: the same on all ranks, but other bits with other libraries, sizes and
  // numbers of ranks. 16-bit types are summed in the order of the ranks here too.
  kFast,
};

// Collective calls: every rank makes the same ones in the same order. A handle; copies are the same
// group. All of them are made by one thread of the group's own, in the order in which they were
// asked for, whichever thread asked; so MPI need not be thread-safe. Errors of MPI throw kInternal.
//
// Ranks watch over each other: where one dies, however it does, the others end within 10 s by
// _Exit(1), and its number and host stand on stderr. A call that takes more than
// SARDONYX_STALL_SECONDS (60) is reported there by rank 0: who waits for whom, and what these do.
class ProcessGroup {
 public:
  // All processes that mpirun, srun or an MPIJob started; one alone where nothing did. The first
  // call initialises MPI, unless the program did (then with MPI_THREAD_SERIALIZED at least, else it
  // throws kInvalidArgument), and sets those of torch's variables that are not set yet: RANK,
  // WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE. MPI ends with the process.
  static ProcessGroup world();

  int rank() const;
  int size() const;
  int local_rank() const;  // among the ranks of this host
  int local_size() const;
  const std::string& host() const;

  void barrier() const;
  // Gives every tensor the value that it has on rank `root`; types and shapes are the same on all
  // ranks. Not for strings.
  void broadcast(std::span<const Tensor> tensors, int root = 0) const;
  // The element-wise sum, mean, ... over all ranks. Floating types (not the 8-bit ones), int32 and
  // int64; a mean of floating types alone.
  Tensor all_reduce(const Tensor& value, ReduceOp op = ReduceOp::kSum,
                    Reduction reduction = Reduction::kRankOrder) const;
  // [ranks, ...]: the value of every rank, bit by bit; of one type and shape on all of them. Not
  // for strings and elements of less than a byte.
  Tensor all_gather(const Tensor& value) const;
  // What every rank gives, by rank.
  std::vector<std::string> all_gather(const std::string& bytes) const;

  // Fills memory with that of rank `root`; all ranks give as many bytes.
  void broadcast_memory(std::span<std::byte> bytes, int root) const;
  // Fills `all` with the bytes of rank 0, 1, ..., which give as many each.
  void all_gather_memory(std::span<const std::byte> own, std::span<std::byte> all) const;
  // The same as all_reduce on memory, which must stay as it is until the future is ready; does not
  // wait. The tensor is used by nobody else. `what`: for reports of stalls.
  std::future<void> start_all_reduce(sardonyx::Tensor& value, ReduceOp op, Reduction reduction,
                                     std::string what = "all_reduce") const;
  // Of float32 elements, each rank's rounded to bfloat16 on the way; their sum is taken in float32
  // and in the order of the ranks, and the mean is rounded again.
  std::future<void> start_mean_in_bfloat16(sardonyx::Tensor& value, std::string what) const;
  // A collective call that is not one of MPI, made by the group's thread in its turn. `call` is
  // given how many threads wait for the group at the moment.
  std::future<void> start(std::string what,
                          std::function<void(const std::atomic<int>& waiting)> call) const;
  // For what start...() gave; throws what the call threw.
  void wait(std::future<void>& work) const;

  struct State;

 private:
  explicit ProcessGroup(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// main() of a program of several ranks: what `body` throws is printed with rank and host and ends
// all ranks, for the others wait for this one. Gives what body gives.
int run_ranks(const std::function<int()>& body);

}  // namespace sardonyx::eager::distributed
