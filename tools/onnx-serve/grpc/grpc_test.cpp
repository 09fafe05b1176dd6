// Drives the program over gRPC.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/test_data.h"
#include "tools/onnx-serve/grpc/inference_service.grpc.pb.h"
#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using testing::HasSubstr;

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

ModelInferRequest negate_request(const std::vector<float>& values) {
  ModelInferRequest request;
  request.set_model_name("negate");
  auto& input = *request.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(static_cast<int64_t>(values.size()) / 2);
  input.add_shape(2);
  request.add_raw_input_contents(bytes_of(values));
  return request;
}

class GrpcTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    save_unary(*folder_ / "negate/1/model.onnx", "Neg", DType::kFloat, 2);
    save_unary(*folder_ / "text/1/model.onnx", "Identity", DType::kString, -1);
    save_unary(*folder_ / "int8/1/model.onnx", "Identity", DType::kInt8, -1);
    save_slow(*folder_ / "slow/1/model.onnx");
    server_ = new ServerProcess({"--model-repository", folder_->path().string()});
    ASSERT_GT(server_->grpc_port(), 0) << server_->log();
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->stop(), 0) << server_->log();
    delete server_;
    delete folder_;
  }

  grpc::Status infer(const ModelInferRequest& request, ModelInferResponse& response) {
    grpc::ClientContext context;
    return stub_->ModelInfer(&context, request, &response);
  }

  static TemporaryFolder* folder_;
  static ServerProcess* server_;
  std::shared_ptr<grpc::Channel> channel_ = grpc::CreateChannel(
      "127.0.0.1:" + std::to_string(server_->grpc_port()), grpc::InsecureChannelCredentials());
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_ =
      inference::GRPCInferenceService::NewStub(channel_);
};
TemporaryFolder* GrpcTest::folder_ = nullptr;
ServerProcess* GrpcTest::server_ = nullptr;

TEST_F(GrpcTest, SaysWhatItIs) {
  grpc::ClientContext a, b, c, d;
  inference::ServerReadyResponse ready;
  EXPECT_TRUE(stub_->ServerReady(&a, {}, &ready).ok());
  EXPECT_TRUE(ready.ready());
  inference::ModelMetadataRequest request;
  request.set_name("negate");
  inference::ModelMetadataResponse metadata;
  EXPECT_TRUE(stub_->ModelMetadata(&b, request, &metadata).ok());
  EXPECT_EQ(metadata.inputs(0).datatype(), "FP32");
  EXPECT_EQ(metadata.inputs(0).shape(0), -1);
  EXPECT_EQ(metadata.properties().size(), 1u);
  EXPECT_EQ(metadata.properties().at("author"), "somebody");
  inference::ModelConfigRequest config_request;
  config_request.set_name("negate");
  inference::ModelConfigResponse config;
  EXPECT_TRUE(stub_->ModelConfig(&c, config_request, &config).ok());
  EXPECT_EQ(config.config().max_batch_size(), 16);
  request.set_name("absent");
  EXPECT_EQ(stub_->ModelMetadata(&d, request, &metadata).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcTest, RawAndTypedContents) {
  ModelInferResponse response;
  ASSERT_TRUE(infer(negate_request({1, 2, 3, 4}), response).ok());
  EXPECT_EQ(response.raw_output_contents(0), bytes_of({-1, -2, -3, -4}));
  EXPECT_EQ(response.outputs(0).shape(0), 2);

  ModelInferRequest typed = negate_request({1, 2});
  typed.clear_raw_input_contents();
  typed.mutable_inputs(0)->mutable_contents()->add_fp32_contents(5);
  typed.mutable_inputs(0)->mutable_contents()->add_fp32_contents(6);
  response.Clear();
  ASSERT_TRUE(infer(typed, response).ok());
  EXPECT_EQ(response.raw_output_contents(0), bytes_of({-5, -6}));

  ModelInferRequest strings;
  strings.set_model_name("text");
  strings.set_id("7");
  auto& input = *strings.add_inputs();
  input.set_name("x");
  input.set_datatype("BYTES");
  input.add_shape(1);
  input.add_shape(1);
  input.mutable_contents()->add_bytes_contents("abc");
  response.Clear();
  ASSERT_TRUE(infer(strings, response).ok());
  EXPECT_EQ(response.id(), "7");
  EXPECT_EQ(response.raw_output_contents(0), std::string("\3\0\0\0abc", 7));
}

TEST_F(GrpcTest, WhatIsWrongIsSaid) {
  const auto status = [&](const std::function<void(ModelInferRequest&)>& change) {
    ModelInferRequest request = negate_request({1, 2});
    change(request);
    ModelInferResponse response;
    return infer(request, response);
  };
  EXPECT_EQ(status([](auto& r) { r.set_model_name("absent"); }).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const std::pair<std::function<void(ModelInferRequest&)>, const char*> cases[] = {
      {[](auto& r) { r.mutable_inputs(0)->set_name("q"); }, "unexpected inference input 'q'"},
      {[](auto& r) { r.mutable_inputs(0)->set_shape(0, 2); }, "Expected 16, got 8 bytes of FP32"},
      {[](auto& r) { r.mutable_inputs(0)->set_shape(0, -2); }, "negative"},
      {[](auto& r) { r.add_raw_input_contents("x"); }, "raw_input_contents has 2"},
      {[](auto& r) { r.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1); }, "beside"},
      {[](auto& r) { r.clear_raw_input_contents(); }, "expected 2 elements"},
      {[](auto& r) { r.add_outputs()->set_name("z"); }, "unexpected inference output 'z'"},
      {[](auto& r) { (*r.mutable_parameters())["timeout"].set_string_param("x"); }, "'timeout'"},
  };
  for (const auto& [change, message] : cases) {
    const grpc::Status got = status(change);
    EXPECT_EQ(got.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << message;
    EXPECT_THAT(got.error_message(), HasSubstr(message));
  }
  ModelInferRequest small;
  small.set_model_name("int8");
  auto& input = *small.add_inputs();
  input.set_name("x");
  input.set_datatype("INT8");
  input.add_shape(1);
  input.add_shape(1);
  input.mutable_contents()->add_int_contents(128);
  ModelInferResponse response;
  EXPECT_THAT(infer(small, response).error_message(), HasSubstr("128 is out of range"));
}

TEST_F(GrpcTest, AStreamOutlivesItsErrors) {
  grpc::ClientContext context;
  const auto stream = stub_->ModelStreamInfer(&context);
  ModelInferRequest bad = negate_request({1, 2});
  bad.set_id("bad");
  bad.mutable_inputs(0)->set_name("q");
  ASSERT_TRUE(stream->Write(bad));
  constexpr int kRequests = 50;
  for (int i = 0; i < kRequests; ++i) {
    ModelInferRequest good = negate_request({static_cast<float>(i), 0});
    good.set_id(std::to_string(i));
    ASSERT_TRUE(stream->Write(good));
  }
  stream->WritesDone();
  int errors = 0, answers = 0;
  for (inference::ModelStreamInferResponse response; stream->Read(&response);) {
    if (!response.error_message().empty()) {
      ++errors;
      EXPECT_EQ(response.infer_response().id(), "bad");
    } else {
      ++answers;
      const float value = std::stof(response.infer_response().id());
      EXPECT_EQ(response.infer_response().raw_output_contents(0), bytes_of({-value, -0.0f}));
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(answers, kRequests);
}

TEST_F(GrpcTest, ADeadlineAndACancelStopTheRun) {
  ModelInferRequest request;
  request.set_model_name("slow");
  auto& input = *request.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(1024);
  input.add_shape(1024);
  request.add_raw_input_contents(std::string(4 << 20, '\0'));
  const auto pending = [&] {
    HttpClient client(server_->port());
    const std::string text = client.get("/metrics").body;
    return text.find("sardonyx_requests_pending{model=\"slow\",version=\"1\"} 1") !=
           std::string::npos;
  };
  const auto wait_until_free = [&] {
    for (int i = 0; i < 2000 && pending(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return !pending();
  };
  ModelInferResponse response;
  grpc::ClientContext late;
  late.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  EXPECT_EQ(stub_->ModelInfer(&late, request, &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(wait_until_free());
  grpc::ClientContext cancelled;
  std::jthread canceller([&] {
    for (int i = 0; i < 2000 && !pending(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancelled.TryCancel();
  });
  EXPECT_EQ(stub_->ModelInfer(&cancelled, request, &response).error_code(),
            grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(wait_until_free());
}

TEST_F(GrpcTest, WhatIsNotThereIsUnimplemented) {
  grpc::ClientContext a, b, c;
  inference::CudaSharedMemoryStatusResponse cuda;
  EXPECT_EQ(stub_->CudaSharedMemoryStatus(&a, {}, &cuda).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  inference::SystemSharedMemoryStatusResponse memory;
  EXPECT_EQ(stub_->SystemSharedMemoryStatus(&b, {}, &memory).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  inference::RepositoryModelLoadResponse load;
  EXPECT_EQ(stub_->RepositoryModelLoad(&c, {}, &load).error_code(), grpc::StatusCode::UNAVAILABLE);
}

// Of each message and field: number, type and place, as text.
void describe(const google::protobuf::DescriptorProto& message, const std::string& scope,
              std::map<std::string, std::string>& all) {
  const std::string name = scope + '.' + message.name();
  for (const auto& field : message.field()) {
    all[name + '.' + field.name()] =
        std::to_string(field.number()) + ' ' + std::to_string(field.type()) + ' ' +
        std::to_string(field.label()) + ' ' + field.type_name() + ' ' +
        (field.has_oneof_index() ? message.oneof_decl(field.oneof_index()).name() : "");
  }
  for (const auto& inner : message.nested_type())
    describe(inner, name, all);
}

std::map<std::string, std::string> described(const google::protobuf::FileDescriptorProto& file) {
  std::map<std::string, std::string> all;
  for (const auto& message : file.message_type())
    describe(message, "", all);
  for (const auto& service : file.service()) {
    for (const auto& method : service.method()) {
      all[service.name() + '.' + method.name()] = method.input_type() + ' ' + method.output_type() +
                                                  (method.client_streaming() ? " c" : "") +
                                                  (method.server_streaming() ? " s" : "");
    }
  }
  return all;
}

std::map<std::string, std::string> published(const std::filesystem::path& folder,
                                             const std::string& file) {
  const TemporaryFolder temporary;
  const std::string set = (temporary / "set").string();
  // The published service imports its configuration by this name.
  std::filesystem::create_symlink(folder / "triton_model_config.proto",
                                  temporary / "model_config.proto");
  const std::string command = "protoc --proto_path='" + temporary.path().string() +
                              "' --proto_path='" + folder.string() + "' --descriptor_set_out='" +
                              set + "' " + file + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  google::protobuf::FileDescriptorSet files;
  std::ifstream stream(set, std::ios::binary);
  EXPECT_TRUE(files.ParseFromIstream(&stream));
  return described(files.file(0));
}

TEST(GrpcSchema, HasTheFieldsOfThePublishedOnes) {
  const std::filesystem::path folder = test_data("oip");
  if (folder.empty()) GTEST_SKIP() << "no published schema in SARDONYX_TEST_DATA";
  google::protobuf::FileDescriptorProto file;
  ModelInferRequest::descriptor()->file()->CopyTo(&file);
  auto all = published(folder, "triton_grpc_service.proto");
  for (const auto& [name, what] : published(folder, "open_inference_grpc.proto"))
    EXPECT_EQ(all.emplace(name, what).first->second, what) << name;
  // What KServe's schema has beside: clients of the others skip it.
  for (const auto& [message, flag] :
       {std::pair{".RepositoryModelLoadResponse.", "is_loaded"},
        std::pair{".RepositoryModelUnloadResponse.", "is_unloaded"}}) {
    EXPECT_TRUE(all.emplace(std::string(message) + "model_name", "1 9 1  ").second);
    EXPECT_TRUE(all.emplace(std::string(message) + flag, "2 8 1  ").second);
  }
  EXPECT_EQ(described(file), all);
}

}  // namespace
}  // namespace sardonyx::serve
