#include "eager/distributed/process_group.h"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "eager/distributed/collectives.h"
#include "eager/distributed/communication_thread.h"

namespace sardonyx::eager::distributed {

struct ProcessGroup::State {
  State() {
    thread.post([this] { open(); }).get();
    set_variable("RANK", rank);
    set_variable("WORLD_SIZE", size);
    set_variable("LOCAL_RANK", local_rank);
    set_variable("LOCAL_WORLD_SIZE", local_size);
  }
  // Runs at the end of the process.
  ~State() {
    thread.post([this] {
      MPI_Comm_free(&comm);
      int is_over = 0;
      MPI_Finalized(&is_over);
      if (is_own && !is_over) MPI_Finalize();
    });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void open() {
    int is_there = 0;
    MPI_Initialized(&is_there);
    if (is_there) {
      int level = MPI_THREAD_SINGLE;
      MPI_Query_thread(&level);
      if (level < MPI_THREAD_SERIALIZED) {
        fail(ErrorCode::kInvalidArgument,
             "the program initialised MPI for its own thread alone; call MPI_Init_thread with "
             "MPI_THREAD_SERIALIZED, or leave it to ProcessGroup::world()");
      }
    } else {
      // This thread is the only one to call MPI, from here to the end.
      int level = 0;
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
      is_own = true;
    }
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm local = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local),
              "MPI_Comm_split_type");
    MPI_Comm_rank(local, &local_rank);
    MPI_Comm_size(local, &local_size);
    MPI_Comm_free(&local);
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    host = name;
  }
  static void set_variable(const char* name, int value) {
    setenv(name, std::to_string(value).c_str(), 0);
  }

  int rank = 0, size = 1, local_rank = 0, local_size = 1;
  std::string host;
  bool is_own = false;
  MPI_Comm comm = MPI_COMM_NULL;
  CommunicationThread thread;  // last: it ends first
};

namespace {

// The bytes of tensors in one piece of memory, and back.
std::vector<std::byte> packed_bytes(std::span<const Tensor> tensors) {
  std::vector<std::byte> all;
  for (const Tensor& tensor : tensors) {
    const sardonyx::Tensor& value = tensor.data();
    if (value.dtype() == DType::kString)
      fail(ErrorCode::kInvalidArgument, "broadcast: strings can't be sent");
    const auto* begin = static_cast<const std::byte*>(value.raw());
    all.insert(all.end(), begin, begin + value.bytes());
  }
  return all;
}

}  // namespace

ProcessGroup ProcessGroup::world() {
  static const auto state = std::make_shared<State>();
  return ProcessGroup(state);
}

int ProcessGroup::rank() const {
  return state_->rank;
}
int ProcessGroup::size() const {
  return state_->size;
}
int ProcessGroup::local_rank() const {
  return state_->local_rank;
}
int ProcessGroup::local_size() const {
  return state_->local_size;
}
const std::string& ProcessGroup::host() const {
  return state_->host;
}

void ProcessGroup::wait(std::future<void>& work, const std::string& what) const {
  constexpr auto kLong = std::chrono::seconds(60);
  for (int minutes = 1; work.wait_for(kLong) != std::future_status::ready; ++minutes) {
    std::cerr << "rank " << rank() << " on " << host() << " has waited " << minutes << " min in "
              << what << " for ranks that have not come to it" << std::endl;
  }
  work.get();
}

void ProcessGroup::barrier() const {
  auto done =
      state_->thread.post([state = state_] { check_mpi(MPI_Barrier(state->comm), "MPI_Barrier"); });
  wait(done, "barrier");
}

void ProcessGroup::broadcast(std::span<const Tensor> tensors, int root) const {
  if (root < 0 || root >= size())
    fail(ErrorCode::kInvalidArgument, "broadcast: rank ", root, " of ", size());
  if (size() == 1) return;
  std::vector<std::byte> bytes = packed_bytes(tensors);
  auto done =
      state_->thread.post([&] { broadcast_bytes(state_->comm, bytes.data(), bytes.size(), root); });
  wait(done, "broadcast");
  if (rank() == root) return;
  const std::byte* from = bytes.data();
  for (const Tensor& tensor : tensors) {
    sardonyx::Tensor value =
        sardonyx::Tensor::allocate(tensor.dtype(), sardonyx::Shape(tensor.data().shape()));
    if (value.bytes() > 0) std::memcpy(value.raw(), from, value.bytes());
    from += value.bytes();
    tensor.assign(Tensor(value));
  }
}

std::future<void> ProcessGroup::start_all_reduce(sardonyx::Tensor& value, ReduceOp op,
                                                 Reduction reduction) const {
  check_reducible(value.dtype(), op);
  return state_->thread.post([state = state_, &value, op, reduction] {
    distributed::all_reduce(state->comm, value.dtype(), value.raw(), value.count(), op, reduction);
  });
}

Tensor ProcessGroup::all_reduce(const Tensor& value, ReduceOp op, Reduction reduction) const {
  sardonyx::Tensor reduced = value.data().clone();
  auto done = start_all_reduce(reduced, op, reduction);
  wait(done, "all_reduce");
  return Tensor(reduced);
}

std::vector<std::string> ProcessGroup::all_gather(const std::string& bytes) const {
  std::vector<std::string> all;
  auto done = state_->thread.post([&] { all = all_gather_bytes(state_->comm, bytes); });
  wait(done, "all_gather");
  return all;
}

int run_ranks(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    const ProcessGroup group = ProcessGroup::world();
    std::cerr << "rank " << group.rank() << " on " << group.host() << ": " << error.what()
              << std::endl;
    // Not through the thread: it may be in a call that the others never come to.
    if (group.size() > 1) MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

}  // namespace sardonyx::eager::distributed
