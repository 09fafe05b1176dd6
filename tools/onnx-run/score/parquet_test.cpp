// Parquet files that DuckDB writes, scored by the program.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "tools/onnx-run/score/duckdb_library.h"
#include "tools/onnx-run/score/score_for_test.h"

namespace sardonyx::tool {
namespace {

using testing::HasSubstr;

class ParquetTest : public ScoreTest {
 protected:
  void SetUp() override {
    if (!std::getenv("SARDONYX_DUCKDB")) GTEST_SKIP() << "SARDONYX_DUCKDB names no library";
  }
  // What a query gives, as a file of several row groups.
  void write_parquet(const std::string& name, const std::string& query) const {
    DuckDbRows("COPY (" + query + ") TO '" + (folder_ / name).string() +
                   "' (FORMAT parquet, ROW_GROUP_SIZE 2048)",
               name);
  }
  Ended score(const std::string& model, const std::string& input, const std::string& out,
              std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {model, "-i", input, "-o", out});
    return run(more);
  }
};

// -x of columns, of lists and of arrays, over several row groups, files, batches and shards.
TEST_F(ParquetTest, ColumnsListsAndArrays) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 3);
  constexpr int64_t kRows = 9000;
  const std::string rows = " FROM range(" + std::to_string(kRows) + ") r(i)";
  write_parquet("columns.parquet",
                "SELECT 3 * i AS a, (3 * i + 1)::DOUBLE AS b, "
                "(3 * i + 2)::DECIMAL(12, 2) AS c" +
                    rows);
  write_parquet("x.parquet", "SELECT i AS other, [3 * i, 3 * i + 1, 3 * i + 2] AS x" + rows);
  write_parquet("arrays.parquet", "SELECT [3.0 * i, 3 * i + 1, 3 * i + 2]::FLOAT[3] AS x" + rows);
  std::vector<float> expected;
  for (int64_t i = 0; i < 3 * kRows; ++i)
    expected.push_back(-static_cast<float>(i));
  for (const char* file : {"columns.parquet", "x.parquet", "arrays.parquet"}) {
    const std::string out = std::string(file) + ".out";
    const Ended ended = score("neg.onnx", file, out, {"--part-rows", "1500", "--batch", "111"});
    ASSERT_EQ(ended.code, 0) << file << ended.text;
    EXPECT_EQ(joined(out, "y"), expected) << file;
    for (const char* shard : {"1/3", "0/3", "2/3"}) {
      const Ended part = score("neg.onnx", file, out + "s",
                               {"--part-rows", "1500", "--batch", "111", "--shard", shard});
      ASSERT_EQ(part.code, 0) << part.text;
    }
    EXPECT_EQ(contents(out), contents(out + "s")) << file;
  }
  // Columns by name, in another order.
  ASSERT_EQ(score("neg.onnx", "columns.parquet", "picked", {"--columns", "x=c,a,1"}).code, 0);
  EXPECT_EQ(joined("picked", "y")[3], -5.0f);
  // A name that looks like a pattern, in a folder that looks like a partition.
  fs::create_directories(folder_ / "y=1");
  fs::rename(folder_ / "x.parquet", folder_ / "y=1/x[1].parquet");
  ASSERT_EQ(score("neg.onnx", "y=1", "odd").code, 0);
  EXPECT_EQ(joined("odd", "y"), expected);
}

TEST_F(ParquetTest, RefusesWhatDoesNotFit) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2);
  folder_.write("broken.parquet", "PAR1 and no more");
  write_parquet("text.parquet", "SELECT ['a', 'b'] AS x FROM range(3)");
  write_parquet(
      "ragged.parquet",
      "SELECT CASE WHEN i = 5000 THEN [1.0] ELSE [1.0, 2.0] END AS x FROM range(6000) r(i)");
  write_parquet("null.parquet",
                "SELECT CASE WHEN i = 5001 THEN NULL ELSE [i, 2 * i] END AS x "
                "FROM range(6000) r(i)");
  write_parquet("hole.parquet",
                "SELECT i AS a, CASE WHEN i = 4999 THEN NULL ELSE i END AS b "
                "FROM range(6000) r(i)");
  write_parquet("large.parquet", "SELECT 1.5::DOUBLE AS a, -1e39::DOUBLE AS b FROM range(2)");
  write_parquet("wide.parquet", "SELECT 1 AS a, 2 AS b, 3 AS c");
  const struct {
    const char* file;
    int code;
    const char* message;
  } cases[] = {
      {"broken.parquet", 4, "broken.parquet"},
      {"text.parquet", 2, "column 'x' can't feed input 'x' of type float"},
      {"ragged.parquet", 4, "row 5000, column 'x': expected 2 elements as in the first row, got 1"},
      {"null.parquet", 4, "row 5001, column 'x': expected 2 elements"},
      {"hole.parquet", 4, "row 4999, column 'b': expected a value, got NULL; --allow-missing"},
      {"large.parquet", 4, "row 0, column 'b': the number is beyond the range of float"},
      {"wide.parquet", 2, "3 columns do not form a row of input 'x'"},
  };
  for (const auto& one : cases) {
    const Ended ended = score("neg.onnx", one.file, std::string(one.file) + ".out");
    EXPECT_EQ(ended.code, one.code) << one.file << '\n' << ended.text;
    EXPECT_THAT(ended.text, HasSubstr(one.message));
  }
  ASSERT_EQ(score("neg.onnx", "hole.parquet", "filled", {"--allow-missing"}).code, 0);
  const std::vector<float> filled = joined("filled", "y");
  EXPECT_TRUE(std::isnan(filled[2 * 4999 + 1]));
  EXPECT_EQ(filled[2 * 5000 + 1], -5000.0f);
  write_parquet("doubles.parquet", "SELECT 0.1::DOUBLE AS a, 'inf'::DOUBLE AS b FROM range(2)");
  ASSERT_EQ(score("neg.onnx", "doubles.parquet", "doubles").code, 0);
  EXPECT_EQ(joined("doubles", "y")[0], -0.1f);
  EXPECT_EQ(joined("doubles", "y")[1], -std::numeric_limits<float>::infinity());
}

// Memory is that of what is read at a time, whatever the size of the file.
TEST_F(ParquetTest, MemoryIsFlat) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 64);
  const auto peak_of = [&](int64_t rows) {
    const std::string name = std::to_string(rows) + ".parquet";
    write_parquet(name, "SELECT [random()::FLOAT FOR k IN range(64)] AS x FROM range(" +
                            std::to_string(rows) + ") r(i)");
    const Ended ended = score("neg.onnx", name, "o" + name, {"--part-rows", "5000"});
    EXPECT_EQ(ended.code, 0) << ended.text;
    return ended.peak_kilobytes;
  };
  const long small = peak_of(20000), large = peak_of(300000);
  EXPECT_LT(large - small, 24 << 10) << small << " and " << large << " KiB";
}

}  // namespace
}  // namespace sardonyx::tool
