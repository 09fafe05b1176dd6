#include "ir/ops/reference/hash_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sardonyx::ops {
namespace {

TEST(SameElement, ComparesAllCharactersOfAString) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string a(size, 'x');
    EXPECT_TRUE(same_element(a, std::string(size, 'x'))) << size;
    EXPECT_FALSE(same_element(a, std::string(size + 1, 'x'))) << size;
    for (size_t i = 0; i < size; ++i) {
      std::string b = a;
      b[i] = '\0';
      EXPECT_FALSE(same_element(a, b)) << i << " of " << size;
    }
  }
}

TEST(HashElement, DependsOnLengthAndEachCharacter) {
  std::set<uint64_t> hashes;
  size_t count = 0;
  for (size_t size = 0; size < 70; ++size) {
    std::string text(size, '\0');
    hashes.insert(hash_element(text)), ++count;
    for (size_t i = 0; i < size; ++i, ++count) {
      text[i] = static_cast<char>(i % 250 + 1);
      hashes.insert(hash_element(text));
    }
  }
  for (int number = 0; number < 100000; ++number, ++count)
    hashes.insert(hash_element(std::to_string(number)));
  EXPECT_EQ(hashes.size(), count);
}

TEST(ElementTable, FindsWhatWasAddedAndNothingElse) {
  // Hashes that fill the table evenly, that all lead to one place, and to a few.
  const auto hashes = {+[](uint64_t key) { return key; }, +[](uint64_t) { return uint64_t{42}; },
                       +[](uint64_t key) { return key % 5 << 60; }};
  for (const size_t count : {0, 1, 6, 7, 8, 100, 3000}) {
    for (const auto& hash : hashes) {
      ElementTable table(count);
      std::vector<uint64_t> keys;
      const auto is = [&](uint64_t key) {
        return [&keys, key](int64_t entry) { return keys[static_cast<size_t>(entry)] == key; };
      };
      for (uint64_t key = 0; key < count; ++key) {
        EXPECT_EQ(table.find(hash(key), is(key)), ElementTable::kNone);
        keys.push_back(key);
        const auto entry = static_cast<int64_t>(key);
        EXPECT_EQ(table.find_or_add(hash(key), entry, is(key)), entry);
        EXPECT_EQ(table.find_or_add(hash(key), -7, is(key)), entry);
      }
      for (uint64_t key = 0; key < count; ++key)
        EXPECT_EQ(table.find(hash(key), is(key)), static_cast<int64_t>(key));
      EXPECT_EQ(table.find(hash(count), is(count)), ElementTable::kNone);
    }
  }
}

}  // namespace
}  // namespace sardonyx::ops
