#include "tools/onnx-run/arguments.h"

#include <gtest/gtest.h>

namespace sardonyx::tool {
namespace {

using Arguments = std::vector<std::string>;

TEST(ArgumentsTest, Normalized) {
  const struct {
    Arguments given, wanted;
  } cases[] = {
      {{}, {}},
      {{"m.onnx", "-r", "3"}, {"run", "m.onnx", "-r", "3"}},
      {{"-m", "m.onnx"}, {"run", "-m", "m.onnx"}},
      {{"--onnx=m.onnx"}, {"run", "--onnx=m.onnx"}},
      {{"--help"}, {"--help"}},
      {{"check", "m.onnx"}, {"check", "m.onnx"}},
      {{"run", "--output_dir=a_b", "--val_range", "[0,1]"},
       {"run", "--output-dir=a_b", "--val-range", "[0,1]"}},
      {{"run", "--json", "m.onnx"}, {"run", "--json=-", "m.onnx"}},
      {{"run", "--json=f.json", "--profile"}, {"run", "--json=f.json", "--profile=-"}},
      {{"run", "--", "--a_b"}, {"run", "--", "--a_b"}},
  };
  for (const auto& one : cases)
    EXPECT_EQ(normalized_arguments(one.given, {"run", "check"}), one.wanted);
}

TEST(ArgumentsTest, NearestName) {
  const Arguments known = {"--threads", "--iterations", "--output-dir"};
  EXPECT_EQ(nearest_name("--thread", known), "--threads");
  EXPECT_EQ(nearest_name("--iteratoins", known), "--iterations");
  EXPECT_EQ(nearest_name("--zebra", known), "");
}

}  // namespace
}  // namespace sardonyx::tool
