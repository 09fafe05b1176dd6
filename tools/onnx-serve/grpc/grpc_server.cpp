#include "tools/onnx-serve/grpc/grpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "tools/onnx-serve/grpc/service.h"

namespace sardonyx::serve {
namespace {

constexpr uint64_t kTransportBytes = 64 << 20;  // that connections use beside messages
constexpr std::chrono::seconds kWritePeriod{1};
constexpr std::chrono::milliseconds kLook{5};
constexpr std::chrono::milliseconds kFarewell{50};  // for clients to take the last answers

// Certificates that are read anew when their files change.
std::shared_ptr<grpc::ServerCredentials> credentials(const TlsFiles& files) {
  if (files.certificate.empty()) return grpc::InsecureServerCredentials();
  namespace tls = grpc::experimental;
  constexpr unsigned kSecondsBetweenLooks = 1;
  const auto certificates = std::make_shared<tls::FileWatcherCertificateProvider>(
      files.key.string(), files.certificate.string(), files.client_authority.string(),
      kSecondsBetweenLooks);
  tls::TlsServerCredentialsOptions options(certificates);
  options.watch_identity_key_cert_pairs();
  if (!files.client_authority.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const GrpcOptions& options, const Parts& parts) : service_(parts, options.body_bytes) {
    // It would write a line for each message that is none, of which clients can send many; who sent
    // it is told.
    google::protobuf::SetLogHandler(nullptr);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    const bool is_ipv6 = options.address.find(':') != std::string::npos;
    const std::string place = (is_ipv6 ? "[" + options.address + "]" : options.address) + ':' +
                              std::to_string(options.port);
    builder.AddListeningPort(place, credentials(options.tls), &port_);
    builder.SetMaxReceiveMessageSize(
        static_cast<int>(std::min<uint64_t>(options.body_bytes, INT_MAX)));
    builder.SetMaxSendMessageSize(-1);
    // The library would decompress whatever comes before it looked at its size.
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    // Messages on their way, which are counted once they are there.
    builder.SetResourceQuota(
        grpc::ResourceQuota("onnx-serve").Resize(options.all_body_bytes + kTransportBytes));
    // Two servers at one port would each get some of the clients.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0)
      serving::refuse(Status::kUnavailable, "can't listen for gRPC at ", place);
    set_ready(false);
  }
  ~Impl() { close(std::chrono::milliseconds(0)); }

  int port() const { return port_; }
  void set_ready(bool ready) {
    if (auto* health = server_->GetHealthCheckService()) {
      health->SetServingStatus(ready);
      health->SetServingStatus("inference.GRPCInferenceService", ready);
    }
  }
  bool close(std::chrono::milliseconds patience) {
    if (!server_) return true;
    const auto until = std::chrono::system_clock::now() + patience;
    // What has to be ended is ended here: the library would not tell whether it had to.
    std::atomic<bool> is_shut_down = false;
    std::thread shutdown([&] {
      server_->Shutdown(until + std::chrono::minutes(1));
      is_shut_down = true;
    });
    service_.calls().end_streams();
    bool is_done = false;
    while (!(is_done = service_.calls().running() == 0) && std::chrono::system_clock::now() < until)
      std::this_thread::sleep_for(kLook);
    // What is left are connections, whose clients may answer late or never, and watches of health.
    if (is_done) std::this_thread::sleep_for(std::min(kFarewell, patience));
    // A connection may have come before the listener was closed.
    while (!is_shut_down) {
      grpc_server_cancel_all_calls(server_->c_server());
      std::this_thread::sleep_for(kLook);
    }
    shutdown.join();
    server_->Wait();
    server_.reset();
    return is_done;
  }

 private:
  // Ends calls whose clients do not take their answers.
  void watch_writes(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, kWritePeriod, [&] { return stop.stop_requested(); }))
      service_.calls().writes().cancel_late(WriteWatch::Clock::now());
  }

  InferenceService service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::jthread writes_{[this](const std::stop_token& stop) { watch_writes(stop); }};
};

GrpcServer::GrpcServer(const GrpcOptions& options, const Parts& parts)
    : impl_(std::make_unique<Impl>(options, parts)) {}
GrpcServer::~GrpcServer() = default;
int GrpcServer::port() const {
  return impl_->port();
}
void GrpcServer::set_ready(bool ready) {
  impl_->set_ready(ready);
}
bool GrpcServer::close(std::chrono::milliseconds patience) {
  return impl_->close(patience);
}

}  // namespace sardonyx::serve
