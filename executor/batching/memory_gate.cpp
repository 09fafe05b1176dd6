#include "executor/batching/memory_gate.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "executor/batching/serving_error.h"

namespace sardonyx::serving {
namespace {

constexpr size_t kMaxForecasts = 1024;

uint64_t bytes_of(std::span<const Datum> data) {
  uint64_t bytes = 0;
  for (const Datum& datum : data) {
    if (datum.defined() && datum.is_tensor()) bytes += datum.tensor().bytes();
  }
  return bytes;
}

// Of types and shapes. Where two have the same digest, a forecast is that of the other one.
uint64_t digest_of(std::span<const Datum> inputs) {
  uint64_t digest = 0xcbf29ce484222325;
  const auto add = [&](uint64_t number) {
    digest = (digest ^ number) * 0x9e3779b97f4a7c15;
    digest ^= digest >> 32;
  };
  for (const Datum& input : inputs) {
    if (!input.defined() || !input.is_tensor()) {
      add(UINT64_MAX);
      continue;
    }
    const Tensor& tensor = input.tensor();
    add(static_cast<uint64_t>(tensor.dtype()) << 32 | tensor.shape().size());
    for (const int64_t dim : tensor.shape())
      add(static_cast<uint64_t>(dim));
  }
  return digest;
}

}  // namespace

uint64_t machine_memory() {
  uint64_t least =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // As a container sees its own group, of version 2 and 1. "max" is no number.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) least = std::min(least, limit);
  }
  return least;
}

void MemoryGate::add(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert(&session);
}

void MemoryGate::remove(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(&session);
}

MemoryGate::Space MemoryGate::take(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](uint64_t held) {
    return bytes <= limit_ && reserved_ <= limit_ - bytes && held <= limit_ - bytes - reserved_;
  };
  uint64_t held = 0;
  for (const Session* session : sessions_)
    held += session->stats().memory_used;
  if (!fits(held)) {
    // That was too much by what idle contexts hold, and counts runs that go on twice.
    held = 0;
    for (Session* session : sessions_) {
      session->trim();
      held += session->stats().packed_weight_bytes;
    }
    if (!fits(held)) {
      refuse(Status::kResourceExhausted, "the run would need about ", bytes >> 20, " MiB; of the ",
             limit_ >> 20, " MiB that all models may take in all, ", (held + reserved_) >> 20,
             " are in use");
    }
  }
  reserved_ += bytes;
  return {this, bytes};
}

void MemoryGate::give_back(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  reserved_ -= bytes;
}

MemoryForecast::Need MemoryForecast::need_of(const Session& session, std::span<const Datum> inputs,
                                             const RunOptions& options) {
  const uint64_t key = digest_of(inputs);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = needs_.find(key); found != needs_.end()) return found->second;
  }
  RunOptions limits;
  limits.deadline = options.deadline;
  limits.cancel = options.cancel;
  const uint64_t run = session.memory_plan(inputs, limits).arena_bytes;
  const std::lock_guard lock(mutex_);
  if (needs_.size() >= kMaxForecasts) needs_.clear();
  needs_[key].run = run;
  return needs_[key];
}

void MemoryForecast::learn(std::span<const Datum> inputs, std::span<const Datum> outputs) {
  const uint64_t key = digest_of(inputs);
  const std::lock_guard lock(mutex_);
  const auto found = needs_.find(key);
  if (found == needs_.end()) return;
  found->second.outputs = bytes_of(outputs);
  found->second.is_known = true;
}

}  // namespace sardonyx::serving
