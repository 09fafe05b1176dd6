// Waiting awake for a moment, before a thread is worth putting to sleep.
#pragma once

#include <chrono>

namespace sardonyx {

// Tells the CPU that this thread only waits.
inline void relax_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Asks is_over() until it says yes or `limit` has passed; gives its last answer.
template <typename Question>
bool spin_until(const Question& is_over, std::chrono::nanoseconds limit) {
  constexpr int kTriesPerClockRead = 32;  // at the clock
  if (is_over()) return true;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < kTriesPerClockRead; ++i) {
      relax_cpu();
      if (is_over()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace sardonyx
