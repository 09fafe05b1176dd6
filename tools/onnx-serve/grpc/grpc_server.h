// The Open Inference Protocol over gRPC.
#pragma once

#include <memory>
#include <string>

#include "tools/onnx-serve/api/api.h"
#include "tools/onnx-serve/http/tls.h"

namespace sardonyx::serve {

class GrpcServer {
 public:
  struct GrpcOptions {
    std::string address = "127.0.0.1";
    int port = 8001;  // 0: one that is free
    uint64_t body_bytes = uint64_t{1} << 30;
    uint64_t all_body_bytes = uint64_t{4} << 30;  // of what is on its way, beside what is counted
    TlsFiles tls;                                 // empty: none
  };

  // What it shares with the server's other front.
  struct Parts {
    serving::ModelRepository& repository;
    const AccessControl& access;
    ServerLog& log;
    ServerState& state;
    Api& api;
    const ApiOptions& options;
    BodyBudget& bodies;
  };

  // Throws ServingError kUnavailable where the address can't be listened at.
  GrpcServer(const GrpcOptions& options, const Parts& parts);
  ~GrpcServer();

  int port() const;
  // What grpc.health.v1 answers.
  void set_ready(bool ready);
  // Takes no more calls, waits for those that run, and ends them after the time; false: there were
  // some. Streams end once they are idle.
  bool close(std::chrono::milliseconds patience);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::serve
