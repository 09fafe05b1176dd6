// Packed weights are what oneDNN's own reorders make of them.
#include "providers/onednn/weight_reorder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "ir/core/tensor.h"

namespace sardonyx::onednn {
namespace {

constexpr auto kFloatData = memory::data_type::f32;

std::vector<float> random_floats(size_t count) {
  std::vector<float> values(count);
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values)
    value = uniform(generator);
  return values;
}

std::vector<float> packed_by_onednn(const std::vector<float>& values, const Desc& from,
                                    const Desc& to) {
  std::vector<float> out(to.get_size() / sizeof(float));
  memory source(from, cpu_engine(), const_cast<float*>(values.data()));
  memory target(to, cpu_engine(), out.data());
  dnnl::reorder(source, target).execute(thread_stream(), source, target);
  thread_stream();
  return out;
}

// From an odd address, into memory that is not zero.
std::vector<float> packed_by_us(const std::vector<float>& values, const Desc& from, const Desc& to,
                                int threads) {
  const size_t bytes = values.size() * sizeof(float);
  std::vector<std::byte> odd(bytes + 1);
  std::memcpy(odd.data() + 1, values.data(), bytes);
  std::vector<float> out(to.get_size() / sizeof(float), 99);
  EXPECT_TRUE(pack_weights(odd.data() + 1, from, to, out.data(), threads));
  return out;
}

struct Example {
  Extents dims;
  memory::format_tag to;
};

class Packing : public testing::TestWithParam<Example> {};

TEST_P(Packing, places_the_elements_and_the_padding_of_a_blocked_layout) {
  const auto& [dims, tag] = GetParam();
  const Desc to(dims, kFloatData, tag);
  const Desc plain = plain_desc(kFloatData, dims);
  const std::vector<float> values = random_floats(plain.get_size() / sizeof(float));
  for (const int threads : {1, 2})
    EXPECT_EQ(packed_by_us(values, plain, to, threads), packed_by_onednn(values, plain, to));
  const Desc transposed = transposed_desc(kFloatData, dims);
  EXPECT_EQ(packed_by_us(values, transposed, to, 1), packed_by_onednn(values, transposed, to));
}

using Tag = memory::format_tag;
INSTANTIATE_TEST_SUITE_P(
    Layouts, Packing,
    testing::Values(Example{{32, 48, 3, 3}, Tag::OIhw16i16o},
                    Example{{40, 20, 3, 3}, Tag::OIhw16i16o}, Example{{64, 33, 1, 1}, Tag::Ohwi16o},
                    Example{{100, 24, 3, 3}, Tag::Ohwi64o}, Example{{48, 16, 5, 5}, Tag::Ohwi48o},
                    Example{{16, 3, 7, 7}, Tag::Ohwi32o},
                    Example{{2, 24, 20, 3, 3}, Tag::gOIhw16i16o},
                    Example{{40, 1, 1, 3, 3}, Tag::Goihw16g}, Example{{70, 200}, Tag::BA16a64b},
                    Example{{65, 48}, Tag::BA16a48b}, Example{{24, 20, 3}, Tag::OIw8i8o}));

TEST(Packing, places_bytes) {
  struct Bytes {
    Extents dims;
    memory::format_tag to;
  };
  for (const auto& [dims, tag] :
       {Bytes{{70, 20, 3, 3}, Tag::AcdB64a4b}, Bytes{{64, 64, 1, 1}, Tag::AcdB64a4b},
        Bytes{{70, 24, 1, 1}, Tag::AcdB48a4b}, Bytes{{70, 12, 3, 3}, Tag::AcdB48a4b},
        Bytes{{32, 128, 1, 1}, Tag::OIhw16i16o4i}, Bytes{{48, 128, 3, 3}, Tag::OIhw16i16o4i},
        Bytes{{48, 9, 1, 1}, Tag::AcdB48a4b}, Bytes{{48, 18, 1, 1}, Tag::OIhw4i16o4i},
        Bytes{{128, 24, 3, 3}, Tag::AcdB64a4b}, Bytes{{64, 8, 5, 5}, Tag::AcdB64a4b},
        Bytes{{32, 16, 2, 2}, Tag::AcdB32a4b}, Bytes{{32, 16, 1, 7}, Tag::OIhw4i16o4i},
        Bytes{{32, 16, 3, 3}, Tag::OIhw4i16o4i}, Bytes{{2, 32, 8, 3, 3}, Tag::gOIhw2i8o4i},
        Bytes{{48, 12, 9}, Tag::AcB48a4b}, Bytes{{16, 8, 2, 3, 2}, Tag::AcdeB16a4b}}) {
    const auto type = memory::data_type::s8;
    const Desc from = plain_desc(type, dims), to(dims, type, tag);
    std::vector<int8_t> values(from.get_size()), theirs(to.get_size());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int8_t>(i * 37 % 251);
    memory source(from, cpu_engine(), values.data()), target(to, cpu_engine(), theirs.data());
    dnnl::reorder(source, target).execute(thread_stream(), source, target);
    for (const int threads : {1, 2}) {
      std::vector<int8_t> ours(to.get_size(), 9);
      EXPECT_TRUE(pack_weights(values.data(), from, to, ours.data(), threads));
      EXPECT_EQ(ours, theirs) << testing::PrintToString(dims);
    }
  }
}

TEST(Packing, leaves_what_it_does_not_know_to_others) {
  const Desc plain = plain_desc(kFloatData, {16, 16});
  std::vector<float> values(256), out(256);
  EXPECT_FALSE(
      pack_weights(values.data(), plain, transposed_desc(kFloatData, {16, 16}), out.data(), 1));
  const Desc bytes(plain.dims(), memory::data_type::u8, memory::format_tag::BA16a64b);
  EXPECT_FALSE(pack_weights(values.data(), plain, bytes, out.data(), 1));
}

}  // namespace
}  // namespace sardonyx::onednn
