#include "ir/core/random_kernel.h"

#include <algorithm>
#include <array>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ir/core/random_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of more lanes than this are not used, so that buffers have a constant size.
using Wide = hn::CappedTag<uint64_t, 8>;
using Real = hn::RebindToFloat<Wide>;
using Words = hn::Vec<Wide>;
using Reals = hn::Vec<Real>;

HWY_INLINE Words words(uint64_t value) {
  return hn::Set(Wide(), value);
}
HWY_INLINE Reals reals(double value) {
  return hn::Set(Real(), value);
}
HWY_INLINE Reals as_reals(Words bits) {
  return hn::BitCast(Real(), bits);
}
HWY_INLINE Words as_words(Reals value) {
  return hn::BitCast(Wide(), value);
}

// 64-bit products of the low halves.
HWY_INLINE Words low_product(Words a, Words b) {
#if HWY_TARGET == HWY_SCALAR
  const Words low = words(0xFFFFFFFFu);
  return hn::Mul(hn::And(a, low), hn::And(b, low));
#else
  const hn::Repartition<uint32_t, Wide> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

// Philox 4x32-10 of the counters in `at`: words 0 and 1 of each block, and 2 and 3, as 64-bit
// numbers. The words are in the low halves; the high ones do not matter until the end.
HWY_INLINE void philox(uint64_t key, Words at, Words& first, Words& last) {
  const Words low = words(0xFFFFFFFFu);
  Words c0 = at, c1 = hn::ShiftRight<32>(at), c2 = words(0), c3 = words(0);
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const Words p0 = low_product(c0, words(0xD2511F53u));
    const Words p1 = low_product(c2, words(0xCD9E8D57u));
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), words(k0));
    c1 = p1;
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), words(k1));
    c3 = p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  first = hn::Or(hn::ShiftLeft<32>(c0), hn::And(c1, low));
  last = hn::Or(hn::ShiftLeft<32>(c2), hn::And(c3, low));
}

// A whole number up to 2^53 as it is: its halves become the last digits of 2^84 and 2^52.
HWY_INLINE Reals to_reals(Words number) {
  const Words high = hn::Or(hn::ShiftRight<32>(number), words(0x4530000000000000));
  const Words low = hn::Or(hn::And(number, words(0xFFFFFFFFu)), words(0x4330000000000000));
  return hn::Add(hn::Sub(as_reals(high), reals(0x1.00000001p84)), as_reals(low));
}

// Taylor's coefficients: of atanh(x) / x in x^2, and of cosine and sine / x in x^2.
template <size_t count, typename Divisor>
constexpr std::array<double, count> inverses(const Divisor& divisor) {
  std::array<double, count> made{};
  for (size_t i = 0; i < count; ++i)
    made[i] = 1 / divisor(static_cast<int>(i));
  return made;
}
constexpr double signed_factorial(int n, int sign) {
  double product = sign % 2 == 0 ? 1 : -1;
  for (int i = 2; i <= n; ++i)
    product *= i;
  return product;
}
constexpr auto kAtanh = inverses<11>([](int i) { return 2.0 * i + 1; });
constexpr auto kCosine = inverses<9>([](int i) { return signed_factorial(2 * i, i); });
constexpr auto kSine = inverses<9>([](int i) { return signed_factorial(2 * i + 1, i); });

template <size_t count>
HWY_INLINE Reals series(Reals x, const std::array<double, count>& coefficients) {
  Reals sum = reals(coefficients[count - 1]);
  for (size_t i = count - 1; i-- > 0;)
    sum = hn::Add(hn::Mul(sum, x), reals(coefficients[i]));
  return sum;
}

// log(x) for x >= 1: x = 2^n * m with m in [sqrt(1/2), sqrt(2)), and log(m) is 2 atanh(s) with
// s = (m - 1) / (m + 1).
HWY_INLINE Reals log_from_one(Reals x, Reals minus_exponent) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;  // its bits
  const Words steps = hn::ShiftRight<52>(hn::Sub(as_words(x), words(kRootOfHalf)));
  const Reals m = as_reals(hn::Sub(as_words(x), hn::ShiftLeft<52>(steps)));
  const Reals s = hn::Div(hn::Sub(m, reals(1)), hn::Add(m, reals(1)));
  const Reals tail = series(hn::Mul(s, s), kAtanh);
  const Reals n = hn::Sub(to_reals(steps), minus_exponent);
  // log(2) in two parts, the first one short: its product with n is exact.
  const Reals high = hn::Mul(n, reals(0x1.62e42fee00000p-1));
  const Reals low = hn::Mul(n, reals(0x1.a39ef35793c76p-33));
  return hn::Add(high, hn::Add(hn::Mul(hn::Add(s, s), tail), low));
}

// Cosine and sine of 2 pi * fraction / 2^53: of the angle to the nearest eighth of a turn, each of
// which says which of the two is which, and with which sign.
HWY_INLINE void cos_sin_of_fraction(Words fraction, Reals& cosine, Reals& sine) {
  const Words quarter = hn::ShiftRight<51>(hn::Add(fraction, words(uint64_t{1} << 50)));
  const Words beyond =  // in [0, 2^51]
      hn::Add(hn::Sub(fraction, hn::ShiftLeft<51>(quarter)), words(uint64_t{1} << 50));
  const Reals angle =
      hn::Mul(hn::Sub(to_reals(beyond), reals(0x1p50)), reals(std::numbers::pi * 0x1p-52));
  const Reals square = hn::Mul(angle, angle);
  const Reals c = series(square, kCosine);
  const Reals s = hn::Mul(angle, series(square, kSine));
  const Words one = words(1);
  const auto is_odd = hn::RebindMask(Real(), hn::Eq(hn::And(quarter, one), one));
  const Words cos_sign = hn::ShiftLeft<62>(hn::And(hn::Add(quarter, one), words(2)));
  const Words sin_sign = hn::ShiftLeft<62>(hn::And(quarter, words(2)));
  cosine = as_reals(hn::Xor(as_words(hn::IfThenElse(is_odd, s, c)), cos_sign));
  sine = as_reals(hn::Xor(as_words(hn::IfThenElse(is_odd, c, s)), sin_sign));
}

// Calls make(counters of a vector, where its numbers go): each block gives `numbers` of them.
template <typename Make>
HWY_INLINE void for_each_vector(uint64_t first, size_t blocks, size_t numbers, double* out,
                                const Make& make) {
  const size_t lanes = hn::Lanes(Wide());
  const Words steps = hn::Iota(Wide(), 0);
  size_t i = 0;
  for (; i + lanes <= blocks; i += lanes)
    make(hn::Add(words(first + i), steps), out + numbers * i);
  if (i == blocks) return;
  HWY_ALIGN double rest[16];
  make(hn::Add(words(first + i), steps), rest);
  std::copy_n(rest, numbers * (blocks - i), out + numbers * i);
}

void UniformBlocks(uint64_t key, uint64_t first, size_t blocks, double* out) {
  for_each_vector(first, blocks, 1, out, [&](Words at, double* to) HWY_ATTR {
    Words bits, unused;
    philox(key, at, bits, unused);
    hn::StoreU(hn::Mul(to_reals(hn::ShiftRight<11>(bits)), reals(0x1p-53)), Real(), to);
  });
}

// Box-Muller.
void NormalBlocks(uint64_t key, uint64_t first, size_t blocks, double* out) {
  for_each_vector(first, blocks, 2, out, [&](Words at, double* to) HWY_ATTR {
    Words a, b;
    philox(key, at, a, b);
    // A number in (0, 1], in units of 2^-53, so that its logarithm is finite.
    const Reals distance = to_reals(hn::Add(hn::ShiftRight<11>(a), words(1)));
    const Reals radius = hn::Sqrt(hn::Mul(reals(-2), log_from_one(distance, reals(53))));
    Reals cosine, sine;
    cos_sin_of_fraction(hn::ShiftRight<11>(b), cosine, sine);
    hn::StoreInterleaved2(hn::Mul(radius, cosine), hn::Mul(radius, sine), Real(), to);
  });
}

}  // namespace sardonyx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx {

HWY_EXPORT(UniformBlocks);
HWY_EXPORT(NormalBlocks);

void uniform_blocks(uint64_t key, uint64_t first, size_t blocks, double* out) {
  HWY_DYNAMIC_DISPATCH(UniformBlocks)(key, first, blocks, out);
}
void normal_blocks(uint64_t key, uint64_t first, size_t blocks, double* out) {
  HWY_DYNAMIC_DISPATCH(NormalBlocks)(key, first, blocks, out);
}

}  // namespace sardonyx
#endif  // HWY_ONCE
