#include "eager/distributed/collectives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "eager/distributed/rank_order.h"

namespace sardonyx::eager::distributed {
namespace {

// MPI counts in int.
constexpr int64_t kMostAtOnce = int64_t{1} << 28;

template <typename T>
struct MpiType;
template <>
struct MpiType<float> {
  static MPI_Datatype get() { return MPI_FLOAT; }
};
template <>
struct MpiType<double> {
  static MPI_Datatype get() { return MPI_DOUBLE; }
};
template <>
struct MpiType<int32_t> {
  static MPI_Datatype get() { return MPI_INT32_T; }
};
template <>
struct MpiType<int64_t> {
  static MPI_Datatype get() { return MPI_INT64_T; }
};
// Only moved; sums are ours.
template <>
struct MpiType<Float16> {
  static MPI_Datatype get() { return MPI_UINT16_T; }
};
template <>
struct MpiType<BFloat16> {
  static MPI_Datatype get() { return MPI_UINT16_T; }
};

// Elements [begin(r), begin(r + 1)) of `count` are those that rank r sums.
struct ElementShares {
  ElementShares(int64_t count, int ranks) : counts(ranks), begins(ranks) {
    int64_t begin = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<size_t>(rank);
      counts[at] = static_cast<int>(count / ranks + (rank < count % ranks));
      begins[at] = static_cast<int>(begin);
      begin += counts[at];
    }
  }
  std::vector<int> counts, begins;
};

// Waits for all of them. MPI's own waiting keeps a core busy, which those who compute meanwhile
// would miss: between looks this thread sleeps, after a while in which it does not where somebody
// waits for it. To yield instead would cost a time slice wherever another process is ready.
void complete(const Channel& channel, std::span<MPI_Request> requests, const char* call) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpinning = std::chrono::microseconds(50);
  constexpr auto kFirst = std::chrono::microseconds(20), kLongest = std::chrono::microseconds(1000);
  Clock::time_point spins_since{};
  Clock::duration sleep = kFirst;
  while (true) {
    int is_done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &is_done,
                          MPI_STATUSES_IGNORE),
              call);
    if (is_done) return;
    const bool is_awaited = channel.waiting.load(std::memory_order_relaxed) > 0;
    if (is_awaited && spins_since == Clock::time_point()) spins_since = Clock::now();
    if (is_awaited && Clock::now() - spins_since < kSpinning) continue;
    std::this_thread::sleep_for(sleep);
    sleep = std::min<Clock::duration>(sleep * 2, is_awaited ? kFirst * 2 : kLongest);
  }
}

void complete(const Channel& channel, MPI_Request request, const char* call) {
  complete(channel, {&request, 1}, call);
}

// Memory of the thread's own, which serves again; not initialised.
template <typename T>
T* scratch_of(size_t count) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local size_t size = 0;
  if (size < count * sizeof(T)) {
    memory.reset();
    size = count * sizeof(T);
    memory.reset(new std::byte[size]);
  }
  return reinterpret_cast<T*>(memory.get());
}

// Each rank gets the others' values of its own share, combines all of them and sends the result to
// the others. `combine(values, out, count)` is given the values of rank 0, 1, ...; `out` is this
// rank's own values.
template <typename T, typename Combine>
void reduce_own_share(const Channel& channel, T* data, int64_t count, const Combine& combine) {
  int rank = 0, ranks = 1;
  check_mpi(MPI_Comm_rank(channel.comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(channel.comm, &ranks), "MPI_Comm_size");
  const ElementShares shares(count, ranks);
  const MPI_Datatype type = MpiType<T>::get();
  const auto place = [](int of) { return static_cast<size_t>(of); };
  const int own = shares.counts[place(rank)];
  T* const own_values = data + shares.begins[place(rank)];
  T* const received = scratch_of<T>(place(own) * place(ranks - 1));
  std::vector<const T*> values(place(ranks), own_values);
  std::vector<MPI_Request> requests;
  const auto receive = [&](T* into, int elements, int from) {
    check_mpi(MPI_Irecv(into, elements, type, from, 0, channel.comm, &requests.emplace_back()),
              "MPI_Irecv");
  };
  const auto send = [&](const T* from, int elements, int to) {
    check_mpi(MPI_Isend(from, elements, type, to, 0, channel.comm, &requests.emplace_back()),
              "MPI_Isend");
  };
  for (int step = 1; step < ranks; ++step) {
    const int from = (rank + ranks - step) % ranks;
    T* const into = received + place(step - 1) * place(own);
    values[place(from)] = into;
    receive(into, own, from);
  }
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks;
    send(data + shares.begins[place(to)], shares.counts[place(to)], to);
  }
  complete(channel, requests, "MPI_Testall");
  combine(values, own_values, place(own));
  requests.clear();
  for (int step = 1; step < ranks; ++step) {
    const int from = (rank + ranks - step) % ranks;
    receive(data + shares.begins[place(from)], shares.counts[place(from)], from);
  }
  for (int step = 1; step < ranks; ++step)
    send(own_values, own, (rank + step) % ranks);
  complete(channel, requests, "MPI_Testall");
}

template <typename T>
void all_reduce_in_order(const Channel& channel, T* data, int64_t count, ReduceOp op) {
  const auto combine = [op](std::span<const T* const> values, T* out, size_t own_count) {
    combine_in_rank_order<T>(values, {&out, 1}, own_count, op);
  };
  reduce_own_share(channel, data, count, combine);
}

template <typename T>
void all_reduce_fast(const Channel& channel, T* data, int64_t count, ReduceOp op, int ranks) {
  const MPI_Op mpi_op = op == ReduceOp::kMin ? MPI_MIN : op == ReduceOp::kMax ? MPI_MAX : MPI_SUM;
  MPI_Request request;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), MpiType<T>::get(), mpi_op,
                           channel.comm, &request),
            "MPI_Iallreduce");
  complete(channel, request, "MPI_Iallreduce");
  if (op == ReduceOp::kMean)
    divide_block(data, static_cast<size_t>(count), static_cast<size_t>(ranks));
}

}  // namespace

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> message{};
  int length = 0;
  MPI_Error_string(status, message.data(), &length);
  fail(ErrorCode::kInternal, call, ": ", message.data());
}

void barrier(const Channel& channel) {
  MPI_Request request;
  check_mpi(MPI_Ibarrier(channel.comm, &request), "MPI_Ibarrier");
  complete(channel, request, "MPI_Ibarrier");
}

void broadcast_bytes(const Channel& channel, std::byte* data, size_t bytes, int root) {
  while (bytes > 0) {
    const size_t piece = std::min(bytes, static_cast<size_t>(kMostAtOnce));
    MPI_Request request;
    check_mpi(MPI_Ibcast(data, static_cast<int>(piece), MPI_BYTE, root, channel.comm, &request),
              "MPI_Ibcast");
    complete(channel, request, "MPI_Ibcast");
    data += piece;
    bytes -= piece;
  }
}

void check_reducible(DType dtype, ReduceOp op) {
  dispatch_reducible(dtype, []<typename T>() {});
  if (op == ReduceOp::kMean && !is_floating(dtype))
    fail(ErrorCode::kInvalidArgument, "all_reduce: a mean of type ", dtype,
         "; convert to a floating type, or take the sum");
}

void all_reduce(const Channel& channel, DType dtype, void* data, int64_t count, ReduceOp op,
                Reduction reduction) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(channel.comm, &ranks), "MPI_Comm_size");
  if (ranks == 1) return;
  dispatch_reducible(dtype, [&]<typename T>() {
    constexpr bool kKnownToMpi = !std::is_same_v<T, Float16> && !std::is_same_v<T, BFloat16>;
    auto* all = static_cast<T*>(data);
    for (int64_t at = 0; at < count; at += kMostAtOnce) {
      const int64_t piece = std::min(kMostAtOnce, count - at);
      if constexpr (kKnownToMpi) {
        if (reduction == Reduction::kFast) {
          all_reduce_fast(channel, all + at, piece, op, ranks);
          continue;
        }
      }
      all_reduce_in_order(channel, all + at, piece, op);
    }
  });
}

void mean_in_bfloat16(const Channel& channel, float* data, int64_t count) {
  const auto combine = [](std::span<const BFloat16* const> values, BFloat16* out,
                          size_t own_count) {
    for (size_t i = 0; i < own_count; ++i) {
      float sum = static_cast<float>(values[0][i]);
      for (const BFloat16* const of_rank : values.subspan(1))
        sum += static_cast<float>(of_rank[i]);
      out[i] = BFloat16(sum / static_cast<float>(values.size()));
    }
  };
  int ranks = 1;
  check_mpi(MPI_Comm_size(channel.comm, &ranks), "MPI_Comm_size");
  if (ranks == 1) return;
  constexpr int64_t kPiece = int64_t{1} << 22;  // the copy of a piece stays small
  std::vector<BFloat16> narrow(static_cast<size_t>(std::min(count, kPiece)));
  for (int64_t at = 0; at < count; at += kPiece) {
    const int64_t piece = std::min(kPiece, count - at);
    for (int64_t i = 0; i < piece; ++i)
      narrow[static_cast<size_t>(i)] = BFloat16(data[at + i]);
    reduce_own_share(channel, narrow.data(), piece, combine);
    for (int64_t i = 0; i < piece; ++i)
      data[at + i] = static_cast<float>(narrow[static_cast<size_t>(i)]);
  }
}

void all_gather(const Channel& channel, const std::byte* own, size_t bytes, std::byte* all) {
  int rank = 0, ranks = 1;
  check_mpi(MPI_Comm_rank(channel.comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(channel.comm, &ranks), "MPI_Comm_size");
  if (bytes * static_cast<size_t>(ranks) > INT32_MAX) {
    // More than MPI counts.
    std::copy_n(own, bytes, all + static_cast<size_t>(rank) * bytes);
    for (int root = 0; root < ranks; ++root)
      broadcast_bytes(channel, all + static_cast<size_t>(root) * bytes, bytes, root);
    return;
  }
  const int count = static_cast<int>(bytes);
  MPI_Request request;
  check_mpi(MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, channel.comm, &request),
            "MPI_Iallgather");
  complete(channel, request, "MPI_Iallgather");
}

std::vector<std::string> all_gather_bytes(const Channel& channel, const std::string& bytes) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(channel.comm, &ranks), "MPI_Comm_size");
  if (bytes.size() > static_cast<size_t>(kMostAtOnce))
    fail(ErrorCode::kResourceExhausted, "all_gather: ", bytes.size(), " bytes of one rank");
  const int own = static_cast<int>(bytes.size());
  std::vector<int> counts(static_cast<size_t>(ranks)), begins(static_cast<size_t>(ranks));
  MPI_Request request;
  check_mpi(MPI_Iallgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, channel.comm, &request),
            "MPI_Iallgather");
  complete(channel, request, "MPI_Iallgather");
  int64_t total = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    begins[rank] = static_cast<int>(total);
    total += counts[rank];
  }
  if (total > INT32_MAX)
    fail(ErrorCode::kResourceExhausted, "all_gather: ", total, " bytes of all ranks");
  std::string all(static_cast<size_t>(total), '\0');
  check_mpi(MPI_Iallgatherv(bytes.data(), own, MPI_CHAR, all.data(), counts.data(), begins.data(),
                            MPI_CHAR, channel.comm, &request),
            "MPI_Iallgatherv");
  complete(channel, request, "MPI_Iallgatherv");
  std::vector<std::string> by_rank;
  for (size_t rank = 0; rank < counts.size(); ++rank)
    by_rank.push_back(
        all.substr(static_cast<size_t>(begins[rank]), static_cast<size_t>(counts[rank])));
  return by_rank;
}

}  // namespace sardonyx::eager::distributed
