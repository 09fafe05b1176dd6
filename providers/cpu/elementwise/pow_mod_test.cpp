// Pow and Mod of float32, of any bits: Mod as C's fmod bit for bit, Pow within the last place of
// the power in double.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ir/op_def.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using Floats = std::vector<float>;

Floats run_pair(const char* name, const Floats& a, const Floats& b, bool is_in_place = false) {
  const OpDef& op = op_named(name);
  const bool is_mod = op.name == "Mod";
  const Attrs attrs = Attrs::parse(*op.attrs, is_mod ? AttrMap{{"fmod", int64_t{1}}} : AttrMap{});
  const auto described = [](const Floats& x) {
    const Shape shape = x.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(x.size())};
    return KernelTensor{DType::kFloat, shape, nullptr, nullptr};
  };
  const KernelTensor in[] = {described(a), described(b)};
  const KernelTensor out = described(a.size() >= b.size() ? a : b);
  const Prepared prepared = prepare_portable({op, attrs, in, {&out, 1}});
  EXPECT_TRUE(prepared.kernel) << prepared.refusal;
  Floats result = a;
  result.resize(std::max(a.size(), b.size()));
  if (!is_in_place) {
    const void* const sources[] = {a.data(), b.data()};
    void* target = result.data();
    prepared.kernel->run({sources, &target, nullptr});
    return result;
  }
  EXPECT_TRUE(prepared.kernel->may_alias(0, 0));
  const void* const sources[] = {result.data(), b.data()};
  void* target = result.data();
  prepared.kernel->run({sources, &target, nullptr});
  return result;
}

// Numbers of ordinary size, any bits, and the ends of the type.
Floats drawn_numbers(size_t count, uint32_t seed) {
  using Limits = std::numeric_limits<float>;
  const Floats edges{0,
                     -0.f,
                     1,
                     -1,
                     2,
                     -3,
                     0.5f,
                     -0.5f,
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::min(),
                     Limits::denorm_min(),
                     Limits::max(),
                     Limits::lowest(),
                     0x1p24f,
                     -0x1.8p23f,
                     1 + Limits::epsilon()};
  std::mt19937 bits(seed);
  std::normal_distribution<float> near_zero(0, 10);
  Floats all;
  for (size_t i = 0; i < count; ++i) {
    if (i % 5 == 0)
      all.push_back(edges[bits() % edges.size()]);
    else
      all.push_back(i % 5 < 3 ? near_zero(bits)
                              : std::bit_cast<float>(static_cast<uint32_t>(bits())));
  }
  return all;
}

bool is_same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

void check_mod(const Floats& a, const Floats& b) {
  for (const bool is_in_place : {false, true}) {
    if (is_in_place && a.size() < b.size()) continue;
    const Floats got = run_pair("Mod", a, b, is_in_place);
    for (size_t i = 0; i < got.size(); ++i) {
      const float x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
      ASSERT_TRUE(is_same(got[i], std::fmod(x, y)))
          << x << " mod " << y << " is " << std::fmod(x, y) << ", got " << got[i];
    }
  }
}

TEST(ModOfFloats, IsCsFmodToTheBit) {
  const Floats a = drawn_numbers(20'003, 1), b = drawn_numbers(20'003, 2);
  check_mod(a, b);
  for (const float one : drawn_numbers(40, 3)) {
    check_mod(a, {one});
    check_mod({one}, a);
  }
}

// Multiples and their neighbours, where a quotient that is rounded reaches the next whole number.
TEST(ModOfFloats, BesideMultiples) {
  std::mt19937 bits(4);
  Floats a, b;
  for (int i = 0; i < 20'000; ++i) {
    const float divisor = std::ldexp(1 + static_cast<float>(bits() % (1 << 23)) * 0x1p-23f,
                                     static_cast<int>(bits() % 40) - 20);
    float dividend = divisor * static_cast<float>(bits() % (1 << (1 + bits() % 23)));
    if (i % 3 == 1) dividend = std::nextafter(dividend, 0.f);
    if (i % 3 == 2) dividend = std::nextafter(dividend, HUGE_VALF);
    a.push_back(i % 2 ? -dividend : dividend);
    b.push_back(i % 4 < 2 ? divisor : -divisor);
  }
  check_mod(a, b);
}

// Results are the nearest float but for one in some hundred thousand.
void check_pow(const Floats& a, const Floats& b, size_t may_differ) {
  const Floats got = run_pair("Pow", a, b);
  size_t differing = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const float x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
    const auto wanted = static_cast<float>(std::pow(static_cast<double>(x), y));
    if (is_same(got[i], wanted)) continue;
    ++differing;
    ASSERT_TRUE(std::isfinite(wanted) && std::nextafter(got[i], wanted) == wanted)
        << x << " to the power of " << y << " is " << wanted << ", got " << got[i];
  }
  EXPECT_LE(differing, may_differ);
}

TEST(PowOfFloats, IsTheNearestFloat) {
  const Floats a = drawn_numbers(100'003, 5), b = drawn_numbers(100'003, 6);
  check_pow(a, b, 5);
  for (const float one : drawn_numbers(60, 7)) {
    check_pow(a, {one}, 5);
    check_pow({one}, b, 5);
  }
}

TEST(PowOfFloats, OfWholeExponents) {
  const Floats a = drawn_numbers(10'001, 8);
  for (int exponent = -70; exponent <= 70; ++exponent)
    check_pow(a, {static_cast<float>(exponent)}, 2);
}

}  // namespace
}  // namespace sardonyx::cpu
