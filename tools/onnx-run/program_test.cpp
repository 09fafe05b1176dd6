// Runs the program itself: what it prints, and above all its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ir/datum.h"
#include "onnx_io/npy.h"
#include "onnx_io/npz.h"
#include "onnx_io/tensor_file.h"
#include "tools/onnx-run/input_files.h"

namespace sardonyx::tool {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Messages of protobuf, as far as a tiny model needs them.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

std::string float_value(const std::string& name, const std::string& shape) {
  return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)));
}

// y = OP(x), x of shape [n, 2]; `unread` is one more input.
std::string model_bytes(const std::string& op, const std::string& unread = "") {
  const std::string shape = field(1, field(2, "n")) + field(1, field(1, 2));
  const std::string node = field(1, "x") + field(2, "y") + field(3, "the_node") + field(4, op);
  const std::string graph = field(1, node) + field(2, "g") + field(11, float_value("x", shape)) +
                            (unread.empty() ? "" : field(11, float_value(unread, shape))) +
                            field(12, float_value("y", shape));
  return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 18));
}

struct Ran {
  int code = 0;
  std::string out;
};

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : folder_(fs::temp_directory_path() / ("program" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    write("good.onnx", model_bytes("Sqrt"));
    write("unknown.onnx", model_bytes("Sqrd"));
    write("broken.onnx", "no model at all");
  }
  ~ProgramTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void write_case(const std::string& name, const std::vector<float>& expected) {
    write(name + "/model.onnx", model_bytes("Sqrt"));
    fs::create_directories(folder_ / name / "test_data_set_0");
    write_tensor_file(folder_ / name / "test_data_set_0/input_0.pb", "x",
                      Tensor::of<float>({1, 4}, {1, 2}));
    write_tensor_file(folder_ / name / "test_data_set_0/output_0.pb", "y",
                      Tensor::of<float>(expected, {1, 2}));
  }

  // With stderr in the output; relative names are taken from the test's folder.
  Ran run(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" SARDONYX_BIN_DIR "/onnx-run' " + arguments + " 2>&1";
    Ran ran;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      ran.out.append(buffer.data(), got);
    const int status = pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
  }

  fs::path folder_;
};

TEST_F(ProgramTest, ServeIsTheServerBesideItOrSaysWhereThereIsOne) {
  fs::create_directories(folder_ / "bin");
  fs::copy_file(SARDONYX_BIN_DIR "/onnx-run", folder_ / "bin/onnx-run");
  const std::string program = "; PATH=/nowhere bin/onnx-run serve m --http-port 0 --help";
  const Ran without = run("--version" + program);
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.out, HasSubstr("there is no onnx-serve"));
  write("bin/onnx-serve", "#!/bin/sh\necho server \"$@\"\nexit 7\n");
  fs::permissions(folder_ / "bin/onnx-serve", fs::perms::owner_all);
  const Ran with = run("--version" + program);
  EXPECT_EQ(with.code, 7);
  EXPECT_THAT(with.out, HasSubstr("server m --http-port 0 --help"));
}

TEST_F(ProgramTest, AnInputThatNothingReadsNeedNotBeGiven) {
  write("unread.onnx", model_bytes("Sqrt", "u"));
  fs::create_directories(folder_ / "given");
  write_tensor_file(folder_ / "given/input_0.pb", "x", Tensor::of<float>({1, 4}, {1, 2}));
  for (const char* command : {"run", "run --provider reference", "compare"}) {
    const Ran ran = run(std::string(command) + " unread.onnx --input-dir given");
    EXPECT_EQ(ran.code, 0) << ran.out;
  }
}

TEST_F(ProgramTest, ExitCodes) {
  const struct {
    const char* arguments;
    int code;
    const char* message;
  } cases[] = {
      {"good.onnx", 0, "y: float[1, 2]"},
      {"run good.onnx --provider reference", 0, "y: float[1, 2]"},
      {"run -m good.onnx --dim n=3", 0, "y: float[3, 2]"},
      {"", 2, "subcommand"},
      {"run", 2, "required"},
      {"run --provider cpu,reference good.onnx", 0, "y: float[1, 2]"},
      {"run --no-pass remove-identity good.onnx", 0, "y: float[1, 2]"},
      {"run --val-range [2,3] good.onnx", 0, "y: float[1, 2]"},
      {"run --outputs x,y good.onnx", 0, "x: float[1, 2]"},
      {"run good.onnx --thread 2", 2, "did you mean '--threads'"},
      {"run good.onnx --shape x", 2, "NAME:1x3"},
      {"run good.onnx -i z=@x.npy", 2, "no input 'z'"},
      {"run good.onnx --no-pass nonsense", 2, "no pass 'nonsense'"},
      {"run absent.onnx", 3, "absent.onnx"},
      {"run broken.onnx", 3, ""},
      {"run unknown.onnx", 3, "Sqrd"},
      {"run good.onnx -i x=@absent.npy", 4, "absent.npy"},
      {"run good.onnx --shape x:1x3", 4, "'x'"},
      {"run good.onnx --memory-limit-mb 1 --dim n=1000000", 5, "memory limit"},
      {"run good.onnx --plan-cache good.onnx", 3, "would be overwritten"},
      {"run good.onnx --plan-cache packs -v", 0, "y: float[1, 2]"},
      {"check good.onnx", 0, "no problem"},
      {"check unknown.onnx", 1, "Sqrd"},
      {"inspect good.onnx --memory --plan", 0, "ratio"},
      {"inspect good.onnx --kernels", 0, "  cpu/elementwise_f32 taken: simd"},
      {"inspect good.onnx --kernels", 0, "  onednn/eltwise refused: no input has a blocked layout"},
      {"inspect good.onnx --kernels --json", 0, R"("refusal": "no input has a blocked layout")"},
      {"-vv good.onnx", 0, "onednn/eltwise refused: "},
      {"list-ops", 0, "Sqrt"},
      {"list-ops --kernels", 0, "providers/cpu/conv/dwconv.cpp"},
      {"list-passes", 0, "fuse-conv-bias"},
      {"env", 0, "threads"},
      {"run good.onnx --shape x:1x2 --shape x:5x2", 0, "y: float[5, 2]"},
      {"inspect --memory good.onnx --shape x:1x2 --shape x:5x2", 2, "'x' is given twice"},
      {"run good.onnx --shape x:1x2 --shape x:5x2 --output-dir o", 2, "the same files"},
      {"run -v good.onnx", 0, "planned g for x float[1, 2]: 1 steps"},
      {"-vv good.onnx", 0, "Sqrt the_node: "},
      {"run -v -q good.onnx", 2, "exclude"},
      {"extract good.onnx part.onnx --outputs z", 2, "--outputs: the model has no value 'z'"},
      {"extract good.onnx part.onnx --outputs y --inputs z", 2, "--inputs: the model has no value"},
      {"conformance absent", 2, "no folder"},
      {"completion bash", 0, "run) words=\""},
      {"completion zsh", 0, "#compdef onnx-run"},
      {"completion fish", 0, "__fish_seen_subcommand_from bench' -s x -l threads"},
      {"completion tcsh", 2, "tcsh"},
      {"man-page", 0, ".SS list\\-ops"},
      {"--version", 0, "onnx-run"},
  };
  for (const auto& one : cases) {
    const Ran ran = run(one.arguments);
    EXPECT_EQ(ran.code, one.code) << one.arguments << '\n' << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(one.message)) << one.arguments;
  }
}

TEST_F(ProgramTest, WhatIsWrongIsNamed) {
  fs::create_directories(folder_ / "bare");
  write("short.bin", "1234");
  write_case("suite/right", {1, 2});
  const std::tuple<const char*, int, const char*> cases[] = {
      {"run good.onnx --shape x:-1x2", 2, "--shape: -1 is no size"},
      {"run good.onnx --shape x:ax2", 2, "--shape: 'a' is no number"},
      {"run good.onnx --shape z:1", 2, "the model has no input 'z'; it has 'x'"},
      {"run good.onnx --val-range z:[0,1]", 2, "the model has no input 'z'; it has 'x'"},
      {"run good.onnx --dim n", 2, "--dim: expected SYMBOL=SIZE, got 'n'"},
      {"run good.onnx --dim n=-1", 2, "--dim: -1 is no size"},
      {"run good.onnx --dim bach=2", 2,
       "no input of the model has a dim 'bach'; its symbols are 'n'"},
      {"bench-sizes good.onnx --sweep bach=1,2", 2, "no input of the model has a dim 'bach'"},
      {"run good.onnx --val-range 2", 2, "expected [LOW,HIGH] or NAME:[LOW,HIGH], got '2'"},
      {"run good.onnx --val-range [3,2]", 2, "--val-range: 3 is not below 2"},
      {"run good.onnx -i x", 2, "-i: expected NAME=@FILE, got 'x'"},
      {"run good.onnx -i x=@short.bin", 4, "4 bytes, but input 'x' of shape [1, 2]"},
      {"run good.onnx --json=absent/x.json", 4, "absent/x.json: can't be created: No such file"},
      {"run good.onnx --against absent.so", 2, "--against: can't load 'absent.so'"},
      {"run good.onnx --against libz.so.1", 2, "'libz.so.1' is no ONNX Runtime library"},
      {"compare good.onnx --against absent.so", 2, "--against: can't load 'absent.so'"},
      {"bench good.onnx --against absent.so", 2, "--against: can't load 'absent.so'"},
      {"bench-sizes good.onnx --against absent.so", 2, "--against: can't load 'absent.so'"},
      {"bench-ops --match Sqrt --against absent.so", 2, "--against: can't load 'absent.so'"},
      {"run good.onnx --outputs y,q", 2, "--outputs: the model has no value 'q'; did you mean"},
      {"run good.onnx --save-outputs good.onnx", 2, "--save-outputs: 'good.onnx' is the model"},
      {"run good.onnx --save-steps ./good.onnx", 2, "--save-steps: './good.onnx' is the model"},
      {"run good.onnx --json=good.onnx", 2, "--json: 'good.onnx' is the model itself"},
      {"run good.onnx --profile=good.onnx", 2, "--profile: 'good.onnx' is the model itself"},
      {"run good.onnx --dim n=2 --dim n=3", 2, "--dim: 'n' is given twice"},
      {"run good.onnx -i x=@a.npy -i x=@b.npy", 4, "a.npy"},
      {"run good.onnx --val-range [0,1] --val-range [0,2]", 2, "is given twice"},
      {"run good.onnx --val-range x:[0,1] --val-range x:[0,2]", 2, "input 'x' is given twice"},
      {"convert good.onnx /dev/null --external-data", 4, "external data is put beside"},
      {"run good.onnx --outputs y --against a.so", 2, "--outputs can't be combined with --against"},
      {"bench-sizes good.onnx", 2, "one set of sizes alone is given"},
      {"bench-sizes good.onnx --sweep n", 2, "--sweep: expected SYMBOL=SIZE,SIZE, got 'n'"},
      {"bench-sizes good.onnx --sweep n=", 2, "--sweep: 'n' has no sizes"},
      {"compare good.onnx --every-value --against a.so", 2, "--every-value needs a second model"},
      {"inspect good.onnx --memory --provider reference", 2,
       "--memory, --plan and --kernels need a plan"},
      {"conformance bare", 2, "'bare' has no case in it"},
      {"conformance suite --filter '['", 2, "--filter: '[' is no regular expression"},
      {"run good.onnx --save-steps o --match '['", 2, "--match: '[' is no regular expression"},
  };
  for (const auto& [arguments, code, message] : cases) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, code) << arguments << '\n' << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(message)) << arguments;
  }
}

TEST_F(ProgramTest, LostOutputIsAnError) {
  for (const char* arguments :
       {"list-ops", "--help", "--version", "env --json", "dump good.onnx", "man-page",
        "completion bash", "good.onnx --print", "compare good.onnx good.onnx", "check good.onnx"}) {
    EXPECT_EQ(run(std::string(arguments) + " 2>errors >/dev/full; echo $?").out, "5\n")
        << arguments;
    std::ifstream errors(folder_ / "errors");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(errors), {}),
                HasSubstr("onnx-run: stdout: can't be written: No space left on device"));
    EXPECT_EQ(run(std::string(arguments) + " 2>&- >&-; echo $?").out, "4\n") << arguments;
  }
}

TEST_F(ProgramTest, ALimitOfFileSizesIsAFullDisk) {
  for (const char* arguments : {"list-ops >out", "optimize good.onnx out"}) {
    const std::string limited =
        "--version >/dev/null; ulimit -f 0; '" SARDONYX_BIN_DIR "/onnx-run' ";
    EXPECT_EQ(run(limited + arguments + " 2>/dev/null; echo $?").out, "5\n") << arguments;
  }
}

// Images that need no codec, by any of their endings.
TEST_F(ProgramTest, ReadsImagesByTheirEndings) {
  const ValueInfo input{"x", Type::tensor(DType::kUInt8, Dims{1, 3, 1, 2})};
  for (const char* name : {"image.ppm", "image.PNM"}) {
    std::ofstream(folder_ / name, std::ios::binary) << "P6 2 1 255\n"
                                                    << "abcdef";
    const Datum read = read_input_file(folder_ / name, input, {1, 3, 1, 2});
    EXPECT_TRUE(read.tensor() == Tensor::of<uint8_t>({'a', 'd', 'b', 'e', 'c', 'f'}, {1, 3, 1, 2}));
  }
}

TEST_F(ProgramTest, AnInputIsGivenOnce) {
  write_npy(folder_ / "x.npy", Tensor::of<float>({9, 16}, {1, 2}));
  const Ran ran = run("good.onnx -i x=@x.npy -i x=@x.npy");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out, HasSubstr("-i: input 'x' is given twice"));
}

TEST_F(ProgramTest, AnUnknownNumberOfThreadsIsToldOf) {
  const std::string rest = "; SARDONYX_NUM_THREADS=many '" SARDONYX_BIN_DIR "/onnx-run' good.onnx";
  EXPECT_THAT(run("--version" + rest).out,
              HasSubstr("SARDONYX_NUM_THREADS: expected a number of threads, got 'many'"));
  EXPECT_THAT(run("--version" + rest + " --threads 1").out, Not(HasSubstr("NUM_THREADS")));
}

TEST_F(ProgramTest, ADamagedImageIsCalledSo) {
  write("cut.ppm", "P6 2 1 255\nabc");
  write("image.onnx", model_bytes("Sqrt"));
  const Ran ran = run("good.onnx -i x=@cut.ppm --shape x:1x3x1x2");
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.out, HasSubstr("cut.ppm"));
  const ValueInfo input{"x", Type::tensor(DType::kUInt8, Dims{1, 3, 1, 2})};
  try {
    read_input_file(folder_ / "cut.ppm", input, {1, 3, 1, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the image can't be read: PNM file: it ends too early"));
  }
}

TEST_F(ProgramTest, FilesOfDataAreNamed) {
  const Ran out = run("convert good.onnx big.onnx --external-data");
  EXPECT_THAT(out.out, HasSubstr("data: big.onnx."));
  const Ran back = run("convert big.onnx big.onnx");
  EXPECT_EQ(back.code, 0) << back.out;
  EXPECT_THAT(back.out, HasSubstr("data of an earlier big.onnx, which refers to it no more"));
  EXPECT_THAT(run("-q convert big.onnx big.onnx").out, Not(HasSubstr("earlier")));
}

TEST_F(ProgramTest, OutputsGoIntoWhatIsNoFile) {
  write_npy(folder_ / "x.npy", Tensor::of<float>({9, 16}, {1, 2}));
  const Ran ran = run("--version; mkfifo pipe; cat pipe >y.npz & '" SARDONYX_BIN_DIR
                      "/onnx-run' -q good.onnx -i x=@x.npy --save-outputs pipe; wait");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe")) << ran.out;
  EXPECT_TRUE(NpzReader(folder_ / "y.npz").read("y") == Tensor::of<float>({3, 4}, {1, 2}));
}

TEST_F(ProgramTest, ASignalLeavesNoUnfinishedFile) {
  // The FIFO has no reader, for which the writer waits; the data beside it has been begun.
  const Ran ran =
      run("--version >/dev/null; mkfifo pipe; '" SARDONYX_BIN_DIR
          "/onnx-run' convert good.onnx pipe --external-data & p=$!; for i in $(seq 200); do "
          "ls | grep -q tmp && break; sleep 0.1; done; ls | grep -c tmp; kill -TERM $p; wait $p; "
          "echo $?; ls | grep -c tmp");
  EXPECT_EQ(ran.out, "1\n143\n0\n");
}

TEST_F(ProgramTest, FilesInAndOut) {
  write_npy(folder_ / "x.npy", Tensor::of<float>({9, 16}, {1, 2}));
  EXPECT_EQ(run("good.onnx -i x=@x.npy --output-dir out --save-outputs out.npz").code, 0);
  const Tensor wanted = Tensor::of<float>({3, 4}, {1, 2});
  const NamedDatum saved = read_tensor_file(folder_ / "out/output_0.pb");
  EXPECT_EQ(saved.name, "y");
  EXPECT_TRUE(saved.value.tensor() == wanted);
  EXPECT_TRUE(NpzReader(folder_ / "out.npz").read("y") == wanted);

  write("raw.bin", std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
  EXPECT_THAT(run("good.onnx -i x=@raw.bin --print").out, HasSubstr("{1, 1}"));
  write("short.bin", "abc");
  EXPECT_EQ(run("good.onnx -i x=@short.bin").code, 4);

  NpzWriter inputs(folder_ / "in.npz");
  inputs.add("x", Tensor::of<float>({25, 36}, {1, 2}));
  inputs.close();
  EXPECT_THAT(run("good.onnx --inputs in.npz --print").out, HasSubstr("{5, 6}"));
}

TEST_F(ProgramTest, InputFolderFeedsByName) {
  fs::create_directories(folder_ / "in");
  EXPECT_EQ(run("good.onnx --input-dir in").code, 4);  // nothing for x
  write_tensor_file(folder_ / "in/input_0.pb", "x", Tensor::of<float>({4, 9}, {1, 2}));
  EXPECT_THAT(run("good.onnx --input-dir in --print").out, HasSubstr("{2, 3}"));
  write_tensor_file(folder_ / "in/input_1.pb", "x", Tensor::of<float>({4, 9}, {1, 2}));
  EXPECT_THAT(run("good.onnx --input-dir in").out, HasSubstr("given twice"));
  write_tensor_file(folder_ / "in/input_1.pb", "q", Tensor::of<float>({4, 9}, {1, 2}));
  EXPECT_THAT(run("good.onnx --input-dir in").out, HasSubstr("no input named 'q'"));
}

TEST_F(ProgramTest, Validate) {
  EXPECT_EQ(run("good.onnx --validate").code, 0);
  const Ran negative = run("good.onnx --val-range [-2,-1] --validate");
  EXPECT_EQ(negative.code, 1);
  EXPECT_THAT(negative.out, HasSubstr("'the_node' (Sqrt) makes NaN"));
}

TEST_F(ProgramTest, Json) {
  const Ran ran = run("good.onnx --json=r.json --iterations 3");
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(folder_ / "r.json");
  const auto report = nlohmann::json::parse(file);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["latency"]["count"], 3);
  EXPECT_EQ(report["outputs"][0]["name"], "y");
}

TEST_F(ProgramTest, FromModelToModel) {
  EXPECT_EQ(run("convert good.onnx old.onnx --opset 9").code, 0);
  EXPECT_THAT(run("inspect old.onnx").out, HasSubstr("opset 9 of ai.onnx"));
  EXPECT_EQ(run("compare good.onnx old.onnx").code, 0);
  const Ran optimized = run("optimize good.onnx fast.onnx");
  EXPECT_EQ(optimized.code, 0) << optimized.out;
  EXPECT_THAT(optimized.out, HasSubstr("     1      1  Sqrt"));
  EXPECT_EQ(run("infer-shapes good.onnx typed.onnx").code, 0);
  EXPECT_EQ(run("convert good.onnx absent/out.onnx").code, 4);
}

TEST_F(ProgramTest, ConvertsToOnnxRuntimesFormatAndBack) {
  EXPECT_EQ(run("convert good.onnx own.ort").code, 0);
  std::string begin(8, ' ');
  std::ifstream(folder_ / "own.ort", std::ios::binary).read(begin.data(), 8);
  EXPECT_EQ(begin.substr(4), "ORTM");
  EXPECT_EQ(run("compare good.onnx own.ort").code, 0);
  EXPECT_EQ(run("convert own.ort again.onnx").code, 0);
  EXPECT_EQ(run("compare good.onnx again.onnx").code, 0);
  const Ran apart = run("convert good.onnx apart.ort --external-data");
  EXPECT_NE(apart.code, 0);
  EXPECT_THAT(apart.out, HasSubstr("have all elements in themselves"));
}

TEST_F(ProgramTest, ExtractsAPart) {
  const Ran cut = run("extract good.onnx part.onnx --inputs x --outputs y");
  EXPECT_EQ(cut.code, 0) << cut.out;
  EXPECT_EQ(run("compare good.onnx part.onnx").code, 0);
  EXPECT_EQ(run("extract good.onnx nothing.onnx --inputs y --outputs y").code, 0);
  EXPECT_THAT(run("run nothing.onnx --shape y:1x2").out, HasSubstr("y: float[1, 2]"));
}

TEST_F(ProgramTest, SaysAsMuchAsIsAskedFor) {
  EXPECT_THAT(run("good.onnx").out, HasSubstr("input 'x': random"));
  EXPECT_THAT(run("good.onnx").out, Not(HasSubstr("planned")));
  EXPECT_THAT(run("good.onnx -q").out, StartsWith("y: "));
}

TEST_F(ProgramTest, BenchOfSeveralShapesAndThreads) {
  const Ran ran = run(
      "bench good.onnx --duration 0.05 --shape x:1x2 --shape x:3x2 --concurrency 2 --json=b.json");
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(folder_ / "b.json");
  const auto report = nlohmann::json::parse(file);
  ASSERT_EQ(report["runs"].size(), 2u);
  EXPECT_EQ(report["runs"][1]["inputs"][0]["type"], "float[3, 2]");
  EXPECT_GT(report["runs"][0]["ours"]["runs_per_s"], 0);
}

TEST_F(ProgramTest, BenchOfSizes) {
  const Ran ran = run(
      "bench-sizes good.onnx --repeats 3 --shape x:1x2 --shape x:3x2 --shape x:4x2 --json=b.json");
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(folder_ / "b.json");
  const auto report = nlohmann::json::parse(file);
  ASSERT_EQ(report["ours"]["sizes"].size(), 2u);
  EXPECT_EQ(report["ours"]["sizes"][1]["label"], "x:4x2");
  for (const char* clock : {"wall", "cpu"}) {
    EXPECT_GT(report["ours"]["sizes"][0][clock]["first_s"], 0);
    EXPECT_GT(report["ours"][clock]["early_ratio"], 0);
  }
  EXPECT_TRUE(report["differ_when_repeated"].empty());
}

TEST_F(ProgramTest, BenchAlone) {
  const Ran ran = run("bench good.onnx --duration 0.05 --json=b.json");
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(folder_ / "b.json");
  const auto report = nlohmann::json::parse(file);
  for (const char* name : {"load_s", "first_s", "min_s", "median_s", "p90_s", "peak_bytes"})
    EXPECT_GT(report["ours"][name], 0) << name;
}

TEST_F(ProgramTest, Conformance) {
  write_case("suite/right", {1, 2});
  write_case("suite/wrong", {1, 3});
  write("suite/empty/model.onnx", model_bytes("Sqrt"));
  write("suite/unloadable/model.onnx", "");
  fs::create_directories(folder_ / "suite/unloadable/test_data_set_0");
  const Ran all = run("conformance suite --jobs 2");
  EXPECT_EQ(all.code, 1);
  EXPECT_THAT(all.out, HasSubstr("FAIL wrong: output 0 'y': element [0, 1] is 2, expected 3"));
  EXPECT_THAT(all.out, HasSubstr("FAIL unloadable: "));
  EXPECT_THAT(all.out, EndsWith("1 passed, 2 failed, 1 skipped\n"));

  EXPECT_THAT(run("conformance suite/right").out, EndsWith("1 passed, 0 failed, 0 skipped\n"));
  EXPECT_EQ(run("conformance suite --filter '^right$'").code, 0);
  EXPECT_EQ(run("conformance suite/wrong --rtol 0.5").code, 0);
  write("MANIFEST.csv", "case,atol\nwrong,2\n");
  EXPECT_EQ(run("conformance suite/wrong").code, 0);
}

}  // namespace
}  // namespace sardonyx::tool
