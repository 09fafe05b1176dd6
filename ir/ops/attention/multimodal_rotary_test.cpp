// MRotaryEmbedding: which position rotates which pair.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

const char* const kMultimodal = "com.microsoft::MRotaryEmbedding";

// A token of one head of size 8 at the positions 1, 2 and 3, whose cosines are ten times the
// position plus the column, and whose sines are 0: cosines show as they are.
std::vector<double> cosines_used(const Ints& sections, int64_t layout, int64_t interleaved) {
  std::vector<float> cosines;
  for (int64_t place = 0; place < 4; ++place) {
    for (int64_t column = 0; column < 4; ++column)
      cosines.push_back(static_cast<float>(place * 10 + column));
  }
  const Datum x = Tensor::of(std::vector<float>(8, 1), {1, 1, 8});
  return run_op(kMultimodal,
                {x, Tensor::of<int64_t>({1, 2, 3}, {3, 1, 1}), Tensor::of(cosines, {4, 4}),
                 zeros({4, 4})},
                {{"num_heads", int64_t{1}},
                 {"mrope_section", sections},
                 {"mrope_layout", layout},
                 {"interleaved", interleaved}})[0]
      .tensor()
      .to_doubles();
}

TEST(MRotaryEmbedding, EachPositionTurnsItsPart) {
  using Wanted = std::vector<double>;
  EXPECT_EQ(cosines_used({1, 2, 1}, 0, 0), (Wanted{10, 21, 22, 33, 10, 21, 22, 33}));
  EXPECT_EQ(cosines_used({1, 2, 1}, 0, 1), (Wanted{10, 10, 21, 21, 22, 22, 33, 33}));
  // Time has all that height (columns 1, 4 ...) and width (2, 5 ...) do not take.
  EXPECT_EQ(cosines_used({2, 1, 1}, 1, 0), (Wanted{10, 21, 32, 13, 10, 21, 32, 13}));
  EXPECT_EQ(cosines_used({3, 0, 1}, 1, 0), (Wanted{10, 11, 32, 13, 10, 11, 32, 13}));
}

// Where all three positions are the same it is RotaryEmbedding.
TEST(MRotaryEmbedding, IsRotaryEmbeddingForText) {
  std::vector<float> x, cosines, sines;
  for (int i = 0; i < 2 * 2 * 3 * 6; ++i)
    x.push_back(static_cast<float>(i * 7 % 11) - 5);
  for (int i = 0; i < 5 * 2; ++i) {
    cosines.push_back(static_cast<float>(i * 3 % 7) / 5);
    sines.push_back(static_cast<float>(i * 5 % 7) / 6);
  }
  const Ints places{0, 3, 1, 2, 4, 4};
  Ints thrice;
  for (int i = 0; i < 3; ++i)
    thrice.insert(thrice.end(), places.begin(), places.end());
  const Datum input = Tensor::of(x, {2, 2, 3, 6}), cos = Tensor::of(cosines, {5, 2}),
              sin = Tensor::of(sines, {5, 2});
  const Datum wanted = run_op("RotaryEmbedding", {input, cos, sin, Tensor::of(places, {2, 3})},
                              {{"rotary_embedding_dim", int64_t{4}}})[0];
  const AttrMap attrs{{"mrope_section", Ints{1, 0, 1}},
                      {"rotary_embedding_dim", int64_t{4}},
                      {"num_heads", int64_t{2}}};
  const std::vector<Datum> inputs{input, Tensor::of(thrice, {3, 2, 3}), cos, sin};
  expect_near(run_op(kMultimodal, inputs, attrs)[0], wanted.tensor().to_doubles(), 1e-6);
  // `scale` is that of cosines and sines: what is rotated is scaled, the rest is not.
  AttrMap scaled = attrs;
  scaled["scale"] = 0.5f;
  std::vector<double> halved = wanted.tensor().to_doubles();
  for (size_t i = 0; i < halved.size(); ++i)
    halved[i] *= i % 6 < 4 ? 0.5 : 1;
  expect_near(run_op(kMultimodal, inputs, scaled)[0], halved, 1e-6);
}

TEST(MRotaryEmbedding, RefusesWhatDoesNotFit) {
  const Datum x = zeros({1, 1, 8}), places = zeros({3, 1, 1}, DType::kInt64), cache = zeros({4, 4});
  const auto attrs = [](const Ints& sections, int64_t layout = 0, int64_t heads = 1) {
    return AttrMap{{"mrope_section", sections}, {"mrope_layout", layout}, {"num_heads", heads}};
  };
  const Ints sections{1, 2, 1};
  expect_refused(std::vector<Refused>{
      {kMultimodal, {x, places, cache, cache}, attrs({1, 3}), "mrope_section: expected three"},
      {kMultimodal, {x, places, cache, cache}, attrs({-1, 3, 2}), "three sizes of 0 or more"},
      {kMultimodal, {x, places, cache, cache}, attrs(sections, 2), "mrope_layout: expected 0"},
      {kMultimodal, {x, places, cache, cache}, attrs(sections, 0, 0), "attribute num_heads, got"},
      {kMultimodal,
       {x, zeros({2, 1, 1}, DType::kInt64), cache, cache},
       attrs(sections),
       "input position_ids: expected [3, batch, length], got"},
      {kMultimodal,
       {x, places, cache, zeros({4, 3})},
       attrs(sections),
       "input sin_cache: expected [positions, 4], the sum of mrope_section, got"},
  });
}

}  // namespace
}  // namespace sardonyx
