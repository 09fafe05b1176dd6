// Counter-based random numbers (Philox 4x32-10; Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC11): element i of a stream is a function of (key, i) alone, so any split among
// threads gives the same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// Sets the seed of ops that carry none of their own, and starts their sequence of streams anew.
void set_random_seed(uint64_t seed);
// The stream of one call: of the op's seed attribute where given, else the next of the process's
// sequence.
RandomStream next_random_stream(std::optional<float> seed = std::nullopt);

}  // namespace sardonyx
