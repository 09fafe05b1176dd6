// Stands in for libFuzzer where the compiler has none: runs the files and folders that it is given,
// then changed copies of them until the time is up. It knows nothing of coverage.
//
// usage: TARGET [-max_total_time=SECONDS] [-runs=N] [-seed=N] [FILE|FOLDER...]
// An input that ends the process is left in the file fuzz-last-input. Other options of libFuzzer
// are ignored. -runs counts the changed copies; 0: the files alone.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

struct Options {
  double seconds = 0;
  uint64_t runs = UINT64_MAX;
  uint64_t seed = 1;
  std::vector<std::filesystem::path> paths;
};

Options read_options(int count, char** words) {
  Options options;
  bool has_runs = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const std::string value = word.substr(word.find('=') + 1);
    if (word.starts_with("-max_total_time=")) {
      options.seconds = std::stod(value);
    } else if (word.starts_with("-runs=")) {
      options.runs = std::stoull(value);
      has_runs = true;
    } else if (word.starts_with("-seed=")) {
      options.seed = std::stoull(value);
    } else if (!word.starts_with("-")) {
      options.paths.emplace_back(word);
    }
  }
  if (options.seconds == 0 && !has_runs) options.runs = 0;
  return options;
}

Bytes read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

std::vector<Bytes> read_seeds(const Options& options) {
  std::vector<Bytes> seeds;
  for (const std::filesystem::path& path : options.paths) {
    if (std::filesystem::is_regular_file(path)) seeds.push_back(read(path));
    if (!std::filesystem::is_directory(path)) continue;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files)
      seeds.push_back(read(file));
  }
  if (seeds.empty()) seeds.push_back({});
  return seeds;
}

class Mutator {
 public:
  explicit Mutator(std::vector<Bytes> seeds, uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  Bytes next() {
    Bytes bytes = seeds_[below(seeds_.size())];
    for (uint64_t change = 1 + below(6); change > 0; --change)
      mutate(bytes);
    return bytes;
  }

 private:
  uint64_t below(uint64_t count) { return count ? random_() % count : 0; }

  void mutate(Bytes& bytes) {
    constexpr uint8_t kEdges[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, '.', '/', '(', '%'};
    const size_t at = below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = kEdges[below(sizeof kEdges)];
        break;
      case 2:
        bytes.insert(place, static_cast<uint8_t>(below(256)));
        break;
      case 3: {
        const auto stop = below(bytes.size() - at + 1);
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(std::min<uint64_t>(stop, 16)));
        break;
      }
      case 4: {  // a piece of another seed
        const Bytes& other = seeds_[below(seeds_.size())];
        const size_t from = below(other.size() + 1);
        const size_t length = std::min<size_t>(other.size() - from, 1 + below(64));
        const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                          other.begin() + static_cast<std::ptrdiff_t>(from + length));
        bytes.insert(place, piece.begin(), piece.end());
        break;
      }
      case 5:
        for (size_t i = at; i < bytes.size() && i < at + 4; ++i)
          bytes[i] = static_cast<uint8_t>(below(256));
        break;
      default:
        bytes.resize(at);
    }
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_;
};

// The input that is running, for the handler.
Bytes g_input;

// Writes it to the file fuzz-last-input before the process dies of it.
void keep_input(int signal) {
  const int file = open("fuzz-last-input", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && write(file, g_input.data(), g_input.size()) >= 0) close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(Bytes input) {
  g_input = std::move(input);
  LLVMFuzzerTestOneInput(g_input.data(), g_input.size());
}

}  // namespace

int main(int count, char** words) {
  const Options options = read_options(count, words);
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    std::signal(signal, keep_input);
  const std::vector<Bytes> seeds = read_seeds(options);
  for (const Bytes& seed : seeds)
    run(seed);
  Mutator mutator(seeds, options.seed);
  const auto start = std::chrono::steady_clock::now();
  uint64_t runs = 0;
  for (; runs < options.runs; ++runs) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (options.seconds > 0 && spent.count() > options.seconds) break;
    run(mutator.next());
  }
  std::printf("%zu seeds, %llu changed copies: no finding\n", seeds.size(),
              static_cast<unsigned long long>(runs));
}
