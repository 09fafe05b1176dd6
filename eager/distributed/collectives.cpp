#include "eager/distributed/collectives.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ir/core/small_float.h"

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

template <typename Body>
void dispatch_reducible(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat:
      return body.template operator()<float>();
    case DType::kDouble:
      return body.template operator()<double>();
    case DType::kInt32:
      return body.template operator()<int32_t>();
    case DType::kInt64:
      return body.template operator()<int64_t>();
    case DType::kFloat16:
      return body.template operator()<Float16>();
    case DType::kBFloat16:
      return body.template operator()<BFloat16>();
    default:
      fail(ErrorCode::kInvalidArgument, "all_reduce: elements of type ", dtype,
           "; expected float16, bfloat16, float, double, int32 or int64");
  }
}

template <typename T>
T combined(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return b < a || b != b ? b : a;  // NaN wins, as it does in Min and Max of ONNX
    case ReduceOp::kMax:
      return a < b || b != b ? b : a;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return static_cast<T>(a + b);
}

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

// Each rank gets all ranks' values of its own share, combines them in the first of these and sends
// that to all. `combine` is given the values of rank 0, 1, ... one after the other, and how many
// each rank has.
template <typename T, typename Combine>
void reduce_own_share(MPI_Comm group, T* data, int64_t count, const Combine& combine) {
  int rank = 0, ranks = 1;
  check_mpi(MPI_Comm_rank(group, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
  const ElementShares shares(count, ranks);
  const int own = shares.counts[static_cast<size_t>(rank)];
  const auto own_count = static_cast<size_t>(own);
  std::vector<int> own_counts(static_cast<size_t>(ranks), own), own_begins;
  for (int from = 0; from < ranks; ++from)
    own_begins.push_back(from * own);
  std::vector<T> all(own_count * static_cast<size_t>(ranks));
  const MPI_Datatype type = MpiType<T>::get();
  check_mpi(MPI_Alltoallv(data, shares.counts.data(), shares.begins.data(), type, all.data(),
                          own_counts.data(), own_begins.data(), type, group),
            "MPI_Alltoallv");
  combine(all.data(), own_count, static_cast<size_t>(ranks));
  check_mpi(MPI_Allgatherv(all.data(), own, type, data, shares.counts.data(), shares.begins.data(),
                           type, group),
            "MPI_Allgatherv");
}

template <typename T>
void all_reduce_in_order(MPI_Comm group, T* data, int64_t count, ReduceOp op) {
  reduce_own_share(group, data, count, [op](T* all, size_t own_count, size_t ranks) {
    for (size_t from = 1; from < ranks; ++from) {
      const T* values = all + from * own_count;
      for (size_t i = 0; i < own_count; ++i)
        all[i] = combined(all[i], values[i], op);
    }
  });
}

template <typename T>
void all_reduce_fast(MPI_Comm group, T* data, int64_t count, ReduceOp op) {
  const MPI_Op mpi_op = op == ReduceOp::kMin ? MPI_MIN : op == ReduceOp::kMax ? MPI_MAX : MPI_SUM;
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MpiType<T>::get(), mpi_op, group),
      "MPI_Allreduce");
}

template <typename T>
void divide(T* data, int64_t count, int by) {
  if constexpr (!std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (int64_t i = 0; i < count; ++i)
      data[i] = static_cast<T>(static_cast<Wide>(data[i]) / static_cast<Wide>(by));
  }
}

}  // namespace

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> message{};
  int length = 0;
  MPI_Error_string(status, message.data(), &length);
  fail(ErrorCode::kInternal, call, ": ", message.data());
}

void broadcast_bytes(MPI_Comm group, std::byte* data, size_t bytes, int root) {
  while (bytes > 0) {
    const size_t piece = std::min(bytes, static_cast<size_t>(kMostAtOnce));
    check_mpi(MPI_Bcast(data, static_cast<int>(piece), MPI_BYTE, root, group), "MPI_Bcast");
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

void all_reduce(MPI_Comm group, DType dtype, void* data, int64_t count, ReduceOp op,
                Reduction reduction) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
  if (ranks == 1) return;
  dispatch_reducible(dtype, [&]<typename T>() {
    constexpr bool kKnownToMpi = !std::is_same_v<T, Float16> && !std::is_same_v<T, BFloat16>;
    auto* all = static_cast<T*>(data);
    for (int64_t at = 0; at < count; at += kMostAtOnce) {
      const int64_t piece = std::min(kMostAtOnce, count - at);
      if constexpr (kKnownToMpi) {
        if (reduction == Reduction::kFast) {
          all_reduce_fast(group, all + at, piece, op);
          continue;
        }
      }
      all_reduce_in_order(group, all + at, piece, op);
    }
    if (op == ReduceOp::kMean) divide(all, count, ranks);
  });
}

void mean_in_bfloat16(MPI_Comm group, float* data, int64_t count) {
  const auto combine = [](BFloat16* all, size_t own_count, size_t ranks) {
    for (size_t i = 0; i < own_count; ++i) {
      float sum = static_cast<float>(all[i]);
      for (size_t from = 1; from < ranks; ++from)
        sum += static_cast<float>(all[from * own_count + i]);
      all[i] = BFloat16(sum / static_cast<float>(ranks));
    }
  };
  int ranks = 1;
  check_mpi(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
  if (ranks == 1) return;
  constexpr int64_t kPiece = int64_t{1} << 22;  // the copy of a piece stays small
  std::vector<BFloat16> narrow(static_cast<size_t>(std::min(count, kPiece)));
  for (int64_t at = 0; at < count; at += kPiece) {
    const int64_t piece = std::min(kPiece, count - at);
    for (int64_t i = 0; i < piece; ++i)
      narrow[static_cast<size_t>(i)] = BFloat16(data[at + i]);
    reduce_own_share(group, narrow.data(), piece, combine);
    for (int64_t i = 0; i < piece; ++i)
      data[at + i] = static_cast<float>(narrow[static_cast<size_t>(i)]);
  }
}

std::vector<std::string> all_gather_bytes(MPI_Comm group, const std::string& bytes) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
  if (bytes.size() > static_cast<size_t>(kMostAtOnce))
    fail(ErrorCode::kResourceExhausted, "all_gather: ", bytes.size(), " bytes of one rank");
  const int own = static_cast<int>(bytes.size());
  std::vector<int> counts(static_cast<size_t>(ranks)), begins(static_cast<size_t>(ranks));
  check_mpi(MPI_Allgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, group), "MPI_Allgather");
  int64_t total = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    begins[rank] = static_cast<int>(total);
    total += counts[rank];
  }
  if (total > INT32_MAX)
    fail(ErrorCode::kResourceExhausted, "all_gather: ", total, " bytes of all ranks");
  std::string all(static_cast<size_t>(total), '\0');
  check_mpi(MPI_Allgatherv(bytes.data(), own, MPI_CHAR, all.data(), counts.data(), begins.data(),
                           MPI_CHAR, group),
            "MPI_Allgatherv");
  std::vector<std::string> by_rank;
  for (size_t rank = 0; rank < counts.size(); ++rank)
    by_rank.push_back(
        all.substr(static_cast<size_t>(begins[rank]), static_cast<size_t>(counts[rank])));
  return by_rank;
}

}  // namespace sardonyx::eager::distributed
