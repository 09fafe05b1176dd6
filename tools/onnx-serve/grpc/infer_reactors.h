// Calls of inference, one at a time and as a stream.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "tools/onnx-serve/grpc/calls.h"
#include "tools/onnx-serve/grpc/grpc_server.h"

namespace sardonyx::serve {

// What the calls of a server share; it outlives them.
struct CallContext {
  const GrpcServer::Parts& parts;
  Calls& calls;
  uint64_t message_bytes;  // of one request
};

grpc::ServerUnaryReactor* infer_call(const CallContext& shared,
                                     grpc::CallbackServerContext& context, grpc::ByteBuffer& from,
                                     grpc::ByteBuffer& to);

using StreamReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;
StreamReactor* infer_stream(const CallContext& shared, grpc::CallbackServerContext& context);

}  // namespace sardonyx::serve
