#include "ir/random.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <numbers>

namespace sardonyx {
namespace {

std::atomic<uint64_t> g_seed{0x5a4d0c1e5ull};
std::atomic<uint64_t> g_calls{0};

uint64_t mix(uint64_t x) {  // the finaliser of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Blocks that are made at once, none of which waits for another: word by word.
constexpr size_t kAtOnce = 8;
using Words = std::array<std::array<uint32_t, kAtOnce>, 4>;

void make_blocks(uint64_t key, uint64_t first, Words& c) {
  for (size_t i = 0; i < kAtOnce; ++i) {
    c[0][i] = static_cast<uint32_t>(first + i);
    c[1][i] = static_cast<uint32_t>((first + i) >> 32);
    c[2][i] = c[3][i] = 0;
  }
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < kAtOnce; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0][i];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2][i];
      c[0][i] = static_cast<uint32_t>(p1 >> 32) ^ c[1][i] ^ k0;
      c[1][i] = static_cast<uint32_t>(p1);
      c[2][i] = static_cast<uint32_t>(p0 >> 32) ^ c[3][i] ^ k1;
      c[3][i] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

// Two normal numbers of the words of a block.
std::array<double, 2> normal_pair(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  const double radius_uniform =
      (static_cast<double>((a << 32 | b) >> 11) + 1) * 0x1p-53;  // (0, 1]: log is finite
  const double angle_uniform = static_cast<double>((c << 32 | d) >> 11) * 0x1p-53;
  const double radius = std::sqrt(-2 * std::log(radius_uniform));
  const double angle = 2 * std::numbers::pi * angle_uniform;
  return {radius * std::cos(angle), radius * std::sin(angle)};
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
  Words c;
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    make_blocks(key_, first + begin, c);
    for (size_t i = 0; i < kAtOnce && begin + i < count; ++i) {
      const uint64_t wide = uint64_t{c[0][i]} << 32 | c[1][i];
      out[begin + i] = static_cast<double>(wide >> 11) * 0x1p-53;
    }
  }
}

double RandomStream::normal(uint64_t index) const {
  const auto words = block(index / 2);
  return normal_pair(words[0], words[1], words[2], words[3])[index % 2];
}

void RandomStream::normals(uint64_t first, size_t count, double* out) const {
  Words c;
  // Elements of the first and the last pair may not be wanted.
  const uint64_t end = first + count;
  for (uint64_t begin = first / 2; 2 * begin < end; begin += kAtOnce) {
    make_blocks(key_, begin, c);
    for (size_t i = 0; i < kAtOnce && 2 * (begin + i) < end; ++i) {
      const auto pair = normal_pair(c[0][i], c[1][i], c[2][i], c[3][i]);
      for (uint64_t half = 0; half < 2; ++half) {
        const uint64_t index = 2 * (begin + i) + half;
        if (index >= first && index < end) out[index - first] = pair[half];
      }
    }
  }
}

void set_random_seed(uint64_t seed) {
  g_seed = seed;
  g_calls = 0;
}

RandomStream next_random_stream(std::optional<float> seed) {
  if (seed) return RandomStream(mix(std::bit_cast<uint32_t>(*seed)));
  return RandomStream(mix(g_seed + mix(++g_calls)));
}

}  // namespace sardonyx
