// What is read from texts and written as such: dims, types, attributes.
#include <gtest/gtest.h>

#include "ir/attributes.h"
#include "ir/core/symbolic_dim.h"
#include "ir/datum.h"
#include "ir/graph.h"
#include "ir/type.h"
#include "ir/value_compare.h"

namespace sardonyx {
namespace {

TEST(DimText, IsReadAsItIsWritten) {
  const std::pair<const char*, const char*> dims[] = {
      {"7", "7"},
      {" batch ", "batch"},
      {"-n + 3", "3 - n"},
      {"2*height + 1", "2*height + 1"},
      {"n*m - n*m", "0"},
      {"(a + b)*(a - b)", "a*a - b*b"},
      {"floor((w - 1)/2)", "floor((w - 1)/2)"},
      {"(w - 1)/2 + 1", "floor((w + 1)/2)"},
      {"min(n, 3)", "min(3, n)"},
      {"max(n, max(m, 2))", "max(max(2, m), n)"},
      {"4*n/2", "2*n"},
      {"7/2", "3"},
      {"a.b_c?", "a.b_c?"},
  };
  for (const auto& [text, written] : dims) {
    const std::optional<Dim> dim = parse_dim(text);
    ASSERT_TRUE(dim) << text;
    EXPECT_EQ(parse_dim(dim->text()), dim) << text << " is written as " << dim->text();
    const std::optional<Dim> same = parse_dim(written);
    ASSERT_TRUE(same) << written;
    EXPECT_EQ(*dim, *same) << text << " is " << dim->text();
  }
}

TEST(DimText, WhatIsNoneIsNotRead) {
  std::string deep;
  for (int i = 0; i < 40; ++i)
    deep += "(";
  for (const std::string text : {"",         "+",        "2 +",    "2 *",
                                 "n /",      "n/0",      "(n",     "n)",
                                 "floor(n",  "floor()",  "min(n)", "min(n, ",
                                 "min(n, 2", "max(, 2)", "2x",     "1234567890123456789",
                                 "a b",      "n - ",     "-",      "n $"})
    EXPECT_FALSE(parse_dim(text)) << text;
  EXPECT_FALSE(parse_dim(deep + "n"));
}

TEST(TypeText, NamesEveryKind) {
  const Type tensor = Type::tensor(DType::kFloat, Dims{2, Dim::symbol("n")});
  const Type any = Type::tensor(DType::kInt64);
  Type sparse = tensor, unsized = any, opaque;
  sparse.kind = unsized.kind = Type::Kind::kSparseTensor;
  opaque.kind = Type::Kind::kOpaque;
  const std::pair<Type, const char*> types[] = {
      {Type::none(), "none"},
      {tensor, "float[2, n]"},
      {any, "int64[*]"},
      {sparse, "sparse(float[2, n])"},
      {unsized, "sparse(int64[*])"},
      {Type::sequence(tensor), "seq(float[2, n])"},
      {Type::optional(any), "optional(int64[*])"},
      {Type::map(DType::kString, any), "map(string, int64[*])"},
      {opaque, "opaque"},
  };
  for (const auto& [type, text] : types) {
    EXPECT_EQ(type.text(), text);
    for (const auto& [other, name] : types)
      EXPECT_EQ(type == other, std::string(text) == name) << text << " and " << name;
  }
  EXPECT_FALSE(Type::sequence(tensor) == Type::sequence(any));
  EXPECT_TRUE(same_kind(Type::sequence(tensor), Type::sequence(Type::tensor(DType::kFloat))));
  EXPECT_FALSE(same_kind(Type::sequence(tensor), Type::sequence(any)));
  EXPECT_FALSE(same_kind(tensor, any));
  EXPECT_FALSE(same_kind(tensor, sparse));
  Type bare = Type::sequence(tensor);
  bare.element = nullptr;
  EXPECT_FALSE(same_kind(bare, Type::sequence(tensor)));
  EXPECT_TRUE(same_kind(bare, bare));
  EXPECT_FALSE(bare == Type::sequence(tensor));
  EXPECT_TRUE(bare == bare);
}

TEST(AttributeText, NamesEveryKind) {
  const Tensor tensor = Tensor::zeros(DType::kFloat, {2, 3});
  const SparseTensor sparse{Tensor::vector<float>({1}), Tensor::vector<int64_t>({0}), {4}};
  const Type type = Type::tensor(DType::kInt64);
  const std::pair<AttrValue, const char*> values[] = {
      {int64_t{3}, "3"},
      {0.5f, "0.5"},
      {std::string("a"), "\"a\""},
      {tensor, "float[2, 3]"},
      {Tensor(), "none"},
      {sparse, "sparse float[1]"},
      {GraphPtr(), "{graph}"},
      {type, "int64[*]"},
      {std::vector<int64_t>{1, 2}, "[1, 2]"},
      {std::vector<float>{0.5f}, "[0.5]"},
      {std::vector<std::string>{}, "[]"},
      {std::vector<Tensor>{tensor, tensor}, "[float[2, 3], float[2, 3]]"},
      {std::vector<SparseTensor>{sparse}, "[sparse float[1]]"},
      {std::vector<Type>{type, type}, "[int64[*], int64[*]]"},
  };
  for (const auto& [value, text] : values)
    EXPECT_EQ(to_text(value), text);
}

TEST(SparseTensorEquality, LooksAtAllParts) {
  const Tensor one = Tensor::vector<float>({1}), two = Tensor::vector<float>({2});
  const Tensor at = Tensor::vector<int64_t>({0}), behind = Tensor::vector<int64_t>({1});
  const SparseTensor x{one, at, {4}};
  EXPECT_TRUE(x == (SparseTensor{one, at, {4}}));
  EXPECT_FALSE(x == (SparseTensor{two, at, {4}}));
  EXPECT_FALSE(x == (SparseTensor{one, behind, {4}}));
  EXPECT_FALSE(x == (SparseTensor{one, at, {5}}));
}

// Values of one kind each; a value has its own kind alone.
TEST(DatumKinds, AreToldApart) {
  const Tensor numbers = Tensor::vector<float>({1, 2});
  const Tensor words = Tensor::vector<std::string>({"a", "b"});
  const Type element = Type::tensor(DType::kFloat);
  const Datum values[] = {
      numbers,
      words,
      SparseTensor{numbers, Tensor::vector<int64_t>({0, 1}), {4}},
      Sequence{element, {numbers}},
      OptionalDatum{element, {numbers}},
      Map{words, numbers},
      Map{Tensor::vector<int64_t>({1, 2}), numbers},
  };
  for (const Datum& a : values) {
    for (const Datum& b : values)
      EXPECT_EQ(a.has_kind(b.type()), &a == &b) << a.type() << " and " << b.type();
    EXPECT_FALSE(a.has_kind(Type::none()));
  }
  EXPECT_TRUE(Datum().has_kind(Type::none()));
  const Datum of_words = Map{words, words}, of_sequences = Sequence{Type::sequence(element), {}};
  EXPECT_FALSE(of_words.has_kind(values[5].type()));
  EXPECT_FALSE(of_sequences.has_kind(values[3].type()));
}

TEST(PositionText, NamesElements) {
  const int64_t shape[] = {2, 3, 4};
  EXPECT_EQ(position_text(shape, 0), "element [0, 0, 0]");
  EXPECT_EQ(position_text(shape, 23), "element [1, 2, 3]");
  EXPECT_EQ(position_text({}, 0), "the element");
}

}  // namespace
}  // namespace sardonyx
