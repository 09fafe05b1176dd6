// Memory that the ranks of one host share: values are combined where they are, and nothing is sent.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "eager/distributed/process_group.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {

// One piece of memory for each rank, which all ranks read and write; zeros at first. Linux alone:
// the pieces are memory files (memfd_create), found through /proc.
class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  // A collective call; pieces of `bytes` bytes. Null on all ranks where they are on several hosts,
  // or where one of them can't see another's piece (containers whose processes are numbered apart)
  // or is given no more memory.
  static std::shared_ptr<HostMemory> open(const ProcessGroup& group, size_t bytes);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(pieces_.size()); }
  // The first byte of a rank's piece, aligned to a page.
  std::byte* piece(int rank) const;
  // Elements in this rank's piece, from byte `at` on; the memory stays mapped as long as a tensor
  // is in it.
  sardonyx::Tensor tensor(DType dtype, int64_t count, size_t at);
  // Returns when all ranks have made the call; what each wrote before it is seen by all after it.
  // While `waiting` is not 0 a thread waits for this one, which then looks for the others for some
  // microseconds before it sleeps.
  void meet(const std::atomic<int>& waiting);

 private:
  struct Header;
  HostMemory(int rank, int ranks, size_t bytes) : rank_(rank), bytes_(bytes), pieces_(ranks) {}
  // What others need to find this rank's piece; "" where there is none.
  std::string make_own();
  bool map_other(int rank, const std::string& address);
  Header& header(int rank) const;

  int rank_;
  size_t bytes_;                    // of a piece, without its header
  std::vector<std::byte*> pieces_;  // headers, each before its piece
  int file_ = -1;
};

// Where a value stands in the pieces: copies of it, one behind the other, of which each rank names
// the one that it uses.
struct HostValue {
  // Three copies are enough for whoever still reads two earlier results.
  static constexpr size_t kCopies = 3;
  DType dtype = DType::kFloat;
  int64_t count = 0;
  size_t begin = 0;  // in bytes, of a cache line for the rank's choice; copies are behind it

  // Of a copy; kCopies: the end of all.
  size_t place(size_t copy) const;
};

// A collective call of the group's thread: copy `copy` of this rank, and the ones that the others
// name, become the mean over the ranks: summed in their order, each addition rounded to the type.
void mean_in_host_memory(HostMemory& memory, const HostValue& value, size_t copy,
                         const std::atomic<int>& waiting);

}  // namespace sardonyx::eager::distributed
