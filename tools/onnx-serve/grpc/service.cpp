#include "tools/onnx-serve/grpc/service.h"

#include <boost/asio/post.hpp>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "executor/serving/model_config_proto.h"
#include "tools/onnx-serve/grpc/infer_messages.h"
#include "tools/onnx-serve/grpc/infer_reactors.h"
#include "tools/onnx-serve/grpc/wire.h"

namespace sardonyx::serve {
namespace {

using serving::refuse;
using Reactor = grpc::ServerUnaryReactor;

class RefusedStream : public StreamReactor {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

void set(inference::StatisticDuration& to, const serving::Durations& from) {
  to.set_count(from.count);
  to.set_ns(from.ns);
}

void write_statistics(const serving::ServedModel& model, inference::ModelStatistics& to) {
  const serving::StatisticsSnapshot counts = model.statistics().snapshot();
  to.set_name(model.name());
  to.set_version(std::to_string(model.version()));
  to.set_last_inference(counts.last_inference_ms);
  to.set_inference_count(counts.inference_count);
  to.set_execution_count(counts.execution_count);
  auto& stats = *to.mutable_inference_stats();
  set(*stats.mutable_success(), counts.success);
  set(*stats.mutable_fail(), counts.fail);
  set(*stats.mutable_queue(), counts.queue);
  set(*stats.mutable_compute_input(), counts.compute_input);
  set(*stats.mutable_compute_infer(), counts.compute_infer);
  set(*stats.mutable_compute_output(), counts.compute_output);
  set(*stats.mutable_cache_hit(), {});
  set(*stats.mutable_cache_miss(), {});
  for (const auto& [size, batch] : counts.batches) {
    auto& one = *to.add_batch_stats();
    one.set_batch_size(static_cast<uint64_t>(size));
    set(*one.mutable_compute_input(), batch.compute_input);
    set(*one.mutable_compute_infer(), batch.compute_infer);
    set(*one.mutable_compute_output(), batch.compute_output);
  }
  auto& memory = *to.add_memory_usage();
  memory.set_type("CPU");
  memory.set_byte_size(model.session().stats().memory_used);
}

template <typename Field>
void write_tensors(const std::vector<serving::TensorConfig>& tensors, bool has_batch_dim,
                   Field& to) {
  for (const serving::TensorConfig& tensor : tensors) {
    auto& one = *to.Add();
    one.set_name(tensor.name);
    one.set_datatype(std::string(serving::protocol_name(tensor.dtype)));
    if (has_batch_dim) one.add_shape(-1);
    for (const int64_t dim : tensor.dims)
      one.add_shape(dim);
  }
}

template <typename Value>
void take_setting(const inference::LogSettingsRequest& request, const char* name, Value& to) {
  using Setting = inference::LogSettingsRequest::SettingValue;
  const auto found = request.settings().find(name);
  if (found == request.settings().end()) return;
  const Setting& setting = found->second;
  const auto expect = [&](Setting::ParameterChoiceCase kind) {
    if (setting.parameter_choice_case() != kind)
      refuse(Status::kInvalidArgument, "setting '", name, "' has a value of another type");
  };
  if constexpr (std::is_same_v<Value, bool>) {
    expect(Setting::kBoolParam);
    to = setting.bool_param();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    expect(Setting::kStringParam);
    to = setting.string_param();
  } else {
    expect(Setting::kUint32Param);
    to = setting.uint32_param();
  }
}

void expect_explicit(const serving::ModelRepository& repository) {
  if (repository.is_explicit()) return;
  serving::refuse(Status::kUnavailable, kNotExplicit);
}

// KServe's schema, whose service has the same name, has the model's name where Triton's has that of
// a repository, which is empty in all that Triton itself takes.
template <typename Request>
const std::string& wanted_model(const Request& request) {
  return request.model_name().empty() ? request.repository_name() : request.model_name();
}

}  // namespace

grpc::Status InferenceService::access(const Context& context, EndpointGroup group) const {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  const std::string_view given = found == metadata.end()
                                     ? std::string_view()
                                     : std::string_view(found->second.data(), found->second.size());
  switch (parts_.access.check(group, given)) {
    case Access::kNoToken:
      return {grpc::StatusCode::UNAUTHENTICATED, "this needs metadata authorization: Bearer TOKEN"};
    case Access::kWrongToken:
      return {grpc::StatusCode::PERMISSION_DENIED,
              "the token is none of those that may ask for this"};
    default:
      return grpc::Status::OK;
  }
}

// A call that is over as soon as it has begun.
Reactor* InferenceService::finished(const grpc::Status& status) {
  auto* call = new UnaryCall(calls_);
  call->Finish(status);
  return call;
}

template <typename Request, typename Response, typename Work>
Reactor* InferenceService::answer(Context* context, const Bytes* from, Bytes* to,
                                  EndpointGroup group, const Work& work) {
  grpc::Status status = access(*context, group);
  if (status.ok()) {
    try {
      TakenBytes taken(parts_.bodies);
      Request request;
      Response response;
      read_wire(const_cast<Bytes&>(*from), *context, message_bytes_, taken, request);
      work(request, response);
      write_wire(response, *to);
    } catch (...) {
      status = grpc_status(serving::current_serving_error());
    }
  }
  return finished(status);
}

// Work that may take long; `work` is copied.
template <typename Request, typename Response, typename Work>
Reactor* InferenceService::answer_elsewhere(Context* context, const Bytes* from, Bytes* to,
                                            const Work& work) {
  if (const grpc::Status status = access(*context, EndpointGroup::kControl); !status.ok())
    return finished(status);
  auto* call = new UnaryCall(calls_);
  asio::post(control_threads_, [this, call, context, from, to, work] {
    grpc::Status status;
    try {
      TakenBytes taken(parts_.bodies);
      Request request;
      Response response;
      read_wire(const_cast<Bytes&>(*from), *context, message_bytes_, taken, request);
      work(request, response);
      write_wire(response, *to);
    } catch (...) {
      status = grpc_status(serving::current_serving_error());
    }
    call->Finish(status);
  });
  return call;
}

Reactor* InferenceService::ServerLive(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ServerLiveRequest, inference::ServerLiveResponse>(
      context, from, to, EndpointGroup::kHealth,
      [&](const inference::ServerLiveRequest&, inference::ServerLiveResponse& response) {
        response.set_live(true);
      });
}

Reactor* InferenceService::ServerReady(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ServerReadyRequest, inference::ServerReadyResponse>(
      context, from, to, EndpointGroup::kHealth,
      [&](const inference::ServerReadyRequest&, inference::ServerReadyResponse& response) {
        response.set_ready(parts_.repository.is_ready() && !parts_.state.is_draining);
      });
}

Reactor* InferenceService::ServerMetadata(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ServerMetadataRequest, inference::ServerMetadataResponse>(
      context, from, to, EndpointGroup::kInfer,
      [&](const inference::ServerMetadataRequest&, inference::ServerMetadataResponse& response) {
        response.set_name(parts_.options.server_name);
        response.set_version(SARDONYX_VERSION);
        for (const std::string_view name : parts_.api.extensions())
          response.add_extensions(std::string(name));
      });
}

Reactor* InferenceService::ModelReady(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ModelReadyRequest, inference::ModelReadyResponse>(
      context, from, to, EndpointGroup::kInfer,
      [&](const inference::ModelReadyRequest& request, inference::ModelReadyResponse& response) {
        try {
          parts_.repository.find(request.name(), request.version());
          response.set_ready(true);
        } catch (const ServingError& error) {
          if (error.status() != Status::kUnavailable && error.status() != Status::kNotFound) throw;
          response.set_ready(false);
        }
      });
}

Reactor* InferenceService::ModelMetadata(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ModelMetadataRequest, inference::ModelMetadataResponse>(
      context, from, to, EndpointGroup::kInfer,
      [&](const inference::ModelMetadataRequest& request,
          inference::ModelMetadataResponse& response) {
        const auto model = parts_.repository.find(request.name(), request.version());
        response.set_name(model->name());
        for (const auto& one : parts_.repository.serving(model->name()))
          response.add_versions(std::to_string(one->version()));
        response.set_platform(model->config().is_ensemble() ? "ensemble" : "onnxruntime_onnx");
        const bool has_batch_dim = model->config().max_batch_size > 0;
        write_tensors(model->config().inputs, has_batch_dim, *response.mutable_inputs());
        write_tensors(model->config().outputs, has_batch_dim, *response.mutable_outputs());
        // A string of a message has to be UTF-8, which a file's need not be.
        for (const auto& [key, value] : model->session().metadata().custom) {
          if (serving::is_utf8(key) && serving::is_utf8(value))
            (*response.mutable_properties())[key] = value;
        }
      });
}

Reactor* InferenceService::ModelInfer(Context* context, const Bytes* from, Bytes* to) {
  if (const grpc::Status status = access(*context, EndpointGroup::kInfer); !status.ok())
    return finished(status);
  // The bytes are this call's alone.
  return infer_call({parts_, calls_, message_bytes_}, *context, const_cast<Bytes&>(*from), *to);
}

StreamReactor* InferenceService::ModelStreamInfer(Context* context) {
  if (const grpc::Status status = access(*context, EndpointGroup::kInfer); !status.ok())
    return new RefusedStream(status);
  return infer_stream({parts_, calls_, message_bytes_}, *context);
}

Reactor* InferenceService::ModelConfig(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ModelConfigRequest, inference::ModelConfigResponse>(
      context, from, to, EndpointGroup::kInfer,
      [&](const inference::ModelConfigRequest& request, inference::ModelConfigResponse& response) {
        const auto model = parts_.repository.find(request.name(), request.version());
        SARDONYX_CHECK(response.mutable_config()->ParseFromString(model->config().wire));
      });
}

Reactor* InferenceService::ModelStatistics(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::ModelStatisticsRequest, inference::ModelStatisticsResponse>(
      context, from, to, EndpointGroup::kInfer,
      [&](const inference::ModelStatisticsRequest& request,
          inference::ModelStatisticsResponse& response) {
        for (const auto& model : parts_.repository.counted(request.name(), request.version()))
          write_statistics(*model, *response.add_model_stats());
      });
}

Reactor* InferenceService::RepositoryIndex(Context* context, const Bytes* from, Bytes* to) {
  return answer_elsewhere<inference::RepositoryIndexRequest, inference::RepositoryIndexResponse>(
      context, from, to,
      [this](const inference::RepositoryIndexRequest& request,
             inference::RepositoryIndexResponse& response) {
        for (const serving::ModelState& state : parts_.repository.index(request.ready())) {
          auto& model = *response.add_models();
          model.set_name(state.name);
          if (state.version) model.set_version(std::to_string(*state.version));
          model.set_state(std::string(name_of(state.state)));
          model.set_reason(serving::utf8_text(state.reason));
        }
      });
}

Reactor* InferenceService::RepositoryModelLoad(Context* context, const Bytes* from, Bytes* to) {
  return answer_elsewhere<inference::RepositoryModelLoadRequest,
                          inference::RepositoryModelLoadResponse>(
      context, from, to,
      [this](const inference::RepositoryModelLoadRequest& request,
             inference::RepositoryModelLoadResponse& response) {
        expect_explicit(parts_.repository);
        serving::ModelRepository::LoadOverride replaced;
        for (const auto& [key, value] : request.parameters()) {
          if (key == "config") {
            replaced.config_json = value.string_param();
          } else if (key.starts_with("file:")) {
            replaced.files[key.substr(5)] = value.bytes_param();
          } else {
            refuse(Status::kInvalidArgument, "unknown parameter '", key, "'");
          }
        }
        const std::string& name = wanted_model(request);
        parts_.repository.load(name, replaced);
        response.set_model_name(name);
        response.set_is_loaded(true);
      });
}

Reactor* InferenceService::RepositoryModelUnload(Context* context, const Bytes* from, Bytes* to) {
  return answer_elsewhere<inference::RepositoryModelUnloadRequest,
                          inference::RepositoryModelUnloadResponse>(
      context, from, to,
      [this](const inference::RepositoryModelUnloadRequest& request,
             inference::RepositoryModelUnloadResponse& response) {
        expect_explicit(parts_.repository);
        const auto found = request.parameters().find("unload_dependents");
        const bool and_dependents =
            found != request.parameters().end() && found->second.bool_param();
        const std::string& name = wanted_model(request);
        parts_.repository.unload(name, and_dependents);
        response.set_model_name(name);
        response.set_is_unloaded(true);
      });
}

SharedMemory& InferenceService::regions() const {
  if (!parts_.options.allows_shared_memory) {
    refuse(Status::kUnsupported,
           "shared memory of clients is off; start the server with --allow-client-shm");
  }
  return parts_.api.regions();
}

Reactor* InferenceService::SystemSharedMemoryStatus(Context* context, const Bytes* from,
                                                    Bytes* to) {
  return answer<inference::SystemSharedMemoryStatusRequest,
                inference::SystemSharedMemoryStatusResponse>(
      context, from, to, EndpointGroup::kControl,
      [&](const inference::SystemSharedMemoryStatusRequest& request,
          inference::SystemSharedMemoryStatusResponse& response) {
        for (const SharedMemory::Region& region : regions().regions(request.name())) {
          auto& one = (*response.mutable_regions())[region.name];
          one.set_name(region.name);
          one.set_key(region.key);
          one.set_offset(region.offset);
          one.set_byte_size(region.byte_size);
        }
      });
}

Reactor* InferenceService::SystemSharedMemoryRegister(Context* context, const Bytes* from,
                                                      Bytes* to) {
  return answer<inference::SystemSharedMemoryRegisterRequest,
                inference::SystemSharedMemoryRegisterResponse>(
      context, from, to, EndpointGroup::kControl,
      [&](const inference::SystemSharedMemoryRegisterRequest& request,
          inference::SystemSharedMemoryRegisterResponse&) {
        regions().add({request.name(), request.key(), request.offset(), request.byte_size()});
      });
}

Reactor* InferenceService::SystemSharedMemoryUnregister(Context* context, const Bytes* from,
                                                        Bytes* to) {
  return answer<inference::SystemSharedMemoryUnregisterRequest,
                inference::SystemSharedMemoryUnregisterResponse>(
      context, from, to, EndpointGroup::kControl,
      [&](const inference::SystemSharedMemoryUnregisterRequest& request,
          inference::SystemSharedMemoryUnregisterResponse&) {
        if (request.name().empty()) {
          regions().remove_all();
        } else {
          regions().remove(request.name());
        }
      });
}

Reactor* InferenceService::TraceSetting(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::TraceSettingRequest, inference::TraceSettingResponse>(
      context, from, to, EndpointGroup::kControl,
      [&](const inference::TraceSettingRequest& request,
          inference::TraceSettingResponse& response) {
        const std::string& model = request.model_name();
        if (!model.empty() && parts_.repository.serving(model).empty())
          refuse(Status::kNotFound, "Request for unknown model : ", model);
        TraceValues changes;
        for (const auto& [name, value] : request.settings()) {
          auto& values = changes[name];
          if (value.value_size() > 0) values.emplace(value.value().begin(), value.value().end());
        }
        if (!changes.empty()) parts_.api.tracer().update(model, changes);
        for (const auto& [name, values] : parts_.api.tracer().settings(model)) {
          for (const std::string& value : values)
            (*response.mutable_settings())[name].add_value(value);
        }
      });
}

Reactor* InferenceService::LogSettings(Context* context, const Bytes* from, Bytes* to) {
  return answer<inference::LogSettingsRequest, inference::LogSettingsResponse>(
      context, from, to, EndpointGroup::kControl,
      [&](const inference::LogSettingsRequest& request, inference::LogSettingsResponse& response) {
        ServerLog::Settings settings = parts_.log.settings();
        for (const auto& [name, value] : request.settings()) {
          if (!ServerLog::is_setting(name))
            refuse(Status::kInvalidArgument, "unknown setting '", name, "'");
          if (name == "log_file" && value.string_param() != settings.file) {
            refuse(
                Status::kUnsupported,
                "log file location can not be updated through network protocol; it is set when the "
                "server is started (--log-file)");
          }
        }
        take_setting(request, "log_info", settings.info);
        take_setting(request, "log_warning", settings.warning);
        take_setting(request, "log_error", settings.error);
        take_setting(request, "log_verbose_level", settings.verbose_level);
        take_setting(request, "log_format", settings.format);
        parts_.log.configure(settings);
        auto& answers = *response.mutable_settings();
        answers["log_file"].set_string_param(serving::utf8_text(settings.file));
        answers["log_info"].set_bool_param(settings.info);
        answers["log_warning"].set_bool_param(settings.warning);
        answers["log_error"].set_bool_param(settings.error);
        answers["log_verbose_level"].set_uint32_param(settings.verbose_level);
        answers["log_format"].set_string_param(settings.format);
      });
}

}  // namespace sardonyx::serve
