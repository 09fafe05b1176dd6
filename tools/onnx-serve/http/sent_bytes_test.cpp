#include "tools/onnx-serve/http/sent_bytes.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace sardonyx::serve {
namespace {

using std::chrono::seconds;

TEST(Stall, IsOfClientsThatTakeNothing) {
  Stall stall;
  const Stall::Clock::time_point begin;
  const auto sent = [](uint64_t taken) { return std::optional(SentBytes{taken, 1}); };
  EXPECT_FALSE(stall.is_long(sent(100), begin));
  EXPECT_FALSE(stall.is_long(sent(200), begin + seconds(4)));  // a ping
  EXPECT_TRUE(stall.is_long(sent(300), begin + seconds(5)));
  EXPECT_FALSE(stall.is_long(sent(100'000), begin + seconds(6)));
  EXPECT_FALSE(stall.is_long(sent(100'000), begin + seconds(10)));
  EXPECT_FALSE(stall.is_long(sent(0), begin + seconds(12)));  // a connection has ended
  EXPECT_FALSE(stall.is_long(std::nullopt, begin + seconds(20)));
  EXPECT_FALSE(stall.is_long(sent(0), begin + seconds(24)));
  stall.restart();
  EXPECT_FALSE(stall.is_long(sent(0), begin + seconds(40)));
  EXPECT_TRUE(stall.is_long(sent(0), begin + seconds(45)));
}

TEST(SentBytes, AreThoseOfAPort) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, plain, size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, plain, &size), 0);
  const int port = ntohs(address.sin_port);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, plain, size), 0);
  const int server = accept(listener, nullptr, nullptr);
  ASSERT_GE(server, 0);

  // More than the client's side takes without being read.
  const std::vector<char> bytes(32 << 20);
  const ssize_t written = send(server, bytes.data(), bytes.size(), MSG_DONTWAIT);
  ASSERT_GT(written, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto one = sent_bytes(server), all = sent_bytes_at(port);
  ASSERT_TRUE(one && all);
  EXPECT_GT(one->left, 0u);
  EXPECT_NEAR(static_cast<double>(one->taken + one->left), static_cast<double>(written), 2);
  EXPECT_EQ(all->taken, one->taken);
  EXPECT_EQ(all->left, one->left);

  std::array<char, 65536> some;
  for (ssize_t got = 0; got < written;)
    got += recv(client, some.data(), some.size(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(sent_bytes_at(port)->left, 0u);
  EXPECT_EQ(sent_bytes(-1).has_value(), false);
  for (const int descriptor : {client, server, listener})
    close(descriptor);
}

}  // namespace
}  // namespace sardonyx::serve
