// The programs of models/programs as a user runs them: they train, and write files that load.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "eager/create.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::models {
namespace {

struct Ended {
  int status;
  std::string printed;
};
Ended run(const TemporaryFolder& folder, const std::string& command) {
  const std::string log = (folder / "log").string();
  const std::string line =
      std::string(SARDONYX_BIN_DIR) + "/examples/" + command + " >" + log + " 2>&1";
  const int status = std::system(line.c_str());
  std::ifstream file(log);
  return {status, {std::istreambuf_iterator<char>(file), {}}};
}

TEST(Programs, CharGptLearnsAndSamples) {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.onnx").string();
  const Ended ended = run(folder, "char_gpt --steps 150 --out " + path);
  ASSERT_EQ(ended.status, 0) << ended.printed;
  EXPECT_NE(ended.printed.find("One ston"), std::string::npos) << ended.printed;
  const size_t last = ended.printed.rfind("loss ");
  EXPECT_LT(std::stod(ended.printed.substr(last + 5)), 1.5) << ended.printed;
  const eager::OnnxModule loaded(path);
  EXPECT_EQ(loaded({eager::randint(0, 9, {2, 5})})[0].size(1).value(), 5);
}

TEST(Programs, VaeDrawsDigits) {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.onnx").string();
  const std::string data = std::string(SARDONYX_SOURCE_DIR) + "/models/data/digits.csv.gz";
  const Ended ended = run(folder, "vae " + data + " --epochs 3 --out " + path);
  ASSERT_EQ(ended.status, 0) << ended.printed;
  const size_t last = ended.printed.rfind("reconstruction ");
  EXPECT_LT(std::stod(ended.printed.substr(last + 15)), 32) << ended.printed;
  const eager::Tensor pixels = eager::OnnxModule(path)({eager::randn({5, 8})})[0];
  EXPECT_TRUE(eager::all(pixels >= 0.0 && pixels <= 1.0).item<bool>());
  EXPECT_NE(run(folder, "vae").status, 0);
  const Ended missing = run(folder, "vae absent.csv");
  EXPECT_NE(missing.printed.find("absent.csv"), std::string::npos) << missing.printed;
}

TEST(Programs, Seq2SeqSaysNumbersBackwards) {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.onnx").string();
  const Ended ended = run(folder, "seq2seq --steps 900 --out " + path);
  ASSERT_EQ(ended.status, 0) << ended.printed;
  const eager::Tensor ids = eager::Tensor::of<int64_t>({7, 2, 5, 9, 11, 11}, {2, 3});
  const eager::Tensor said =
      eager::OnnxModule(path)({ids, eager::Tensor::of<int64_t>({3, 1}, {2})})[0];
  const eager::Tensor wanted = eager::Tensor::of<int64_t>({5, 2, 7, 11, 9, 11, 11, 11}, {2, 4});
  EXPECT_TRUE(eager::equal(said, wanted)) << said << ended.printed;
}

}  // namespace
}  // namespace sardonyx::models
