// Requests whose end is in doubt, and what a request may take before it has come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "tools/onnx-serve/http/compression.h"
#include "tools/onnx-serve/server_process_for_test.h"

namespace sardonyx::serve {
namespace {

using testing::HasSubstr;

class HttpFraming : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    save_unary(*folder_ / "negate/1/model.onnx", "Neg", DType::kFloat, 2);
    server_ = new ServerProcess({"--model-repository", folder_->path().string(),
                                 "--max-header-bytes=200000", "--max-body-mb=1024",
                                 "--max-bodies-mb=1024"});
    ASSERT_GT(server_->port(), 0);
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->stop(), 0) << server_->log();
    delete server_;
    delete folder_;
  }
  // The answer, after which the connection is to end.
  static Reply last(const std::string& bytes) {
    HttpClient client(server_->port());
    Reply reply = client.ask(bytes);
    EXPECT_EQ(reply.fields["connection"], "close") << bytes.substr(0, 200);
    EXPECT_EQ(client.read_some(), "") << bytes.substr(0, 200);
    return reply;
  }
  static std::string post(const std::string& fields) {
    return "POST /v2/models/negate/infer HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  }
  static size_t resident_bytes() {
    std::ifstream file("/proc/" + std::to_string(server_->process()) + "/statm");
    size_t pages = 0;
    file >> pages >> pages;
    return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  static TemporaryFolder* folder_;
  static ServerProcess* server_;
  const std::string body_ =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";
};
TemporaryFolder* HttpFraming::folder_ = nullptr;
ServerProcess* HttpFraming::server_ = nullptr;

constexpr const char* kChunked = "Transfer-Encoding: chunked\r\n";

TEST_F(HttpFraming, FieldsOfAnyLengthAreRefused) {
  for (const size_t size : {66'000, 150'000, 300'000}) {
    const std::string large(size, 'b');
    for (const std::string& field : {"A: " + large, large + ": a"}) {
      EXPECT_EQ(last(post(field + "\r\n")).status, 431) << size;
      HttpClient client(server_->port());
      // Where it is not too long, an empty body is what was sent.
      const Reply trailer = client.ask(post(kChunked) + "0\r\n" + field + "\r\n\r\n");
      EXPECT_EQ(trailer.status, size > 200'000 ? 431 : 400) << trailer.body;
    }
  }
  EXPECT_EQ(last(post(kChunked) + "1;" + std::string(1 << 20, 'e') + "\r\n").status, 431);
  std::string trailers;
  for (int i = 0; i < 30'000; ++i)
    trailers += "Name: value\r\n";
  EXPECT_EQ(last(post(kChunked) + "0\r\n" + trailers).status, 431);
}

TEST_F(HttpFraming, ChunksAndTrailersAreRead) {
  HttpClient client(server_->port());
  const std::string half = body_.substr(0, 16), rest = body_.substr(16);
  const std::string chunks = "10\r\n" + half + "\r\n" +
                             [&] {
                               char size[16];
                               std::snprintf(size, sizeof(size), "%zx", rest.size());
                               return std::string(size);
                             }() +
                             ";name=value\r\n" + rest +
                             "\r\n0\r\nTrailer: x\r\nContent-Length: 7\r\n\r\n";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(client.ask(post(kChunked) + chunks).status, 200);
  for (const char c : post(kChunked) + chunks)
    client.write(std::string(1, c));
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(last(post(kChunked) + "zz\r\n").status, 400);
  EXPECT_EQ(last(post(kChunked) + "ffffffffff\r\n").status, 413);
}

TEST_F(HttpFraming, WhatNobodyCanReadEndsTheConnection) {
  const std::string next = "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n";
  const struct {
    const char* fields;
    int status;
  } cases[] = {
      {"Transfer-Encoding: gzip\r\n", 400},
      {"Transfer-Encoding: identity\r\n", 400},
      {"Transfer-Encoding: xchunked\r\n", 400},
      {"Transfer-Encoding: chunked;q=1\r\n", 400},
      {"Transfer-Encoding:\r\n", 400},
      {"Transfer-Encoding: chunked, gzip\r\n", 400},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 43\r\n", 400},
      {"Content-Length: 43\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Content-Length: 43\r\nTransfer-Encoding: gzip\r\n", 400},
      {"Content-Length: 43\r\nContent-Length: 42\r\n", 400},
      {"Content-Length: +43\r\n", 400},
      {"Host: b\r\n", 400},
  };
  for (const auto& one : cases)
    EXPECT_EQ(last(post(one.fields) + next).status, one.status) << one.fields;
  EXPECT_EQ(last("GET /v2 HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(last("POST /v2 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + next).status, 400);
  HttpClient client(server_->port());
  EXPECT_EQ(client.ask("GET /v2 HTTP/1.0\r\n\r\n").status, 200);
}

TEST_F(HttpFraming, EmptyLinesBeforeARequestAreNothing) {
  HttpClient client(server_->port());
  const std::string ask = "GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(client.ask("\r\n\r\n" + ask + "\r\n").status, 200);
  EXPECT_EQ(client.ask(ask).status, 200);
  client.write("\r");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(client.ask("\n" + ask).status, 200);
}

TEST_F(HttpFraming, BodiesThatNobodyAsksForAreRefusedAtTheHeader) {
  const std::string length = " HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n";
  const struct {
    const char* request;
    int status;
  } cases[] = {{"GET /v2/health/live", 413},
               {"GET /v2/models/negate", 413},
               {"GET /metrics", 413},
               {"HEAD /", 413},
               {"POST /v2/health/live", 405},
               {"PUT /v2/models/negate/infer", 405},
               {"GET /v2/models/negate/infer", 405},
               {"POST /v2/models/negate/infre", 404},
               {"POST /nothing", 404},
               {"GET /v2/nothing", 404}};
  for (const auto& one : cases)
    EXPECT_EQ(last(one.request + length).status, one.status) << one.request;
  HttpClient client(server_->port());
  EXPECT_EQ(client.get("/v2/health/live", "Content-Length: 0\r\n").status, 200);
  EXPECT_EQ(client.get("/v2/models/negate", "Content-Length: 0\r\n").status, 200);
}

TEST_F(HttpFraming, WhatIsAnnouncedIsNotTaken) {
  const size_t before = resident_bytes();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (const char* more :
       {"", "Inference-Header-Content-Length: 0\r\n", "Content-Encoding: gzip\r\n", ""}) {
    clients.push_back(std::make_unique<HttpClient>(server_->port()));
    clients.back()->write(post(std::string("Content-Length: 1073000000\r\n") + more) + "{");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(resident_bytes(), before + (16 << 20));
  HttpClient other(server_->port());
  EXPECT_EQ(other.post("/v2/models/negate/infer", body_).status, 200);
}

TEST_F(HttpFraming, WhileABodyIsDecompressedOthersAreServed) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", "gzip");
  HttpAnswer bomb;
  bomb.text.assign(200'000'000, ' ');
  compress_answer(request, bomb);
  ServerProcess server({"--model-repository", folder_->path().string(), "--io-threads=1"});
  HttpClient first(server.port()), second(server.port());
  first.write(post("Content-Encoding: gzip\r\nContent-Length: " + std::to_string(bomb.text.size()) +
                   "\r\n") +
              bomb.text);
  std::atomic<int> status = 0;
  std::jthread reader([&] { status = first.read().status; });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(second.get("/v2/health/live").status, 200);
  EXPECT_EQ(status, 0);
  reader.join();
  EXPECT_EQ(status, 400);
}

TEST_F(HttpFraming, DecompressionEndsWithTheTimeOfARequest) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", "gzip");
  HttpAnswer bomb;
  bomb.text.assign(200'000'000, ' ');
  compress_answer(request, bomb);
  ServerProcess server({"--model-repository", folder_->path().string(), "--request-timeout=0.001"});
  HttpClient client(server.port());
  client.write(post("Content-Encoding: gzip\r\nContent-Length: " +
                    std::to_string(bomb.text.size()) + "\r\n") +
               bomb.text);
  const Reply reply = client.read();
  EXPECT_EQ(reply.status, 504) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("decompressed"));
}

TEST_F(HttpFraming, LargeBodiesComeWhole) {
  const std::string data(40'000'000, '\0');
  const std::string head =
      R"({"inputs":[{"name":"x","shape":[5000000,2],"datatype":"FP32","parameters":)"
      R"({"binary_data_size":40000000}}],"parameters":{"binary_data_output":true}})";
  HttpClient client(server_->port());
  const Reply reply =
      client.post("/v2/models/negate/infer", head + data,
                  "Inference-Header-Content-Length: " + std::to_string(head.size()) + "\r\n");
  EXPECT_EQ(reply.status, 200) << reply.body.substr(0, 300);
  EXPECT_GE(reply.body.size(), data.size());
}

}  // namespace
}  // namespace sardonyx::serve
