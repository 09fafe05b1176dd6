// For tests of the interface: the same calls to our table and, where SARDONYX_ONNXRUNTIME names
// ONNX Runtime's library, to the real one, which must give the same answers.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/ort_abi/table/functions.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {

inline const OrtApi* real_api() {
  static const OrtApi* const api = []() -> const OrtApi* {
    const char* path = std::getenv("SARDONYX_ONNXRUNTIME");
    void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return nullptr;
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
    return base ? base()->GetApi(ORT_API_VERSION) : nullptr;
  }();
  return api;
}

// Runs once for each of the two.
class OrtApiTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    api = GetParam() ? real_api() : ort_abi::api();
    if (!api) GTEST_SKIP() << "SARDONYX_ONNXRUNTIME names no library of this version";
    ok(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "tests", &env));
    ok(api->GetAllocatorWithDefaultOptions(&allocator));
    ok(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &cpu));
  }
  void TearDown() override {
    while (!owned_.empty())
      owned_.pop_back();
    if (!api) return;
    api->ReleaseMemoryInfo(cpu);
    api->ReleaseEnv(env);
  }
  bool is_real() const { return GetParam(); }

  void ok(OrtStatus* status) {
    if (!status) return;
    ADD_FAILURE() << api->GetErrorCode(status) << ": " << api->GetErrorMessage(status);
    api->ReleaseStatus(status);
  }
  // A failure of this code whose message has `part` in it.
  void refused(OrtStatus* status, OrtErrorCode code, const std::string& part) {
    ASSERT_NE(status, nullptr) << "expected: " << part;
    EXPECT_EQ(api->GetErrorCode(status), code) << api->GetErrorMessage(status);
    EXPECT_NE(std::string(api->GetErrorMessage(status)).find(part), std::string::npos)
        << api->GetErrorMessage(status) << "\nexpected: " << part;
    api->ReleaseStatus(status);
  }
  // Released when the test ends, the last one first.
  template <typename T>
  T* own(T* object, void (*release)(T*)) {
    owned_.push_back(std::shared_ptr<void>(
        object, [release](void* released) { release(static_cast<T*>(released)); }));
    return object;
  }
  std::string text_of(char* allocated) {
    const std::string text = allocated ? allocated : "NULL";
    if (allocated) ok(api->AllocatorFree(allocator, allocated));
    return text;
  }

  OrtSessionOptions* options() {
    OrtSessionOptions* made = nullptr;
    ok(api->CreateSessionOptions(&made));
    return own(made, api->ReleaseSessionOptions);
  }
  OrtSession* session(const std::string& model, const OrtSessionOptions* with = nullptr) {
    OrtSession* made = nullptr;
    ok(api->CreateSessionFromArray(env, model.data(), model.size(), with ? with : options(),
                                   &made));
    return made ? own(made, api->ReleaseSession) : nullptr;
  }
  // Elements are copied to memory of the library's.
  template <typename T>
  OrtValue* tensor(const std::vector<T>& elements, const Shape& shape) {
    OrtValue* made = nullptr;
    constexpr auto kType = static_cast<ONNXTensorElementDataType>(dtype_of<T>());
    ok(api->CreateTensorAsOrtValue(allocator, shape.data(), shape.size(), kType, &made));
    if (!made) return nullptr;
    own(made, api->ReleaseValue);
    if constexpr (std::is_same_v<T, std::string>) {
      std::vector<const char*> strings;
      for (const std::string& element : elements)
        strings.push_back(element.c_str());
      ok(api->FillStringTensor(made, strings.data(), strings.size()));
    } else {
      void* data = nullptr;
      ok(api->GetTensorMutableData(made, &data));
      std::copy(elements.begin(), elements.end(), static_cast<T*>(data));
    }
    return made;
  }
  Shape shape_of(const OrtValue* value) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ok(api->GetTensorTypeAndShape(value, &info));
    size_t rank = 0;
    ok(api->GetDimensionsCount(info, &rank));
    Shape shape(rank);
    ok(api->GetDimensions(info, shape.data(), rank));
    api->ReleaseTensorTypeAndShapeInfo(info);
    return shape;
  }
  template <typename T>
  std::vector<T> elements_of(OrtValue* value) {
    void* data = nullptr;
    ok(api->GetTensorMutableData(value, &data));
    const auto* first = static_cast<const T*>(data);
    return {first, first + element_count(shape_of(value))};
  }
  using Names = std::vector<const char*>;
  OrtStatus* run(OrtSession* with, const Names& inputs, const std::vector<const OrtValue*>& values,
                 const Names& outputs, std::vector<OrtValue*>& results,
                 const OrtRunOptions* run_options = nullptr) {
    return api->Run(with, run_options, inputs.data(), values.data(), inputs.size(), outputs.data(),
                    outputs.size(), results.data());
  }
  // The one output that is asked for.
  OrtValue* output_of(OrtSession* with, const Names& inputs,
                      const std::vector<const OrtValue*>& values, const char* output) {
    std::vector<OrtValue*> results(1);
    ok(run(with, inputs, values, {output}, results));
    return results[0] ? own(results[0], api->ReleaseValue) : nullptr;
  }

  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  OrtAllocator* allocator = nullptr;
  OrtMemoryInfo* cpu = nullptr;

 private:
  std::vector<std::shared_ptr<void>> owned_;
};

#define ORT_API_TESTS(suite)                            \
  INSTANTIATE_TEST_SUITE_P(Api, suite, testing::Bool(), \
                           [](const auto& info) { return info.param ? "real" : "ours"; })

// The bytes of a model with the graph that `build` makes.
inline std::string model_of(const std::function<void(Graph&)>& build) {
  Model model;
  build(*model.graph);
  return model_bytes(model);
}

// y = x + x, of any type that can be added.
inline std::string doubling_model(DType dtype = DType::kFloat, Dims dims = {Dim::symbol("n"), 3}) {
  return model_of([&](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(dtype, dims));
    GraphEmitter emitter(graph);
    Value* y =
        GraphEmitter::unwrap(emitter.call("Add", {GraphEmitter::wrap(x), GraphEmitter::wrap(x)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
}

// y = x + w of float[2], where w is an input with the default (10, 20).
inline std::string model_with_default() {
  return model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
    Value* w = graph.add_input("w", Type::tensor(DType::kFloat, Dims{2}));
    w->default_value = std::make_shared<const Tensor>(Tensor::vector<float>({10, 20}));
    GraphEmitter emitter(graph);
    Value* y =
        GraphEmitter::unwrap(emitter.call("Add", {GraphEmitter::wrap(x), GraphEmitter::wrap(w)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
}

}  // namespace sardonyx::ort_abi
