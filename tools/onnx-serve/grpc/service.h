// The calls of the service.
#pragma once

#include <boost/asio/thread_pool.hpp>

#include "tools/onnx-serve/grpc/calls.h"
#include "tools/onnx-serve/grpc/grpc_server.h"
#include "tools/onnx-serve/grpc/inference_service.grpc.pb.h"

namespace sardonyx::serve {

// The service with calls that get their messages as bytes, and, of others, what answers that there
// are none.
struct RawCalls {
  using S = inference::GRPCInferenceService;
  using Unimplemented =
      S::WithCallbackMethod_CudaSharedMemoryStatus<S::WithCallbackMethod_CudaSharedMemoryRegister<
          S::WithCallbackMethod_CudaSharedMemoryUnregister<S::Service>>>;
  using Health = S::WithRawCallbackMethod_ServerLive<S::WithRawCallbackMethod_ServerReady<
      S::WithRawCallbackMethod_ServerMetadata<S::WithRawCallbackMethod_ModelReady<Unimplemented>>>>;
  using Models = S::WithRawCallbackMethod_ModelMetadata<
      S::WithRawCallbackMethod_ModelInfer<S::WithRawCallbackMethod_ModelStreamInfer<
          S::WithRawCallbackMethod_ModelConfig<S::WithRawCallbackMethod_ModelStatistics<Health>>>>>;
  using Repository =
      S::WithRawCallbackMethod_RepositoryIndex<S::WithRawCallbackMethod_RepositoryModelLoad<
          S::WithRawCallbackMethod_RepositoryModelUnload<Models>>>;
  using Memory = S::WithRawCallbackMethod_SystemSharedMemoryStatus<
      S::WithRawCallbackMethod_SystemSharedMemoryRegister<
          S::WithRawCallbackMethod_SystemSharedMemoryUnregister<Repository>>>;
  using All = S::WithRawCallbackMethod_TraceSetting<S::WithRawCallbackMethod_LogSettings<Memory>>;
};

class InferenceService final : public RawCalls::All {
 public:
  InferenceService(const GrpcServer::Parts& parts, uint64_t message_bytes)
      : parts_(parts), message_bytes_(message_bytes) {}

  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Reactor = grpc::ServerUnaryReactor;

  Calls& calls() { return calls_; }

  Reactor* ServerLive(Context*, const Bytes*, Bytes*) override;
  Reactor* ServerReady(Context*, const Bytes*, Bytes*) override;
  Reactor* ServerMetadata(Context*, const Bytes*, Bytes*) override;
  Reactor* ModelReady(Context*, const Bytes*, Bytes*) override;
  Reactor* ModelMetadata(Context*, const Bytes*, Bytes*) override;
  Reactor* ModelInfer(Context*, const Bytes*, Bytes*) override;
  grpc::ServerBidiReactor<Bytes, Bytes>* ModelStreamInfer(Context*) override;
  Reactor* ModelConfig(Context*, const Bytes*, Bytes*) override;
  Reactor* ModelStatistics(Context*, const Bytes*, Bytes*) override;
  Reactor* RepositoryIndex(Context*, const Bytes*, Bytes*) override;
  Reactor* RepositoryModelLoad(Context*, const Bytes*, Bytes*) override;
  Reactor* RepositoryModelUnload(Context*, const Bytes*, Bytes*) override;
  Reactor* SystemSharedMemoryStatus(Context*, const Bytes*, Bytes*) override;
  Reactor* SystemSharedMemoryRegister(Context*, const Bytes*, Bytes*) override;
  Reactor* SystemSharedMemoryUnregister(Context*, const Bytes*, Bytes*) override;
  Reactor* TraceSetting(Context*, const Bytes*, Bytes*) override;
  Reactor* LogSettings(Context*, const Bytes*, Bytes*) override;

 private:
  template <typename Request, typename Response, typename Work>
  Reactor* answer(Context* context, const Bytes* from, Bytes* to, EndpointGroup group,
                  const Work& work);
  template <typename Request, typename Response, typename Work>
  Reactor* answer_elsewhere(Context* context, const Bytes* from, Bytes* to, const Work& work);
  Reactor* finished(const grpc::Status& status);
  grpc::Status access(const Context& context, EndpointGroup group) const;
  SharedMemory& regions() const;

  const GrpcServer::Parts parts_;
  const uint64_t message_bytes_;
  Calls calls_;
  asio::thread_pool control_threads_{2};
};

}  // namespace sardonyx::serve
