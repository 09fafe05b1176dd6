// What Highway keeps in its library, of which Debian has no archive: which sets of instructions
// this CPU has, and the choice among them.
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace hwy {
namespace {

#if HWY_ARCH_X86

// What not every compiler's __builtin_cpu_supports knows.
bool has_half_floats() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
bool has_wide_aes() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ecx & bit_VAES);
}

// Each set has all of the one below it: the functions of a target are compiled for them all.
int64_t detect() {
  __builtin_cpu_init();
  int64_t targets = 0;
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") ||
      !__builtin_cpu_supports("aes")) {
    return targets;
  }
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !has_half_floats()) {
    return targets;
  }
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw")) {
    return targets;
  }
  targets |= HWY_AVX3;
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vbmi") ||
      !__builtin_cpu_supports("avx512vbmi2") || !__builtin_cpu_supports("avx512bitalg") ||
      !__builtin_cpu_supports("avx512vpopcntdq") || !__builtin_cpu_supports("vpclmulqdq") ||
      !__builtin_cpu_supports("gfni") || !has_wide_aes()) {
    return targets;
  }
  return targets | HWY_AVX3_DL;
}

#else

int64_t detect() {
  return 0;  // beyond what the compiler takes for granted
}

#endif

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = detect() | HWY_ENABLED_BASELINE | HWY_EMU128 | HWY_SCALAR;
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

void Abort(const char* file, int line, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "highway: %s:%d: ", file, line);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::abort();
}

}  // namespace hwy
