// The program in a process of its own, and a client that knows no more of HTTP than it must.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::serve {

struct Reply {
  int status = 0;  // 0: the connection ended before an answer
  std::map<std::string, std::string> fields;
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    const timeval patience{30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool is_open() const { return is_open_; }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void write(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += static_cast<size_t>(now);
    }
  }
  Reply read() {
    Reply reply;
    size_t end = 0;
    while ((end = rest_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return reply;
    }
    const std::string head = rest_.substr(0, end + 2);
    rest_.erase(0, end + 4);
    if (head.size() > 12) reply.status = std::atoi(head.c_str() + 9);
    for (size_t at = head.find("\r\n") + 2; at < head.size();) {
      const size_t line = head.find("\r\n", at), colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), tolower);
      reply.fields[name] = head.substr(colon + 2, line - colon - 2);
      at = line + 2;
    }
    const size_t size = std::stoul(reply.fields["content-length"]);
    while (rest_.size() < size && read_more()) {
    }
    reply.body = rest_.substr(0, size);
    rest_.erase(0, size);
    return reply;
  }
  // What is there, as it is; "" where the connection has ended.
  std::string read_some() {
    if (rest_.empty()) read_more();
    return std::exchange(rest_, "");
  }
  Reply ask(const std::string& bytes) {
    write(bytes);
    return read();
  }
  Reply get(const std::string& target, const std::string& fields = "") {
    return ask("GET " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
  }
  Reply post(const std::string& target, const std::string& body, const std::string& fields = "") {
    return ask("POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body);
  }

 private:
  bool read_more() {
    char bytes[65536];
    const ssize_t got = recv(socket_, bytes, sizeof(bytes), 0);
    if (got > 0) rest_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }
  int socket_;
  bool is_open_;
  std::string rest_;
};

class ServerProcess {
 public:
  enum class Start { kWait, kGoOn };
  // Waits until it takes requests, unless told to go on; port() is 0 where it ends before.
  explicit ServerProcess(std::vector<std::string> arguments, Start start = Start::kWait) {
    const std::string port_file = (folder_ / "port").string();
    arguments.insert(arguments.begin(), SARDONYX_BIN_DIR "/onnx-serve");
    const auto is_delay = [](const std::string& one) { return one.starts_with("--drain-delay"); };
    if (std::none_of(arguments.begin(), arguments.end(), is_delay))
      arguments.emplace_back("--drain-delay=0");
    arguments.emplace_back("--http-port=0");
#ifdef SARDONYX_GRPC
    arguments.emplace_back("--grpc-port=0");
#endif
    arguments.emplace_back("--log-file");
    arguments.push_back((folder_ / "log").string());
    arguments.push_back("--port-file=" + port_file);
    process_ = fork();
    if (process_ == 0) {
      std::vector<char*> values;
      for (std::string& argument : arguments)
        values.push_back(argument.data());
      values.push_back(nullptr);
      execv(values[0], values.data());
      _exit(127);
    }
    while (start == Start::kWait && port_ == 0) {
      if (waitpid(process_, &status_, WNOHANG) == process_) {
        process_ = -1;
        return;
      }
      std::ifstream(port_file) >> port_ >> grpc_port_ >> metrics_port_;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ~ServerProcess() {
    stop();
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const {
    return port_;
  }
  int grpc_port() const {
    return grpc_port_;
  }  // 0: it is built without gRPC
  int metrics_port() const {
    return metrics_port_;
  }
  pid_t process() const {
    return process_;
  }
  std::string log() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The exit status; -1 where a signal ended it.
  int stop(int signal = SIGTERM) {
    if (process_ > 0) {
      kill(process_, signal);
      waitpid(process_, &status_, 0);
      process_ = -1;
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  TemporaryFolder folder_;
  pid_t process_ = -1;
  int port_ = 0, grpc_port_ = 0, metrics_port_ = 0, status_ = 0;
};

// y = op(x), of x and y: dtype[batch, columns]; columns -1: open.
inline void save_unary(const std::filesystem::path& path, const char* op, DType dtype,
                       int64_t columns, const char* batch = "batch") {
  Model model;
  GraphEmitter e(*model.graph);
  const Dim width = columns < 0 ? Dim::symbol("columns") : Dim(columns);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(dtype, Dims{Dim::symbol(batch), width})));
  Value* y = GraphEmitter::unwrap(e.call(op, {x}));
  y->name = "y";
  model.graph->add_output(y);
  std::filesystem::create_directories(path.parent_path());
  model.metadata.emplace("author", "somebody");
  save_model(model, path);
}

// A chain of products of matrices that takes seconds.
inline void save_slow(const std::filesystem::path& path, int products = 400) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim(1024), Dim(1024)})));
  Val product = x;
  for (int i = 0; i < products; ++i)
    product = e.call("MatMul", {product, x});
  Value* y = GraphEmitter::unwrap(product);
  y->name = "y";
  model.graph->add_output(y);
  std::filesystem::create_directories(path.parent_path());
  save_model(model, path);
}

}  // namespace sardonyx::serve
