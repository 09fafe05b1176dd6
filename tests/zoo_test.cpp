// The project's own networks, from the graph to results: planned memory, levels of optimisation,
// files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/session.h"
#include "models/zoo.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"

namespace sardonyx {
namespace {

constexpr models::BertShape kSmallBert{2, 32, 4, 100, 64};
constexpr models::GptShape kSmallGpt{2, 32, 4, 100, 64};

struct Case {
  std::string name;
  models::Network (*network)(uint64_t seed);
  int64_t batch;
  Model build(uint64_t seed) const { return network(seed).model(); }
};
const Case kCases[] = {
    {"lenet", models::lenet, 3},
    {"mobilenet_v2", models::mobilenet_v2, 1},
    {"resnet18", models::resnet18, 1},
    {"vit_tiny", models::vit_tiny, 1},
    {"unet", models::unet, 1},
    {"lstm_tagger", models::lstm_tagger, 2},
    {"bert", [](uint64_t seed) { return models::bert_encoder(seed, kSmallBert); }, 2},
    {"gpt2", [](uint64_t seed) { return models::gpt2_step(seed, kSmallGpt); }, 2},
};

// Inputs for symbols of the given sizes; integers are small, so that they index any table.
std::vector<Datum> inputs_of(const Session& session, int64_t batch, int64_t length, int64_t past) {
  std::vector<Datum> inputs;
  for (const ValueInfo& input : session.inputs()) {
    Shape shape;
    for (const Dim& dim : *input.type.shape) {
      const std::string name = dim.text();
      shape.push_back(dim.is_known()    ? dim.value()
                      : name == "batch" ? batch
                      : name == "past"  ? past
                                        : length);
    }
    Tensor tensor = Tensor::zeros(input.type.dtype, shape);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      if (tensor.dtype() == DType::kInt64)
        tensor.mutable_values<int64_t>()[static_cast<size_t>(i)] = i % 7 != 0;
      else
        tensor.mutable_values<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 17) / 8 - 1;
    }
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

void expect_close(const std::vector<Datum>& got, const std::vector<Datum>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].tensor().shape(), expected[i].tensor().shape());
    const auto a = got[i].tensor().values<float>();
    const auto b = expected[i].tensor().values<float>();
    float largest = 0, error = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      largest = std::max(largest, std::fabs(b[k]));
      error = std::max(error, std::fabs(a[k] - b[k]));
    }
    EXPECT_LE(error, 2e-5f * largest) << "output " << i;
  }
}

class Zoo : public testing::TestWithParam<Case> {};

TEST_P(Zoo, optimised_and_plain_agree_at_several_sizes) {
  const Session fast(GetParam().build(1));
  const Session plain(GetParam().build(1), {.optimization_level = 0});
  for (const int64_t batch : {GetParam().batch, int64_t{0}}) {
    const std::vector<Datum> inputs = inputs_of(fast, batch, 5, 3);
    expect_close(fast.run(inputs), plain.run(inputs));
  }
}

TEST_P(Zoo, a_saved_file_gives_the_same_results_and_bytes) {
  const std::string bytes = model_bytes(GetParam().build(2));
  EXPECT_EQ(bytes, model_bytes(GetParam().build(2)));
  const Session built(GetParam().build(2));
  const Session loaded(load_model(std::as_bytes(std::span(bytes))));
  const std::vector<Datum> inputs = inputs_of(built, 1, 4, 2);
  expect_close(loaded.run(inputs), built.run(inputs));
}

TEST_P(Zoo, the_arena_is_near_the_least_that_any_plan_needs) {
  const Session session(GetParam().build(1));
  const MemoryPlan plan = session.memory_plan(inputs_of(session, GetParam().batch, 16, 8));
  EXPECT_LE(static_cast<double>(plan.arena_bytes), 1.1 * static_cast<double>(plan.live_peak_bytes));
}

TEST_P(Zoo, memory_stays_flat_over_changing_sizes) {
  const Session session(GetParam().build(1), {.max_plans = 4});
  size_t after_warm_up = 0;
  for (int round = 0; round < 6; ++round) {
    for (int64_t size = 1; size < (GetParam().name == "resnet18" ? 2 : 4); ++size)
      session.run(inputs_of(session, size, size + 2, size));
    if (round == 2) after_warm_up = session.stats().memory_used;
  }
  EXPECT_LE(session.stats().memory_used, after_warm_up);
}

INSTANTIATE_TEST_SUITE_P(Networks, Zoo, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sardonyx
