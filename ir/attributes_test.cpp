// Attributes of a struct: read by name and kind, written back, compared; fields of base structs
// too.
#include "ir/attributes.h"

#include <gtest/gtest.h>

#include <limits>

namespace sardonyx {
namespace {

struct BaseAttrs {
  int64_t axis = -1;
  std::vector<int64_t> pads;
};
struct ManyAttrs : BaseAttrs {
  bool keeps = true;
  DType to = DType::kFloat;
  float alpha = 0.5f;
  std::string mode = "linear";
  std::optional<int64_t> limit;
  std::optional<std::vector<float>> scales;
  std::vector<std::string> names{"a"};
  Tensor value;
  static auto fields() {
    return std::tuple{required("axis", &ManyAttrs::axis), field("pads", &ManyAttrs::pads),
                      field("keeps", &ManyAttrs::keeps),  field("to", &ManyAttrs::to),
                      field("alpha", &ManyAttrs::alpha),  field("mode", &ManyAttrs::mode),
                      field("limit", &ManyAttrs::limit),  field("scales", &ManyAttrs::scales),
                      field("names", &ManyAttrs::names),  field("value", &ManyAttrs::value)};
  }
};
struct OtherAttrs {
  int64_t axis = -1;
  static auto fields() { return std::tuple{required("axis", &OtherAttrs::axis)}; }
};

AttrMap all_of_them() {
  return {{"axis", int64_t{2}},
          {"pads", std::vector<int64_t>{1, 2}},
          {"keeps", int64_t{0}},
          {"to", static_cast<int64_t>(DType::kInt8)},
          {"alpha", 0.25f},
          {"mode", std::string("cubic")},
          {"limit", int64_t{7}},
          {"scales", std::vector<float>{1.5f, 2}},
          {"names", std::vector<std::string>{"x", "y"}},
          {"value", Tensor::of<float>({3}, {1})}};
}

TEST(Attributes, FieldsOfEveryTypeAreReadAndWritten) {
  const Attrs attrs = Attrs::parse(*attr_schema<ManyAttrs>(), all_of_them());
  const auto& read = attrs.as<ManyAttrs>();
  EXPECT_EQ(read.axis, 2);
  EXPECT_EQ(read.pads, (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(read.keeps);
  EXPECT_EQ(read.to, DType::kInt8);
  EXPECT_EQ(read.alpha, 0.25f);
  EXPECT_EQ(read.mode, "cubic");
  EXPECT_EQ(read.limit, 7);
  EXPECT_EQ(read.scales, (std::vector<float>{1.5f, 2}));
  EXPECT_EQ(read.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read.value.to_doubles(), std::vector<double>{3});
  EXPECT_TRUE(attrs.to_map() == all_of_them());
  EXPECT_TRUE(attrs == Attrs(ManyAttrs(read)));
}

TEST(Attributes, WhatIsNotGivenHasItsDefault) {
  const Attrs attrs = Attrs::parse(*attr_schema<ManyAttrs>(), {{"axis", int64_t{-1}}});
  EXPECT_EQ(attrs.as<ManyAttrs>().mode, "linear");
  EXPECT_EQ(std::get<int64_t>(attrs.get("keeps").value()), 1);
  EXPECT_FALSE(attrs.get("limit"));
  EXPECT_FALSE(attrs.get("nothing"));
  EXPECT_TRUE(attrs.to_map() == (AttrMap{{"axis", int64_t{-1}}}));  // required: stays
  EXPECT_FALSE(attrs == Attrs::parse(*attr_schema<ManyAttrs>(), all_of_them()));
  EXPECT_FALSE(attrs == Attrs());
}

TEST(Attributes, NumbersAreComparedBitByBit) {
  ManyAttrs zero, negative, nan;
  zero.alpha = 0;
  negative.alpha = -0.0f;
  nan.alpha = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Attrs(zero) == Attrs(zero));
  EXPECT_FALSE(Attrs(zero) == Attrs(negative));
  EXPECT_TRUE(Attrs(nan) == Attrs(ManyAttrs(nan)));
  zero.scales = {1, 0};
  ManyAttrs other = zero;
  EXPECT_TRUE(Attrs(zero) == Attrs(other));
  other.scales = {1, -0.0f};
  EXPECT_FALSE(Attrs(zero) == Attrs(other));
}

TEST(Attributes, ProblemsNameTheAttribute) {
  std::vector<std::string> problems;
  const AttrMap given{{"alpha", int64_t{1}}, {"beta", 1.0f}};
  const Attrs attrs = Attrs::parse(*attr_schema<ManyAttrs>(), given, &problems);
  EXPECT_EQ(problems, (std::vector<std::string>{"attribute alpha: expected FLOAT, got INT",
                                                "attribute beta: the op has no such attribute",
                                                "attribute axis: is required and was not given"}));
  EXPECT_EQ(attrs.as<ManyAttrs>().alpha, 0.5f);
  EXPECT_THROW(Attrs::parse(*attr_schema<ManyAttrs>(), given), Error);
}

TEST(Attributes, AStructIsNotTakenForAnother) {
  const Attrs attrs(OtherAttrs{3});
  EXPECT_EQ(attrs.as<OtherAttrs>().axis, 3);
  EXPECT_THROW(attrs.as<ManyAttrs>(), Error);
}

}  // namespace
}  // namespace sardonyx
