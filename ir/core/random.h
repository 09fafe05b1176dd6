// Counter-based random numbers (Philox 4x32-10; Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC11): element i of a stream is a function of (key, i) alone, so any split among
// threads gives the same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sardonyx {

class RandomStream {
 public:
  explicit RandomStream(uint64_t key) : key_(key) {}
  std::array<uint32_t, 4> block(uint64_t index) const;
  double uniform(uint64_t index) const;  // [0, 1), 53 bits
  // uniform(first) ... in one go, which is faster.
  void uniforms(uint64_t first, size_t count, double* out) const;
  // Mean 0, standard deviation 1 (Box-Muller): elements 2 k and 2 k + 1 come from block k.
  double normal(uint64_t index) const;
  void normals(uint64_t first, size_t count, double* out) const;

 private:
  uint64_t key_;
};

// A sequence of streams, one for each call that draws. Safe from many threads.
class RandomSource {
 public:
  struct State {
    uint64_t seed = 0;
    uint64_t streams = 0;  // given so far
  };
  explicit RandomSource(uint64_t seed) : state_{seed} {}
  RandomStream next();
  State state() const;
  void set_state(State state);

 private:
  mutable std::mutex mutex_;
  State state_;
};
// The process's source of random numbers.
RandomSource& default_random_source();
// Sets its seed, and starts its sequence of streams anew.
void set_random_seed(uint64_t seed);

// Calls of this thread draw from another source until the scope ends.
class RandomScope {
 public:
  explicit RandomScope(RandomSource& source);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomSource* previous_;
};

// The stream of one call: of the op's seed attribute where given, else the next of the thread's
// source (RandomScope), else of the process's.
RandomStream next_random_stream(std::optional<float> seed = std::nullopt);

}  // namespace sardonyx
