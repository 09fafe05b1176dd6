#include <gtest/gtest.h>

#include "ir/ops/string/utf8.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

using Strings = std::vector<std::string>;

Pieces space_split(std::string_view text, int64_t max_splits) {
  Pieces pieces;
  split_at_spaces(text, max_splits, pieces);
  return pieces;
}

Pieces separator_split(std::string_view text, std::string_view separator, int64_t max_splits) {
  Pieces pieces;
  split_at_separator(text, separator, max_splits, pieces);
  return pieces;
}

std::string cased(std::string_view text, Casing casing, bool turkic) {
  std::string result = "left over";
  set_case(result, text, casing, turkic);
  return result;
}

TEST(SplitTest, Spaces) {
  EXPECT_EQ(space_split("  a b\t\xe2\x80\x83 c ", -1), (Pieces{"a", "b", "c"}));
  EXPECT_EQ(space_split("  a b  c ", 1), (Pieces{"a", "b  c "}));
  EXPECT_EQ(space_split("  a ", 0), (Pieces{"a "}));
  EXPECT_EQ(space_split(" \n", -1), Pieces{});
  EXPECT_THROW(space_split("a \xff", -1), Error);
}

TEST(SplitTest, Separators) {
  EXPECT_EQ(separator_split("a,b,,c", ",", -1), (Pieces{"a", "b", "", "c"}));
  EXPECT_EQ(separator_split("a,b,,c", ",", 1), (Pieces{"a", "b,,c"}));
  EXPECT_EQ(separator_split("", ",", -1), (Pieces{""}));
  EXPECT_EQ(separator_split("a--b", "--", 5), (Pieces{"a", "b"}));
}

TEST(CaseTest, BeyondAsciiAndTurkic) {
  EXPECT_EQ(cased("ÄÉΣx1", Casing::kLower, false), "äéσx1");
  EXPECT_EQ(cased("äβ", Casing::kUpper, false), "ÄΒ");
  EXPECT_EQ(cased("Ii", Casing::kLower, true), "ıi");
  EXPECT_EQ(cased("Ii", Casing::kUpper, true), "Iİ");
}

Strings normalized(const Strings& words, const AttrMap& attrs, Shape shape) {
  const OpDef& op = op_named("StringNormalizer");
  const std::vector<Datum> inputs{Tensor::of(words, std::move(shape))};
  const auto out = evaluate(op, Attrs::parse(*op.attrs, attrs), inputs, 1);
  const auto values = out[0].tensor().values<std::string>();
  return {values.begin(), values.end()};
}

TEST(StringNormalizerTest, StopWords) {
  const AttrMap stop{{"stopwords", Strings{"Monday"}}};
  AttrMap exact = stop;
  exact["is_case_sensitive"] = int64_t{1};
  exact["case_change_action"] = std::string("UPPER");
  EXPECT_EQ(normalized({"monday", "x"}, stop, {2}), (Strings{"x"}));
  EXPECT_EQ(normalized({"monday", "Monday"}, exact, {2}), (Strings{"MONDAY"}));
  EXPECT_EQ(normalized({"monday", "MONDAY"}, stop, {1, 2}), (Strings{""}));
}

// Texts outside the range of a pattern's matches are told without the expression.
TEST(RegexFullMatchTest, TextsAroundTheRange) {
  const std::vector<Datum> texts{Tensor::vector(Strings{
      "", "a", "ab", "ab\xff", "abz", "abzz", "ac", "aB", "b", "\xc3\xa9", "xabz", "ab\n"})};
  const auto matched = [&](const char* pattern) {
    const OpDef& op = op_named("RegexFullMatch");
    const Attrs attrs = Attrs::parse(*op.attrs, {{"pattern", std::string(pattern)}});
    return evaluate(op, attrs, texts, 1)[0].tensor().to_int64s();
  };
  using Flags = std::vector<int64_t>;
  EXPECT_EQ(matched("ab"), (Flags{0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matched("ab.*"), (Flags{0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matched("ab?z*"), (Flags{0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matched("(?i)AB"), (Flags{0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(matched("b|\xc3\xa9|a[c-z]"), (Flags{0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(matched("(?s)ab."), (Flags{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(matched(".*z"), (Flags{0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0}));
}

Datum decoded(const std::string& bytes, const char* format) {
  const OpDef& op = op_named("ImageDecoder");
  const std::vector<Datum> inputs{Tensor::vector(std::vector<uint8_t>(bytes.begin(), bytes.end()))};
  return evaluate(op, Attrs::parse(*op.attrs, {{"pixel_format", std::string(format)}}), inputs,
                  1)[0];
}

TEST(ImageDecoderTest, SmallImagesAndDamagedOnes) {
  EXPECT_EQ(decoded("P3 1 1 15 15 0 1", "RGB").tensor().to_int64s(),
            (std::vector<int64_t>{255, 0, 17}));
  EXPECT_EQ(decoded("P6 1 1 255\n\x01\x02\x03", "BGR").tensor().to_int64s(),
            (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(decoded("P1\n# bits\n2 1\n10", "Grayscale").tensor().to_int64s(),
            (std::vector<int64_t>{0, 255}));
  // 2 x 1 pixels, run-length encoded with a palette of two colours.
  std::string bmp("BM\0\0\0\0\0\0\0\0\x3e\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x08\0", 30);
  bmp += std::string("\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 24);
  bmp += std::string("\x0a\x0b\x0c\0\x14\x15\x16\0\x02\x01\0\x01", 12);
  EXPECT_EQ(decoded(bmp, "RGB").tensor().to_int64s(),
            (std::vector<int64_t>{22, 21, 20, 22, 21, 20}));
  for (const char* damaged : {"", "BM", "P6 9 9 255\n\x01", "P6 999999 999999 255 "}) {
    EXPECT_EQ(decoded(damaged, "Grayscale").tensor().shape(), (Shape{0, 0, 1})) << damaged;
  }
}

}  // namespace
}  // namespace sardonyx::ops
