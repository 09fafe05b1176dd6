#include "tools/onnx-serve/http/tls.h"

#include <openssl/ssl.h>

#include "executor/batching/serving_error.h"

namespace sardonyx::serve {
namespace {

namespace ssl = boost::asio::ssl;

std::shared_ptr<ssl::context> make_context(const TlsFiles& files) {
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  try {
    context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                         ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                         ssl::context::no_tlsv1_1 | ssl::context::single_dh_use);
    SSL_CTX_set_options(context->native_handle(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
    context->use_certificate_chain_file(files.certificate.string());
    context->use_private_key_file(files.key.string(), ssl::context::pem);
    if (!files.client_authority.empty()) {
      context->load_verify_file(files.client_authority.string());
      context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
      // Sessions are told apart by it; without one, resumption with client certificates fails.
      static constexpr unsigned char kName[] = "onnx-serve";
      SSL_CTX_set_session_id_context(context->native_handle(), kName, sizeof(kName) - 1);
    }
  } catch (const boost::system::system_error& error) {
    serving::refuse(serving::Status::kInvalidArgument, "TLS: '", files.certificate.string(), "', '",
                    files.key.string(), "': ", error.what());
  }
  return context;
}

}  // namespace

TlsSettings::TlsSettings(TlsFiles files)
    : files_(std::move(files)), current_(make_context(files_)), times_(times()) {}

std::shared_ptr<ssl::context> TlsSettings::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::string TlsSettings::times() const {
  std::string all;
  std::error_code ignored;
  for (const auto& file : {files_.certificate, files_.key, files_.client_authority}) {
    all +=
        std::to_string(std::filesystem::last_write_time(file, ignored).time_since_epoch().count());
    all += ' ';
  }
  return all;
}

bool TlsSettings::reload_if_changed(std::string& error) {
  const std::string now = times();
  if (now == times_) return false;
  times_ = now;  // what can't be used is not tried again until it changes
  try {
    auto fresh = make_context(files_);
    const std::lock_guard lock(mutex_);
    current_ = std::move(fresh);
    return true;
  } catch (const serving::ServingError& why) {
    error = why.message();
    return false;
  }
}

}  // namespace sardonyx::serve
