// Finds equal elements of tensors: hashes of elements, and a table of numbered entries by hash.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sardonyx::ops {

// Numbers as tables and groups see them: all NaNs are one element, and so are the two zeros.
template <typename T>
bool same_element(const T& a, const T& b) {
  if constexpr (requires { a.real(); })
    return same_element(a.real(), b.real()) && same_element(a.imag(), b.imag());
  else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>)
    return a == b;
  else
    return a == b || (a != a && b != b);
}

template <typename Word>
Word word_at(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(Word));
  return word;
}

// Most strings are short, and hashed without a call.
inline uint64_t hash_characters(std::string_view characters) {
  constexpr uint64_t kFactor = 0xff51afd7ed558ccdu;  // MurmurHash3's finaliser
  uint64_t hash = characters.size();
  const auto take = [&](uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  const char* rest = characters.data();
  size_t count = characters.size();
  for (; count >= sizeof(uint64_t); rest += sizeof(uint64_t), count -= sizeof(uint64_t))
    take(word_at<uint64_t>(rest));
  // Words that overlap, so that none is read in part.
  if (count >= sizeof(uint32_t)) {
    take(word_at<uint32_t>(rest) | uint64_t{word_at<uint32_t>(rest + count - 4)} << 32);
  } else if (count > 0) {
    take(word_at<uint8_t>(rest) | uint64_t{word_at<uint8_t>(rest + count / 2)} << 8 |
         uint64_t{word_at<uint8_t>(rest + count - 1)} << 16);
  }
  return hash;
}

// Equal for elements that are the same.
template <typename T>
uint64_t hash_element(const T& x) {
  if constexpr (std::is_same_v<T, std::string>) {
    return hash_characters(x);
  } else if constexpr (requires { x.real(); }) {
    return hash_element(x.real()) * 31 + hash_element(x.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(x);
  } else {
    const auto wide = static_cast<double>(x);
    if (wide != wide) return std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    return wide == 0 ? 0 : std::bit_cast<uint64_t>(wide);
  }
}

// Numbers of entries that the caller keeps, with open addressing.
class ElementTable {
 public:
  // For up to `count` entries.
  explicit ElementTable(size_t count,
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : slots_(std::bit_ceil(2 * count + 2), kNone, memory) {
    shift_ = 64 - std::countr_zero(slots_.size());
  }

  // The entry under this hash that `is_it(entry)` accepts; kNone where there is none.
  template <typename IsIt>
  int64_t find(uint64_t hash, const IsIt& is_it) const {
    return slots_[place_of(hash, is_it)];
  }
  // The same, but where there is none, `entry` is added and given back.
  template <typename IsIt>
  int64_t find_or_add(uint64_t hash, int64_t entry, const IsIt& is_it) {
    int64_t& slot = slots_[place_of(hash, is_it)];
    if (slot == kNone) slot = entry;
    return slot;
  }

  static constexpr int64_t kNone = -1;

 private:
  // The slot of the entry, or the free one where it belongs; half of all slots stay free.
  template <typename IsIt>
  size_t place_of(uint64_t hash, const IsIt& is_it) const {
    // The upper bits of a product with 2^64 / the golden ratio depend on all bits of the hash.
    auto at = static_cast<size_t>(hash * 0x9e3779b97f4a7c15u >> shift_);
    while (slots_[at] != kNone && !is_it(slots_[at]))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::pmr::vector<int64_t> slots_;
  int shift_;
};

}  // namespace sardonyx::ops
