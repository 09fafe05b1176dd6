// The command line of the server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/serving/repository.h"
#include "tools/onnx-serve/api/api.h"
#include "tools/onnx-serve/http/http_server.h"

namespace sardonyx::serve {

struct ServeOptions {
  HttpServer::Options http;
  serving::RepositoryOptions repository;
  ApiOptions api;
  bool has_grpc = true;      // where the program is built with it
  std::string grpc_address;  // "": that of HTTP
  uint16_t grpc_port = 8001;
  std::optional<uint16_t> metrics_port;  // of their own; they are at that of HTTP in any case
  TlsFiles tls;
  std::vector<std::string> tokens;  // GROUP=FILE
  ServerLog::Settings log;
  TraceSettings trace;
  TraceTarget trace_target;
  std::chrono::milliseconds drain_delay{5000}, drain_timeout{20'000}, poll_period{15'000};
  bool exits_on_error = true;
  std::string
      port_file;  // where the port is written once requests are taken; for tests and scripts
};

// Gives the options, or the exit status where the program is to end (--help, an error).
struct ParsedOptions {
  std::optional<ServeOptions> options;
  int exit_code = 0;
};
ParsedOptions parse_options(int count, const char* const* values);

}  // namespace sardonyx::serve
