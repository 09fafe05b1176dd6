// What a client may make the server hold over gRPC, and how its calls end with the server.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tools/onnx-serve/grpc/inference_service.grpc.pb.h"
#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMegabyte = 1 << 20;

size_t resident_bytes_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

ModelInferRequest request_of(const std::string& model, size_t rows, size_t columns) {
  ModelInferRequest request;
  request.set_model_name(model);
  auto& input = *request.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(static_cast<int64_t>(rows));
  input.add_shape(static_cast<int64_t>(columns));
  request.add_raw_input_contents(std::string(rows * columns * sizeof(float), '\0'));
  return request;
}

// Bytes sent to a method as they are.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method)
      : stub_(channel), stream_(stub_.PrepareCall(&context_, method, &queue_)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    stream_->StartCall(this);
    wait();
  }
  ~RawCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {
    }
  }
  void write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    stream_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), this);
    wait();
  }
  // What comes next; "" where the call has ended.
  std::string read() {
    grpc::ByteBuffer bytes;
    stream_->Read(&bytes, this);
    if (!wait()) return "";
    grpc::Slice slice;
    EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }
  grpc::Status finish() {
    grpc::Status status;
    stream_->Finish(&status, this);
    wait();
    return status;
  }

 private:
  bool wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

class GrpcLimits : public testing::Test {
 protected:
  void serve(std::vector<std::string> options) {
    save_unary(folder_ / "copy/1/model.onnx", "Identity", DType::kFloat, -1);
    save_slow(folder_ / "slow/1/model.onnx");
    options.insert(options.begin(), {"--model-repository", folder_.path().string()});
    server_ = std::make_unique<ServerProcess>(options);
    ASSERT_GT(server_->grpc_port(), 0) << server_->log();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server_->grpc_port()),
                                         grpc::InsecureChannelCredentials(), arguments);
    stub_ = inference::GRPCInferenceService::NewStub(channel_);
  }
  grpc::Status infer(const ModelInferRequest& request, grpc_compression_algorithm compression) {
    grpc::ClientContext context;
    context.set_compression_algorithm(compression);
    ModelInferResponse response;
    return stub_->ModelInfer(&context, request, &response);
  }
  bool comes(const std::string& metric) {
    HttpClient client(server_->port());
    for (int i = 0; i < 4000; ++i) {
      if (client.get("/metrics").body.find(metric) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
};

TEST_F(GrpcLimits, AStreamThatIsNotReadIsNotReadFrom) {
  serve({});
  constexpr int kRequests = 150;  // of a megabyte
  grpc::ClientContext context;
  const auto stream = stub_->ModelStreamInfer(&context);
  std::atomic<int> written = 0;
  std::jthread writer([&] {
    const ModelInferRequest request = request_of("copy", 1, kMegabyte / sizeof(float));
    while (written < kRequests && stream->Write(request))
      ++written;
    stream->WritesDone();
  });
  // Until nothing more is taken.
  for (int before = -1; before != written;) {
    before = written;
    std::this_thread::sleep_for(milliseconds(1000));
  }
  EXPECT_GT(written, 0);
  EXPECT_LT(written, 100);
  EXPECT_LT(resident_bytes_of(server_->process()), 400 * kMegabyte);
  int answers = 0;
  for (inference::ModelStreamInferResponse response; stream->Read(&response);)
    answers += response.error_message().empty();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answers, kRequests);
}

TEST_F(GrpcLimits, AllRequestsHaveOneBudget) {
  serve({"--max-body-mb=6", "--max-bodies-mb=7"});
  const ModelInferRequest slow = request_of("slow", 1024, 1024);
  grpc::ClientContext context;
  std::jthread holder([&] {
    ModelInferResponse response;
    stub_->ModelInfer(&context, slow, &response);
  });
  ASSERT_TRUE(comes("sardonyx_requests_pending{model=\"slow\",version=\"1\"} 1"));
  // 4 MB of it are held: there is no place for 4 more, of either protocol.
  const ModelInferRequest large = request_of("copy", 1, kMegabyte);
  for (const auto compression : {GRPC_COMPRESS_NONE, GRPC_COMPRESS_GZIP}) {
    const grpc::Status refused = infer(large, compression);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE) << refused.error_message();
    EXPECT_THAT(refused.error_message(), HasSubstr("too much memory"));
  }
  HttpClient client(server_->port());
  EXPECT_EQ(client.post("/v2/models/copy/infer", std::string(4 * kMegabyte, ' ')).status, 503);
  EXPECT_TRUE(infer(request_of("copy", 1, 1000), GRPC_COMPRESS_NONE).ok());
  context.TryCancel();
  holder.join();
  ASSERT_TRUE(comes("sardonyx_requests_pending{model=\"slow\",version=\"1\"} 0"));
  // Its answer would be beyond it, were it not for the request's end.
  EXPECT_TRUE(infer(large, GRPC_COMPRESS_NONE).ok());
}

TEST_F(GrpcLimits, CompressedMessagesAreWhatTheyBecome) {
  serve({"--max-body-mb=8"});
  const ModelInferRequest good = request_of("copy", 1, 100'000);
  const ModelInferRequest bomb = request_of("copy", 1, 16 * kMegabyte);
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    EXPECT_TRUE(infer(good, compression).ok());
    const size_t before = resident_bytes_of(server_->process());
    const grpc::Status refused = infer(bomb, compression);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(), HasSubstr("larger than 8388608 bytes"));
    EXPECT_LT(resident_bytes_of(server_->process()), before + 48 * kMegabyte);
  }
  EXPECT_EQ(infer(request_of("copy", 1, 3 * kMegabyte), GRPC_COMPRESS_NONE).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcLimits, WhatIsNoMessageIsSaidToBeNone) {
  serve({});
  for (const std::string name : {"ModelInfer", "ServerLive", "RepositoryIndex"}) {
    RawCall call(channel_, "/inference.GRPCInferenceService/" + name);
    call.write("\xff\xff\xff\xff");
    EXPECT_EQ(call.read(), "");
    const grpc::Status status = call.finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << name;
    EXPECT_THAT(status.error_message(), HasSubstr("inference." + name + "Request"));
  }
  grpc::ClientContext context;
  inference::LogSettingsRequest request;
  (*request.mutable_settings())["nonsense"].set_bool_param(true);
  inference::LogSettingsResponse response;
  EXPECT_THAT(stub_->LogSettings(&context, request, &response).error_message(),
              HasSubstr("unknown setting 'nonsense'"));
}

TEST_F(GrpcLimits, RefusedRequestsAreCounted) {
  serve({});
  ModelInferRequest wrong = request_of("copy", 1, 2);
  wrong.mutable_inputs(0)->set_name("z");
  EXPECT_EQ(infer(wrong, GRPC_COMPRESS_NONE).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext context;
  const auto stream = stub_->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(wrong));
  inference::ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.error_message(), HasSubstr("unexpected inference input 'z'"));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(
      comes("sardonyx_requests_failed_total{model=\"copy\",reason=\"other\",version=\"1\"} 2"));
}

TEST_F(GrpcLimits, WhoAsksForNothingDelaysNoEnd) {
  serve({"--drain-timeout=20"});
  RawCall watch(channel_, "/grpc.health.v1.Health/Watch");
  watch.write("");
  EXPECT_EQ(watch.read(), "\x08\x01");  // SERVING
  grpc::ClientContext context;
  const auto stream = stub_->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(request_of("copy", 1, 2)));
  inference::ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  const auto begin = Clock::now();
  EXPECT_EQ(server_->stop(), 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(watch.read(), "\x08\x02");  // NOT_SERVING
  EXPECT_EQ(watch.read(), "");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(server_->log().find("cut off"), std::string::npos);
}

TEST_F(GrpcLimits, WhatTakesTooLongIsCutOff) {
  serve({"--drain-timeout=0.3"});
  std::jthread canceller([&] {
    EXPECT_TRUE(comes("sardonyx_requests_pending{model=\"slow\",version=\"1\"} 1"));
    server_->stop();
  });
  EXPECT_EQ(infer(request_of("slow", 1024, 1024), GRPC_COMPRESS_NONE).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  canceller.join();
  EXPECT_THAT(server_->log(), HasSubstr("cut off"));
}

}  // namespace
}  // namespace sardonyx::serve
