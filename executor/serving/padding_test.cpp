#include "executor/batching/padding.h"

#include <numeric>

#include "executor/serving/repository_for_test.h"

namespace sardonyx::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PaddingTest : public RepositoryTest {
 protected:
  void SetUp() override { save(false); }

  // sums[b, 1] = sum of ids * mask, same[b, n, 2] = ids beside themselves, where ids and mask are
  // [b, n]; and twice[b, 2*n], ids and ids again.
  void save(bool has_twice) {
    Model model;
    GraphEmitter e(*model.graph);
    const auto input = [&](const char* name) {
      return GraphEmitter::wrap(model.graph->add_input(
          name, Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), Dim::symbol("n")})));
    };
    const Val ids = input("ids"), mask = input("mask");
    const Val columns = e.call("Unsqueeze", {ids, e.constant(Tensor::of<int64_t>({2}, {1}))});
    std::vector<std::pair<const char*, Val>> outputs = {
        {"sums", e.call("ReduceSum",
                        {e.call("Mul", {ids, mask}), e.constant(Tensor::of<int64_t>({1}, {1}))})},
        {"same", e.call("Concat", {columns, columns}, {{"axis", int64_t{2}}})}};
    if (has_twice)
      outputs.emplace_back("twice", e.call("Concat", {ids, ids}, {{"axis", int64_t{1}}}));
    for (const auto& [name, val] : outputs) {
      Value* value = GraphEmitter::unwrap(val);
      value->name = name;
      model.graph->add_output(value);
    }
    fs::create_directories(folder_ / "m/1");
    save_model(model, folder_ / "m/1/model.onnx");
  }
  void configure(const std::string& pad) {
    write(
        "m/config.pbtxt",
        "max_batch_size: 3 dynamic_batching { max_queue_delay_microseconds: 60000000 } parameters "
        "{ key: \"pad\" value { string_value: \"" +
            pad + "\" } } parameters { key: \"wait_for_delay\" value { string_value: \"true\" } }");
  }
  std::string message_of_load() {
    ModelRepository repository(options());
    const auto errors = repository.start();
    return errors.empty() ? "" : errors.begin()->second;
  }
};

TEST_F(PaddingTest, LengthsOfAJointRunMayDiffer) {
  configure("ids=7, mask=0");
  ModelRepository repository(options());
  ASSERT_THAT(repository.start(), ElementsAre());
  const auto model = repository.find("m", "");
  std::vector<std::future<InferResult>> answers;
  const std::vector<std::vector<float>> requests = {{1, 2, 3}, {4, 5, 6, 7}, {8, 9, 1}};
  for (const auto& values : requests) {
    const auto n = static_cast<int64_t>(values.size());
    InferRequest request;
    std::vector<NamedTensor> inputs;
    inputs.push_back({"ids", Tensor::of<float>(values, {1, n})});
    inputs.push_back({"mask", Tensor::of<float>(std::vector<float>(values.size(), 1), {1, n})});
    model->fill(request, std::move(inputs), {});
    const auto promise = std::make_shared<std::promise<InferResult>>();
    answers.push_back(promise->get_future());
    model->submit(std::move(request),
                  [promise](InferResult&& result) { promise->set_value(std::move(result)); });
  }
  for (size_t r = 0; r < requests.size(); ++r) {
    const InferResult result = answers[r].get();
    ASSERT_FALSE(result.error) << result.error->message();
    const auto n = static_cast<int64_t>(requests[r].size());
    std::vector<float> same;
    for (const float value : requests[r])
      same.insert(same.end(), {value, value});
    const auto values = [&](size_t output) {
      const auto all = result.outputs[output].tensor().values<float>();
      return std::vector<float>(all.begin(), all.end());
    };
    EXPECT_EQ(values(0)[0], std::accumulate(requests[r].begin(), requests[r].end(), 0.0f));
    EXPECT_EQ(result.outputs[1].tensor().shape(), (Shape{1, n, 2}));
    EXPECT_EQ(values(1), same);
  }
  EXPECT_EQ(model->statistics().snapshot().execution_count, 1u);
}

TEST_F(PaddingTest, WhatCanNotBePaddedIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"ids=0", "length n is that of an input, too"},
      {"ids=0, mask=0, other=1", "no input 'other'"},
      {"ids", "expected INPUT=NUMBER"},
      {"ids=x, mask=0", "expected INPUT=NUMBER"},
  };
  for (const auto& [setting, message] : cases) {
    configure(setting);
    EXPECT_THAT(message_of_load(), HasSubstr(message));
  }
  save(/*has_twice=*/true);
  configure("ids=0, mask=0");
  EXPECT_THAT(message_of_load(), HasSubstr("dim 1 of output 'twice'"));
}

}  // namespace
}  // namespace sardonyx::serving
