#include "ir/core/random.h"

#include <bit>

#include "ir/core/random_kernel.h"

namespace sardonyx {
namespace {

constexpr uint64_t kDefaultSeed = 0x5a4d0c1e5ull;
thread_local RandomSource* t_source = nullptr;

uint64_t mix(uint64_t x) {  // the finaliser of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

std::array<uint32_t, 4> RandomStream::block(uint64_t index) const {
  std::array<uint32_t, 4> c{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0};
  auto k0 = static_cast<uint32_t>(key_);
  auto k1 = static_cast<uint32_t>(key_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

double RandomStream::uniform(uint64_t index) const {
  const auto bits = block(index);
  const uint64_t wide = uint64_t{bits[0]} << 32 | bits[1];
  return static_cast<double>(wide >> 11) * 0x1p-53;
}

void RandomStream::uniforms(uint64_t first, size_t count, double* out) const {
  uniform_blocks(key_, first, count, out);
}

double RandomStream::normal(uint64_t index) const {
  double pair[2];
  normal_blocks(key_, index / 2, 1, pair);
  return pair[index % 2];
}

void RandomStream::normals(uint64_t first, size_t count, double* out) const {
  if (count == 0) return;
  if (first % 2 == 1) {
    *out++ = normal(first++);
    --count;
  }
  normal_blocks(key_, first / 2, count / 2, out);
  if (count % 2 == 1) out[count - 1] = normal(first + count - 1);
}

RandomStream RandomSource::next() {
  const std::lock_guard lock(mutex_);
  return RandomStream(mix(state_.seed + mix(++state_.streams)));
}
RandomSource::State RandomSource::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}
void RandomSource::set_state(State state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

RandomSource& default_random_source() {
  static auto& source = *new RandomSource(kDefaultSeed);
  return source;
}
void set_random_seed(uint64_t seed) {
  default_random_source().set_state({seed, 0});
}

RandomScope::RandomScope(RandomSource& source) : previous_(t_source) {
  t_source = &source;
}
RandomScope::~RandomScope() {
  t_source = previous_;
}

RandomStream next_random_stream(std::optional<float> seed) {
  if (seed) return RandomStream(mix(std::bit_cast<uint32_t>(*seed)));
  return (t_source ? *t_source : default_random_source()).next();
}

}  // namespace sardonyx
