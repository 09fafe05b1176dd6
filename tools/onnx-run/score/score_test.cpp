// Scores files by the program itself: what it writes, whatever it is killed by.
#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "tools/onnx-run/score/part.h"
#include "tools/onnx-run/score/score_for_test.h"

namespace sardonyx::tool {
namespace {

using testing::HasSubstr;

std::vector<float> negated(const Tensor& tensor) {
  std::vector<float> values;
  for (const float value : tensor.values<float>())
    values.push_back(-value);
  return values;
}

TEST_F(ScoreTest, EveryFormat) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2);
  const Tensor x = counting_rows(10, 2);
  write_npy(folder_ / "x.npy", x);
  folder_.write("x.bin", std::string(static_cast<const char*>(x.raw()), x.bytes()));
  NpzWriter archive(folder_ / "x.npz");
  archive.add("x", x);
  archive.close();
  std::string csv = "a,id,b\n";
  for (int row = 0; row < 10; ++row) {
    csv += std::to_string(2 * row) + ",\"n, " + std::to_string(row) + "\"," +
           std::to_string(2 * row + 1) + "\n";
  }
  folder_.write("x.csv", csv);
  for (const std::string file : {"x.npy", "x.bin", "x.npz", "x.csv"}) {
    std::vector<std::string> arguments = {
        "neg.onnx", "--input", file, "--output", "out-" + file, "--batch", "3", "--part-rows", "4"};
    if (file == "x.csv") arguments.insert(arguments.end(), {"--columns", "x=a,2"});
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.text;
    EXPECT_EQ(joined("out-" + file, "y"), negated(x)) << file;
    EXPECT_EQ(manifest("out-" + file)["done"].size(), 3u);
  }
}

TEST_F(ScoreTest, CsvOut) {
  save_elementwise(folder_ / "add.onnx", "Add", {"a", "b"}, 1);
  folder_.write("t.csv", "b,a\n0.5,1\n,2\n1e-50,3\n");
  const Ended ended = run({"add.onnx", "-i", "t.csv", "-o", "out", "--format", "csv",
                           "--allow-missing", "--outputs", "y,a"});
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(contents("out")["part-00000000.csv"], "row,y,a\n0,1.5,1\n1,nan,2\n2,3,3\n");
}

TEST_F(ScoreTest, SeveralInputsAndConstants) {
  save_elementwise(folder_ / "add.onnx", "Add", {"a", "b"}, 2);
  const Tensor a = counting_rows(5, 2), b = counting_rows(5, 2, 100);
  for (const char* part : {"0", "1"}) {
    write_npy(folder_ / (std::string("a") + part + ".npy"), a);
    write_npy(folder_ / (std::string("b") + part + ".npy"), b);
  }
  std::vector<float> sums;
  for (int file = 0; file < 2; ++file) {
    for (size_t i = 0; i < 10; ++i)
      sums.push_back(a.values<float>()[i] + b.values<float>()[i]);
  }
  Ended ended = run({"add.onnx", "-i", "a=@a*.npy", "-i", "b=@b*.npy", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(joined("out", "y"), sums);
  // One row for all: broadcast.
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2);
  write_npy(folder_ / "c.npy", counting_rows(5, 2, 7));
  ended =
      run({"add.onnx", "-i", "a0.npy", "--constant", "b=@c.npy", "-o", "constant", "--batch", "5"});
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(joined("constant", "y").at(9), 9 + 16);
}

TEST_F(ScoreTest, ModelsOfFixedRows) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2, 4);
  const Tensor x = counting_rows(10, 2);
  write_npy(folder_ / "x.npy", x);
  const Ended ended = run({"neg.onnx", "-i", "x.npy", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(joined("out", "y"), negated(x));
  EXPECT_EQ(run({"neg.onnx", "-i", "x.npy", "-o", "other", "--batch", "3"}).code, 2);
}

TEST_F(ScoreTest, ExitCodes) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2);
  save_elementwise(folder_ / "add.onnx", "Add", {"a", "b"}, 2);
  write_npy(folder_ / "x.npy", counting_rows(4, 2));
  write_npy(folder_ / "wide.npy", counting_rows(4, 3));
  write_npy(folder_ / "double.npy", Tensor::of<double>({1, 2}, {1, 2}));
  folder_.write("bad.csv", "x0,x1\n1,2\n3,oops\n");
  folder_.write("short.csv", "x0,x1\n1,2\n3\n");
  folder_.write("empty.csv", "x0,x1\n1,2\n\n3,4\n");
  folder_.write("large.csv", "x0,x1\n1,2\n3,-1e39\n");
  folder_.write("other.csv", "x1,x2\n1,2\n");
  folder_.write("odd.bin", "12345");
  folder_.write("x.parquet", "PAR1");
  folder_.write("x.txt", "");
  folder_.write("broken.onnx", "no model");
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* message;
  } cases[] = {
      {{"neg.onnx", "-i", "x.npy"}, 2, "--output"},
      {{"neg.onnx", "-o", "o"}, 2, "--input"},
      {{"neg.onnx", "-i", "none*.npy", "-o", "o"}, 2, "has no file"},
      {{"neg.onnx", "-i", "x.parquet", "-o", "o"},
       2,
       "say where libduckdb.so is by SARDONYX_DUCKDB"},
      {{"neg.onnx", "-i", "x.txt", "-o", "o"}, 2, "no ending that is known"},
      {{"neg.onnx", "-i", "wide.npy", "-o", "o"}, 2, "got an array [4, 3]"},
      {{"neg.onnx", "-i", "double.npy", "-o", "o"}, 2, "got double"},
      {{"neg.onnx", "-i", "odd.bin", "-o", "o"}, 2, "no whole number of rows"},
      {{"neg.onnx", "-i", "z=@x.npy", "-o", "o"}, 2, "no input 'z'"},
      {{"add.onnx", "-i", "x.npy", "-o", "o"}, 2, "several inputs"},
      {{"add.onnx", "-i", "a=@x.npy", "-o", "o"}, 2, "'b' is given neither"},
      {{"neg.onnx", "-i", "x.npy", "-o", "o2", "--shard", "2/2"}, 2, "does not exist"},
      {{"neg.onnx", "-i", "x.npy", "-o", "o2", "--shard", ""}, 2, "expected K/N"},
      {{"neg.onnx", "-i", "x.npy", "-o", "o2", "--outputs", "w"}, 4, "no value w"},
      {{"neg.onnx", "-i", "bad.csv", "-o", "o3"}, 4, "line 3, column 'x1': expected a number"},
      {{"neg.onnx", "-i", "short.csv", "-o", "o4"}, 4, "line 3: expected 2 fields, got 1"},
      {{"neg.onnx", "-i", "empty.csv", "-o", "o6"}, 4, "line 3: expected 2 fields, got 1"},
      {{"neg.onnx", "-i", "large.csv", "-o", "o7"}, 4, "line 3, column 'x1': expected a number"},
      {{"neg.onnx", "-i", "bad.csv", "-i", "other.csv", "-o", "o8"},
       2,
       "other.csv: column 'x1' is where bad.csv has 'x0'"},
      {{"neg.onnx", "-i", "x.npy", "-o", "o9", "--dim", "m=2"}, 2, "its symbols are 'n'"},
      {{"broken.onnx", "-i", "x.npy", "-o", "o5"}, 3, ""},
      {{"neg.onnx", "-i", "x.npy", "-o", "x.npy"}, 4, "x.npy"},
      {{"neg.onnx", "-i", "x.npy", "-o", "done"}, 0, "the job is complete"},
      {{"neg.onnx", "-i", "x.npy", "-o", "done"}, 0, "1 of 1 parts are done"},
      {{"neg.onnx", "-i", "wide.npy", "-i", "x.npy", "-o", "done"}, 2, ""},
      {{"neg.onnx", "-i", "x.npy", "-o", "done", "--batch", "2"}, 2, "/options/batch is 256 there"},
      {{"neg.onnx", "-i", "x.npy", "-o", "done", "-O", "1"}, 2, "/options/level"},
  };
  for (const auto& one : cases) {
    const Ended ended = run(one.arguments, {{"SARDONYX_DUCKDB", "/absent/libduckdb.so"}});
    EXPECT_EQ(ended.code, one.code) << one.message << '\n' << ended.text;
    EXPECT_THAT(ended.text, HasSubstr(one.message));
  }
}

// Begun anew as well, when rows are not counted again.
TEST_F(ScoreTest, LaterFilesMayHaveColumnsInAnotherOrder) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 2);
  folder_.write("1.csv", "x0,x1\n1,2\n");
  folder_.write("2.csv", "x1,x0\n4,3\n");
  const std::vector<std::string> arguments{
      "neg.onnx", "-i", "1.csv", "-i", "2.csv", "-o", "out", "--format", "csv", "--part-rows", "1"};
  for (const bool again : {false, true}) {
    if (again) fs::remove(folder_ / "out/part-00000001.json");
    if (again) fs::remove(folder_ / "out/manifest.json");
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.text;
    const auto parts = contents("out");
    EXPECT_EQ(parts.at("part-00000000.csv"), "row,y_0,y_1\n0,-1,-2\n");
    EXPECT_EQ(parts.at("part-00000001.csv"), "row,y_0,y_1\n1,-3,-4\n");
  }
}

TEST_F(ScoreTest, RowsOfOneColumnKeepTheirPlaces) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 1);
  folder_.write("x.csv", "x\n1\n\n3\n\n");
  const Ended refused = run({"neg.onnx", "-i", "x.csv", "-o", "o"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.text, HasSubstr("line 3, column 'x': expected a number of type float"));
  const Ended ended =
      run({"neg.onnx", "-i", "x.csv", "-o", "out", "--format", "csv", "--allow-missing"});
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(contents("out")["part-00000000.csv"], "row,y\n0,-1\n1,nan\n2,-3\n");
}

// 60 KB in memory, 1.2 GB as numpy's strings.
TEST_F(ScoreTest, StringsThatWouldBePaddedBeyondTheLimit) {
  Part part(6000, {"y"});
  std::vector<std::string> strings(6000, "a");
  strings[0].assign(50000, 'b');
  part.add(0, 6000, 6000, {Tensor::of<std::string>(strings, {6000, 1})});
  EXPECT_THROW(write_part(folder_ / "part.npz", PartFormat::kNpz, part, 0), Error);
  EXPECT_FALSE(fs::exists(folder_ / "part.npz"));
  write_part(folder_ / "part.csv", PartFormat::kCsv, part, 0);
  EXPECT_LT(fs::file_size(folder_ / "part.csv"), size_t{1} << 20);
}

TEST_F(ScoreTest, AnotherModelOrInputIsAnotherJob) {
  save_elementwise(folder_ / "m.onnx", "Neg", {"x"}, 2);
  write_npy(folder_ / "x.npy", counting_rows(4, 2));
  ASSERT_EQ(run({"m.onnx", "-i", "x.npy", "-o", "out"}).code, 0);
  write_npy(folder_ / "x.npy", counting_rows(4, 2, 1));
  Ended ended = run({"m.onnx", "-i", "x.npy", "-o", "out"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("/inputs/0/digest"));
  write_npy(folder_ / "x.npy", counting_rows(4, 2));
  save_elementwise(folder_ / "m.onnx", "Abs", {"x"}, 2);
  ended = run({"m.onnx", "-i", "x.npy", "-o", "out"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("/model/digest"));
}

TEST_F(ScoreTest, ShardsPartitionTheRows) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 3);
  std::vector<float> expected;
  for (const int64_t rows : {1, 50, 13, 36}) {
    const Tensor x = counting_rows(rows, 3, static_cast<float>(1000 * rows));
    write_npy(folder_ / ("x" + std::to_string(rows) + ".npy"), x);
  }
  const std::vector<std::string> arguments = {"neg.onnx", "-i",      "x*.npy", "--part-rows",
                                              "7",        "--batch", "2"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run(with({"-o", "whole"})).code, 0);
  EXPECT_EQ(joined("whole", "y").size(), 300u);
  // The last shard is the one that finds the job complete.
  for (const int shard : {2, 0, 1}) {
    const Ended ended = run(with({"-o", "shards", "--shard", std::to_string(shard) + "/3"}));
    EXPECT_EQ(ended.code, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr(shard == 1 ? "complete" : "not done yet"));
  }
  EXPECT_EQ(contents("whole"), contents("shards"));
  // As tasks of a Slurm array, all at once, and each of two ranks.
  std::vector<pid_t> children;
  for (int task = 0; task < 2; ++task) {
    for (int rank = 0; rank < 2; ++rank) {
      children.push_back(
          start(with({"-o", "array"}), {{"SLURM_ARRAY_TASK_ID", std::to_string(task + 1)},
                                        {"SLURM_ARRAY_TASK_MIN", "1"},
                                        {"SLURM_ARRAY_TASK_COUNT", "2"},
                                        {"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                                        {"OMPI_COMM_WORLD_SIZE", "2"}}));
    }
  }
  for (const pid_t child : children) {
    const Ended ended = wait_for(child);
    EXPECT_EQ(ended.code, 0) << ended.text;
  }
  EXPECT_EQ(contents("whole"), contents("array"));
}

// Shards that end at the same moment all find the job complete; none removes what another one
// is writing.
TEST_F(ScoreTest, ShardsThatEndAtOnce) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 1);
  write_npy(folder_ / "x.npy", counting_rows(6, 1));
  for (int round = 0; round < 15; ++round) {
    const std::string out = "out" + std::to_string(round);
    std::vector<pid_t> children;
    for (int shard = 0; shard < 6; ++shard) {
      children.push_back(start({"neg.onnx", "-i", "x.npy", "-o", out, "--part-rows", "1", "--shard",
                                std::to_string(shard) + "/6"}));
    }
    for (const pid_t child : children) {
      const Ended ended = wait_for(child);
      EXPECT_EQ(ended.code, 0) << ended.text;
    }
    EXPECT_EQ(manifest(out)["done"].size(), 6u);
  }
}

// SIGKILL at any moment, then once more until it is done: the bytes are those of an undisturbed
// run.
TEST_F(ScoreTest, KilledAtRandomMoments) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 8);
  write_npy(folder_ / "x.npy", counting_rows(3000, 8));
  const auto arguments = [](const std::string& out) -> std::vector<std::string> {
    return {"neg.onnx", "-i", "x.npy", "-o", out, "--part-rows", "20", "--batch", "4"};
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run(arguments("whole")).code, 0);
  double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto expected = contents("whole");
  std::mt19937 generator(20);
  int killed = 0;
  for (int round = 0; round < 10 || (killed < 10 && round < 50); ++round) {
    const std::string out = "out" + std::to_string(round);
    for (int tries = 0; tries < 3; ++tries) {
      const pid_t child = start(arguments(out));
      std::uniform_real_distribution<double> moment(0, 0.8 * whole);
      const double until_kill = moment(generator);
      std::this_thread::sleep_for(std::chrono::duration<double>(until_kill));
      kill(child, tries == 1 ? SIGTERM : SIGKILL);
      if (wait_for(child).code == 0) {
        // It was done, so whole runs take less by now than the first one did.
        if (tries == 0) whole = std::min(whole, until_kill);
        break;
      }
      ++killed;
    }
    const Ended ended = run(arguments(out));
    EXPECT_EQ(ended.code, 0) << ended.text;
    EXPECT_EQ(contents(out), expected) << round;
    fs::remove_all(folder_ / out);
  }
  EXPECT_GE(killed, 10);  // else nothing was tested
}

TEST_F(ScoreTest, AnInterruptionHasItsStatus) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 8);
  write_npy(folder_ / "x.npy", counting_rows(200000, 8));
  const pid_t child =
      start({"neg.onnx", "-i", "x.npy", "-o", "out", "--part-rows", "1", "--batch", "1"});
  for (int tries = 0; tries < 1000 && !fs::exists(folder_ / "out/part-00000000.json"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child).code, 130);
}

// Memory is that of batches and parts, not of the data.
TEST_F(ScoreTest, MemoryIsFlat) {
  save_elementwise(folder_ / "neg.onnx", "Neg", {"x"}, 64);
  const auto peak_of = [&](int64_t rows) {
    const std::string name = "x" + std::to_string(rows);
    write_npy(folder_ / (name + ".npy"), counting_rows(rows, 64));
    const Ended ended =
        run({"neg.onnx", "-i", name + ".npy", "-o", "o" + name, "--part-rows", "5000"});
    EXPECT_EQ(ended.code, 0) << ended.text;
    return ended.peak_kilobytes;
  };
  const long small = peak_of(20000), large = peak_of(400000);  // 5 and 102 MB
  EXPECT_LT(large - small, 8 << 10) << small << " and " << large << " KiB";
}

}  // namespace
}  // namespace sardonyx::tool
