// Several watches in one process, as if each were a rank.
#include "eager/distributed/rank_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "eager/distributed/watch_socket.h"

namespace sardonyx::eager::distributed {
namespace {

using namespace std::chrono_literals;

class Ranks {
 public:
  explicit Ranks(int size) : progress_(static_cast<size_t>(size)) {
    for (int rank = 0; rank < size; ++rank) {
      RankWatchOptions options{.rank = rank, .size = size, .stall = 300ms, .tick = 30ms};
      for (int of = 0; of < size; ++of)
        options.hosts.push_back("host");
      options.progress = [this, rank] {
        const std::lock_guard lock(mutex_);
        return progress_[static_cast<size_t>(rank)];
      };
      options.stalled = [this](const std::string& line) {
        const std::lock_guard lock(mutex_);
        stalls_.push_back(line);
      };
      options.died = [this, rank](const std::string& line) {
        const std::lock_guard lock(mutex_);
        deaths_[rank] = line;
      };
      watches_.push_back(std::make_unique<RankWatch>(std::move(options)));
    }
    invitation_ = watches_[0]->invite();
  }
  void start(size_t first = 0) {
    for (size_t rank = first; rank < watches_.size(); ++rank)
      EXPECT_EQ(watches_[rank]->start(invitation_), "");
  }
  void set(size_t rank, uint64_t finished, const std::string& current) {
    const std::lock_guard lock(mutex_);
    progress_[rank] = {.finished = finished, .current = current};
  }
  template <typename Done>
  bool wait_until(const Done& done) {
    for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(20ms)) {
      const std::lock_guard lock(mutex_);
      if (done()) return true;
    }
    return false;
  }
  std::string invitation_;
  std::vector<std::unique_ptr<RankWatch>> watches_;
  std::vector<std::string> stalls_;
  std::map<int, std::string> deaths_;

 private:
  std::mutex mutex_;
  std::vector<CallProgress> progress_;
};

TEST(RankWatchTest, StallsAreReportedByTheFirstRank) {
  Ranks ranks(3);
  ranks.start();
  ranks.set(1, 4, "all_reduce");
  ranks.set(2, 4, "all_reduce");
  ranks.set(0, 4, "");
  ASSERT_TRUE(ranks.wait_until([&] { return !ranks.stalls_.empty(); }));
  EXPECT_THAT(ranks.stalls_[0],
              testing::HasSubstr("rank 1 on host, rank 2 on host in call 5 (all_reduce)"));
  EXPECT_THAT(ranks.stalls_[0], testing::HasSubstr("rank 0 on host has made 4 calls"));
  EXPECT_TRUE(ranks.deaths_.empty());
}

TEST(RankWatchTest, RanksThatEndInOrderAreNoDeaths) {
  for (const size_t first : {0, 1}) {
    Ranks ranks(3);
    ranks.start();
    ranks.watches_[first]->end();
    std::this_thread::sleep_for(150ms);
    for (const auto& watch : ranks.watches_)
      watch->end();
    EXPECT_TRUE(ranks.deaths_.empty()) << ranks.deaths_.begin()->second;
  }
}

// A rank that is killed is a connection that closes.
TEST(RankWatchTest, DeathsAreToldToAll) {
  Ranks ranks(3);
  ranks.watches_.pop_back();
  ranks.start();
  const std::string token = ranks.invitation_.substr(0, ranks.invitation_.find(' '));
  const int port = std::stoi(ranks.invitation_.substr(token.size()));
  {
    LineConnection last(connect_to("127.0.0.1", port, 1s));
    last.send("hello " + token + " 2");
    std::this_thread::sleep_for(100ms);
    EXPECT_THAT(last.receive(), testing::Optional(testing::Contains("welcome")));
    last.send("at 3 0.5 barrier");
    std::this_thread::sleep_for(200ms);
    EXPECT_TRUE(ranks.deaths_.empty());
  }
  ASSERT_TRUE(ranks.wait_until([&] { return ranks.deaths_.size() == 2; }));
  for (const auto& [rank, line] : ranks.deaths_)
    EXPECT_THAT(line, testing::HasSubstr("rank 2 on host has died")) << rank;
}

TEST(RankWatchTest, StrangersAreNotListenedTo) {
  Ranks ranks(2);
  ranks.watches_.pop_back();
  ranks.start();
  const int port = std::stoi(ranks.invitation_.substr(ranks.invitation_.find(' ')));
  for (const char* line : {"hello 1.2.3.4. 1", "GET / HTTP/1.1", "hello"}) {
    LineConnection stranger(connect_to("127.0.0.1", port, 1s));
    stranger.send(line);
    std::this_thread::sleep_for(60ms);
    std::this_thread::sleep_for(60ms);
    const auto answer = stranger.receive();
    EXPECT_TRUE(!answer || answer->empty()) << line;
  }
  EXPECT_TRUE(ranks.deaths_.empty());
  RankWatch late({.rank = 1, .size = 2, .hosts = {"here", "there"}});
  EXPECT_THAT(late.start("token. 1 127.0.0.1"), testing::HasSubstr("port 1 of 127.0.0.1"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
