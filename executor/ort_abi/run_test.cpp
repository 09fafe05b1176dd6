// Runs: by names, into memory of the caller's, by bindings, in other threads.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "executor/ort_abi/api_for_test.h"

namespace sardonyx::ort_abi {
namespace {

class OrtRunTest : public OrtApiTest {
 protected:
  OrtIoBinding* binding(OrtSession* of) {
    OrtIoBinding* made = nullptr;
    ok(api->CreateIoBinding(of, &made));
    return own(made, api->ReleaseIoBinding);
  }
  std::vector<OrtValue*> bound_values(OrtIoBinding* of) {
    OrtValue** values = nullptr;
    size_t count = 0;
    ok(api->GetBoundOutputValues(of, allocator, &values, &count));
    std::vector<OrtValue*> all(values, values + count);
    for (OrtValue* value : all)
      own(value, api->ReleaseValue);
    if (values) ok(api->AllocatorFree(allocator, values));
    return all;
  }
};

// y = x without its zeros: the shape depends on values.
std::string nonzero_model() {
  return model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n")}));
    GraphEmitter emitter(graph);
    Value* y = GraphEmitter::unwrap(emitter.call("NonZero", {GraphEmitter::wrap(x)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
}

TEST_P(OrtRunTest, requests_are_checked) {
  OrtSession* loaded = session(doubling_model());
  const OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  std::vector<OrtValue*> y(1);
  refused(run(loaded, {"none"}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT, "Invalid input name: none");
  refused(run(loaded, {"x"}, {x}, {"none"}, y), ORT_INVALID_ARGUMENT, "Invalid output name: none");
  refused(run(loaded, {""}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT, "input name cannot be empty");
  refused(run(loaded, {nullptr}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "input name cannot be empty");
  refused(run(loaded, {"x"}, {x}, {""}, y), ORT_INVALID_ARGUMENT, "output name cannot be empty");
  refused(run(loaded, {"x"}, {nullptr}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "NULL input supplied for input x");
  refused(run(loaded, {"x"}, {x}, {}, y), ORT_INVALID_ARGUMENT,
          "At least one output should be requested.");
  refused(run(loaded, {}, {}, {"y"}, y), ORT_FAIL, "Missing Input: x");
  refused(run(loaded, {"x"}, {tensor<double>({1, 2, 3}, {1, 3})}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "Unexpected input data type. Actual: (tensor(double)) , expected: (tensor(float))");
  refused(
      run(loaded, {"x"}, {tensor<float>({1, 2, 3}, {3})}, {"y"}, y), ORT_INVALID_ARGUMENT,
      "Invalid rank for input: x Got: 1 Expected: 2 Please fix either the inputs/outputs or the "
      "model.");
  refused(
      run(loaded, {"x"}, {tensor<float>({1, 2}, {1, 2})}, {"y"}, y), ORT_INVALID_ARGUMENT,
      "Got invalid dimensions for input: x for the following indices\n index: 1 Got: 2 Expected: "
      "3\n Please fix either the inputs/outputs or the model.");
  const OrtValue* items[] = {x};
  OrtValue* sequence = nullptr;
  ok(api->CreateValue(items, 1, ONNX_TYPE_SEQUENCE, &sequence));
  own(sequence, api->ReleaseValue);
  refused(run(loaded, {"x"}, {sequence}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "input with name: 'x' expected to be of type: 2 but received a tensor sequence");
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {x}, "y")), (std::vector<float>{2, 4, 6}));
}

TEST_P(OrtRunTest, outputs_are_written_where_the_caller_has_them) {
  OrtSession* loaded = session(doubling_model());
  const OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  OrtValue* memory = tensor<float>({0, 0, 0}, {1, 3});
  std::vector<OrtValue*> y{memory};
  ok(run(loaded, {"x"}, {x}, {"y"}, y));
  EXPECT_EQ(y[0], memory);
  EXPECT_EQ(elements_of<float>(memory), (std::vector<float>{2, 4, 6}));
  y[0] = tensor<float>({0, 0}, {1, 2});
  refused(run(loaded, {"x"}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "Got invalid dimensions for output: y for the following indices\n index: 1 Got: 2 "
          "Expected: 3");
  y[0] = tensor<double>({0, 0, 0}, {1, 3});
  refused(run(loaded, {"x"}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "Unexpected output data type. Actual: (tensor(double)) , expected: (tensor(float))");
  y[0] = tensor<float>({0, 0, 0, 0, 0, 0}, {2, 3});
  refused(run(loaded, {"x"}, {x}, {"y"}, y), ORT_INVALID_ARGUMENT,
          "but the computed output shape for this run is {1,3}");
}

TEST_P(OrtRunTest, an_output_may_be_asked_for_twice) {
  OrtSession* loaded = session(doubling_model());
  std::vector<OrtValue*> results(2);
  ok(run(loaded, {"x"}, {tensor<float>({1, 2, 3}, {1, 3})}, {"y", "y"}, results));
  for (OrtValue* value : results) {
    EXPECT_EQ(elements_of<float>(value), (std::vector<float>{2, 4, 6}));
    api->ReleaseValue(value);
  }
}

TEST_P(OrtRunTest, two_outputs_may_be_given_one_place) {
  const std::string model = model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{3}));
    GraphEmitter emitter(graph);
    for (const auto& [name, op] : {std::pair{"first", "Neg"}, {"second", "Abs"}}) {
      Value* made = GraphEmitter::unwrap(emitter.call(op, {GraphEmitter::wrap(x)}));
      graph.rename(*made, name);
      graph.add_output(made);
    }
  });
  OrtSession* loaded = session(model);
  OrtValue* x = tensor<float>({1, -2, 3}, {3});
  OrtValue* memory = tensor<float>({0, 0, 0}, {3});
  std::vector<OrtValue*> both{memory, memory};
  ok(run(loaded, {"x"}, {x}, {"first", "second"}, both));
  const std::vector<float> stays = elements_of<float>(memory);
  EXPECT_TRUE((stays == std::vector<float>{-1, 2, -3}) || (stays == std::vector<float>{1, 2, 3}));
  if (is_real()) return;  // it keeps what it computes last
  EXPECT_EQ(stays, (std::vector<float>{1, 2, 3}));
}

TEST_P(OrtRunTest, an_input_that_nothing_reads_may_be_left_out) {
  const std::string model = model_of([](Graph& graph) {
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n")});
    graph.add_input("unread", type);
    Value* x = graph.add_input("x", type);
    GraphEmitter emitter(graph);
    Value* y = GraphEmitter::unwrap(emitter.call("Abs", {GraphEmitter::wrap(x)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
  OrtSession* loaded = session(model);
  OrtValue* x = tensor<float>({1, -2}, {2});
  std::vector<OrtValue*> none(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {x}, "y")), (std::vector<float>{1, 2}));
    EXPECT_EQ(elements_of<float>(output_of(loaded, {"unread", "x"}, {x, x}, "y")),
              (std::vector<float>{1, 2}));
  }
  refused(run(loaded, {"unread", "x"}, {tensor<double>({1, 2}, {2}), x}, {"y"}, none),
          ORT_INVALID_ARGUMENT, "Unexpected input data type");
  refused(run(loaded, {"unread"}, {x}, {"y"}, none), ORT_FAIL, "Missing Input: x");
}

TEST_P(OrtRunTest, what_a_run_gave_is_the_callers_to_write) {
  const std::string model = model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
    GraphEmitter emitter(graph);
    Value* same = GraphEmitter::unwrap(emitter.call("Identity", {GraphEmitter::wrap(x)}));
    Value* constant = GraphEmitter::unwrap(emitter.call(
        "Identity", {GraphEmitter::wrap(graph.add_constant("w", Tensor::vector<float>({5, 6})))}));
    graph.rename(*same, "same");
    graph.rename(*constant, "constant");
    graph.add_output(same);
    graph.add_output(constant);
  });
  OrtSession* loaded = session(model);
  OrtValue* x = tensor<float>({1, 2}, {2});
  for (const char* name : {"same", "constant"}) {
    OrtValue* output = output_of(loaded, {"x"}, {x}, name);
    void* data = nullptr;
    ok(api->GetTensorMutableData(output, &data));
    static_cast<float*>(data)[0] = 99;
  }
  EXPECT_EQ(elements_of<float>(x)[0], 1);
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {x}, "constant"))[0], 5);
}

TEST_P(OrtRunTest, termination_stays_until_it_is_taken_back) {
  OrtSession* loaded = session(doubling_model());
  const OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  OrtRunOptions* with = nullptr;
  ok(api->CreateRunOptions(&with));
  own(with, api->ReleaseRunOptions);
  ok(api->RunOptionsSetTerminate(with));
  std::vector<OrtValue*> y(1);
  for (int i = 0; i < 2; ++i) {
    refused(run(loaded, {"x"}, {x}, {"y"}, y, with), ORT_FAIL,
            "Exiting due to terminate flag being set to true.");
  }
  ok(api->RunOptionsUnsetTerminate(with));
  ok(run(loaded, {"x"}, {x}, {"y"}, y, with));
  api->ReleaseValue(y[0]);
}

TEST_P(OrtRunTest, options_of_a_run) {
  OrtRunOptions* with = nullptr;
  ok(api->CreateRunOptions(&with));
  own(with, api->ReleaseRunOptions);
  int level = 0;
  ok(api->RunOptionsGetRunLogSeverityLevel(with, &level));
  EXPECT_EQ(level, -1);
  ok(api->RunOptionsSetRunTag(with, "a tag"));
  const char* tag = nullptr;
  ok(api->RunOptionsGetRunTag(with, &tag));
  EXPECT_STREQ(tag, "a tag");
  refused(api->AddRunConfigEntry(with, "", "v"), ORT_INVALID_ARGUMENT, "Config key is empty");
  ok(api->AddRunConfigEntry(with, "k", "v"));
  EXPECT_STREQ(api->GetRunConfigEntry(with, "k"), "v");
  EXPECT_EQ(api->GetRunConfigEntry(with, "none"), nullptr);
}

TEST_P(OrtRunTest, bindings) {
  OrtSession* loaded = session(doubling_model());
  OrtIoBinding* bound = binding(loaded);
  refused(api->RunWithBinding(loaded, nullptr, bound), ORT_INVALID_ARGUMENT,
          "At least one output should be requested.");
  refused(api->BindInput(bound, "none", tensor<float>({1}, {1})), ORT_FAIL,
          "Failed to find input name in the mapping: none");
  bound = binding(loaded);
  OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  ok(api->BindInput(bound, "x", x));
  ok(api->BindOutputToDevice(bound, "y", cpu));
  std::vector<OrtValue*> before = bound_values(bound);
  ASSERT_EQ(before.size(), 1u);
  int has = 1;
  ok(api->HasValue(before[0], &has));
  EXPECT_EQ(has, 0);
  ok(api->SynchronizeBoundInputs(bound));
  ok(api->RunWithBinding(loaded, nullptr, bound));
  ok(api->SynchronizeBoundOutputs(bound));
  void *first = nullptr, *second = nullptr;
  ok(api->GetTensorMutableData(bound_values(bound)[0], &first));
  EXPECT_EQ(elements_of<float>(bound_values(bound)[0]), (std::vector<float>{2, 4, 6}));
  ok(api->RunWithBinding(loaded, nullptr, bound));
  ok(api->GetTensorMutableData(bound_values(bound)[0], &second));
  EXPECT_EQ(first, second);
  ok(api->BindInput(bound, "x", tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3})));
  refused(api->RunWithBinding(loaded, nullptr, bound), ORT_INVALID_ARGUMENT,
          "has shape {1,3} but the computed output shape for this run is {2,3}");
  char* names = nullptr;
  size_t* lengths = nullptr;
  size_t count = 0;
  ok(api->GetBoundOutputNames(bound, allocator, &names, &lengths, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(std::string(names, lengths[0]), "y");
  ok(api->AllocatorFree(allocator, names));
  ok(api->AllocatorFree(allocator, lengths));
  api->ClearBoundOutputs(bound);
  OrtValue* memory = tensor<float>(std::vector<float>(6), {2, 3});
  ok(api->BindOutput(bound, "y", memory));
  ok(api->RunWithBinding(loaded, nullptr, bound));
  EXPECT_EQ(elements_of<float>(memory)[5], 12);
  api->ClearBoundInputs(bound);
  refused(api->RunWithBinding(loaded, nullptr, bound), ORT_FAIL, "Missing Input: x");
}

TEST_P(OrtRunTest, shapes_that_depend_on_values) {
  OrtSession* loaded = session(nonzero_model());
  EXPECT_EQ(shape_of(output_of(loaded, {"x"}, {tensor<float>({0, 5, 0, 6}, {4})}, "y")),
            (Shape{1, 2}));
  EXPECT_EQ(shape_of(output_of(loaded, {"x"}, {tensor<float>({0, 0}, {2})}, "y")), (Shape{1, 0}));
}

TEST_P(OrtRunTest, initializers_that_are_inputs_may_be_given) {
  OrtSession* loaded = session(model_with_default());
  size_t count = 0;
  ok(api->SessionGetInputCount(loaded, &count));
  EXPECT_EQ(count, 1u);
  ok(api->SessionGetOverridableInitializerCount(loaded, &count));
  ASSERT_EQ(count, 1u);
  char* name = nullptr;
  ok(api->SessionGetOverridableInitializerName(loaded, 0, allocator, &name));
  EXPECT_EQ(text_of(name), "w");
  const OrtValue* x = tensor<float>({1, 2}, {2});
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {x}, "y")), (std::vector<float>{11, 22}));
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"w", "x"}, {x, x}, "y")),
            (std::vector<float>{2, 4}));
}

// What the callback of an asynchronous run was told.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_told = false;
  size_t outputs = 0;
  OrtStatus* status = nullptr;
  std::thread::id thread;

  static void tell(void* self, OrtValue**, size_t count, OrtStatusPtr status) {
    auto& told = *static_cast<Told*>(self);
    const std::lock_guard lock(told.mutex);
    told.is_told = true;
    told.outputs = count;
    told.status = status;
    told.thread = std::this_thread::get_id();
    told.changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_told; });
  }
};

TEST_P(OrtRunTest, runs_in_other_threads) {
  OrtSessionOptions* with = options();
  ok(api->SetIntraOpNumThreads(with, 2));
  OrtSession* loaded = session(doubling_model(), with);
  const OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  const char *input = "x", *output = "y";
  OrtValue* y = nullptr;
  Told told;
  ok(api->RunAsync(loaded, nullptr, &input, &x, 1, &output, 1, &y, Told::tell, &told));
  told.wait();
  ok(told.status);
  EXPECT_EQ(told.outputs, 1u);
  EXPECT_NE(told.thread, std::this_thread::get_id());
  EXPECT_EQ(elements_of<float>(own(y, api->ReleaseValue)), (std::vector<float>{2, 4, 6}));
  OrtSessionOptions* alone = options();
  ok(api->SetIntraOpNumThreads(alone, 1));
  y = nullptr;
  refused(api->RunAsync(session(doubling_model(), alone), nullptr, &input, &x, 1, &output, 1, &y,
                        Told::tell, &told),
          ORT_INVALID_ARGUMENT, "intra op thread pool must have at least one thread for RunAsync");
}

TEST_P(OrtRunTest, a_session_is_released_behind_its_runs) {
  if (is_real()) GTEST_SKIP() << "ONNX Runtime wants its callers to wait";
  OrtSessionOptions* with = options();
  ok(api->SetIntraOpNumThreads(with, 2));
  const std::string model = doubling_model();
  OrtSession* made = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &made));
  ASSERT_NE(made, nullptr);
  const OrtValue* x = tensor<float>(std::vector<float>(30'000, 1), {10'000, 3});
  const char *input = "x", *output = "y";
  constexpr size_t kRuns = 8;
  std::vector<OrtValue*> results(kRuns);
  std::vector<Told> told(kRuns);
  for (size_t i = 0; i < kRuns; ++i)
    ok(api->RunAsync(made, nullptr, &input, &x, 1, &output, 1, &results[i], Told::tell, &told[i]));
  api->ReleaseSession(made);
  for (size_t i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(told[i].is_told);
    ok(told[i].status);
    EXPECT_EQ(elements_of<float>(own(results[i], api->ReleaseValue))[29'999], 2.0f);
  }
}

TEST_P(OrtRunTest, one_session_serves_many_threads) {
  OrtSession* loaded = session(doubling_model());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      float data[3] = {float(i), 1, 2};
      const int64_t shape[] = {1, 3};
      OrtValue* x = nullptr;
      ok(api->CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape, 2,
                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &x));
      for (int repeat = 0; repeat < 200; ++repeat) {
        std::vector<OrtValue*> y(1);
        ok(run(loaded, {"x"}, {x}, {"y"}, y));
        void* result = nullptr;
        ok(api->GetTensorMutableData(y[0], &result));
        if (static_cast<float*>(result)[0] != 2 * float(i)) ++wrong;
        api->ReleaseValue(y[0]);
      }
      api->ReleaseValue(x);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(OrtRunTest, sequences_and_maps_come_and_go) {
  const std::string model = model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
    GraphEmitter emitter(graph);
    Value* y = GraphEmitter::unwrap(
        emitter.call("SequenceConstruct", {GraphEmitter::wrap(x), GraphEmitter::wrap(x)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
  OrtSession* loaded = session(model);
  OrtTypeInfo* type = nullptr;
  ok(api->SessionGetOutputTypeInfo(loaded, 0, &type));
  own(type, api->ReleaseTypeInfo);
  const OrtSequenceTypeInfo* sequence = nullptr;
  ok(api->CastTypeInfoToSequenceTypeInfo(type, &sequence));
  ASSERT_NE(sequence, nullptr);
  OrtTypeInfo* element = nullptr;
  ok(api->GetSequenceElementType(sequence, &element));
  ONNXType kind{};
  ok(api->GetOnnxTypeFromTypeInfo(element, &kind));
  EXPECT_EQ(kind, ONNX_TYPE_TENSOR);
  api->ReleaseTypeInfo(element);
  OrtValue* y = output_of(loaded, {"x"}, {tensor<float>({1, 2}, {2})}, "y");
  size_t count = 0;
  ok(api->GetValueCount(y, &count));
  EXPECT_EQ(count, 2u);
}

ORT_API_TESTS(OrtRunTest);

}  // namespace
}  // namespace sardonyx::ort_abi
