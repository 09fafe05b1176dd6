// Requests and answers of inference as gRPC's messages.
#pragma once

#include <grpcpp/support/status.h>

#include "tools/onnx-serve/api/infer_request.h"
#include "tools/onnx-serve/grpc/inference_service.pb.h"

namespace sardonyx::serve {

grpc::Status grpc_status(const ServingError& error);

// What a message asks for. Tensors take the memory of raw_input_contents over, so that a run may
// outlive the call. Throws ServingError kInvalidArgument.
struct GrpcInfer {
  ParsedInfer parsed;  // without data
  std::vector<serving::NamedTensor> tensors;
};
GrpcInfer read_infer(inference::ModelInferRequest& message, const serving::ServedModel& model,
                     const SharedMemory* memory);

// Throws ServingError.
void write_answer(const serving::ServedModel& model, const ParsedInfer& parsed,
                  const OutputChoice& choice, const std::vector<Datum>& outputs,
                  const SharedMemory* memory, inference::ModelInferResponse& answer);

}  // namespace sardonyx::serve
