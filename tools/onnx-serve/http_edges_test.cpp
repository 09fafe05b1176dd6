// What clients, proxies and browsers may ask for beside the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class HttpEdges : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    save_unary(*folder_ / "negate/1/model.onnx", "Neg", DType::kFloat, 2);
    save_unary(*folder_ / "profile/1/model.onnx", "Neg", DType::kFloat, 2);
    server_ =
        new ServerProcess({"--model-repository", folder_->path().string(), "--metrics-port=0"});
    ASSERT_GT(server_->port(), 0);
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->stop(), 0) << server_->log();
    delete server_;
    delete folder_;
  }
  static TemporaryFolder* folder_;
  static ServerProcess* server_;
  const std::string body_ =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";
  HttpClient client_{server_->port()};
};
TemporaryFolder* HttpEdges::folder_ = nullptr;
ServerProcess* HttpEdges::server_ = nullptr;

TEST_F(HttpEdges, WhatIsNotAllowedSaysWhatIs) {
  const struct {
    const char *target, *allowed;
  } cases[] = {
      {"/", "GET, HEAD"},
      {"/v2", "GET, HEAD"},
      {"/metrics", "GET, HEAD"},
      {"/v2/health/ready", "GET, HEAD"},
      {"/v2/models", "GET, HEAD"},
      {"/v2/models/stats", "GET, HEAD"},
      {"/v2/models/negate", "GET, HEAD"},
      {"/v2/models/negate/config", "GET, HEAD"},
      {"/v2/models/negate/profile", "GET, HEAD"},
      {"/v2/models/negate/infer", "POST"},
      {"/v2/models/negate/versions/1/infer", "POST"},
      {"/v2/repository/index", "GET, HEAD, POST"},
      {"/v2/repository/models/negate/load", "POST"},
      {"/v2/logging", "GET, HEAD, POST"},
      {"/v2/trace/setting", "GET, HEAD, POST"},
      {"/v2/models/negate/trace/setting", "GET, HEAD, POST"},
  };
  for (const auto& one : cases) {
    for (const char* method : {"OPTIONS", "DELETE", "PUT", "PATCH", "NONSENSE"}) {
      const Reply reply = client_.ask(std::string(method) + ' ' + one.target +
                                      " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
      EXPECT_EQ(reply.status, 405) << method << ' ' << one.target << reply.body;
      EXPECT_EQ(reply.fields.at("allow"), one.allowed) << one.target;
    }
  }
}

TEST_F(HttpEdges, TheServerAsAWholeHasOptions) {
  const Reply reply = client_.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.fields.at("allow"), "GET, HEAD, POST");
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(client_.ask("OPTIONS /* HTTP/1.1\r\nHost: x\r\n\r\n").status, 404);
  EXPECT_EQ(client_.get("*").status, 404);
}

TEST_F(HttpEdges, AHeadHasTheFieldsAndNoBody) {
  for (const char* target : {"/", "/v2", "/v2/models/negate", "/v2/models/absent"}) {
    HttpClient client(server_->port());
    const Reply whole = client_.get(target);
    client.write(std::string("HEAD ") + target + " HTTP/1.1\r\nHost: x\r\n\r\n" +
                 "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string length = "Content-Length: " + std::to_string(whole.body.size()) + "\r\n";
    std::string seen;
    while (seen.find("\"live\"") == std::string::npos) {
      const std::string more = client.read_some();
      ASSERT_FALSE(more.empty()) << seen;
      seen += more;
    }
    EXPECT_THAT(seen, HasSubstr(length)) << target;
    // Right behind the header there is the next answer.
    EXPECT_EQ(seen.find("HTTP/1.1 200", 1), seen.find("\r\n\r\n") + 4) << seen;
  }
}

TEST_F(HttpEdges, CachesAreToldWhatAnAnswerDependsOn) {
  for (const char* fields : {"", "Accept-Encoding: gzip\r\n"}) {
    const Reply reply = client_.get("/metrics", fields);
    EXPECT_EQ(reply.fields.at("vary"), "Accept-Encoding");
    EXPECT_EQ(reply.fields.contains("content-encoding"), *fields != '\0');
  }
}

TEST_F(HttpEdges, WithoutDescriptorsNobodyIsLeftWaiting) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at objects through a pipe of its own";
#endif
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  ServerProcess server({"--model-repository", folder_->path().string()});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(server.port(), 0);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 120; ++i)
    clients.push_back(std::make_unique<HttpClient>(server.port()));
  int served = 0, refused = 0;
  for (const auto& client : clients) {
    const auto begin = std::chrono::steady_clock::now();
    const int status = client->get("/v2/health/live").status;
    served += status == 200;
    refused += status == 503 || status == 0;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  }
  EXPECT_GT(served, 0);
  EXPECT_GT(refused, 0);
  const std::string log = server.log();
  const size_t line = log.find("no file descriptors are left");
  EXPECT_NE(line, std::string::npos) << log;
  EXPECT_EQ(log.find("no file descriptors are left", line + 1), std::string::npos);
  // Nobody else comes: nothing is tried over and over.
  const auto ticks = [&] {
    std::ifstream file("/proc/" + std::to_string(server.process()) + "/stat");
    std::string word;
    for (int i = 0; i < 13; ++i)
      file >> word;
    long user = 0, system = 0;
    file >> user >> system;
    return user + system;
  };
  const long before_rest = ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_LT(ticks() - before_rest, sysconf(_SC_CLK_TCK) / 5);
  clients.clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  HttpClient late(server.port());
  EXPECT_EQ(late.get("/v2/health/live").status, 200);
}

TEST_F(HttpEdges, ABodyIsSentWhenItIsAskedFor) {
  const auto header = [&](const char* version, const char* expectation) {
    return std::string("POST /v2/models/negate/infer HTTP/") + version +
           "\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: " +
           std::to_string(body_.size()) + "\r\nExpect: " + expectation + "\r\n\r\n";
  };
  for (const char* expectation : {"100-continue", "100-Continue"}) {
    client_.write(header("1.1", expectation));
    EXPECT_EQ(client_.read_some(), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(client_.ask(body_).status, 200);
  }
  // Who has sent the body, or is of a time before, gets the answer alone.
  EXPECT_EQ(client_.ask(header("1.1", "100-continue") + body_).status, 200);
  client_.write(header("1.0", "100-continue"));
  EXPECT_EQ(client_.ask(body_).status, 200);
  // What would be refused is refused before the body is sent.
  EXPECT_EQ(client_
                .ask("POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\n"
                     "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                .status,
            415);
}

TEST_F(HttpEdges, ATargetMayNameTheHost) {
  EXPECT_EQ(client_.get("http://x:8000/v2/health/live").status, 200);
  EXPECT_EQ(client_.get("http://x/v2/nothing").status, 404);
}

TEST_F(HttpEdges, ModelsAreListed) {
  EXPECT_EQ(json::parse(client_.get("/v2/models").body),
            json::parse(R"({"models":["negate","profile"]})"));
}

TEST_F(HttpEdges, ThePageAsksForNothingFromElsewhere) {
  const Reply page = client_.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.fields.at("content-type"), HasSubstr("text/html"));
  EXPECT_THAT(page.fields.at("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.body, HasSubstr("</html>"));
  for (const char* part : {"http://", "https://", "innerHTML", "eval("})
    EXPECT_THAT(page.body, Not(HasSubstr(part)));
  HttpClient metrics(server_->metrics_port());
  EXPECT_EQ(metrics.get("/").status, 404);
}

TEST_F(HttpEdges, AProfileIsOfTheRunsInItsTime) {
  client_.post("/v2/models/negate/infer", body_);
  HttpClient other(server_->port());
  const json quiet = json::parse(client_.get("/v2/models/negate/profile?seconds=0.05").body);
  EXPECT_EQ(quiet["runs"], 0);
  EXPECT_EQ(quiet["steps"], json::array());
  client_.write("GET /v2/models/negate/versions/1/profile?seconds=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(other.post("/v2/models/negate/infer", body_).status, 200);
  const json profile = json::parse(client_.read().body);
  EXPECT_EQ(profile["model_name"], "negate");
  EXPECT_EQ(profile["model_version"], "1");
  EXPECT_GE(profile["seconds"], 1);
  EXPECT_EQ(profile["runs"], 5);
  EXPECT_GT(profile["run_seconds"], 0);
  ASSERT_EQ(profile["steps"].size(), 1u);
  EXPECT_EQ(profile["steps"][0]["op"], "Neg");
  EXPECT_EQ(profile["steps"][0]["count"], 5);
  EXPECT_EQ(profile["steps"][0]["bytes"], 5 * 16);
  EXPECT_GE(profile["run_seconds"], profile["steps"][0]["seconds"]);
  EXPECT_THAT(profile["steps"][0]["types"].get<std::string>(), HasSubstr("float[1, 2]"));
}

TEST_F(HttpEdges, AProfileNeedsATimeAndAModel) {
  for (const char* seconds : {"0", "-1", "301", "x", "", "nan", "1e999", "1x"}) {
    const Reply reply = client_.get(std::string("/v2/models/negate/profile?seconds=") + seconds);
    EXPECT_EQ(reply.status, 400) << seconds;
    EXPECT_THAT(reply.body, HasSubstr("seconds: expected")) << seconds;
  }
  EXPECT_EQ(client_.get("/v2/models/absent/profile").status, 404);
  EXPECT_EQ(client_.get("/v2/models/profile").status, 200);  // a model of that name
}

}  // namespace

TEST(LiveProfile, EndsWithTheServer) {
  const TemporaryFolder folder;
  save_unary(folder / "m/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", folder.path().string()});
  HttpClient client(server.port());
  client.write("GET /v2/models/m/profile?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(server.stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(client.read().status, 200);
}

}  // namespace sardonyx::serve
