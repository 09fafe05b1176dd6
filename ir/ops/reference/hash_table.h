// Finds equal elements of tensors: hashes of elements, and a table of numbered entries by hash.
#pragma once

#include <algorithm>
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

template <typename Word>
Word word_at(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(Word));
  return word;
}

// Most strings are short, and compared without a call: by words that overlap.
inline bool same_characters(std::string_view a, std::string_view b) {
  const size_t count = a.size();
  if (count != b.size()) return false;
  const auto ends_alike = [&]<typename Word>(Word) {
    const size_t last = count - sizeof(Word);
    return word_at<Word>(a.data()) == word_at<Word>(b.data()) &&
           word_at<Word>(a.data() + last) == word_at<Word>(b.data() + last);
  };
  if (count > 2 * sizeof(uint64_t)) return a == b;
  if (count >= sizeof(uint64_t)) return ends_alike(uint64_t{});
  if (count >= sizeof(uint32_t)) return ends_alike(uint32_t{});
  if (count >= sizeof(uint16_t)) return ends_alike(uint16_t{});
  return count == 0 || a[0] == b[0];
}

// Numbers as tables and groups see them: all NaNs are one element, and so are the two zeros.
template <typename T>
bool same_element(const T& a, const T& b) {
  if constexpr (requires { a.real(); })
    return same_element(a.real(), b.real()) && same_element(a.imag(), b.imag());
  else if constexpr (std::is_same_v<T, std::string>)
    return same_characters(a, b);
  else if constexpr (std::is_integral_v<T>)
    return a == b;
  else
    return a == b || (a != a && b != b);
}

// All bits of the product of two words, folded into one.
inline uint64_t folded_product(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Most strings are short, and hashed without a call: by one product of words that overlap, so that
// none is read in part and lengths of 8 to 16, which texts mix, take the same way.
inline uint64_t hash_characters(std::string_view characters) {
  constexpr uint64_t kFirst = 0xa0761d6478bd642fu, kLast = 0xe7037ed1a0b428dbu;  // wyhash's
  constexpr size_t kWord = sizeof(uint64_t), kHalf = sizeof(uint32_t);
  const char* at = characters.data();
  const char* const end = at + characters.size();
  uint64_t hash = characters.size() * kLast, first = 0, last = 0;
  if (characters.size() >= kWord) {
    for (; static_cast<size_t>(end - at) > 2 * kWord; at += 2 * kWord)
      hash = folded_product(word_at<uint64_t>(at) ^ kFirst, word_at<uint64_t>(at + kWord) ^ hash);
    first = word_at<uint64_t>(characters.size() > 2 * kWord ? end - 2 * kWord : at);
    last = word_at<uint64_t>(end - kWord);
  } else if (characters.size() >= kHalf) {
    first = word_at<uint32_t>(at);
    last = word_at<uint32_t>(end - kHalf);
  } else if (!characters.empty()) {
    first = word_at<uint8_t>(at) | uint64_t{word_at<uint8_t>(at + characters.size() / 2)} << 8;
    last = word_at<uint8_t>(end - 1);
  }
  return folded_product(first ^ kFirst, last ^ kLast ^ hash);
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

// Numbers of entries that the caller keeps, with open addressing by groups that fill a cache line.
// Before an entry is asked for, seven bits of its hash are compared for the whole group at once: a
// search ends where these tell it to, and seldom by an entry that is another one.
class ElementTable {
 public:
  // For up to `count` entries.
  explicit ElementTable(size_t count,
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : groups_(std::bit_ceil(std::max<size_t>(2, 2 * count / kEntries + 1)), memory) {
    shift_ = 64 - std::countr_zero(groups_.size());
  }

  // The entry under this hash that `is_it(entry)` accepts; kNone where there is none.
  template <typename IsIt>
  int64_t find(uint64_t hash, const IsIt& is_it) const {
    const TablePlace place = place_of(hash, is_it);
    return place.is_free ? kNone : groups_[place.group].entries[place.entry];
  }
  // The same, but where there is none, `entry` is added and given back.
  template <typename IsIt>
  int64_t find_or_add(uint64_t hash, int64_t entry, const IsIt& is_it) {
    const TablePlace place = place_of(hash, is_it);
    Group& group = groups_[place.group];
    if (!place.is_free) return group.entries[place.entry];
    group.entries[place.entry] = entry;
    group.tags ^= (kFree ^ tag_of(spread(hash))) << kTagBits * place.entry;
    return entry;
  }

  static constexpr int64_t kNone = -1;

 private:
  static constexpr size_t kEntries = 7, kTagBits = 8;
  static constexpr uint64_t kFree = 0x80;                // in place of a tag, which has seven bits
  static constexpr uint64_t kEach = 0x0001010101010101;  // times a byte: that byte for each entry

  struct alignas(64) Group {
    uint64_t tags = kEach * kFree;
    int64_t entries[kEntries];
  };
  struct TablePlace {
    size_t group, entry;
    bool is_free;
  };

  // The upper bits of a product with 2^64 / the golden ratio depend on all bits of the hash.
  static uint64_t spread(uint64_t hash) { return hash * 0x9e3779b97f4a7c15u; }
  // The tag of an entry: the bits of its hash behind those that choose the group.
  uint64_t tag_of(uint64_t spread_hash) const { return spread_hash >> (shift_ - 7) & 0x7f; }

  // Where the entry is, or the free place where it belongs; half of all places stay free.
  template <typename IsIt>
  TablePlace place_of(uint64_t hash, const IsIt& is_it) const {
    const uint64_t bits = spread(hash), wanted = kEach * tag_of(bits);
    for (size_t at = bits >> shift_;; at = (at + 1) & (groups_.size() - 1)) {
      const Group& group = groups_[at];
      // The highest bit of each byte that is 0; of one above such a byte, perhaps, that is 1.
      const uint64_t differing = group.tags ^ wanted;
      uint64_t alike = (differing - kEach) & ~differing & kEach * kFree;
      for (; alike != 0; alike &= alike - 1) {
        const size_t entry = static_cast<size_t>(std::countr_zero(alike)) / kTagBits;
        if (is_it(group.entries[entry])) return {at, entry, false};
      }
      const uint64_t free = group.tags & kEach * kFree;
      if (free != 0) return {at, static_cast<size_t>(std::countr_zero(free)) / kTagBits, true};
    }
  }

  std::pmr::vector<Group> groups_;
  int shift_;
};

}  // namespace sardonyx::ops
