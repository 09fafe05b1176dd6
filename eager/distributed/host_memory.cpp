#include "eager/distributed/host_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <sstream>

#include "eager/distributed/rank_order.h"

namespace sardonyx::eager::distributed {

// The page before each rank's piece. Ranks meet in rank 0's.
struct alignas(4096) HostMemory::Header {
  // Random: that of the file which a rank meant, whatever another process has under its number.
  std::array<uint64_t, 2> identity;
  alignas(64) std::atomic<uint32_t> come;
  std::atomic<uint32_t> meetings;  // that are over; ranks sleep on it
};

namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free);
constexpr size_t kCacheLine = 64;

class HostBuffer : public Buffer {
 public:
  HostBuffer(std::shared_ptr<HostMemory> memory, std::byte* data, size_t bytes)
      : Buffer(data, bytes, Kind::kBytes), memory_(std::move(memory)) {}

 private:
  std::shared_ptr<HostMemory> memory_;
};

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

std::byte* map_file(int file, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

size_t in_cache_lines(size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

HostMemory::Header& HostMemory::header(int rank) const {
  return *reinterpret_cast<Header*>(pieces_[static_cast<size_t>(rank)]);
}

std::byte* HostMemory::piece(int rank) const {
  return pieces_[static_cast<size_t>(rank)] + sizeof(Header);
}

std::string HostMemory::make_own() {
  std::array<uint64_t, 2> identity{};
  if (getrandom(identity.data(), sizeof(identity), 0) != sizeof(identity)) return {};
  file_ = memfd_create("sardonyx ranks", MFD_CLOEXEC);
  const size_t all = sizeof(Header) + bytes_;
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(all)) != 0) return {};
  pieces_[static_cast<size_t>(rank_)] = map_file(file_, all);
  if (!pieces_[static_cast<size_t>(rank_)]) return {};
  header(rank_).identity = identity;
  return text(getpid(), ' ', file_, ' ', identity[0], ' ', identity[1]);
}

bool HostMemory::map_other(int rank, const std::string& address) {
  std::istringstream in(address);
  int64_t process = 0, file = 0;
  std::array<uint64_t, 2> identity{};
  if (!(in >> process >> file >> identity[0] >> identity[1])) return false;
  const std::string path = text("/proc/", process, "/fd/", file);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return false;
  const size_t all = sizeof(Header) + bytes_;
  // A file that is shorter than said would end the process where it is read.
  const bool is_whole = lseek(opened, 0, SEEK_END) == static_cast<off_t>(all);
  std::byte*& piece = pieces_[static_cast<size_t>(rank)];
  if (is_whole) piece = map_file(opened, all);
  close(opened);
  return piece && header(rank).identity == identity;
}

std::shared_ptr<HostMemory> HostMemory::open(const ProcessGroup& group, size_t bytes) {
  if (group.local_size() != group.size()) return nullptr;
  const std::shared_ptr<HostMemory> memory(new HostMemory(group.rank(), group.size(), bytes));
  const std::vector<std::string> addresses = group.all_gather(memory->make_own());
  bool sees_all = !addresses[static_cast<size_t>(group.rank())].empty();
  for (int of = 0; of < group.size() && sees_all; ++of)
    sees_all = of == group.rank() || memory->map_other(of, addresses[static_cast<size_t>(of)]);
  for (const std::string& of_rank : group.all_gather(std::string(sees_all ? "yes" : "")))
    sees_all &= !of_rank.empty();
  return sees_all ? memory : nullptr;
}

HostMemory::~HostMemory() {
  for (std::byte* const piece : pieces_) {
    if (piece) munmap(piece, sizeof(Header) + bytes_);
  }
  if (file_ >= 0) close(file_);
}

sardonyx::Tensor HostMemory::tensor(DType dtype, int64_t count, size_t at) {
  return sardonyx::Tensor(
      dtype, {count},
      std::make_shared<HostBuffer>(shared_from_this(), piece(rank_) + at, bytes_for(dtype, count)));
}

void HostMemory::meet(const std::atomic<int>& waiting) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpinning = std::chrono::microseconds(50);
  Header& all = header(0);
  const uint32_t before = all.meetings.load(std::memory_order_acquire);
  if (all.come.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces_.size()) {
    all.come.store(0, std::memory_order_relaxed);
    all.meetings.store(before + 1, std::memory_order_release);
    futex(all.meetings, FUTEX_WAKE, INT_MAX);
    return;
  }
  const auto is_over = [&] { return all.meetings.load(std::memory_order_acquire) != before; };
  const Clock::time_point since = Clock::now();
  while (!is_over() && waiting.load(std::memory_order_relaxed) > 0 &&
         Clock::now() - since < kSpinning) {
  }
  while (!is_over())
    futex(all.meetings, FUTEX_WAIT, before);
}

size_t HostValue::place(size_t copy) const {
  return begin + kCacheLine + copy * in_cache_lines(bytes_for(dtype, count));
}

void mean_in_host_memory(HostMemory& memory, const HostValue& value, size_t copy,
                         const std::atomic<int>& waiting) {
  const auto ranks = static_cast<size_t>(memory.size());
  const auto choice = [&](size_t rank) -> uint64_t& {
    return *reinterpret_cast<uint64_t*>(memory.piece(static_cast<int>(rank)) + value.begin);
  };
  choice(static_cast<size_t>(memory.rank())) = copy;
  memory.meet(waiting);
  dispatch_reducible(value.dtype, [&]<typename T>() {
    const int64_t begin = value.count * memory.rank() / memory.size();
    const int64_t end = value.count * (memory.rank() + 1) / memory.size();
    std::vector<T*> values(ranks);
    for (size_t rank = 0; rank < ranks; ++rank) {
      std::byte* const piece = memory.piece(static_cast<int>(rank));
      values[rank] = reinterpret_cast<T*>(piece + value.place(choice(rank))) + begin;
    }
    combine_in_rank_order<T>(values, values, static_cast<size_t>(end - begin), ReduceOp::kMean);
  });
  memory.meet(waiting);
}

}  // namespace sardonyx::eager::distributed
