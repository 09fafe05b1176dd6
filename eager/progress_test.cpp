#include "eager/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

std::string shown(bool is_terminal, const std::filesystem::path& jsonl) {
  std::FILE* out = std::tmpfile();
  {
    Progress progress({.epochs = 2,
                       .jsonl = jsonl,
                       .bar_seconds = 0,
                       .line_seconds = 0,
                       .out = out,
                       .is_terminal = is_terminal});
    progress.begin_epoch(2);
    progress.step({.loss = 1.5, .lr = 0.1, .samples = 8});
    progress.step({.loss = NAN, .lr = 0.1, .samples = 8});
    progress.end_epoch({{"accuracy", 0.75}});
  }
  std::rewind(out);
  std::string text;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out))
    text += static_cast<char>(c);
  std::fclose(out);
  return text;
}

TEST(Progress, FilesThatCannotBeWritten) {
  expect_refusals({
      {"progress: /nowhere/at/all cannot be opened for writing",
       [] { Progress progress({.jsonl = "/nowhere/at/all"}); }},
  });
}

TEST(Progress, LinesBarsAndJson) {
  const std::filesystem::path jsonl =
      std::filesystem::temp_directory_path() / ("sardonyx_progress_" + std::to_string(::getpid()));
  const std::string plain = shown(false, jsonl);
  EXPECT_EQ(plain.find('\r'), plain.npos) << plain;
  for (const char* part :
       {"epoch 1/2 step 1/2, loss 1.5, lr 0.1", "samples/s", "ETA", "accuracy 0.75"})
    EXPECT_NE(plain.find(part), plain.npos) << plain;
  const std::string bar = shown(true, {});
  EXPECT_NE(bar.find("[============            ]"), bar.npos) << bar;
  std::ifstream in(jsonl);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  std::filesystem::remove(jsonl);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("{\"step\": 1, \"epoch\": 1, \"loss\": 1.5,")) << lines[0];
  EXPECT_NE(lines[1].find("\"loss\": null"), lines[1].npos) << lines[1];
  EXPECT_NE(lines[2].find("\"accuracy\": 0.75"), lines[2].npos) << lines[2];
}

}  // namespace
}  // namespace sardonyx::eager
