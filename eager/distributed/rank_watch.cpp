#include "eager/distributed/rank_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "eager/distributed/stall_report.h"
#include "eager/distributed/watch_socket.h"
#include "ir/core/error.h"

namespace sardonyx::eager::distributed {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// What nobody else knows: other programs may come to the port.
std::string random_token() {
  std::array<uint32_t, 4> words{};
  if (getrandom(words.data(), sizeof words, 0) != sizeof words)
    fail(ErrorCode::kInternal, "no random bytes from the system");
  std::string token;
  for (const uint32_t word : words)
    token += text(word, '.');
  return token;
}

std::string status_line(const CallProgress& at) {
  return text("at ", at.finished, " ", seconds_since(at.since), " ", at.current);
}

void read_status(const std::string& line, RankStatus& status) {
  std::istringstream in(line);
  std::string word, current;
  uint64_t finished = 0;
  double seconds = 0;
  if (!(in >> word >> finished >> seconds) || word != "at") return;
  std::getline(in >> std::ws, current);
  status.finished = finished;
  status.seconds = seconds;
  status.current = current;
}

std::string death_of(int rank, const std::string& host) {
  return text("rank ", rank, " on ", host,
              " has died: it was killed, it crashed, or its host is gone");
}

}  // namespace

struct RankWatch::State {
  struct Watched {
    LineConnection connection;
    Clock::time_point heard = Clock::now();
    RankStatus status;
    bool has_spoken = false;  // since its welcome, which it may have given up to wait for
  };

  explicit State(RankWatchOptions the_options) : options(std::move(the_options)) {}

  // Until the end, or for a tick. False at the end.
  bool wait(std::vector<pollfd> descriptors) const {
    descriptors.push_back({wake.get(), POLLIN, 0});
    poll(descriptors.data(), descriptors.size(), static_cast<int>(options.tick.count()));
    return !is_ending;
  }
  void tell_death(const std::string& line) {
    if (!is_ending && options.died) options.died(line);
  }

  void watch_all();
  void welcome_newcomers();
  void hear(int rank, Watched& watched);
  void report_stall();
  void be_watched();
  std::string join(const std::string& invitation);

  RankWatchOptions options;
  Descriptor wake{eventfd(0, EFD_CLOEXEC)};
  std::atomic<bool> is_ending = false;
  std::string token;
  Listener listener;                      // of rank 0
  std::vector<LineConnection> newcomers;  // that have not said who they are
  std::map<int, Watched> watched;
  std::map<int, RankStatus> ended;
  Clock::time_point last_report = Clock::now(), last_tick = Clock::now();
  LineConnection to_first{Descriptor()};  // of the others
  std::thread thread;
};

RankWatch::RankWatch(RankWatchOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

RankWatch::~RankWatch() {
  end();
}

std::string RankWatch::invite() {
  state_->listener = listen_anywhere();
  state_->token = random_token();
  std::string invitation = text(state_->token, " ", state_->listener.port);
  for (const std::string& address : own_addresses())
    invitation += " " + address;
  return invitation;
}

std::string RankWatch::start(const std::string& invitation) {
  State& state = *state_;
  if (state.options.rank != 0) {
    if (std::string problem = state.join(invitation); !problem.empty()) return problem;
  }
  state.thread = std::thread([&state] {
    if (state.options.rank == 0)
      state.watch_all();
    else
      state.be_watched();
  });
  return "";
}

void RankWatch::end() {
  State& state = *state_;
  if (!state.thread.joinable()) return;
  state.is_ending = true;
  const uint64_t one = 1;
  (void)!write(state.wake.get(), &one, sizeof one);
  state.thread.join();
  constexpr auto kPatience = std::chrono::seconds(2);
  state.to_first.close_after("bye", kPatience);
  for (auto& [rank, watched] : state.watched)
    watched.connection.send("bye");
  for (auto& [rank, watched] : state.watched)
    watched.connection.close_after("bye", kPatience);
}

// --- rank 0 ---

void RankWatch::State::welcome_newcomers() {
  while (true) {
    Descriptor socket(accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) break;
    newcomers.emplace_back(std::move(socket));
  }
  std::vector<LineConnection> later;
  for (LineConnection& newcomer : newcomers) {
    const auto lines = newcomer.receive();
    if (!lines) continue;
    if (lines->empty()) {
      later.push_back(std::move(newcomer));
      continue;
    }
    std::istringstream in(lines->front());
    std::string word, theirs;
    int rank = 0;
    if (!(in >> word >> theirs >> rank) || word != "hello" || theirs != token || rank < 1 ||
        rank >= options.size)
      continue;
    if (const auto known = watched.find(rank); known != watched.end()) {
      if (known->second.has_spoken) continue;
      watched.erase(known);
    }
    newcomer.send("welcome");
    RankStatus status{.host = options.hosts.at(static_cast<size_t>(rank))};
    watched.emplace(rank, Watched{std::move(newcomer), Clock::now(), std::move(status)});
  }
  newcomers = std::move(later);
  const auto has_spoken = [](const auto& one) { return one.second.has_spoken; };
  const auto known = static_cast<size_t>(std::ranges::count_if(watched, has_spoken)) + ended.size();
  if (known == static_cast<size_t>(options.size - 1)) listener.socket.close();
}

void RankWatch::State::hear(int rank, Watched& from) {
  const auto lines = from.connection.receive();
  if (!lines && !from.has_spoken) return from.connection.close();
  if (!lines) {
    const std::string line = death_of(rank, from.status.host);
    for (const auto& [other, left] : watched) {
      if (other != rank) left.connection.send("dead " + line);
    }
    from.connection.close();
    tell_death(line);
    return;
  }
  for (const std::string& line : *lines) {
    from.heard = Clock::now();
    from.has_spoken = true;
    if (line == "bye") {
      from.connection.close();
      from.status.has_ended = true;
      return;
    }
    read_status(line, from.status);
  }
}

void RankWatch::State::report_stall() {
  const double stall = std::chrono::duration<double>(options.stall).count();
  if (seconds_since(last_report) < stall) return;
  const CallProgress own = options.progress();
  std::vector<RankStatus> ranks{{.host = options.hosts.at(0),
                                 .finished = own.finished,
                                 .current = own.current,
                                 .seconds = seconds_since(own.since)}};
  for (int rank = 1; rank < options.size; ++rank) {
    if (const auto found = watched.find(rank); found != watched.end()) {
      ranks.push_back(found->second.status);
      ranks.back().silence = seconds_since(found->second.heard);
    } else if (const auto gone = ended.find(rank); gone != ended.end()) {
      ranks.push_back(gone->second);
    } else {  // it could not connect, and tells nothing
      ranks.push_back({.host = options.hosts.at(static_cast<size_t>(rank)),
                       .silence = seconds_since(last_report)});
    }
  }
  const std::string report = stall_report(ranks, stall);
  if (report.empty()) return;
  last_report = Clock::now();
  if (options.stalled) options.stalled(report);
}

void RankWatch::State::watch_all() {
  while (true) {
    std::vector<pollfd> descriptors;
    if (listener.socket.is_open()) descriptors.push_back({listener.socket.get(), POLLIN, 0});
    for (const LineConnection& newcomer : newcomers)
      descriptors.push_back({newcomer.descriptor(), POLLIN, 0});
    for (const auto& [rank, one] : watched)
      descriptors.push_back({one.connection.descriptor(), POLLIN, 0});
    if (!wait(std::move(descriptors))) return;
    if (listener.socket.is_open()) welcome_newcomers();
    for (auto& [rank, one] : watched) {
      hear(rank, one);
      if (is_ending) return;
    }
    for (auto at = watched.begin(); at != watched.end();) {
      if (at->second.connection.is_open()) {
        ++at;
        continue;
      }
      if (at->second.has_spoken) ended[at->first] = at->second.status;
      at = watched.erase(at);
    }
    // After a time in which this process stood still, the others' silence says nothing.
    if (seconds_since(last_tick) > 5 * std::chrono::duration<double>(options.tick).count()) {
      for (auto& [rank, one] : watched)
        one.heard = Clock::now();
    }
    if (Clock::now() - last_tick < options.tick) continue;
    last_tick = Clock::now();
    for (const auto& [rank, one] : watched)
      one.connection.send("tick");
    report_stall();
  }
}

// --- the others ---

std::string RankWatch::State::join(const std::string& invitation) {
  std::istringstream in(invitation);
  int port = 0;
  if (!(in >> token >> port)) return "rank 0 offers no connection";
  std::vector<std::string> addresses;
  if (options.hosts.at(0) == options.hosts.at(static_cast<size_t>(options.rank)))
    addresses.push_back("127.0.0.1");
  for (std::string address; in >> address;)
    addresses.push_back(address);
  constexpr auto kPatience = std::chrono::milliseconds(5000);
  for (const std::string& address : addresses) {
    LineConnection connection(connect_to(address, port, kPatience));
    if (!connection.is_open()) continue;
    connection.send(text("hello ", token, " ", options.rank));
    pollfd answer{connection.descriptor(), POLLIN, 0};
    if (poll(&answer, 1, static_cast<int>(kPatience.count())) <= 0) continue;
    const auto lines = connection.receive();
    if (!lines || lines->empty() || lines->front() != "welcome") continue;
    to_first = std::move(connection);
    return "";
  }
  std::string tried;
  for (const std::string& address : addresses)
    tried += (tried.empty() ? "" : ", ") + address;
  return text("rank 0 is not to be reached at port ", port, " of ", tried);
}

void RankWatch::State::be_watched() {
  Clock::time_point told = Clock::now() - options.tick;
  while (true) {
    if (Clock::now() - told >= options.tick) {
      told = Clock::now();
      to_first.send(status_line(options.progress()));
    }
    if (!wait({{to_first.descriptor(), POLLIN, 0}})) return;
    const auto lines = to_first.receive();
    if (!lines) return tell_death(death_of(0, options.hosts.at(0)));
    for (const std::string& line : *lines) {
      if (line == "bye") return to_first.close();
      if (line.starts_with("dead ")) return tell_death(line.substr(5));
    }
  }
}

}  // namespace sardonyx::eager::distributed
