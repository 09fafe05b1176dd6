#include "tools/onnx-serve/grpc/inference.h"

namespace sardonyx::serve {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

namespace {

// The time that a call has left, in the way that requests have it; nullopt: there is no deadline.
std::optional<std::chrono::microseconds> time_left(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
      deadline - std::chrono::system_clock::now());
  if (left > std::chrono::hours(24 * 365)) return std::nullopt;
  return std::max(left, std::chrono::microseconds(1));
}

}  // namespace

void Inference::start(const GrpcServer::Parts& parts, const grpc::CallbackServerContext& context,
                      ModelInferRequest& message, ModelInferResponse& answer, const Done& done) {
  model_ = parts.repository.find(message.model_name(), message.model_version());
  begin_trace(parts.api.tracer(), context);
  memory_ = parts.options.allows_shared_memory ? &parts.api.regions() : nullptr;
  serving::InferRequest request;
  const auto begin = TraceClock::now();
  try {
    request = read_request(parts, context, message);
  } catch (...) {
    // What comes to the queue is counted there.
    model_->statistics().add_failure(TraceClock::now() - begin, serving::Failure::kOther);
    throw;
  }
  ticket_ = model_->submit(
      std::move(request),
      [this, &answer, done](serving::InferResult&& result) {
        if (trace_) trace_->add_run(result);
        std::optional<ServingError> error = std::move(result.error);
        if (!error) {
          try {
            if (trace_ && trace_->settings.tensors)
              add_outputs(*trace_, *model_, choice_, result.outputs);
            write_answer(*model_, parsed_, choice_, result.outputs, memory_, answer);
          } catch (...) {
            error = serving::current_serving_error();
          }
        }
        if (trace_) trace_->add("GRPC_SEND_START", TraceClock::now());
        done(std::move(error));
      },
      /*may_run_here=*/true);
}

void Inference::end_trace() {
  if (trace_) trace_->add("GRPC_SEND_END", TraceClock::now());
  trace_.reset();
}

serving::InferRequest Inference::read_request(const GrpcServer::Parts& parts,
                                              const grpc::CallbackServerContext& context,
                                              ModelInferRequest& message) {
  GrpcInfer infer = read_infer(message, *model_, memory_);
  parsed_ = std::move(infer.parsed);
  choice_ = choose_outputs(parsed_, *model_);
  if (trace_) trace_->request_id = parsed_.id.value_or("");
  if (trace_ && trace_->settings.tensors) add_inputs(*trace_, infer.tensors);
  serving::InferRequest request;
  apply_parameters(parsed_.parameters, request);
  if (!request.timeout && parts.options.request_timeout.count() > 0)
    request.timeout = parts.options.request_timeout;
  if (const auto time = time_left(context))
    request.timeout = request.timeout ? std::min(*request.timeout, *time) : *time;
  model_->fill(request, std::move(infer.tensors),
               parsed_.outputs.empty() ? std::vector<size_t>() : choice_.order);
  return request;
}

void Inference::begin_trace(Tracer& tracer, const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("traceparent");
  trace_ = tracer.sample(model_->name(), model_->version(),
                         found == metadata.end()
                             ? std::string_view()
                             : std::string_view(found->second.data(), found->second.size()));
  if (trace_) trace_->add("GRPC_WAITREAD_END", TraceClock::now());
}

}  // namespace sardonyx::serve
