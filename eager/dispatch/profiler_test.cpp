#include "eager/dispatch/profiler.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using ::testing::HasSubstr;

std::map<std::string, int64_t> calls_of(const Profiler& profiler, ProfileBy by = ProfileBy::kOp) {
  std::map<std::string, int64_t> calls;
  for (const ProfileRow& row : profiler.rows(by))
    calls[row.name] = row.calls;
  return calls;
}

TEST(Profiler, CountsOpsByKindLineAndModule) {
  const nn::Sequential net(nn::Linear(3, 4), nn::ReLU());
  const Tensor x = randn({2, 3});
  net(x);  // before: in no row
  const Profiler profiler;
  for (int i = 0; i < 3; ++i)
    net(x).sum().backward();
  const auto by_op = calls_of(profiler);
  EXPECT_EQ(by_op.at("Gemm"), 3);
  EXPECT_EQ(by_op.at("Relu"), 3);
  EXPECT_EQ(by_op.at("ReduceSum"), 3);
  EXPECT_TRUE(std::ranges::any_of(
      by_op, [](const auto& row) { return row.first.starts_with("backward "); }));
  EXPECT_EQ(calls_of(profiler, ProfileBy::kModule).at("1"), 3);
  EXPECT_THAT(profiler.table(), HasSubstr("Gemm"));
  EXPECT_THAT(profiler.table(ProfileBy::kLine), HasSubstr("profiler_test.cpp:"));
  EXPECT_THAT(profiler.table(ProfileBy::kOp, 1), HasSubstr(" more\n"));
  for (const ProfileRow& row : profiler.rows())
    EXPECT_GE(row.seconds, 0);
}

TEST(Profiler, NestsAndTakesCompiledFunctionsAsOne) {
  const auto twice = compile([](const Tensor& x) { return relu(x * 2.0); });
  const Tensor x = randn({2});
  twice(x);
  const Profiler outer;
  relu(x);
  {
    const Profiler inner;
    twice(x);
    EXPECT_EQ(calls_of(inner), (std::map<std::string, int64_t>{{"compiled function", 1}}));
  }
  relu(x);
  EXPECT_EQ(calls_of(outer), (std::map<std::string, int64_t>{{"Relu", 2}}));
}

TEST(Profiler, SavesATraceForViewers) {
  const TemporaryFolder folder;
  const Profiler profiler;
  relu(randn({2}));
  profiler.save_trace(folder / "trace.json");
  std::ifstream file(folder / "trace.json");
  const nlohmann::json trace = nlohmann::json::parse(file);
  ASSERT_EQ(trace["traceEvents"].size(), 1u);
  EXPECT_EQ(trace["traceEvents"][0]["name"], "Relu");
  EXPECT_THAT(trace["traceEvents"][0]["args"]["line"].get<std::string>(),
              HasSubstr("profiler_test.cpp"));
  EXPECT_THROW(profiler.save_trace(folder / "absent" / "trace.json"), Error);
}

}  // namespace
}  // namespace sardonyx::eager
