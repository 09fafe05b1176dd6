// What is intricate in elementwise ops: wrapping, division, remainders, NaN, signed zeros,
// conversions, quantization.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();

std::vector<Datum> run(std::string_view name, const std::vector<Datum>& inputs,
                       const AttrMap& attributes = {}, size_t outputs = 1) {
  const OpDef& op = op_named(name);
  return evaluate(op, Attrs::parse(*op.attrs, attributes), inputs, outputs);
}

template <typename T>
std::vector<T> values(const Datum& datum) {
  const auto span = datum.tensor().values<T>();
  return {span.begin(), span.end()};
}

// The op on two vectors.
template <typename T>
std::vector<T> binary(std::string_view name, const std::vector<T>& a, const std::vector<T>& b,
                      const AttrMap& attributes = {}) {
  return values<T>(run(name, {Tensor::vector(a), Tensor::vector(b)}, attributes)[0]);
}

template <typename T>
void expect_same(const std::vector<T>& got, const std::vector<std::type_identity_t<T>>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(got[i])) << i;
    else
      EXPECT_EQ(got[i], wanted[i]) << i;
    EXPECT_TRUE(std::isnan(wanted[i]) || std::signbit(got[i]) == std::signbit(wanted[i])) << i;
  }
}

TEST(Arithmetic, integers_wrap) {
  EXPECT_EQ(binary<int8_t>("Add", {127, -128}, {1, -1}), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(binary<uint8_t>("Sub", {0, 5}, {1, 7}), (std::vector<uint8_t>{255, 254}));
  EXPECT_EQ(binary<int64_t>("Mul", {int64_t{1} << 62}, {4}), (std::vector<int64_t>{0}));
  EXPECT_EQ(values<int32_t>(run("Neg", {Tensor::scalar(kLowest)})[0])[0], kLowest);
  EXPECT_EQ(values<int32_t>(run("Abs", {Tensor::scalar(kLowest)})[0])[0], kLowest);
}

TEST(Arithmetic, integer_division_truncates_and_never_traps) {
  EXPECT_EQ(binary<int32_t>("Div", {-7, 7, kLowest}, {2, -2, -1}),
            (std::vector<int32_t>{-3, -3, kLowest}));
  EXPECT_THROW(binary<int32_t>("Div", {7, 7}, {2, 0}), Error);
  EXPECT_THROW(binary<int64_t>("Mod", {7, 7}, {2, 0}), Error);
  EXPECT_THROW(binary<uint8_t>("Div", {7}, {0}), Error);
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(binary<int64_t>("Div", {lowest}, {-1}), (std::vector<int64_t>{lowest}));
  EXPECT_EQ(binary<int64_t>("Mod", {lowest, -5, 5}, {-1, 3, -3}), (std::vector<int64_t>{0, 1, -1}));
  EXPECT_EQ(binary<int64_t>("Mod", {lowest, -5, 5}, {-1, 3, -3}, {{"fmod", int64_t{1}}}),
            (std::vector<int64_t>{0, -2, 2}));
  expect_same(binary<float>("Mod", {-5, 5, -4, 1}, {3, kInf, 2, 0}, {{"fmod", int64_t{1}}}),
              {-2, 5, -0.0f, kNaN});
  EXPECT_THROW(binary<float>("Mod", {-5}, {3}), Error);  // says the op's text
}

TEST(Arithmetic, remainders_are_those_of_the_language) {
  const std::vector<float> parts{0.0f, -0.0f, 1e-45f, 1e-38f, 0.1f,  1,    3,     7.5f, 8388609,
                                 3e9f, 1e20f, 3e38f,  -2.5f,  -1e9f, kInf, -kInf, kNaN};
  std::vector<float> a, b, expected;
  const auto add = [&](float x, float y) {
    a.push_back(x);
    b.push_back(y);
    expected.push_back(std::fmod(x, y));
  };
  for (const float x : parts) {
    for (const float y : parts)
      add(x, y);
  }
  // Just below, at and above whole multiples.
  for (int i = 1; i < 4000; ++i) {
    const float y = 1.0f / static_cast<float>(i), x = static_cast<float>(i * 977) * y;
    for (const float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, kInf)})
      add(i % 2 == 0 ? near : -near, y);
  }
  const std::vector<float> found = binary<float>("Mod", a, b, {{"fmod", int64_t{1}}});
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << a[i] << " mod " << b[i];
    else
      EXPECT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>(expected[i]))
          << a[i] << " mod " << b[i];
  }
  const int64_t large = int64_t{1} << 40, edge = int64_t{1} << 32;
  EXPECT_EQ(binary<int64_t>("Mod", {large + 3, edge - 1, edge, 7, -7, 7},
                            {large, edge - 2, 10, edge, edge, -edge}),
            (std::vector<int64_t>{3, 1, 6, 7, edge - 7, 7 - edge}));
  EXPECT_EQ(binary<uint64_t>("Mod", {UINT64_MAX, 5}, {10, UINT64_MAX}),
            (std::vector<uint64_t>{5, 5}));
}

TEST(Arithmetic, nan_passes_through_max_min_and_sign) {
  expect_same(binary<float>("Max", {kNaN, 1, 2}, {1, kNaN, 3}), {kNaN, kNaN, 3});
  expect_same(binary<float>("Min", {kNaN, 1, 2}, {1, kNaN, 3}), {kNaN, kNaN, 2});
  expect_same(values<float>(run("Sign", {Tensor::vector<float>({kNaN, -0.0f, -kInf, 3})})[0]),
              {kNaN, 0, -1, 1});
  expect_same(values<float>(run("Relu", {Tensor::vector<float>({kNaN, -0.0f, -kInf, 3})})[0]),
              {kNaN, 0, 0, 3});
  // ONNX says "x for x > alpha, 0 otherwise".
  expect_same(values<float>(run("ThresholdedRelu", {Tensor::vector<float>({kNaN, 1, 2, kInf})})[0]),
              {0, 0, 2, kInf});
}

TEST(Arithmetic, pow_takes_mixed_types) {
  const auto pow = [](Tensor base, Tensor exponent) {
    return run("Pow", {std::move(base), std::move(exponent)})[0];
  };
  EXPECT_EQ(values<int32_t>(pow(Tensor::vector<int32_t>({2, -3, 1, -1, 0}),
                                Tensor::vector<int64_t>({31, 3, -5, -5, -1}))),
            (std::vector<int32_t>{kLowest, -27, 1, -1, 0}));
  EXPECT_EQ(values<int64_t>(pow(Tensor::scalar<int64_t>(3), Tensor::scalar<uint8_t>(39))),
            (std::vector<int64_t>{4052555153018976267}));
  EXPECT_EQ(values<int32_t>(pow(Tensor::scalar<int32_t>(9), Tensor::scalar<float>(0.5f))),
            (std::vector<int32_t>{3}));
  EXPECT_EQ(values<float>(pow(Tensor::scalar<float>(2), Tensor::scalar<int32_t>(-2))),
            (std::vector<float>{0.25f}));
}

TEST(Arithmetic, shifts_by_the_width_or_more_leave_nothing) {
  const AttrMap left{{"direction", std::string("LEFT")}},
      right{{"direction", std::string("RIGHT")}};
  EXPECT_EQ(binary<uint8_t>("BitShift", {1, 255, 255}, {7, 1, 200}, left),
            (std::vector<uint8_t>{128, 254, 0}));
  EXPECT_EQ(binary<uint64_t>("BitShift", {~uint64_t{0}, 8}, {64, 3}, right),
            (std::vector<uint64_t>{0, 1}));
}

TEST(Arithmetic, half_is_rounded_once) {
  const Tensor third = Tensor::scalar(Float16(1.0f)), three = Tensor::scalar(Float16(3.0f));
  EXPECT_EQ(values<Float16>(run("Div", {third, three})[0])[0].bits, Float16(1.0f / 3).bits);
  const Tensor many = Tensor::vector(std::vector<Float16>(1, Float16(2048.0f)));
  const Tensor one = Tensor::scalar(Float16(1.0f));
  // Summed in float: one by one in half, nothing would be added.
  EXPECT_EQ(static_cast<float>(values<Float16>(run("Sum", {many, one, one})[0])[0]), 2050);
}

TEST(Cast, text_both_ways) {
  const auto to_text = [](Tensor numbers) {
    return values<std::string>(run("Cast", {std::move(numbers)}, {{"to", int64_t{8}}})[0]);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(to_text(Tensor::vector<float>({0.1f, -2, 1e20f, 1.5e-7f, 123456.79f, 1e15f, 0})),
            (Texts{"0.1", "-2", "1e+20", "1.5e-07", "123456.79", "1e+15", "0"}));
  EXPECT_EQ(to_text(Tensor::vector<float>({1e10f, 2147483648.0f, 1e7f, 99999992, 255.9f, 1e-5f,
                                           0.00012345f, -0.7229038f, 0.0001f})),
            (Texts{"1e+10", "2.1474836e+09", "10000000", "99999992", "255.9", "1e-05", "0.00012345",
                   "-0.7229038", "0.0001"}));
  EXPECT_EQ(to_text(Tensor::vector<float>({kNaN, kInf, -kInf, -0.0f})),
            (Texts{"NaN", "INF", "-INF", "-0"}));
  EXPECT_EQ(to_text(Tensor::vector<double>({0.1, 1.0 / 3})), (Texts{"0.1", "0.33333333"}));
  EXPECT_EQ(to_text(Tensor::vector<double>({123456789, 1e-5, 1e-40, -0.9})),
            (Texts{"1.2345679e+08", "1e-05", "1e-40", "-0.9"}));
  EXPECT_EQ(to_text(Tensor::vector<Float16>({Float16(0.1f), Float16(65504.0f)})),
            (Texts{"0.099975586", "65504"}));
  EXPECT_EQ(to_text(Tensor::vector<int64_t>({std::numeric_limits<int64_t>::min(), 7})),
            (Texts{"-9223372036854775808", "7"}));
  EXPECT_EQ(to_text(Tensor::vector<bool>({true, false})), (Texts{"1", "0"}));

  const auto from_text = [](const Texts& texts, DType to) {
    return run("Cast", {Tensor::vector(texts)}, {{"to", static_cast<int64_t>(to)}})[0];
  };
  expect_same(values<float>(
                  from_text({"3.14", "1e-5", "+INF", "-inf", "NaN", " 2 ", "1e99"}, DType::kFloat)),
              {3.14f, 1e-5f, kInf, -kInf, kNaN, 2, kInf});
  EXPECT_EQ(values<int8_t>(from_text({"-128", "1e2", "2.9", "0x10", "5abc", "300"}, DType::kInt8)),
            (std::vector<int8_t>{-128, 1, 2, 0, 5, 44}));
  EXPECT_EQ(values<uint32_t>(from_text({"-1", "18446744073709551615", "7 "}, DType::kUInt32)),
            (std::vector<uint32_t>{~0u, ~0u, 7}));
  expect_same(values<double>(from_text({"0x10", "-0X1.8p1x", "0x", "5abc", "1.5e", ".5", "-nan",
                                        "infinity", "1e-400", "-1e-310", "0x1p-2000"},
                                       DType::kDouble)),
              {16, -3, 0, 5, 1.5, 0.5, kNaN, kInf, 0, -1e-310, 0});
  EXPECT_EQ(from_text({"true", "False", "1", "0.0"}, DType::kBool).tensor().to_int64s(),
            (std::vector<int64_t>{1, 0, 1, 0}));
  for (const char* wrong : {"", "hello", "--1", "+-1", "- 1", "1e400", "-1e999", "0x1p2000"})
    EXPECT_THROW(from_text({wrong}, DType::kFloat), Error) << wrong;
  for (const char* wrong : {"", ".5", "inf", "nan", "9223372036854775808"})
    EXPECT_THROW(from_text({wrong}, DType::kInt32), Error) << wrong;
}

TEST(Cast, every_pair_of_types_agrees_on_small_numbers) {
  for (int from = 1; from < kDTypeCount; ++from) {
    for (int to = 1; to < kDTypeCount; ++to) {
      if (is_complex(static_cast<DType>(from)) || is_complex(static_cast<DType>(to))) continue;
      SCOPED_TRACE(text(static_cast<DType>(from), " to ", static_cast<DType>(to)));
      const Tensor one =
          run("Cast", {Tensor::vector<float>({1, 1, 1})}, {{"to", int64_t{from}}})[0].tensor();
      const Tensor cast = run("Cast", {one}, {{"to", int64_t{to}}})[0].tensor();
      const Tensor back = run("Cast", {cast}, {{"to", int64_t{1}}})[0].tensor();
      EXPECT_EQ(back.to_doubles(), (std::vector<double>{1, 1, 1}));
    }
  }
}

TEST(Cast, bits_are_kept_by_bit_cast) {
  const Tensor floats = Tensor::vector<float>({1, -0.0f});
  EXPECT_EQ(values<int32_t>(run("BitCast", {floats}, {{"to", int64_t{6}}})[0]),
            (std::vector<int32_t>{0x3f800000, kLowest}));
  const Tensor fours =
      run("Cast", {Tensor::vector<int8_t>({-1, 7, -8})}, {{"to", int64_t{22}}})[0].tensor();
  EXPECT_EQ(run("BitCast", {fours}, {{"to", int64_t{21}}})[0].tensor().to_int64s(),
            (std::vector<int64_t>{15, 7, 8}));
  EXPECT_THROW(run("BitCast", {floats}, {{"to", int64_t{7}}}), Error);
}

TEST(Quantize, rounds_to_even_adds_the_zero_point_and_saturates) {
  const Tensor x = Tensor::vector<float>({0.5f, 1.5f, 2.5f, -0.5f, 1000, -1000, kInf, -kInf, kNaN});
  const auto quantized = [&](Tensor zero_point) {
    return run("QuantizeLinear", {x, Tensor::scalar(1.0f), std::move(zero_point)})[0]
        .tensor()
        .to_int64s();
  };
  EXPECT_EQ(quantized(Tensor::scalar<uint8_t>(10)),
            (std::vector<int64_t>{10, 12, 12, 10, 255, 0, 255, 0, 0}));
  EXPECT_EQ(quantized(Tensor::scalar<int8_t>(-1)),
            (std::vector<int64_t>{-1, 1, 1, -1, 127, -128, 127, -128, -128}));
}

TEST(Quantize, divides_in_the_precision_that_was_asked_for) {
  // 2049 is no half; 2049 / 2 is 1024.5 in float and 1024 in half (2048 / 2).
  const Tensor x = Tensor::vector<float>({2051}), scale = Tensor::scalar(2.0f);
  const AttrMap wide{{"output_dtype", int64_t{5}}};
  const AttrMap narrow{{"output_dtype", int64_t{5}}, {"precision", int64_t{10}}};
  EXPECT_EQ(values<int16_t>(run("QuantizeLinear", {x, scale}, wide)[0])[0], 1026);
  EXPECT_EQ(values<int16_t>(run("QuantizeLinear", {x, scale}, narrow)[0])[0], 1026);
  const Tensor odd = Tensor::vector<float>({2049.5f});
  EXPECT_EQ(values<int16_t>(run("QuantizeLinear", {odd, scale}, wide)[0])[0], 1025);
  EXPECT_EQ(values<int16_t>(run("QuantizeLinear", {odd, scale}, narrow)[0])[0], 1025);
}

TEST(Quantize, blocks_share_scales_and_the_last_may_be_short) {
  const Tensor x = Tensor::of<int8_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor scale = Tensor::of<float>({1, 10, 100, 1000}, {2, 2});
  const AttrMap attributes{{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
  EXPECT_EQ(values<float>(run("DequantizeLinear", {x, scale}, attributes)[0]),
            (std::vector<float>{1, 2, 30, 400, 500, 6000}));
  const Tensor wrong = Tensor::of<float>({1, 10, 100}, {3, 1});
  EXPECT_THROW(run("DequantizeLinear", {x, wrong}, attributes), Error);
}

TEST(Quantize, dynamic_range_holds_zero) {
  const auto out = run("DynamicQuantizeLinear", {Tensor::vector<float>({1, 3, 255})}, {}, 3);
  EXPECT_EQ(values<uint8_t>(out[0]), (std::vector<uint8_t>{1, 3, 255}));
  EXPECT_EQ(values<float>(out[1])[0], 1);
  const auto zeros = run("DynamicQuantizeLinear", {Tensor::vector<float>({0, 0})}, {}, 3);
  EXPECT_EQ(values<uint8_t>(zeros[0]), (std::vector<uint8_t>{0, 0}));
}

TEST(Generator, ranges_count_as_specified) {
  const auto range = [](auto start, auto limit, auto delta) {
    return run("Range", {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)})[0]
        .tensor();
  };
  EXPECT_EQ(range(int64_t{10}, int64_t{4}, int64_t{-2}).to_int64s(),
            (std::vector<int64_t>{10, 8, 6}));
  EXPECT_EQ(range(int64_t{3}, int64_t{10}, int64_t{3}).count(), 3);
  EXPECT_EQ(range(1.0f, 1.0f, 0.5f).count(), 0);
  EXPECT_EQ(range(0.0f, 1.0f, 0.1f).count(), 10);
  const int64_t most = std::numeric_limits<int64_t>::max(),
                least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(range(least, most, most).count(), 3);
  EXPECT_THROW(range(least, most, int64_t{1}), Error);
  EXPECT_THROW(range(int64_t{0}, int64_t{1}, int64_t{0}), Error);
  EXPECT_THROW(range(0.0f, kInf, 1.0f), Error);
}

TEST(Dropout, training_drops_and_scales) {
  const Tensor data = Tensor::vector(std::vector<float>(10000, 1.0f));
  const auto out = run("Dropout", {data, Tensor::scalar(0.25f), Tensor::scalar(true)},
                       {{"seed", int64_t{7}}}, 2);
  const std::vector<float> kept = values<float>(out[0]);
  const auto dropped = std::count(kept.begin(), kept.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 200);
  EXPECT_EQ(static_cast<int64_t>(kept.size()) - dropped,
            std::count(kept.begin(), kept.end(), 1 / 0.75f));
}

}  // namespace
}  // namespace sardonyx
