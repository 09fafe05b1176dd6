// Random programs over the API (tests/api/api_program.h), on all rows of the op table, the
// project's own networks and real models. SARDONYX_API_SECONDS=N goes on with further programs for
// N seconds; the fuzz target `api` runs such programs as well.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/op_samples.h"
#include "models/zoo.h"
#include "onnx_io/save.h"
#include "onnx_io/tensor_file.h"
#include "tests/api/api_program.h"
#include "tests/support/test_data.h"

namespace sardonyx::api_test {
namespace {

constexpr size_t kBytes = 1024;

// Program number `seed`, on the model that `make` gives; false where that gives none.
template <typename Make>
bool runs_well(uint64_t seed, const ProgramLimits& limits, const Make& make) {
  const std::vector<uint8_t> bytes = program_bytes(seed, kBytes);
  fuzz::Choices choices(bytes.data(), bytes.size());
  try {
    ApiCase made = make(choices);
    if (made.name.empty()) return false;
    run_program(std::move(made), choices, limits);
    return true;
  } catch (const Finding& found) {
    ADD_FAILURE() << "seed " << seed << ": " << found.what();
  } catch (const Error& error) {  // the model is refused
    EXPECT_NE(error.code(), ErrorCode::kInternal) << "seed " << seed << ": " << error.what();
  }
  return false;
}

class ApiPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(ApiPrograms, of_rows_do_as_fresh_sessions) {
  constexpr uint64_t kPrograms = 120;
  size_t ran = 0;
  for (uint64_t i = 0; i < kPrograms && !HasFailure(); ++i)
    ran += runs_well(1 + GetParam() * kPrograms + i, {}, row_case);
  EXPECT_TRUE(HasFailure() || ran > kPrograms / 2) << ran;
}

INSTANTIATE_TEST_SUITE_P(Seeds, ApiPrograms, testing::Range<uint64_t>(0, 10));

// ---- Networks

struct Network {
  const char* name;
  models::Network (*make)(uint64_t seed);
};
const Network kNetworks[] = {
    {"lenet", models::lenet},
    {"lstm_tagger", models::lstm_tagger},
    {"bert",
     [](uint64_t seed) {
       return models::bert_encoder(seed, {2, 32, 4, 100, 64});
     }},
    {"gpt2",
     [](uint64_t seed) {
       return models::gpt2_step(seed, {2, 32, 4, 100, 64});
     }},
};

// Of these sizes, by the names of dims; integers index any table.
std::vector<Datum> network_inputs(const Graph& graph, int64_t batch, int64_t length, int64_t past) {
  std::vector<Datum> inputs;
  for (const Value* input : graph.inputs()) {
    Shape shape;
    for (const Dim& dim : *input->type.shape) {
      const std::string name = dim.text();
      shape.push_back(dim.is_known()    ? dim.value()
                      : name == "batch" ? batch
                      : name == "past"  ? past
                                        : length);
    }
    inputs.emplace_back(drawn_tensor(input->type.dtype, shape, 0, 1, inputs.size() + 1));
  }
  return inputs;
}

TEST(ApiPrograms, of_networks_do_as_fresh_sessions) {
  for (const Network& network : kNetworks) {
    const Model model = network.make(1).model();
    const std::string bytes = model_bytes(model);
    const auto make = [&](fuzz::Choices& choices) {
      return model_case(
          network.name, bytes,
          {network_inputs(*model.graph, 1, 5, 3), network_inputs(*model.graph, 2, 3, 1)}, choices);
    };
    for (uint64_t seed = 1; seed < 4; ++seed)
      EXPECT_TRUE(runs_well(seed, {.steps = 16, .most_threads = 1}, make)) << network.name;
  }
}

// ---- Real models

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(ApiPrograms, of_small_real_models_do_as_fresh_sessions) {
  const std::filesystem::path models = test_data("models");
  if (models.empty()) GTEST_SKIP() << "there are no models in SARDONYX_TEST_DATA";
  constexpr uintmax_t kLargest = 128 << 10;
  size_t ran = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    const std::filesystem::path file = entry.path() / "model.onnx";
    if (!std::filesystem::exists(file) || std::filesystem::file_size(file) > kLargest) continue;
    const std::string bytes = read_file(file);
    const auto make = [&](fuzz::Choices& choices) {
      const Session session(std::as_bytes(std::span(bytes)));
      std::vector<Datum> inputs;
      for (const ValueInfo& input : session.inputs()) {
        const std::string name = text("input_", inputs.size(), ".pb");
        inputs.push_back(
            read_tensor_file(entry.path() / "test_data_set_0" / name, input.type).value);
      }
      return model_case(entry.path().filename(), bytes, {inputs}, choices);
    };
    ran += runs_well(1, {.steps = 8, .most_threads = 1}, make);
  }
  EXPECT_GT(ran, 5u);
}

TEST(ApiPrograms, go_on_for_as_long_as_wanted) {
  const char* seconds = std::getenv("SARDONYX_API_SECONDS");
  if (!seconds) GTEST_SKIP() << "SARDONYX_API_SECONDS is not set";
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(seconds));
  size_t ran = 0;
  const char* first = std::getenv("SARDONYX_API_SEED");
  for (uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1'000'000;
       Clock::now() < end && !HasFailure(); ++seed)
    ran += runs_well(seed, {}, row_case);
  EXPECT_GT(ran, 0u);
  RecordProperty("programs", std::to_string(ran));
}

}  // namespace
}  // namespace sardonyx::api_test
