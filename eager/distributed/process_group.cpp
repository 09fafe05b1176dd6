#include "eager/distributed/process_group.h"

#include <mpi.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "eager/create.h"
#include "eager/distributed/collective_ops.h"
#include "eager/distributed/collectives.h"
#include "eager/distributed/communication_thread.h"
#include "eager/distributed/rank_watch.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager::distributed {

// Tasks of the thread hold no reference to it: the last one would end it, and the thread, from
// within.
struct ProcessGroup::State {
  State() {
    thread.post("MPI_Init", [this] { open(); }).get();
    if (size > 1) begin_watch();
    set_variable("RANK", rank);
    set_variable("WORLD_SIZE", size);
    set_variable("LOCAL_RANK", local_rank);
    set_variable("LOCAL_WORLD_SIZE", local_size);
  }
  // Runs at the end of the process.
  ~State() {
    thread
        .post("the end of the program",
              [this] {
                MPI_Comm_free(&channel.comm);
                int is_over = 0;
                MPI_Finalized(&is_over);
                if (is_own && !is_over) MPI_Finalize();
              })
        .wait();
    if (watch) watch->end();
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
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &channel.comm), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(channel.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(channel.comm, &rank);
    MPI_Comm_size(channel.comm, &size);
    MPI_Comm local = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(channel.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local),
              "MPI_Comm_split_type");
    MPI_Comm_rank(local, &local_rank);
    MPI_Comm_size(local, &local_size);
    MPI_Comm_free(&local);
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    host = name;
  }
  void wait(std::future<void>& work) {
    ++channel.waiting;
    work.wait();
    --channel.waiting;
    work.get();
  }
  void call(std::string what, std::function<void()> task) {
    auto done = thread.post(std::move(what), std::move(task));
    wait(done);
  }
  void begin_watch() {
    std::vector<std::string> hosts;
    call("the ranks' hosts", [&] { hosts = all_gather_bytes(channel, host); });
    RankWatchOptions options{.rank = rank, .size = size, .hosts = std::move(hosts)};
    options.progress = [this] { return thread.progress(); };
    options.stall = stall_time();
    options.stalled = [](const std::string& line) { std::cerr << line << std::endl; };
    options.died = [this](const std::string& line) {
      // Rank 0 tells it to all, and speaks for them.
      if (rank == 0 || line.starts_with("rank 0 ")) std::cerr << line << std::endl;
      std::_Exit(1);
    };
    watch = std::make_unique<RankWatch>(std::move(options));
    std::vector<std::string> invitations;
    call("the watch's port", [&] {
      invitations = all_gather_bytes(channel, rank == 0 ? watch->invite() : std::string());
    });
    const std::string problem = watch->start(invitations[0]);
    if (problem.empty()) return;
    std::cerr << "rank " << rank << " on " << host << " is not watched: " << problem
              << "; where it dies or stalls, the others are told by MPI alone" << std::endl;
  }
  static std::chrono::milliseconds stall_time() {
    const char* wanted = std::getenv("SARDONYX_STALL_SECONDS");
    if (!wanted) return std::chrono::seconds(60);
    double seconds = 0;
    const auto [end, error] = std::from_chars(wanted, wanted + std::strlen(wanted), seconds);
    if (error != std::errc() || *end != '\0' || !(seconds > 0) || seconds > 1e6) {
      fail(ErrorCode::kInvalidArgument,
           "SARDONYX_STALL_SECONDS: expected a positive number of seconds, got '", wanted, "'");
    }
    return std::chrono::milliseconds(std::llround(seconds * 1000) + 1);
  }
  static void set_variable(const char* name, int value) {
    setenv(name, std::to_string(value).c_str(), 0);
  }

  int rank = 0, size = 1, local_rank = 0, local_size = 1;
  std::string host;
  bool is_own = false;
  Channel channel;
  std::unique_ptr<RankWatch> watch;
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

void ProcessGroup::barrier() const {
  refuse_in_compiled_step("barrier");
  state_->call("barrier", [this] { distributed::barrier(state_->channel); });
}

void ProcessGroup::broadcast(std::span<const Tensor> tensors, int root) const {
  if (root < 0 || root >= size())
    fail(ErrorCode::kInvalidArgument, "broadcast: rank ", root, " of ", size());
  if (size() == 1) return;
  const CollectivePlace place = collective_place("broadcast");
  if (place == CollectivePlace::kLeftOut) return;
  if (place == CollectivePlace::kInGraph) {
    const std::vector<Tensor> copies = recorded_broadcast({tensors.begin(), tensors.end()}, root);
    for (size_t i = 0; i < tensors.size(); ++i)
      tensors[i].assign(copies[i]);
    return;
  }
  std::vector<std::byte> bytes = packed_bytes(tensors);
  broadcast_memory(bytes, root);
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

void ProcessGroup::broadcast_memory(std::span<std::byte> bytes, int root) const {
  if (root < 0 || root >= size())
    fail(ErrorCode::kInvalidArgument, "broadcast: rank ", root, " of ", size());
  if (size() == 1) return;
  state_->call("broadcast",
               [&] { broadcast_bytes(state_->channel, bytes.data(), bytes.size(), root); });
}

void ProcessGroup::all_gather_memory(std::span<const std::byte> own,
                                     std::span<std::byte> all) const {
  state_->call("all_gather", [&] {
    distributed::all_gather(state_->channel, own.data(), own.size(), all.data());
  });
}

std::future<void> ProcessGroup::start_mean_in_bfloat16(sardonyx::Tensor& value,
                                                       std::string what) const {
  if (value.dtype() != DType::kFloat) {
    fail(ErrorCode::kInvalidArgument, "a mean in bfloat16 is one of float32 elements, got ",
         value.dtype());
  }
  return state_->thread.post(std::move(what), [state = state_.get(), &value] {
    mean_in_bfloat16(state->channel, value.mutable_values<float>().data(), value.count());
  });
}

std::future<void> ProcessGroup::start_all_reduce(sardonyx::Tensor& value, ReduceOp op,
                                                 Reduction reduction, std::string what) const {
  check_reducible(value.dtype(), op);
  return state_->thread.post(std::move(what), [state = state_.get(), &value, op, reduction] {
    distributed::all_reduce(state->channel, value.dtype(), value.raw(), value.count(), op,
                            reduction);
  });
}

std::future<void> ProcessGroup::start(
    std::string what, std::function<void(const std::atomic<int>& waiting)> call) const {
  return state_->thread.post(std::move(what), [state = state_.get(), call = std::move(call)] {
    call(state->channel.waiting);
  });
}

void ProcessGroup::wait(std::future<void>& work) const {
  state_->wait(work);
}

Tensor ProcessGroup::all_reduce(const Tensor& value, ReduceOp op, Reduction reduction) const {
  check_reducible(value.dtype(), op);
  const CollectivePlace place = collective_place("all_reduce");
  if (place == CollectivePlace::kInGraph && size() > 1)
    return recorded_all_reduce(value, op, reduction);
  if (place != CollectivePlace::kNow) return value.detach();
  sardonyx::Tensor reduced = value.data().clone();
  auto done = start_all_reduce(reduced, op, reduction);
  wait(done);
  return Tensor(reduced);
}

Tensor ProcessGroup::all_gather(const Tensor& value) const {
  if (value.dtype() == DType::kString || bits_of(value.dtype()) < 8) {
    fail(ErrorCode::kInvalidArgument, "all_gather: elements of type ", value.dtype(),
         " can't be sent; expected numbers of whole bytes");
  }
  const Tensor own = value.detach().unsqueeze(0);
  const CollectivePlace place = collective_place("all_gather");
  if (size() == 1) return own;
  if (place == CollectivePlace::kInGraph) return recorded_all_gather(own, size());
  if (place == CollectivePlace::kLeftOut) {
    std::vector<Tensor> rows;
    for (int of = 0; of < size(); ++of)
      rows.push_back(of == rank() ? own : zeros_like(own));
    return cat(rows, 0);
  }
  sardonyx::Tensor all =
      sardonyx::Tensor::allocate(own.dtype(), gathered_shape(own.data().shape(), size()));
  all_gather_memory(bytes_of(own.data()), bytes_of(all));
  return Tensor(all);
}

std::vector<std::string> ProcessGroup::all_gather(const std::string& bytes) const {
  refuse_in_compiled_step("all_gather");
  std::vector<std::string> all;
  state_->call("all_gather", [&] { all = all_gather_bytes(state_->channel, bytes); });
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
