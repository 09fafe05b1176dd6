#include "eager/distributed/watch_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "ir/core/error.h"

namespace sardonyx::eager::distributed {
namespace {

// A host that is gone acknowledges nothing, while one whose program only stands still does.
constexpr unsigned kUnacknowledgedMs = 8000;

void set_option(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

void make_watchful(int socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUnacknowledgedMs));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

LineConnection::LineConnection(Descriptor socket) : socket_(std::move(socket)) {
  if (is_open()) make_watchful(descriptor());
}

void LineConnection::send(const std::string& line) const {
  const std::string whole = line + '\n';
  if (is_open())
    (void)::send(descriptor(), whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::vector<std::string>> LineConnection::receive() {
  std::array<char, 4096> bytes{};
  bool is_closed = false;
  while (true) {
    const ssize_t count = recv(descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      is_closed = count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      break;
    }
    begun_.append(bytes.data(), static_cast<size_t>(count));
  }
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end; (end = begun_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(begun_.substr(begin, end - begin));
  begun_.erase(0, begin);
  constexpr size_t kLongestLine = 4096;
  if (begun_.size() > kLongestLine) begun_.clear();
  if (is_closed && lines.empty()) return std::nullopt;
  return lines;
}

void LineConnection::close_after(const std::string& line, std::chrono::milliseconds patience) {
  if (!is_open()) return;
  send(line);
  shutdown(descriptor(), SHUT_WR);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (receive()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting{descriptor(), POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
  }
  close();
}

Listener listen_anywhere() {
  for (const int family : {AF_INET6, AF_INET}) {
    Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) continue;
    sockaddr_storage address{};
    address.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    socklen_t size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(socket.get(), SOMAXCONN) != 0)
      continue;
    size = sizeof address;
    getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    const uint16_t port = family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port;
    return {std::move(socket), ntohs(port)};
  }
  fail(ErrorCode::kInternal, "no port to listen at: ", std::strerror(errno));
}

std::vector<std::string> own_addresses() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> keeper(all, freeifaddrs);
  std::vector<std::string> found;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || (one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP)) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    std::array<char, NI_MAXHOST> name{};
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(one->ifa_addr, size, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    const std::string address = name.data();
    // Of one link only, whose number differs from host to host.
    if (address.find('%') == std::string::npos) found.push_back(address);
  }
  return found;
}

Descriptor connect_to(const std::string& address, int port, std::chrono::milliseconds patience) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return Descriptor();
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> keeper(found, freeaddrinfo);
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return socket;
  if (connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Descriptor();
  pollfd waiting{socket.get(), POLLOUT, 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return Descriptor();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::move(socket) : Descriptor();
}

}  // namespace sardonyx::eager::distributed
