// Calls of inference, one at a time and as a stream.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "tools/onnx-serve/grpc/grpc_server.h"
#include "tools/onnx-serve/grpc/inference_service.pb.h"

namespace sardonyx::serve {

grpc::ServerUnaryReactor* infer_call(const GrpcServer::Parts& parts,
                                     grpc::CallbackServerContext& context,
                                     inference::ModelInferRequest& request,
                                     inference::ModelInferResponse& response);

using StreamReactor =
    grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>;
StreamReactor* infer_stream(const GrpcServer::Parts& parts, grpc::CallbackServerContext& context);

}  // namespace sardonyx::serve
