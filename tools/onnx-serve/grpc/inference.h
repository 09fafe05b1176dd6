// One request over gRPC: from its message to the answer's.
#pragma once

#include <grpcpp/server_context.h>

#include "tools/onnx-serve/grpc/grpc_server.h"
#include "tools/onnx-serve/grpc/infer_messages.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {

class Inference {
 public:
  using Done = std::function<void(std::optional<ServingError>)>;

  // Throws ServingError where the request is refused at once; else `done` is called once, perhaps
  // before this returns. `answer` is written before that.
  void start(const GrpcServer::Parts& parts, const grpc::CallbackServerContext& context,
             inference::ModelInferRequest& message, inference::ModelInferResponse& answer,
             const Done& done);
  const serving::ModelRepository::ModelPointer& model() const { return model_; }
  const serving::ServedModel::Ticket& ticket() const { return ticket_; }
  // The answer has been written: the trace, if there is one, is whole.
  void end_trace();

 private:
  serving::InferRequest read_request(const GrpcServer::Parts& parts,
                                     const grpc::CallbackServerContext& context,
                                     inference::ModelInferRequest& message);
  void begin_trace(Tracer& tracer, const grpc::CallbackServerContext& context);

  serving::ModelRepository::ModelPointer model_;
  const SharedMemory* memory_ = nullptr;
  ParsedInfer parsed_;
  OutputChoice choice_;
  serving::ServedModel::Ticket ticket_;
  std::shared_ptr<Trace> trace_;
};

}  // namespace sardonyx::serve
