// Requests whose clients leave, whose time passes, or whose server ends, while they run and while
// they wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kOnePending = "sardonyx_requests_pending{model=\"slow\",version=\"1\"} 1";
constexpr const char* kTwoPending = "sardonyx_requests_pending{model=\"slow\",version=\"1\"} 2";
constexpr const char* kNonePending = "sardonyx_requests_pending{model=\"slow\",version=\"1\"} 0";
constexpr const char* kOneCancelled = "reason=\"cancelled\",version=\"1\"} 1";

class EndingRequests : public testing::Test {
 protected:
  void serve(const std::string& config, std::vector<std::string> options = {}) {
    save_slow(folder_ / "slow/1/model.onnx");
    if (!config.empty()) folder_.write("slow/config.pbtxt", config);
    options.insert(options.begin(), {"--model-repository", folder_.path().string()});
    server_ = std::make_unique<ServerProcess>(options);
  }
  static void ask(HttpClient& client, const json& parameters = json::object()) {
    const std::string body(4 << 20, '\0');
    const std::string header =
        json({{"inputs", {{{"name", "x"}, {"shape", {1024, 1024}}, {"datatype", "FP32"}}}},
              {"parameters", parameters}})
            .dump();
    client.write("POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                 std::to_string(header.size() + body.size()) +
                 "\r\nInference-Header-Content-Length: " + std::to_string(header.size()) +
                 "\r\n\r\n" + header + body);
  }
  // Does the metric come to this within 20 s?
  bool comes(const char* metric) {
    HttpClient client(server_->port());
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (client.get("/metrics").body.find(metric) == std::string::npos) {
      if (Clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(EndingRequests, AClientThatLeavesStopsTheRun) {
  serve("");
  {
    HttpClient client(server_->port());
    ask(client);
    EXPECT_TRUE(comes(kOnePending));
  }
  EXPECT_TRUE(comes(kOneCancelled));
  EXPECT_TRUE(comes(kNonePending));
}

TEST_F(EndingRequests, ADeadlineStopsTheRun) {
  serve("");
  HttpClient client(server_->port());
  const auto begin = Clock::now();
  ask(client, {{"timeout", 300'000}});
  EXPECT_EQ(client.read().status, 504);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(EndingRequests, WhatWaitsInAQueueEndsLikewise) {
  serve("instance_group { count: 1 kind: KIND_CPU }");
  HttpClient first(server_->port()), third(server_->port());
  ask(first);
  EXPECT_TRUE(comes(kOnePending));
  {
    HttpClient second(server_->port());
    ask(second);
    EXPECT_TRUE(comes(kTwoPending));
  }
  EXPECT_TRUE(comes(kOneCancelled));
  ask(third, {{"timeout", 100'000}});
  EXPECT_EQ(third.read().status, 504);
  EXPECT_TRUE(comes(kOnePending));
}

TEST_F(EndingRequests, WhatFindsAFullQueueMayBeAskedAgain) {
  serve(
      "instance_group { count: 1 kind: KIND_CPU } "
      "dynamic_batching { default_queue_policy { max_queue_size: 1 } }");
  HttpClient first(server_->port()), second(server_->port()), third(server_->port());
  ask(first);
  EXPECT_TRUE(comes(kOnePending));
  ask(second);
  EXPECT_TRUE(comes(kTwoPending));
  ask(third);
  Reply reply = third.read();
  EXPECT_EQ(reply.status, 429) << reply.body;
  EXPECT_EQ(reply.fields["retry-after"], "1");
  EXPECT_THAT(reply.body, testing::HasSubstr("Exceeds maximum queue size"));
}

TEST_F(EndingRequests, WhatWaitsInASequenceEndsLikewise) {
  serve("sequence_batching { }");
  HttpClient first(server_->port()), third(server_->port());
  ask(first, {{"sequence_id", 1}, {"sequence_start", true}});
  EXPECT_TRUE(comes(kOnePending));
  {
    HttpClient second(server_->port());
    ask(second, {{"sequence_id", 1}});
    EXPECT_TRUE(comes(kTwoPending));
  }
  EXPECT_TRUE(comes(kOneCancelled));
  ask(third, {{"sequence_id", 1}, {"timeout", 100'000}});
  EXPECT_EQ(third.read().status, 504);
  EXPECT_TRUE(comes(kOnePending));
}

// A proxy may ask another server then, which 400 would forbid.
TEST_F(EndingRequests, WhatTheServerCutsOffIsToldSo) {
  serve("", {"--drain-timeout=0.3"});
  HttpClient client(server_->port());
  ask(client);
  EXPECT_TRUE(comes(kOnePending));
  kill(server_->process(), SIGTERM);
  const Reply reply = client.read();
  EXPECT_EQ(reply.status, 503) << reply.body;
  EXPECT_THAT(reply.body, testing::HasSubstr("shutting down"));
  EXPECT_EQ(server_->stop(0), 0);
}

// A model that is warmed up by runs that take minutes.
void save_slow_load(const TemporaryFolder& folder) {
  save_slow(folder / "slow/1/model.onnx");
  folder.write("slow/config.pbtxt",
               "model_warmup { name: \"often\" count: 50 inputs { key: \"x\" value: { data_type: "
               "TYPE_FP32 dims: [ 1024, 1024 ] zero_data: true } } }");
}

TEST_F(EndingRequests, ALoadIsCutOffLikewise) {
  save_slow_load(folder_);
  server_ = std::make_unique<ServerProcess>(
      std::vector<std::string>{"--model-repository", folder_.path().string(),
                               "--model-control-mode=explicit", "--drain-timeout=0.1"});
  HttpClient client(server_->port());
  client.write(
      "POST /v2/repository/models/slow/load HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  HttpClient other(server_->port());
  const auto is_loading = [&] {
    return other.post("/v2/repository/index", "").body.find("LOADING") != std::string::npos;
  };
  const auto until = Clock::now() + std::chrono::seconds(20);
  while (!is_loading() && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto begin = Clock::now();
  EXPECT_EQ(server_->stop(), 0) << server_->log();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_THAT(client.read().status, testing::AnyOf(0, 503));
}

TEST_F(EndingRequests, ASignalWhileModelsAreLoadedEndsTheServer) {
  save_slow_load(folder_);
  server_ = std::make_unique<ServerProcess>(
      std::vector<std::string>{"--model-repository", folder_.path().string()},
      ServerProcess::Start::kGoOn);
  const auto until = Clock::now() + std::chrono::seconds(20);
  while (server_->log().find("http at") == std::string::npos && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the load has begun, on most days
  const auto begin = Clock::now();
  EXPECT_EQ(server_->stop(), 0) << server_->log();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_THAT(server_->log(), testing::HasSubstr("the server is shutting down"));
}

TEST(Server, ASignalEndsItAfterItsRequests) {
  const TemporaryFolder folder;
  save_unary(folder / "m/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", folder.path().string(), "--drain-delay=0.5"});
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/v2/health/ready").status, 200);
  kill(server.process(), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  // Not ready, and serving all the same, new connections as well; each ends with its answer, so
  // that clients turn to another server before this one closes its door.
  const Reply not_ready = client.get("/v2/health/ready");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.fields.at("connection"), "close");
  HttpClient late(server.port());
  EXPECT_EQ(late.get("/v2/models/m").status, 200);
  EXPECT_EQ(server.stop(0), 0);  // waits for its end
}

TEST(Server, WhoHasJustConnectedMayAskAtTheEnd) {
  const TemporaryFolder folder;
  save_unary(folder / "m/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", folder.path().string(), "--drain-delay=0.3"});
  kill(server.process(), SIGTERM);
  std::vector<std::unique_ptr<HttpClient>> clients;
  while (clients.empty() || clients.back()->is_open()) {
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  ASSERT_GT(clients.size(), 10u);
  // The last of those that were taken.
  for (size_t i = clients.size() - 10; i + 1 < clients.size(); ++i)
    EXPECT_EQ(clients[i]->get("/v2/models/m").status, 200) << i << " of " << clients.size();
  EXPECT_EQ(server.stop(0), 0);
}

}  // namespace
}  // namespace sardonyx::serve
