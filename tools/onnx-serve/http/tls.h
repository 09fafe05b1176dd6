// Certificates of the server, and what it asks of its clients'.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace sardonyx::serve {

struct TlsFiles {
  std::filesystem::path certificate;  // PEM, with the chain
  std::filesystem::path key;
  std::filesystem::path client_authority;  // clients need a certificate signed by it; empty: none
};

// The settings that new connections get; those of old ones stay.
class TlsSettings {
 public:
  // Throws ServingError kInvalidArgument where a file can't be used.
  explicit TlsSettings(TlsFiles files);
  std::shared_ptr<boost::asio::ssl::context> current() const;
  // Reads the files anew if one has changed; true: they are in use. Where they can't be used, the
  // old ones stay and `error` says why.
  bool reload_if_changed(std::string& error);

 private:
  std::string times() const;

  const TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> current_;
  std::string times_;
};

}  // namespace sardonyx::serve
