#include "providers/onednn/primitive/partition.h"

#include <gtest/gtest.h>

#include "providers/onednn/primitive/partition_axes.h"
#include "tests/support/small_partitions.h"

namespace sardonyx::onednn {
namespace {

constexpr auto kFloat32 = memory::data_type::f32;

TEST(DescSlice, OfBlocksHasTheLayoutOfATensorOfItsSize) {
  const Desc whole = blocked_desc(kFloat32, {1, 40, 5, 7});
  const auto first = slice(whole, 1, 0, 32), last = slice(whole, 1, 32, 8);
  ASSERT_TRUE(first && last);
  EXPECT_EQ(first->desc, blocked_desc(kFloat32, {1, 32, 5, 7}));
  EXPECT_EQ(first->offset, 0u);
  EXPECT_EQ(last->desc, blocked_desc(kFloat32, {1, 8, 5, 7}));
  EXPECT_EQ(last->offset, 32u * 5 * 7 * sizeof(float));
}

TEST(DescSlice, OfRowsHasTheLayoutOfATensorOfItsSize) {
  for (const int64_t channels : {1, 3, 64}) {
    const auto rows = slice(channels_last_desc(kFloat32, {1, channels, 9, 7}), 2, 4, 3);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->desc, channels_last_desc(kFloat32, {1, channels, 3, 7}));
    EXPECT_EQ(rows->offset, static_cast<size_t>(4 * 7 * channels) * sizeof(float));
  }
}

TEST(DescSlice, WithGapsKeepsItsStrides) {
  const auto columns = slice(plain_desc(kFloat32, {5, 12}), 1, 4, 6);
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->desc, strided_desc(kFloat32, {5, 6}, {12, 1}));
  EXPECT_EQ(columns->offset, 4 * sizeof(float));
}

TEST(DescSlice, DoesNotCutBlocks) {
  const Desc whole = blocked_desc(kFloat32, {1, 40, 5, 7});
  EXPECT_FALSE(slice(whole, 1, 8, 16));
  EXPECT_FALSE(slice(whole, 1, 0, 24));
}

ConvolutionSpec spec_of(const Desc& src, const Extents& weights, const Desc& dst) {
  ConvolutionSpec spec;
  spec.src = src, spec.dst = dst;
  spec.weights = any_desc(kFloat32, weights);
  spec.strides = spec.dilations = spec.pads_begin = spec.pads_end = {1, 1};
  spec.weights = convolution(spec, attributes())->weights();
  return spec;
}

// Extents of what the parts of a convolution make, in their order.
std::vector<Extents> made_by_parts(const ConvolutionSpec& spec, int threads) {
  const auto make = [](const ConvolutionSpec& part) { return convolution(part, attributes()); };
  std::vector<Extents> made;
  for (const PrimitivePart& part : parts_of(work_of_convolution(spec, make), *make(spec), threads))
    made.push_back(part.primitive.dst().dims());
  return made;
}

TEST(Parts, OfOneImageInBlocksAreChannels) {
  const auto spec = spec_of(blocked_desc(kFloat32, {1, 32, 28, 28}), {64, 32, 3, 3},
                            blocked_desc(kFloat32, {1, 64, 28, 28}));
  EXPECT_EQ(made_by_parts(spec, 2), (std::vector<Extents>{{1, 32, 28, 28}, {1, 32, 28, 28}}));
}

TEST(Parts, OfOneImageWithChannelsLastAreRows) {
  const auto spec = spec_of(channels_last_desc(kFloat32, {1, 3, 29, 30}), {64, 3, 3, 3},
                            channels_last_desc(kFloat32, {1, 64, 29, 30}));
  EXPECT_EQ(made_by_parts(spec, 2), (std::vector<Extents>{{1, 64, 14, 30}, {1, 64, 15, 30}}));
}

TEST(Parts, OfManyImagesAreImages) {
  const auto spec = spec_of(blocked_desc(kFloat32, {8, 32, 14, 14}), {64, 32, 3, 3},
                            blocked_desc(kFloat32, {8, 64, 14, 14}));
  EXPECT_EQ(made_by_parts(spec, 2), (std::vector<Extents>(2, {4, 64, 14, 14})));
}

// One thread would wait while the other computes the third image.
TEST(Parts, OfThreeImagesAreHalvesOfImages) {
  const auto spec = spec_of(blocked_desc(kFloat32, {3, 32, 28, 28}), {64, 32, 3, 3},
                            blocked_desc(kFloat32, {3, 64, 28, 28}));
  EXPECT_EQ(made_by_parts(spec, 2), (std::vector<Extents>(6, {1, 32, 28, 28})));
}

TEST(Parts, AreNotMadeOfLittleWork) {
  const auto spec = spec_of(blocked_desc(kFloat32, {1, 16, 3, 3}), {32, 16, 3, 3},
                            blocked_desc(kFloat32, {1, 32, 3, 3}));
  EXPECT_TRUE(made_by_parts(spec, 2).empty());
  const SmallParts small;
  EXPECT_EQ(made_by_parts(spec, 2), (std::vector<Extents>(2, {1, 16, 3, 3})));
}

TEST(Parts, OfProductsAreMatricesOrRows) {
  const auto make = [](const ProductSpec& part, const std::vector<Desc>&) {
    return matmul(part, attributes());
  };
  const auto rows_of = [&](const Extents& a, const Extents& b, const Extents& c) {
    const ProductSpec spec{
        plain_desc(kFloat32, a), plain_desc(kFloat32, b), {}, plain_desc(kFloat32, c)};
    std::vector<Extents> made;
    for (const PrimitivePart& part : parts_of(work_of_product(spec, {}, make), *make(spec, {}), 2))
      made.push_back(part.primitive.dst().dims());
    return made;
  };
  EXPECT_EQ(rows_of({4, 64, 32}, {4, 32, 96}, {4, 64, 96}), (std::vector<Extents>(2, {2, 64, 96})));
  EXPECT_EQ(rows_of({197, 64}, {64, 128}, {197, 128}),
            (std::vector<Extents>{{100, 128}, {97, 128}}));
}

// Rows that windows begin at, and those that they are spread over.
TEST(RowsRead, HaveThePaddingThatWindowsReachInto) {
  const CutAxis::Windows windows{0, 2, 2, 3, 1};
  const RowsRead first = rows_read(windows, 11, 0, 3), last = rows_read(windows, 11, 3, 6);
  EXPECT_EQ((std::vector{first.begin, first.end, first.pad_begin, first.pad_end}),
            (std::vector<int64_t>{0, 6, 1, 0}));
  EXPECT_EQ((std::vector{last.begin, last.end, last.pad_begin, last.pad_end}),
            (std::vector<int64_t>{5, 11, 0, 1}));
}

}  // namespace
}  // namespace sardonyx::onednn
