// The calls of the service.
#pragma once

#include <boost/asio/thread_pool.hpp>

#include "tools/onnx-serve/grpc/grpc_server.h"
#include "tools/onnx-serve/grpc/inference_service.grpc.pb.h"

namespace sardonyx::serve {

class InferenceService final : public inference::GRPCInferenceService::CallbackService {
 public:
  explicit InferenceService(const GrpcServer::Parts& parts) : parts_(parts) {}

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  Reactor* ServerLive(Context*, const inference::ServerLiveRequest*,
                      inference::ServerLiveResponse*) override;
  Reactor* ServerReady(Context*, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse*) override;
  Reactor* ServerMetadata(Context*, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse*) override;
  Reactor* ModelReady(Context*, const inference::ModelReadyRequest*,
                      inference::ModelReadyResponse*) override;
  Reactor* ModelMetadata(Context*, const inference::ModelMetadataRequest*,
                         inference::ModelMetadataResponse*) override;
  Reactor* ModelInfer(Context*, const inference::ModelInferRequest*,
                      inference::ModelInferResponse*) override;
  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
  ModelStreamInfer(Context*) override;
  Reactor* ModelConfig(Context*, const inference::ModelConfigRequest*,
                       inference::ModelConfigResponse*) override;
  Reactor* ModelStatistics(Context*, const inference::ModelStatisticsRequest*,
                           inference::ModelStatisticsResponse*) override;
  Reactor* RepositoryIndex(Context*, const inference::RepositoryIndexRequest*,
                           inference::RepositoryIndexResponse*) override;
  Reactor* RepositoryModelLoad(Context*, const inference::RepositoryModelLoadRequest*,
                               inference::RepositoryModelLoadResponse*) override;
  Reactor* RepositoryModelUnload(Context*, const inference::RepositoryModelUnloadRequest*,
                                 inference::RepositoryModelUnloadResponse*) override;
  Reactor* SystemSharedMemoryStatus(Context*, const inference::SystemSharedMemoryStatusRequest*,
                                    inference::SystemSharedMemoryStatusResponse*) override;
  Reactor* SystemSharedMemoryRegister(Context*, const inference::SystemSharedMemoryRegisterRequest*,
                                      inference::SystemSharedMemoryRegisterResponse*) override;
  Reactor* SystemSharedMemoryUnregister(Context*,
                                        const inference::SystemSharedMemoryUnregisterRequest*,
                                        inference::SystemSharedMemoryUnregisterResponse*) override;
  Reactor* TraceSetting(Context*, const inference::TraceSettingRequest*,
                        inference::TraceSettingResponse*) override;
  Reactor* LogSettings(Context*, const inference::LogSettingsRequest*,
                       inference::LogSettingsResponse*) override;

 private:
  template <typename Work>
  Reactor* answer(Context* context, EndpointGroup group, const Work& work);
  template <typename Work>
  Reactor* answer_elsewhere(Context* context, const Work& work);
  grpc::Status access(const Context& context, EndpointGroup group) const;
  SharedMemory& regions() const;

  const GrpcServer::Parts parts_;
  asio::thread_pool control_threads_{2};
};

}  // namespace sardonyx::serve
