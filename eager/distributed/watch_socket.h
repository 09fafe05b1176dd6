// Connections on which ranks exchange lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sardonyx::eager::distributed {

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_;
};

class LineConnection {
 public:
  explicit LineConnection(Descriptor socket);
  int descriptor() const { return socket_.get(); }
  bool is_open() const { return socket_.is_open(); }
  // Never waits: where the other side takes nothing, the line is lost.
  void send(const std::string& line) const;
  // The lines that have come; does not wait. nullopt once the other side has closed, or answers no
  // more.
  std::optional<std::vector<std::string>> receive();
  void close() { socket_.close(); }
  // Sends a last line and waits, no longer than that, until the other side has closed. To close
  // at once, with something unread, could take the line back.
  void close_after(const std::string& line, std::chrono::milliseconds patience);

 private:
  Descriptor socket_;
  std::string begun_;  // of a line
};

struct Listener {
  Descriptor socket;
  int port = 0;
};
// At any address of this host. Throws kInternal.
Listener listen_anywhere();
// The addresses of this host that others may reach it by, as text.
std::vector<std::string> own_addresses();
// Closed where nobody answers in time.
Descriptor connect_to(const std::string& address, int port, std::chrono::milliseconds patience);

}  // namespace sardonyx::eager::distributed
