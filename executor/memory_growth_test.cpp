// Memory stays flat over runs of ever new sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "tests/support/test_data.h"

namespace sardonyx {
namespace {

size_t resident_bytes() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * 4096;
}

// Runs 1000 times with what `draw` gives; resident memory must not grow after the first 300.
template <typename Draw>
void expect_flat(const char* model, const Draw& draw) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "sanitizers hold back what is freed";
  const auto path = test_data(text("models/", model, "/model.onnx"));
  if (path.empty()) GTEST_SKIP() << "there is no model " << model << " in SARDONYX_TEST_DATA";
  const Session session(path, {.intra_op_threads = 1});
  std::mt19937 random(1);
  size_t warm = 0, later = 0;
  for (int run = 0; run < 1000; ++run) {
    const std::vector<Datum> inputs = draw(random);
    session.run(inputs);
    size_t& peak = run < 300 ? warm : later;
    if (run >= 200) peak = std::max(peak, resident_bytes());
  }
  EXPECT_LE(later, warm + (size_t{16} << 20));
}

TEST(MemoryDrift, a_thousand_random_sizes_leave_resident_memory_flat) {
  expect_flat("vespa_bert_mlm", [](std::mt19937& random) {
    const Shape shape{1 + static_cast<int64_t>(random() % 4),
                      4 + static_cast<int64_t>(random() % 36)};
    return std::vector<Datum>(3, Tensor::zeros(DType::kInt64, shape));
  });
}

TEST(MemoryDrift, so_do_a_thousand_random_lengths_of_loops) {
  expect_flat("loop_lstm_scripted", [](std::mt19937& random) {
    const int64_t length = 1 + static_cast<int64_t>(random() % 40);
    const Datum state = Tensor::zeros(DType::kFloat, {4, 1, 20});
    return std::vector<Datum>{Tensor::zeros(DType::kFloat, {length, 1, 10}), state, state};
  });
}

}  // namespace
}  // namespace sardonyx
