#include "tools/onnx-run/manifest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ir/core/error.h"

namespace sardonyx::tool {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() : top_(fs::temp_directory_path() / ("manifest" + std::to_string(getpid()))) {
    fs::create_directories(top_ / "node" / "a");
    fs::create_directories(top_ / "deep" / "er" / "b");
  }
  ~ManifestTest() override { fs::remove_all(top_); }

  void write(const fs::path& folder, const std::string& text) {
    std::ofstream(top_ / folder / "MANIFEST.csv") << text;
  }
  Judgement judge(const fs::path& folder) {
    return Manifests().judgement_of(top_ / folder, {.tolerance = {0.5, 0.25, 0}, .random = false});
  }

  fs::path top_;
};

TEST_F(ManifestTest, ColumnsByName) {
  write(".", "atol,case,relative_to_max,rtol\n1e-6,b,0.002,0.01\n");
  const Judgement found = judge("deep/er/b");
  EXPECT_EQ(found.tolerance.rtol, 0.01);
  EXPECT_EQ(found.tolerance.atol, 1e-6);
  EXPECT_EQ(found.tolerance.relative_to_max, 0.002);
}

TEST_F(ManifestTest, GroupsTellCasesOfOneNameApart) {
  write(".", "group,case,random,rtol,atol\nother,a,0,9,9\nnode,a,1,,0.125\n");
  const Judgement found = judge("node/a");
  EXPECT_TRUE(found.random);
  EXPECT_EQ(found.tolerance.rtol, 0.5);  // an empty cell takes the default
  EXPECT_EQ(found.tolerance.atol, 0.125);
}

TEST_F(ManifestTest, TheNearestCounts) {
  write(".", "case,rtol\nb,1\n");
  write("deep", "case,rtol\nb,2\n");
  EXPECT_EQ(judge("deep/er/b").tolerance.rtol, 2);
}

TEST_F(ManifestTest, CasesWithoutRowTakeTheDefault) {
  write(".", "case,rtol\nz,1\n");
  EXPECT_EQ(judge("node/a").tolerance.rtol, 0.5);
}

TEST_F(ManifestTest, BrokenFilesAreNamed) {
  write(".", "name,rtol\n");
  EXPECT_THROW(judge("node/a"), Error);
  write(".", "case,rtol\na,many\n");
  try {
    judge("node/a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("MANIFEST.csv:2"), std::string::npos);
  }
}

TEST(CsvTest, Quotes) {
  EXPECT_EQ(csv_fields("a,\"b,c\",\"d\"\"e\",\r"),
            (std::vector<std::string>{"a", "b,c", "d\"e", ""}));
}

}  // namespace
}  // namespace sardonyx::tool
