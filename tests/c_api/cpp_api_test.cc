// Uses sardonyx.hpp as a program in C++17 would: cpp_api_test LENET.onnx ZIP_LABELS.onnx
//
// The first model has one input float[batch, 1, 28, 28] and one output float[batch, 10]; the second
// takes scores float[n, 3] and names string[n] and gives label int64[n], probabilities
// seq(map(int64, float)) and the names.
#include "sardonyx/sardonyx.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

int failures = 0;

void expect_that(bool condition, const char* text, int line) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, line, text);
  ++failures;
}
#define EXPECT(condition) expect_that((condition), #condition, __LINE__)

template <typename Work>
sx_status status_of(const Work& work) {
  try {
    work();
  } catch (const sx::Error& error) {
    EXPECT(std::strlen(error.what()) > 0);
    return error.status();
  }
  return SX_OK;
}

const sx::Shape kImages = {3, 1, 28, 28};

std::vector<float> pixels() {
  std::vector<float> made(sx::element_count(kImages));
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<float>(i % 17) / 8 - 1;
  return made;
}

void test_values() {
  const auto tensor = sx::Value::tensor<std::int32_t>({2, 2}, {1, 2, 3, 4});
  const sx::Value copy = tensor;
  EXPECT(copy.data<std::int32_t>()[3] == 4 && copy.shape() == sx::Shape({2, 2}));
  EXPECT(status_of([&] { copy.data<float>(); }) == SX_INVALID_ARGUMENT);
  EXPECT(sx::Value::scalar(2.5).data<double>()[0] == 2.5);
  EXPECT(sx::Value::adopt<float>({3}, {1, 2, 3}).data<float>().size() == 3);
  const std::vector<std::string> words = {"a", std::string("b\0c", 3), ""};
  EXPECT(sx::Value::strings({3}, words).strings() == words);
  EXPECT(status_of([&] { sx::Value::strings({2}, words); }) == SX_INVALID_ARGUMENT);
  EXPECT(status_of([] { sx::Value::tensor<float>({2}, {1.0f}); }) == SX_INVALID_ARGUMENT);
  const auto list = sx::Value::sequence({tensor, copy});
  EXPECT(list.kind() == SX_SEQUENCE && list.size() == 2 && list[1].size() == 4);
  EXPECT(sx::Value::sequence({}, "float").size() == 0);
  EXPECT(sx::Value::optional(tensor).size() == 1);
  EXPECT(sx::Value::empty_optional("seq(float)").size() == 0);
  const auto map = sx::Value::map(sx::Value::tensor<std::int64_t>({1}, {7}),
                                  sx::Value::tensor<float>({1}, {0.5f}));
  EXPECT(map.map().keys.data<std::int64_t>()[0] == 7 && map.map().values.data<float>()[0] == 0.5f);
  const auto sparse = sx::Value::sparse(sx::Value::tensor<float>({1}, {4.0f}),
                                        sx::Value::tensor<std::int64_t>({1}, {3}), {2, 2});
  EXPECT(sparse.sparse().shape == sx::Shape({2, 2}));
}

void test_session(const std::string& path) {
  std::vector<std::string> lines;
  sx::SessionOptions options;
  options.c.threads = 1;
  options.c.log_level = SX_LOG_INFO;
  options.log = [&](sx_log_level, const char* line) { lines.emplace_back(line); };
  sx::Session session(path, options);
  EXPECT(!lines.empty());
  const sx::ValueInfo input = session.inputs().at(0);
  EXPECT(input.dtype == SX_FLOAT && input.shape->at(0) == -1 && input.dim_names.at(0) == "batch");
  EXPECT(session.outputs().size() == 1 && session.metadata().opsets.count("") == 1);
  session.prepare({kImages});
  EXPECT(session.stats().plans == 1);
  const std::vector<float> data = pixels();
  const auto images = sx::Value::borrow<float>(kImages, data.data(), data.size());
  const std::vector<sx::Value> outputs = session.run({{input.name, images}});
  EXPECT(outputs.size() == 1 && outputs[0].shape() == sx::Shape({3, 10}));
  const std::vector<sx::Value> fetched =
      session.fetch({{input.name, images}}, {session.outputs().at(0).name, input.name});
  EXPECT(fetched.size() == 2 && fetched[1].size() == images.size());
  EXPECT(status_of([&] { session.run({{"nothing", images}}); }) == SX_INVALID_ARGUMENT);
  EXPECT(status_of([] { sx::Session("no such file"); }) == SX_INVALID_ARGUMENT);
}

void test_binding(const std::string& path) {
  sx::Cancellation cancellation;
  sx::Profile profile;
  std::vector<float> scores(30);
  const std::vector<float> data = pixels();
  std::unique_ptr<sx::Binding> binding;
  {
    const sx::Session session(path);
    binding = std::make_unique<sx::Binding>(session);  // keeps what it needs of the session
  }
  binding->set_input<float>(0, kImages, data.data());
  binding->set_output<float>(0, {3, 10}, scores.data());
  sx::RunOptions options;
  options.profile = &profile;
  options.cancellation = &cancellation;
  options.strict_outputs = true;
  binding->run(options);
  EXPECT(binding->view(0).written() && binding->view(0).raw() == scores.data());
  EXPECT(profile.size() > 0 && std::strlen(profile[0].op) > 0);
  const sx::Value kept = binding->output(0);
  EXPECT(kept.data<float>()[29] == scores[29] && kept.data<float>().data() != scores.data());
  binding->run_async().get();
  cancellation.request();
  EXPECT(status_of([&] { binding->run(options); }) == SX_CANCELLED);
  std::future<void> cancelled = binding->run_async(options);
  EXPECT(status_of([&] { cancelled.get(); }) == SX_CANCELLED);
  cancellation.reset();
  EXPECT(status_of([&] { binding->run(options); }) == SX_OK);
}

// The binding that is replaced has a run under way, which tells the log of its session.
void test_moves(const std::string& path) {
  const auto made = [&](std::atomic<int>& lines) {
    sx::SessionOptions options;
    options.c.log_level = SX_LOG_DEBUG;
    // With memory of its own, which goes with the session.
    const auto prefix = std::make_shared<std::string>(1000, '-');
    options.log = [prefix, &lines](sx_log_level, const char* line) {
      lines += static_cast<int>(prefix->size() + std::strlen(line));
    };
    sx::Binding binding{sx::Session(path, options)};
    binding.set_input(0, sx::Value::tensor<float>({1, 1, 28, 28}, std::vector<float>(784, 0.5f)));
    return binding;
  };
  std::atomic<int> lines{0};
  for (int i = 0; i < 5; ++i) {
    sx::Binding binding = made(lines);
    std::future<void> run = binding.run_async();
    binding = made(lines);
    run.get();
    sx::Binding other = made(lines);
    std::swap(binding, other);
    binding.run();
    other.run();
  }
  EXPECT(lines > 0);
}

void test_kinds(const std::string& path) {
  const sx::Session session(path);
  const auto scores = sx::Value::tensor<float>({2, 3}, {0.5f, 0.25f, 0.25f, 0, 0, 1});
  const auto outputs =
      session.run({{"scores", scores}, {"names", sx::Value::strings({2}, {"l", "r"})}});
  EXPECT(outputs[0].data<std::int64_t>()[1] == 2);
  EXPECT(outputs[1].kind() == SX_SEQUENCE && outputs[1].size() == 2);
  EXPECT(outputs[1][0].map().keys.data<std::int64_t>()[2] == 8);
  EXPECT(outputs[1][1].map().values.data<float>()[2] == 1);
  EXPECT(outputs[2].strings() == std::vector<std::string>({"l", "r"}));
}

}  // namespace

int main(int count, char** values) {
  if (count != 3) {
    std::fprintf(stderr, "usage: cpp_api_test LENET.onnx ZIP_LABELS.onnx\n");
    return 2;
  }
  try {
    test_values();
    test_session(values[1]);
    test_binding(values[1]);
    test_moves(values[1]);
    test_kinds(values[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("sardonyx %s: %d failures\n", sx_version(), failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
