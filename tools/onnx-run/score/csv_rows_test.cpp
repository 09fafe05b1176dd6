#include "tools/onnx-run/score/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ir/core/error.h"

namespace sardonyx::tool {
namespace {

namespace fs = std::filesystem;
using Table = std::vector<std::vector<std::string>>;

class CsvRowsTest : public testing::Test {
 protected:
  CsvRowsTest() : file_(fs::temp_directory_path() / ("csv_rows" + std::to_string(getpid()))) {}
  ~CsvRowsTest() override { fs::remove(file_); }

  CsvRows rows_of(const std::string& bytes, char delimiter = ',') {
    std::ofstream(file_, std::ios::binary) << bytes;
    return CsvRows(file_, delimiter);
  }
  Table table(const std::string& bytes, char delimiter = ',') {
    CsvRows rows = rows_of(bytes, delimiter);
    Table all;
    std::vector<std::string> fields;
    while (rows.next(fields))
      all.push_back(fields);
    // What passes over rows must see the same ones.
    CsvRows skipping = rows_of(bytes, delimiter);
    size_t count = 0;
    while (skipping.skip())
      ++count;
    EXPECT_EQ(count, all.size()) << bytes.substr(0, 100);
    return all;
  }
  fs::path file_;
};

TEST_F(CsvRowsTest, RowsAndFields) {
  EXPECT_EQ(table(""), Table{});
  EXPECT_EQ(table("\n"), Table{});
  EXPECT_EQ(table("\n\r\n\n"), (Table{{""}, {""}}));
  EXPECT_EQ(table("1\n\n2\n\n"), (Table{{"1"}, {""}, {"2"}}));
  EXPECT_EQ(table("a"), (Table{{"a"}}));
  EXPECT_EQ(table("a,b\n1,2\n"), (Table{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(table("\xef\xbb\xbf"
                  "a,b\r\n1,\r\n,\r\n"),
            (Table{{"a", "b"}, {"1", ""}, {"", ""}}));
  EXPECT_EQ(table("a\tb,c", '\t'), (Table{{"a", "b,c"}}));
  EXPECT_EQ(table("\"x,\"\"y\"\"\n z\",2\n3,4"), (Table{{"x,\"y\"\n z", "2"}, {"3", "4"}}));
  EXPECT_EQ(table("5\" pipe,1\n\"\",2"), (Table{{"5\" pipe", "1"}, {"", "2"}}));
}

// Rows across the ends of what is read at a time.
TEST_F(CsvRowsTest, LongFiles) {
  std::string bytes;
  Table expected;
  for (int row = 0; row < 2000; ++row) {
    const std::string value(static_cast<size_t>(row * 7 % 1999), static_cast<char>('a' + row % 26));
    bytes += "\"" + value + "\n\"\"\"," + std::to_string(row) + (row % 3 ? "\n" : "\r\n");
    expected.push_back({value + "\n\"", std::to_string(row)});
  }
  ASSERT_GT(bytes.size(), size_t{1} << 20);
  EXPECT_EQ(table(bytes), expected);
}

TEST_F(CsvRowsTest, BrokenFiles) {
  const auto message = [&](const std::string& bytes) -> std::string {
    try {
      CsvRows rows = rows_of(bytes);
      std::vector<std::string> fields;
      while (rows.next(fields)) {
      }
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("a\n\n\"b\n"), testing::HasSubstr("line 3: a quote is not closed"));
  EXPECT_THAT(message("\"a\nb\"\n\"c\"d"), testing::HasSubstr("line 3: text after"));
  EXPECT_THAT(message("\"" + std::string(CsvRows::kLongestRow + (2 << 20), 'x')),
              testing::HasSubstr("more than"));
}

}  // namespace
}  // namespace sardonyx::tool
