#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/onnx-serve/server_process_for_test.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRequest =
    R"({"id":"r1","inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})";

json trace_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
}

// A collector that takes one request and keeps it.
class OneRequestCollector {
 public:
  OneRequestCollector() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(listener_, 1);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~OneRequestCollector() { close(listener_); }
  int port() const { return port_; }
  std::string take() const {
    const int connection = accept(listener_, nullptr, nullptr);
    std::string all;
    char bytes[4096];
    size_t wanted = SIZE_MAX;
    while (all.size() < wanted) {
      const ssize_t got = recv(connection, bytes, sizeof(bytes), 0);
      if (got <= 0) break;
      all.append(bytes, static_cast<size_t>(got));
      const size_t head = all.find("\r\n\r\n"), field = all.find("Content-Length: ");
      if (head != std::string::npos && field < head)
        wanted = head + 4 + std::stoul(all.substr(field + 16));
    }
    const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    EXPECT_EQ(send(connection, answer.data(), answer.size(), 0),
              static_cast<ssize_t>(answer.size()));
    close(connection);
    return all;
  }

 private:
  int listener_, port_ = 0;
};

TEST(TraceParentTest, IsReadAsTheStandardSays) {
  const std::string valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto parent = parse_traceparent(valid);
  ASSERT_TRUE(parent.has_value());
  EXPECT_EQ(parent->trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(parent->parent_id, "b7ad6b7169203331");
  EXPECT_TRUE(parent->is_sampled);
  EXPECT_FALSE(parse_traceparent(valid.substr(0, 53) + "00")->is_sampled);
  EXPECT_TRUE(parse_traceparent("01" + valid.substr(2) + "-more"));
  for (const std::string& wrong :
       std::vector<std::string>{"", valid.substr(1), valid + "-more", "ff" + valid.substr(2),
                                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                                "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
    EXPECT_FALSE(parse_traceparent(wrong)) << wrong;
}

TEST(TraceTest, AFileHasWhatWasSampled) {
  const TemporaryFolder folder;
  const auto file = folder / "trace.json";
  save_unary(folder / "m/negate/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", (folder / "m").string(), "--trace-config",
                        "triton,file=" + file.string(), "--trace-config", "rate=2"});
  HttpClient client(server.port());
  const auto infer = [&](int times) {
    for (int i = 0; i < times; ++i)
      EXPECT_EQ(client.post("/v2/models/negate/infer", kRequest).status, 200);
  };
  infer(2);  // off
  const json before = json::parse(client.get("/v2/trace/setting").body);
  EXPECT_EQ(before["trace_level"], json({"OFF"}));
  EXPECT_EQ(before["trace_rate"], "2");
  EXPECT_EQ(before["trace_count"], "-1");
  EXPECT_EQ(before["log_frequency"], "0");
  EXPECT_EQ(before["trace_mode"], "triton");
  EXPECT_EQ(before["trace_file"], file.string());

  const std::string of_model = "/v2/models/negate/trace/setting";
  const json now = json::parse(
      client.post(of_model, R"({"trace_level":["TIMESTAMPS","TENSORS"],"trace_count":"2"})").body);
  EXPECT_EQ(now["trace_level"], json({"TIMESTAMPS", "TENSORS"}));
  EXPECT_EQ(now["trace_rate"], "2");  // the server's
  infer(6);                           // of which two are traced: every other, at most two
  EXPECT_EQ(json::parse(client.get(of_model).body)["trace_count"], "0");
  EXPECT_EQ(json::parse(client.get("/v2/trace/setting").body)["trace_level"], json({"OFF"}));
  const json cleared =
      json::parse(client.post(of_model, R"({"trace_level":null,"trace_count":null})").body);
  EXPECT_EQ(cleared["trace_level"], json({"OFF"}));
  EXPECT_EQ(server.stop(), 0);

  const json trace = trace_file(file);
  ASSERT_TRUE(trace.is_array());
  std::vector<std::string> names, tensors;
  int64_t last = 0;
  for (const json& one : trace) {
    if (one["id"] != trace[0]["id"]) continue;
    if (one.contains("timestamps")) {
      names.push_back(one["timestamps"][0]["name"]);
      EXPECT_GE(one["timestamps"][0]["ns"], last);
      last = one["timestamps"][0]["ns"];
    }
    if (one.contains("tensor")) {
      tensors.push_back(one["activity"].get<std::string>() + ' ' +
                        one["tensor"]["data"].get<std::string>());
    }
  }
  EXPECT_EQ(trace[0]["model_name"], "negate");
  EXPECT_EQ(trace[0]["model_version"], 1);
  EXPECT_EQ(trace[0]["request_id"], "r1");
  EXPECT_THAT(names, ElementsAre("HTTP_RECV_START", "HTTP_RECV_END", "REQUEST_START", "QUEUE_START",
                                 "COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START",
                                 "COMPUTE_END", "REQUEST_END", "HTTP_SEND_START", "HTTP_SEND_END"));
  EXPECT_THAT(tensors, ElementsAre("TENSOR_QUEUE_INPUT 1,2", "TENSOR_BACKEND_OUTPUT -1,-2"));
  EXPECT_EQ(std::count_if(trace.begin(), trace.end(),
                          [](const json& one) { return one.contains("model_name"); }),
            2);
}

TEST(TraceTest, FilesAreNumberedByFrequency) {
  const TemporaryFolder folder;
  save_unary(folder / "m/negate/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", (folder / "m").string(), "--trace-config",
                        "triton,file=" + (folder / "t").string(), "--trace-config", "rate=1",
                        "--trace-config", "level=TIMESTAMPS", "--trace-config",
                        "triton,log-frequency=2"});
  HttpClient client(server.port());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(client.post("/v2/models/negate/infer", kRequest).status, 200);
  EXPECT_EQ(server.stop(), 0);
  for (const char* name : {"t.0", "t.1", "t.2"})
    EXPECT_TRUE(trace_file(folder / name).is_array()) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "t.3"));
}

TEST(TraceTest, WhatIsWrongWithSettingsIsSaid) {
  const TemporaryFolder folder;
  save_unary(folder / "m/negate/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", (folder / "m").string()});
  HttpClient client(server.port());
  const struct {
    const char *body, *message;
    int status;
  } cases[] = {
      {R"({"trace_level":["TIMESTAMPS"]})", "trace file name is not given", 400},
      {R"({"trace_level":["OFF","TIMESTAMPS"]})", "only one trace level 'OFF'", 400},
      {R"({"trace_level":["ALL"]})", "'ALL'", 400},
      {R"({"trace_rate":"x"})", "Unable to parse 'trace_rate', got: x", 400},
      {R"({"trace_rate":"99999999999"})", "out of range", 400},
      {R"({"trace_count":"-2"})", "'trace_count', value is out of range", 400},
      {R"({"trace_rate":7})", "expected a string", 400},
      {R"({"trace_rate":["1","2"]})", "only 1 value", 400},
      {R"({"trace_file":"/tmp/x"})", "can not be updated through network protocol", 501},
      {R"({"nonsense":"1"})", "unknown trace setting", 400},
  };
  for (const auto& one : cases) {
    const Reply reply = client.post("/v2/trace/setting", one.body);
    EXPECT_EQ(reply.status, one.status) << one.body << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(one.message));
  }
  EXPECT_EQ(client.get("/v2/models/absent/trace/setting").status, 404);
  EXPECT_EQ(json::parse(client.get("/v2/trace/setting").body)["trace_rate"], "1000");
  EXPECT_EQ(client.post("/v2/trace/setting", R"({"trace_rate":"5","trace_level":["OFF"]})").status,
            200);
}

TEST(TraceTest, ACollectorGetsTheSpansOfWhoIsSampled) {
  const TemporaryFolder folder;
  save_unary(folder / "m/negate/1/model.onnx", "Neg", DType::kFloat, 2);
  const OneRequestCollector collector;
  ServerProcess server(
      {"--model-repository", (folder / "m").string(), "--trace-config", "mode=opentelemetry",
       "--trace-config", "level=TIMESTAMPS", "--trace-config", "rate=1000000", "--trace-config",
       "opentelemetry,url=http://127.0.0.1:" + std::to_string(collector.port()) + "/v1/traces"});
  HttpClient client(server.port());
  const std::string id = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
  client.post("/v2/models/negate/infer", kRequest);  // its turn is in a million requests
  client.post("/v2/models/negate/infer", kRequest, "traceparent: " + id + "00\r\n");
  client.post("/v2/models/negate/infer", kRequest, "traceparent: " + id + "01\r\n");
  const std::string request = collector.take();
  EXPECT_THAT(request, HasSubstr("POST /v1/traces HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json"));
  const json body = json::parse(request.substr(request.find("\r\n\r\n") + 4));
  const json spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0]["name"], "InferRequest");
  EXPECT_EQ(spans[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(spans[0]["parentSpanId"], "b7ad6b7169203331");
  EXPECT_EQ(spans[1]["name"], "negate");
  EXPECT_EQ(spans[1]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[2]["name"], "compute");
  EXPECT_EQ(spans[2]["parentSpanId"], spans[1]["spanId"]);
  EXPECT_LE(spans[0]["startTimeUnixNano"].get<std::string>(),
            spans[2]["startTimeUnixNano"].get<std::string>());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double seconds = std::stod(spans[0]["endTimeUnixNano"].get<std::string>()) * 1e-9;
  EXPECT_NEAR(seconds, std::chrono::duration<double>(now).count(), 30);
}

TEST(MetricsPortTest, HasMetricsAndHealthAlone) {
  const TemporaryFolder folder;
  save_unary(folder / "m/negate/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", (folder / "m").string(), "--metrics-port=0"});
  ASSERT_GT(server.metrics_port(), 0);
  HttpClient client(server.metrics_port());
  EXPECT_THAT(client.get("/metrics").body, HasSubstr("sardonyx_requests_pending"));
  EXPECT_EQ(client.get("/v2/health/ready").status, 200);
  EXPECT_EQ(client.get("/v2/models/negate").status, 404);
  EXPECT_EQ(client.get("/v2/models/stats").status, 404);
}

}  // namespace
}  // namespace sardonyx::serve
