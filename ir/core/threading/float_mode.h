// How a thread's floating-point instructions round, and whether they take numbers that are smaller
// than the normal ones for zero. Threads that help another one compute in its mode, so that results
// do not depend on who computes them.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace sardonyx {

// Exceptions, their flags and whether they trap stay each thread's own.
class FloatMode {
 public:
  FloatMode() = default;
  static FloatMode of_this_thread() { return FloatMode(control() & kMode); }
  // Some cycles: setting a mode waits for the instructions before it, so it is left where it is
  // set.
  void enter() const {
    const uint64_t now = control();
    if ((now & kMode) != bits_) set_control((now & ~kMode) | bits_);
  }
  bool operator==(const FloatMode&) const = default;

 private:
  explicit FloatMode(uint64_t bits) : bits_(bits) {}

#if defined(__x86_64__)
  static constexpr uint64_t kMode = 0x8000 | 0x6000 | 0x40;  // MXCSR: FTZ, RC, DAZ
  static uint64_t control() {
    return _mm_getcsr();
  }
  static void set_control(uint64_t control) {
    _mm_setcsr(static_cast<unsigned>(control));
  }
#elif defined(__aarch64__)
  // FPCR: AHP, DN, FZ, RMode, FZ16; AH, FIZ.
  static constexpr uint64_t kMode = uint64_t{0x7c8} << 16 | 0x3;
  static uint64_t control() {
    uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(uint64_t value) {
    asm volatile("msr fpcr, %0" : : "r"(value));
  }
#else
  static constexpr uint64_t kMode = ~uint64_t{0};
  static uint64_t control() {
    return static_cast<uint64_t>(std::fegetround());
  }
  static void set_control(uint64_t value) {
    std::fesetround(static_cast<int>(value));
  }
#endif

  uint64_t bits_ = 0;
};

// The thread computes in `mode`, and afterwards as before.
class FloatModeScope {
 public:
  explicit FloatModeScope(const FloatMode& mode) : previous_(FloatMode::of_this_thread()) {
    mode.enter();
  }
  ~FloatModeScope() { previous_.enter(); }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  FloatMode previous_;
};

}  // namespace sardonyx
