// Random choices that follow from a seed alone, whatever the standard library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace sardonyx::graph_test {

class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}

  uint64_t word() { return engine_(); }
  int64_t below(int64_t count) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(count));
  }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t count) { return below(count) == 0; }
  bool coin() { return one_in(2); }
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sardonyx::graph_test
