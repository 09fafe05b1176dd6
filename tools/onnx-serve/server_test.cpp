// Drives the program over sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "ir/core/small_float.h"
#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

std::string binary(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

json data_of(const Reply& reply) {
  return json::parse(reply.body)["outputs"][0]["data"];
}

class ServerTest : public testing::Test {
 protected:
  // One server for all tests that change nothing of it.
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    save_unary(*folder_ / "negate/1/model.onnx", "Neg", DType::kFloat, 2);
    save_unary(*folder_ / "text/1/model.onnx", "Identity", DType::kString, -1);
    save_unary(*folder_ / "flags/1/model.onnx", "Not", DType::kBool, -1);
    const std::pair<const char*, DType> types[] = {
        {"int64", DType::kInt64},  {"uint64", DType::kUInt64},   {"int8", DType::kInt8},
        {"half", DType::kFloat16}, {"bfloat", DType::kBFloat16}, {"double", DType::kDouble},
        {"float", DType::kFloat}};
    for (const auto& [name, dtype] : types)
      save_unary(*folder_ / (std::string(name) + "/1/model.onnx"), "Identity", dtype, -1);
    server_ = new ServerProcess({"--model-repository", folder_->path().string(), "--max-body-mb=1",
                                 "--metrics-names=triton"});
    ASSERT_GT(server_->port(), 0);
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->stop(), 0) << server_->log();
    delete server_;
    delete folder_;
  }

  Reply infer(const std::string& model, const json& request, const std::string& fields = "") {
    return client_.post("/v2/models/" + model + "/infer", request.dump(), fields);
  }
  static json input(const std::string& type, const std::vector<int64_t>& shape, const json& data) {
    return {{"name", "x"}, {"datatype", type}, {"shape", shape}, {"data", data}};
  }
  static json request_of(const json& input) { return {{"inputs", {input}}}; }

  static TemporaryFolder* folder_;
  static ServerProcess* server_;
  HttpClient client_{server_->port()};
};
TemporaryFolder* ServerTest::folder_ = nullptr;
ServerProcess* ServerTest::server_ = nullptr;

TEST_F(ServerTest, SaysWhatItIs) {
  for (const char* target : {"/v2", "/v2/"}) {
    const json server = json::parse(client_.get(target).body);
    EXPECT_EQ(server["name"], "sardonyx");
    EXPECT_TRUE(server["version"].is_string());
    EXPECT_THAT(server["extensions"].dump(), HasSubstr("binary_tensor_data"));
  }
  EXPECT_EQ(client_.get("/v2/health/live").status, 200);
  EXPECT_EQ(client_.get("/v2/health/ready").status, 200);
  const json model = json::parse(client_.get("/v2/models/negate").body);
  EXPECT_EQ(model, json::parse(R"({"name":"negate","versions":["1"],"platform":"onnxruntime_onnx",
      "inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],
      "outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]})"));
  EXPECT_EQ(json::parse(client_.get("/v2/models/negate/versions/1/ready").body)["ready"], true);
  const json config = json::parse(client_.get("/v2/models/negate/config").body);
  EXPECT_EQ(config["max_batch_size"], 16);
  EXPECT_EQ(config["input"][0]["dims"], json({2}));
  EXPECT_EQ(
      client_.ask("HEAD /v2/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").status,
      200);
}

TEST_F(ServerTest, AnswersInJson) {
  json request = request_of(input("FP32", {2, 2}, {{1, 2.5}, {-3, 1e-3}}));
  request["id"] = "seven \"7\"";
  const Reply reply = infer("negate", request);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json answer = json::parse(reply.body);
  EXPECT_EQ(answer["model_name"], "negate");
  EXPECT_EQ(answer["model_version"], "1");
  EXPECT_EQ(answer["id"], "seven \"7\"");
  EXPECT_EQ(answer["outputs"], json::parse(R"([{"name":"y","datatype":"FP32","shape":[2,2],
      "data":[-1,-2.5,3,-0.001]}])"));
  EXPECT_FALSE(
      json::parse(infer("negate", request_of(input("FP32", {1, 2}, {1, 2}))).body).contains("id"));
}

// Clients that write all fields of a record write null for those that they don't set.
TEST_F(ServerTest, WhatIsNullIsLeftOut) {
  json request = request_of(input("FP32", {1, 2}, {1, 2}));
  request["inputs"][0]["parameters"] = nullptr;
  request["id"] = request["parameters"] = request["outputs"] = nullptr;
  const Reply reply = infer("negate", request);
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_FALSE(json::parse(reply.body).contains("id"));
  request["parameters"] = {{"content_type", nullptr}, {"timeout", nullptr}};
  request["outputs"] = {{{"name", "y"}, {"parameters", nullptr}}};
  EXPECT_EQ(infer("negate", request).status, 200);
  EXPECT_EQ(client_.post("/v2/repository/index", R"({"ready":null})").status, 200);
  EXPECT_EQ(client_.post("/v2/trace/setting", R"({"trace_file":null,"trace_rate":null})").status,
            200);
}

TEST_F(ServerTest, NestedArraysHaveTheDimsThatAreNot1) {
  std::string deep = "[1,2]";
  for (int i = 0; i < 90; ++i)
    deep = '[' + deep + ']';
  for (const std::string& data : {std::string("[[1],[2]]"), std::string("[[[1,2]]]"), deep}) {
    const Reply reply = client_.post(
        "/v2/models/negate/infer",
        R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":)" + data + "}]}");
    ASSERT_EQ(reply.status, 200) << data << reply.body;
    EXPECT_EQ(json::parse(reply.body)["outputs"][0]["data"], json({-1, -2})) << data;
  }
}

TEST_F(ServerTest, ElementsOfEveryTypeAreExact) {
  const struct {
    const char *model, *type, *data, *answer;
  } cases[] = {
      {"int64", "INT64", "[9223372036854775807, -9223372036854775808, 9007199254740993]", nullptr},
      {"uint64", "UINT64", "[18446744073709551615, 0]", nullptr},
      {"int8", "INT8", "[-128, 127]", nullptr},
      {"float", "FP32", "[0.1, 3.4028235e+38, 1e-45, -0.0]", "[0.1,3.4028235e+38,1e-45,-0]"},
      {"float", "FP32", "[16777217, 0.50000005960464478]", "[16777216,0.50000006]"},
      {"double", "FP64", "[0.1, 1.7976931348623157e+308]", nullptr},
      {"half", "FP16", "[0.1, 65504, 65519.9, 6e-8]", "[0.099975586,65504,65504,5.9604645e-08]"},
      {"bfloat", "BF16", "[0.1, 3.0e38]", "[0.100097656,3.0040553e+38]"},
      {"flags", "BOOL", "[true, false]", "[false,true]"},
      {"text", "BYTES", R"(["", "a\u00e9\ud83d\ude00\n", "\"\\"])",
       "[\"\",\"a\u00e9\U0001F600\\n\",\"\\\"\\\\\"]"},
  };
  for (const auto& one : cases) {
    const int64_t count = static_cast<int64_t>(json::parse(one.data).size());
    const std::string body = std::string(R"({"inputs":[{"data":)") + one.data +
                             R"(,"name":"x","shape":[1,)" + std::to_string(count) +
                             R"(],"datatype":")" + one.type + "\"}]}";
    const Reply reply = client_.post(std::string("/v2/models/") + one.model + "/infer", body);
    ASSERT_EQ(reply.status, 200) << one.model << reply.body;
    EXPECT_EQ(json::parse(reply.body)["outputs"][0]["data"],
              json::parse(one.answer ? one.answer : one.data))
        << one.model << ' ' << reply.body;
  }
}

TEST_F(ServerTest, NanNeedsToBeAllowed) {
  const auto body = [](const char* value, const char* parameters) {
    return std::string(R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,)") +
           value + "]}]" + parameters + "}";
  };
  const std::string target = "/v2/models/negate/infer";
  const Reply refused = client_.post(target, body("NaN", ""));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("allow_nan"), HasSubstr("element 1")));
  const Reply allowed =
      client_.post(target, body("Infinity", R"(,"parameters":{"allow_nan":true})"));
  EXPECT_THAT(allowed.body, HasSubstr("[-1,-Infinity]"));
  // Made by the model, of a binary input.
  const std::string header =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}]})";
  const Reply out =
      client_.post(target, header + binary({1, std::nanf("")}),
                   "Inference-Header-Content-Length: " + std::to_string(header.size()) + "\r\n");
  EXPECT_EQ(out.status, 501);
  EXPECT_THAT(out.body, AllOf(HasSubstr("output 'y'"), HasSubstr("element 1")));
}

TEST_F(ServerTest, BinaryDataInBothDirections) {
  const std::string header = R"({"inputs":[{"name":"x","shape":[2,2],"datatype":"FP32",
      "parameters":{"binary_data_size":16}}],"outputs":[{"name":"y","parameters":{"binary_data":true}}]})";
  const Reply reply =
      client_.post("/v2/models/negate/infer", header + binary({1, 2, 3, 4}),
                   "Inference-Header-Content-Length: " + std::to_string(header.size()) + "\r\n");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.fields.at("content-type"), "application/octet-stream");
  const size_t length = std::stoul(reply.fields.at("inference-header-content-length"));
  const json answer = json::parse(reply.body.substr(0, length));
  EXPECT_EQ(answer["outputs"][0]["parameters"]["binary_data_size"], 16);
  EXPECT_EQ(reply.body.substr(length), binary({-1, -2, -3, -4}));

  json request = request_of(input("FP32", {1, 2}, {1, 2}));
  request["parameters"]["binary_data_output"] = true;
  const Reply all = infer("negate", request);
  EXPECT_TRUE(all.body.ends_with(binary({-1, -2})));
  request["outputs"] = {{{"name", "y"}, {"parameters", {{"binary_data", false}}}}};
  EXPECT_EQ(data_of(infer("negate", request)), json({-1, -2}));
}

TEST_F(ServerTest, StringsInBinary) {
  std::string body;
  for (const std::string& one : {std::string("ab"), std::string("\xff\0", 2)}) {
    const auto size = static_cast<uint32_t>(one.size());
    body.append(reinterpret_cast<const char*>(&size), 4);
    body += one;
  }
  const std::string header =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"BYTES","parameters":
      {"binary_data_size":12}}],"parameters":{"binary_data_output":true}})";
  const std::string fields =
      "Inference-Header-Content-Length: " + std::to_string(header.size()) + "\r\n";
  const Reply reply = client_.post("/v2/models/text/infer", header + body, fields);
  EXPECT_TRUE(reply.body.ends_with(body)) << reply.body;
  // Such bytes have no form in JSON.
  const std::string as_json =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"BYTES","parameters":{"binary_data_size":12}}]})";
  EXPECT_EQ(client_
                .post("/v2/models/text/infer", as_json + body,
                      "Inference-Header-Content-Length: " + std::to_string(as_json.size()) + "\r\n")
                .status,
            501);
}

TEST_F(ServerTest, ARawRequestIsTheInput) {
  const Reply reply = client_.post("/v2/models/float/infer", binary({1, 2, 3}),
                                   "Inference-Header-Content-Length: 0\r\n");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const size_t length = std::stoul(reply.fields.at("inference-header-content-length"));
  EXPECT_EQ(json::parse(reply.body.substr(0, length))["outputs"][0]["shape"], json({1, 3}));
  EXPECT_EQ(reply.body.substr(length), binary({1, 2, 3}));
  EXPECT_EQ(client_
                .post("/v2/models/negate/infer", binary({1, 2, 3}),
                      "Inference-Header-Content-Length: 0\r\n")
                .status,
            400);
}

TEST_F(ServerTest, WhatIsWrongWithARequestIsSaid) {
  const struct {
    const char *body, *message;
  } cases[] = {
      {"", "no JSON"},
      {"[]", "expected a JSON object"},
      {"{", "request"},
      {"{}", "no field 'inputs'"},
      {R"({"inputs":[]})", "missing required input(s) ['x']"},
      {R"({"inputs":{}})", "expected an array"},
      {R"({"inputs":[{}]})", "an input without name"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","data":[1,2]}]})",
       "input 'x': no field 'shape'"},
      {R"({"inputs":[{"name":"q","shape":[1]}]})",
       "unexpected inference input 'q' for model 'negate'; there are 'x'"},
      {R"({"inputs":[{"name":"x","datatype":"FP33","shape":[1,2],"data":[1,2]}]})", "'FP33'"},
      {R"({"inputs":[{"name":"x","datatype":"INT32","shape":[1,2],"data":[1,2]}]})",
       "data-type is 'INT32', but model 'negate' expects 'FP32'"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,3]}]})",
       "Expected [-1,2], got [1,3]"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,-2],"data":[1,2]}]})", "negative"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[4611686018427387904,4],"data":[1]}]})",
       "causes total element count to exceed"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1000000000,2],"data":[1]}]})",
       "fewer than"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1]}]})",
       "expected 2 elements"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2,3]}]})",
       "more elements"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,"2"]}]})", "no number"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,]}]})",
       "missing after a comma"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[01,2]}]})", "comma or ]"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,1e999]}]})",
       "out of range"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[3,2],"data":[[1,2,3],[4,5,6]]}]})",
       "does not fit shape"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[3,2],"data":[[1,2],[3],[4,5,6]]}]})",
       "arrays of 2 and of 1"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[[1,2],3]}]})",
       "different depths"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2]}]})", "no field 'data'"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}]})",
       "Inference-Header-Content-Length"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],"outputs":[{"name":"z"}]})",
       "unexpected inference output 'z'"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]},{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})",
       "given twice"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],"parameters":{"timeout":"soon"}})",
       "'timeout'"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],"outputs":[{"name":"y"},{"name":"y"}]})",
       "Duplicate output name 'y' is not allowed in a request"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":null}]})",
       "no field 'data'"},
      {R"({"inputs":null})", "no field 'inputs'"},
      {R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]} {})",
       "something follows"},
  };
  for (const auto& one : cases) {
    const Reply reply = client_.post("/v2/models/negate/infer", one.body);
    EXPECT_EQ(reply.status, 400) << one.body << reply.body;
    EXPECT_THAT(json::parse(reply.body)["error"].get<std::string>(), HasSubstr(one.message))
        << one.body;
  }
  std::string deep = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":)";
  deep += std::string(100'000, '[') + std::string(100'000, ']') + "}]}";
  EXPECT_EQ(client_.post("/v2/models/negate/infer", deep).status, 400);
  EXPECT_EQ(client_.post("/v2/models/negate/infer", std::string(100'000, '{')).status, 400);
}

TEST_F(ServerTest, PathsAndMethods) {
  const struct {
    const char *method, *target;
    int status;
  } cases[] = {
      {"GET", "/v2/models/absent", 404},
      {"GET", "/v2/models/negate/versions/2", 404},
      {"GET", "/v2/models/negate/versions/x", 400},
      {"GET", "/v2/models/absent/ready", 404},
      {"GET", "/v2/models/negate/infer", 405},
      {"POST", "/v2/models/negate", 405},
      {"DELETE", "/v2", 405},
      {"GET", "/v3", 404},
      {"GET", "/v2/models/negate/nonsense", 404},
      {"POST", "/v2/models/negate/generate", 404},
      {"GET", "/v2/nonsense", 404},
      {"GET", "/v2/models/%6Eegate", 200},
      {"GET", "/v2/models/%zz", 400},
      {"POST", "/v2/repository/models/negate/load", 503},
      {"GET", "/v2/systemsharedmemory/status", 501},
      {"GET", "/v2/cudasharedmemory/status", 501},
  };
  for (const auto& one : cases) {
    const Reply reply = client_.ask(std::string(one.method) + ' ' + one.target +
                                    " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(reply.status, one.status) << one.target << ' ' << reply.body;
    if (one.status >= 400) {
      EXPECT_TRUE(json::parse(reply.body)["error"].is_string());
    }
  }
}

TEST_F(ServerTest, BrokenHttpIsRefused) {
  const struct {
    std::string bytes;
    int status;
  } cases[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET /v2 HTTP/1.1\r\nHost x\r\n\r\n", 400},
      {"GET /v2 HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n", 431},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
       "chunked\r\n\r\nzz\r\n",
       400},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nContent-Encoding: "
       "br\r\nContent-Length: "
       "1\r\n\r\nx",
       415},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nContent-Encoding: "
       "gzip\r\nContent-Length: "
       "1\r\n\r\nx",
       400},
      {"POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: "
       "5\r\nContent-Length: 1\r\n\r\nx",
       400},
  };
  for (const auto& one : cases) {
    HttpClient client(server_->port());
    EXPECT_EQ(client.ask(one.bytes).status, one.status) << one.bytes.substr(0, 100);
  }
  EXPECT_EQ(client_.get("/v2/health/live").status, 200);
}

TEST_F(ServerTest, ChunksCompressionAndPipelines) {
  const std::string body = request_of(input("FP32", {1, 2}, {1, 2})).dump();
  char size[16];
  snprintf(size, sizeof(size), "%zx", body.size() - 10);
  const Reply chunked = client_.ask(
      "POST /v2/models/negate/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\na\r\n" +
      body.substr(0, 10) + "\r\n" + size + "\r\n" + body.substr(10) + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 200) << chunked.body;
  EXPECT_EQ(data_of(chunked), json({-1, -2}));

  const json large = request_of(input("FP32", {1, 1000}, std::vector<int>(1000, 7)));
  const Reply compressed = infer("float", large, "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(compressed.fields.at("content-encoding"), "gzip");
  EXPECT_LT(compressed.body.size(), 500u);

  const std::string one = "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n";
  client_.write(one + one + one);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client_.read().status, 200);
}

TEST_F(ServerTest, CountsWhatItDoes) {
  for (int i = 0; i < 3; ++i)
    infer("int8", request_of(input("INT8", {2, 1}, {1, 2})));
  const json stats = json::parse(client_.get("/v2/models/int8/stats").body)["model_stats"][0];
  EXPECT_GE(stats["inference_count"], 6);
  EXPECT_GE(stats["inference_stats"]["success"]["count"], 3);
  EXPECT_EQ(stats["batch_stats"].back()["batch_size"], 2);
  const Reply metrics = client_.get("/metrics");
  EXPECT_THAT(metrics.fields.at("content-type"), HasSubstr("text/plain"));
  EXPECT_THAT(metrics.body,
              AllOf(HasSubstr("sardonyx_requests_succeeded_total{model=\"int8\",version=\"1\"}"),
                    HasSubstr("sardonyx_request_duration_seconds_bucket"),
                    HasSubstr("nv_inference_request_success{model=\"int8\",version=\"1\"}")));
  EXPECT_EQ(json::parse(client_.get("/v2/models/stats").body)["model_stats"].size(), 10u);
}

TEST_F(ServerTest, ClassesAreTheLargestScores) {
  json request = request_of(input("FP32", {2, 3}, {1, 3, 2, 9, 8, 7}));
  request["outputs"] = {{{"name", "y"}, {"parameters", {{"classification", 2}}}}};
  const Reply reply = infer("float", request);
  const json output = json::parse(reply.body)["outputs"][0];
  EXPECT_EQ(output["datatype"], "BYTES");
  EXPECT_EQ(output["shape"], json({2, 2}));
  EXPECT_EQ(output["data"], json({"3.000000:1", "2.000000:2", "9.000000:0", "8.000000:1"}));
}

TEST_F(ServerTest, ManyClientsGetTheirOwnAnswers) {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 8; ++t) {
      clients.emplace_back([&, t] {
        HttpClient client(server_->port());
        for (int i = 0; i < 100; ++i) {
          const float value = static_cast<float>(1000 * t + i);
          const json request = request_of(input("FP32", {1, 2}, {value, value + 0.5}));
          const Reply reply = client.post("/v2/models/negate/infer", request.dump());
          if (reply.status != 200 || data_of(reply) != json({-value, -value - 0.5})) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(ServerTest, LoggingIsSet) {
  const json before = json::parse(client_.get("/v2/logging").body);
  EXPECT_EQ(before["log_verbose_level"], 0);
  EXPECT_EQ(
      json::parse(
          client_.post("/v2/logging", R"({"log_verbose_level":1})").body)["log_verbose_level"],
      1);
  client_.get("/v2/health/live",
              "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  EXPECT_THAT(server_->log(), HasSubstr("0af7651916cd43dd8448eb211c80319c"));
  client_.post("/v2/logging", R"({"log_verbose_level":0})");
  EXPECT_EQ(client_.post("/v2/logging", R"({"log_file":"/tmp/x"})").status, 501);
  EXPECT_EQ(client_.post("/v2/logging", R"({"nonsense":1})").status, 400);
  EXPECT_EQ(client_.post("/v2/logging", R"({"log_info":1})").status, 400);
}

TEST(Server, ModelsComeAndGo) {
  const TemporaryFolder folder;
  save_unary(folder / "m/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server(
      {"--model-repository", folder.path().string(), "--model-control-mode=explicit"});
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/v2/models/m/ready").status, 404);
  EXPECT_EQ(json::parse(client.post("/v2/repository/index", "").body),
            json::parse(R"([{"name":"m","state":"UNAVAILABLE","reason":""}])"));
  EXPECT_EQ(client.post("/v2/repository/models/m/load", "").status, 200);
  EXPECT_EQ(client.get("/v2/models/m/ready").status, 200);
  EXPECT_EQ(json::parse(client.post("/v2/repository/index", R"({"ready":true})").body),
            json::parse(R"([{"name":"m","version":"1","state":"READY","reason":""}])"));
  EXPECT_EQ(client.post("/v2/repository/models/m/unload", "{}").status, 200);
  EXPECT_EQ(client.get("/v2/models/m/ready").status, 503);
  EXPECT_EQ(client.post("/v2/repository/models/absent/load", "").status, 404);
  // What no other client could be told of.
  for (const char* name : {"%ff", "a%0ab", "%7f"})
    EXPECT_EQ(client.post(std::string("/v2/repository/models/") + name + "/load", "").status, 400);
  EXPECT_EQ(client.post("/v2/repository/models/m/load", R"({"parameters":{"config":"{"}})").status,
            400);
  EXPECT_EQ(server.stop(), 0);
}

TEST(Server, TokensGuardTheirGroups) {
  const TemporaryFolder folder;
  save_unary(folder / "models/m/1/model.onnx", "Neg", DType::kFloat, 2);
  const std::string infer = "infer=" + folder.write("infer", "one\ntwo\n").string();
  const std::string control = "control=" + folder.write("control", "three\n").string();
  ServerProcess server(
      {"--model-repository", (folder / "models").string(), "--tokens", infer, "--tokens", control});
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/v2/health/ready").status, 200);
  EXPECT_EQ(client.get("/metrics").status, 200);
  EXPECT_EQ(client.get("/v2/models/m").status, 401);
  EXPECT_EQ(client.get("/v2/models/m", "Authorization: Bearer two\r\n").status, 200);
  EXPECT_EQ(client.get("/v2/models/m", "Authorization: bearer  two\r\n").status, 200);
  EXPECT_EQ(client.get("/v2/models/m", "Authorization: Basic two\r\n").status, 401);
  EXPECT_EQ(client.get("/v2/models/m", "Authorization: Bearer three\r\n").status, 403);
  EXPECT_EQ(client.post("/v2/repository/index", "", "Authorization: Bearer two\r\n").status, 403);
  EXPECT_EQ(client.post("/v2/repository/index", "", "Authorization: Bearer three\r\n").status, 200);
}

TEST(Server, ALimitOfNothingIsNone) {
  const TemporaryFolder folder;
  save_unary(folder / "m/1/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server(
      {"--model-repository", folder.path().string(), "--memory-limit-gb=0", "--total-memory-gb=0"});
  HttpClient client(server.port());
  EXPECT_EQ(client
                .post("/v2/models/m/infer",
                      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})")
                .status,
            200);
}

TEST(Server, WhatCannotBeServedEndsIt) {
  const TemporaryFolder folder;
  EXPECT_EQ(ServerProcess({}).stop(), 2);
  EXPECT_EQ(ServerProcess({"--nonsense"}).stop(), 2);
  fs::create_directories(folder / "m/1");
  folder.write("m/1/model.onnx", "no model");
  EXPECT_EQ(ServerProcess({"--model-repository", folder.path().string()}).stop(), 3);
  save_unary(folder / "good.onnx", "Neg", DType::kFloat, 2);
  EXPECT_EQ(ServerProcess({(folder / "good.onnx").string(), "--http-address=192.0.2.1"}).stop(), 4);
}

TEST(Server, OptionsThatMakeNoSenseEndIt) {
  const TemporaryFolder folder;
  save_unary(folder / "good.onnx", "Neg", DType::kFloat, 2);
  for (const char* option : {"--max-connections=0",      "--max-connections=-1",
                             "--max-header-bytes=0",     "--max-body-mb=0",
                             "--max-bodies-mb=-1",       "--idle-timeout=-1",
                             "--idle-timeout=0",         "--header-timeout=nan",
                             "--request-timeout=-1",     "--request-timeout=nan",
                             "--request-timeout=inf",    "--drain-delay=-1",
                             "--drain-timeout=nan",      "--repository-poll-secs=-1",
                             "--repository-poll-secs=0", "=good.onnx",
                             "--server-name=\xff",       "--memory-limit-gb=-1",
                             "--total-memory-gb=nan",    "--threads=-1",
                             "--io-threads=0",           "--default-max-batch-size=-1",
                             "--log-verbose=-1",         "--load-model=m"}) {
    ServerProcess server({(folder / "good.onnx").string(), option});
    EXPECT_EQ(server.port(), 0) << option;
    EXPECT_EQ(server.stop(), 2) << option;
  }
  for (const char* option : {"--log-file", "--port-file"}) {
    const std::string command = SARDONYX_BIN_DIR "/onnx-serve --http-port=0 " +
                                (folder / "good.onnx").string() + ' ' + option +
                                "=/nonexistent/file";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << option;
  }
}

TEST(Server, RefusedRequestsAreCounted) {
  const TemporaryFolder folder;
  save_unary(folder / "m.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({(folder / "m.onnx").string()});
  HttpClient client(server.port());
  for (const char* body : {"{", R"({"inputs":[]})", R"({"inputs":[{"name":"z"}]})"})
    EXPECT_EQ(client.post("/v2/models/m/infer", body).status, 400);
  EXPECT_THAT(client.get("/metrics").body,
              HasSubstr("sardonyx_requests_failed_total{model=\"m\",reason=\"other\",version="
                        "\"1\"} 3"));
  const json stats = json::parse(client.get("/v2/models/m/stats").body)["model_stats"][0];
  EXPECT_EQ(stats["inference_stats"]["fail"]["count"], 3);
  for (const char* target : {"/v2/models/nope/stats", "/v2/models/m/versions/9/stats",
                             "/v2/models/nope/trace/setting", "/v2/models/nope"})
    EXPECT_EQ(client.get(target).status, 404) << target;
}

TEST(Server, ABareModelIsServedAsKServeMountsIt) {
  const TemporaryFolder folder;
  save_unary(folder / "mnt/model.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({"--model-repository", (folder / "mnt").string(), "--model-name=iris"});
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/v2/models/iris/ready").status, 200);
}

TEST(Server, TlsAndItsReload) {
  const TemporaryFolder folder;
  const auto make = [&](const char* name) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-days 2 -subj /CN=" +
        std::string(name) + " -keyout " + (folder / "key").string() + " -out " +
        (folder / "cert").string() + " 2>/dev/null";
    return std::system(command.c_str()) == 0;
  };
  if (std::system("command -v openssl curl >/dev/null") != 0)
    GTEST_SKIP() << "needs openssl and curl";
  ASSERT_TRUE(make("first"));
  save_unary(folder / "m.onnx", "Neg", DType::kFloat, 2);
  ServerProcess server({(folder / "m.onnx").string(), "--tls-cert", (folder / "cert").string(),
                        "--tls-key", (folder / "key").string()});
  const auto subject = [&] {
    const std::string command =
        "curl -skv https://127.0.0.1:" + std::to_string(server.port()) + "/v2/health/ready 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string out(65536, '\0');
    out.resize(fread(out.data(), 1, out.size(), pipe));
    pclose(pipe);
    return out;
  };
  EXPECT_THAT(subject(), AllOf(HasSubstr("CN=first"), HasSubstr("\"ready\":true")));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(make("second"));
  const auto until = Clock::now() + std::chrono::seconds(10);
  std::string seen;
  while (Clock::now() < until && (seen = subject()).find("CN=second") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(seen, HasSubstr("CN=second"));
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace sardonyx::serve
