// What programs ask of devices and of models that were compiled for one: there is the CPU alone.
#include <set>

#include "executor/ort_abi/api_for_test.h"

namespace sardonyx::ort_abi {
namespace {

class OrtEpTest : public OrtApiTest {
 protected:
  const OrtEpDevice* cpu_device_of_api() {
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    ok(api->GetEpDevices(env, &devices, &count));
    return count > 0 ? devices[count - 1] : nullptr;
  }
  template <typename Function>
  Function* experimental(const char* name) {
    return reinterpret_cast<Function*>(api->GetExperimentalFunction(name));
  }
};

TEST_P(OrtEpTest, the_cpu_has_no_say_in_what_was_compiled) {
  const OrtEpDevice* device = cpu_device_of_api();
  OrtCompiledModelCompatibility status = OrtCompiledModelCompatibility_EP_UNSUPPORTED;
  ok(api->GetModelCompatibilityForEpDevices(&device, 1, "info", &status));
  EXPECT_EQ(status, OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
  refused(api->GetModelCompatibilityForEpDevices(&device, 0, "info", &status), ORT_INVALID_ARGUMENT,
          "Invalid argument provided to GetModelCompatibilityForEpDevices.");
}

TEST_P(OrtEpTest, what_a_provider_wrote_into_a_model_is_read_back) {
  Model model;
  GraphEmitter emitter(*model.graph);
  Value* x = model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{2}));
  model.graph->add_output(GraphEmitter::unwrap(emitter.call("Relu", {GraphEmitter::wrap(x)})));
  model.metadata["ep_compatibility_info.some"] = "v1";
  const std::string bytes = model_bytes(model);
  char* info = nullptr;
  ok(api->GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), "some", allocator, &info));
  EXPECT_EQ(text_of(info), "v1");
  ok(api->GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), "other", allocator,
                                             &info));
  EXPECT_EQ(info, nullptr);
  refused(api->GetCompatibilityInfoFromModelBytes("abcdefg", 7, "some", allocator, &info),
          ORT_INVALID_GRAPH, "Protobuf parsing failed.");
}

TEST_P(OrtEpTest, functions_are_found_by_the_version_that_they_came_with) {
  EXPECT_EQ(api->GetExperimentalFunction(nullptr), nullptr);
  EXPECT_EQ(api->GetExperimentalFunction("OrtApi_ExperimentalApiTest_SinceV29"), nullptr);
  auto* test = experimental<OrtStatus*(int64_t*)>("OrtApi_ExperimentalApiTest_SinceV28");
  ASSERT_NE(test, nullptr);
  int64_t number = 0;
  ok(test(&number));
  EXPECT_EQ(number, 12345);
}

TEST_P(OrtEpTest, nodes_are_the_cpus_where_a_session_is_to_tell) {
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  refused(api->Session_GetEpGraphAssignmentInfo(session(doubling_model()), &subgraphs, &count),
          ORT_FAIL, "session.record_ep_graph_assignment_info");
  OrtSessionOptions* with = options();
  ok(api->AddSessionConfigEntry(with, "session.record_ep_graph_assignment_info", "1"));
  ok(api->Session_GetEpGraphAssignmentInfo(session(doubling_model(), with), &subgraphs, &count));
  ASSERT_EQ(count, 1u);
  const char* name = nullptr;
  ok(api->EpAssignedSubgraph_GetEpName(subgraphs[0], &name));
  EXPECT_STREQ(name, "CPUExecutionProvider");
  const OrtEpAssignedNode* const* nodes = nullptr;
  ok(api->EpAssignedSubgraph_GetNodes(subgraphs[0], &nodes, &count));
  ASSERT_EQ(count, 1u);
  ok(api->EpAssignedNode_GetOperatorType(nodes[0], &name));
  EXPECT_STREQ(name, "Add");
}

// Each node of the model, though kernels here may take several as one.
TEST_P(OrtEpTest, all_nodes_of_a_chain_are_told) {
  const std::string chain = model_of([](Graph& graph) {
    GraphEmitter emitter(graph);
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{3, 2}));
    Val y = emitter.call("Add", {GraphEmitter::wrap(x), GraphEmitter::wrap(x)});
    y = emitter.call("Mul", {y, GraphEmitter::wrap(x)});
    graph.add_output(GraphEmitter::unwrap(emitter.call("Add", {y, GraphEmitter::wrap(x)})));
  });
  OrtSessionOptions* with = options();
  ok(api->AddSessionConfigEntry(with, "session.record_ep_graph_assignment_info", "1"));
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  ok(api->Session_GetEpGraphAssignmentInfo(session(chain, with), &subgraphs, &count));
  std::multiset<std::string> ops;
  for (size_t i = 0; i < count; ++i) {
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t nodes_count = 0;
    const char* op = nullptr;
    ok(api->EpAssignedSubgraph_GetNodes(subgraphs[i], &nodes, &nodes_count));
    ASSERT_EQ(nodes_count, 1u);
    ok(api->EpAssignedNode_GetOperatorType(nodes[0], &op));
    ops.insert(op);
  }
  EXPECT_EQ(ops, (std::multiset<std::string>{"Add", "Add", "Mul"}));
}

// What the function is to do, and what it was told.
struct Choice {
  const OrtApi* api;
  size_t count;
  bool fails = false;
  size_t entries = 0;
};

OrtStatus* choose(const OrtEpDevice** devices, size_t, const OrtKeyValuePairs* model,
                  const OrtKeyValuePairs*, const OrtEpDevice** selected, size_t, size_t* count,
                  void* state) {
  auto& choice = *static_cast<Choice*>(state);
  const char *const *keys = nullptr, *const *values = nullptr;
  choice.api->GetKeyValuePairs(model, &keys, &values, &choice.entries);
  if (choice.fails) return choice.api->CreateStatus(ORT_EP_FAIL, "it was told to fail");
  selected[0] = devices[0];
  *count = choice.count;
  return nullptr;
}

TEST_P(OrtEpTest, a_program_chooses_devices) {
  const std::string model = doubling_model();
  Choice choice{api, 1};
  OrtSessionOptions* with = options();
  ok(api->SessionOptionsSetEpSelectionPolicyDelegate(with, choose, &choice));
  EXPECT_NE(session(model, with), nullptr);
  EXPECT_GT(choice.entries, 0u);
  OrtSession* none = nullptr;
  choice.count = 0;
  refused(api->CreateSessionFromArray(env, model.data(), model.size(), with, &none), ORT_FAIL,
          "did not select anything");
  choice.count = 9;
  refused(api->CreateSessionFromArray(env, model.data(), model.size(), with, &none), ORT_FAIL,
          "selected too many EP devices (9)");
  choice.fails = true;
  refused(api->CreateSessionFromArray(env, model.data(), model.size(), with, &none), ORT_FAIL,
          "EP selection delegate failed: it was told to fail");
}

ORT_API_TESTS(OrtEpTest);

}  // namespace
}  // namespace sardonyx::ort_abi
