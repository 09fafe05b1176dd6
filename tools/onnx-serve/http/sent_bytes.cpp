#include "tools/onnx-serve/http/sent_bytes.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>

namespace sardonyx::serve {
namespace {

// Of Linux's tcp_info, where glibc's ends before it: tcpi_bytes_acked.
constexpr size_t kAcknowledgedAt = 120;

// The port of this side of a connection; 0: it is none.
int port_of_socket(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  switch (address.ss_family) {
    case AF_INET:
      return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    case AF_INET6:
      return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    default:
      return 0;
  }
}

}  // namespace

std::optional<SentBytes> sent_bytes(int descriptor) {
  std::array<std::byte, kAcknowledgedAt + sizeof(uint64_t)> info;
  socklen_t size = info.size();
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info.data(), &size) != 0 || size < info.size())
    return std::nullopt;  // it is closed, or the system is older than the field
  SentBytes sent;
  std::memcpy(&sent.taken, info.data() + kAcknowledgedAt, sizeof(sent.taken));
  const auto state = static_cast<uint8_t>(info[offsetof(tcp_info, tcpi_state)]);
  int left = 0;
  if (state != TCP_LISTEN && ioctl(descriptor, SIOCOUTQ, &left) != 0) return std::nullopt;
  sent.left = static_cast<uint64_t>(left);
  return sent;
}

std::optional<SentBytes> sent_bytes_at(int port) {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return std::nullopt;
  SentBytes sum;
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (port_of_socket(descriptor) != port) continue;
    const auto sent = sent_bytes(descriptor);
    if (!sent) continue;  // it has just been closed
    sum.taken += sent->taken;
    sum.left += sent->left;
  }
  return error ? std::nullopt : std::optional(sum);
}

}  // namespace sardonyx::serve
