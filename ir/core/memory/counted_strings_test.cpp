// Characters of strings count against the memory limit, and long copies look at the deadline.
#include "ir/core/memory/counted_strings.h"

#include <chrono>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

constexpr size_t kLimit = 4 << 20;

Datum strings(const Strings& values, Shape shape) {
  return Tensor::of<std::string>(values, std::move(shape));
}
Datum ints(const Ints& values) {
  return Tensor::vector(values);
}

struct Call {
  const char* op;
  std::vector<Datum> inputs;
  AttrMap attrs = {};
  size_t outputs = 1;
};

// Each makes a thousand copies or more of a string of 10 KB.
std::vector<Call> calls() {
  const std::string text(10'000, 'x');
  const Datum one = strings({text}, {1}), two = strings({"a", text}, {2});
  const Datum thousand = ints(Ints(1000, 0));
  const Datum many = strings(Strings(30, text), {30});
  const Datum mask = Tensor::of<bool>(std::vector<bool>(1000, true), {1000});
  const Datum square = Tensor::of<int64_t>(Ints(1000, 0), {1000, 1});
  const Datum rows = strings(Strings(1000, "a"), {1000});
  const AttrMap encoder{
      {"keys_int64s", Ints{1}}, {"values_strings", Strings{"b"}}, {"default_string", text}};
  const AttrMap classifier{{"coefficients", std::vector<float>{1, 1}},
                           {"classlabels_strings", Strings{text, text}}};
  std::string words;
  for (int i = 0; i < 500; ++i)
    words += "w ";
  return {
      {"Expand", {one, ints({1000})}},
      {"Tile", {one, ints({1000})}},
      {"Gather", {one, thousand}},
      {"GatherElements", {strings({text}, {1}), thousand}},
      {"GatherND", {one, square}},
      {"Where", {mask, one, one}},
      {"Concat", std::vector<Datum>(50, many), {{"axis", int64_t{0}}}},
      {"OneHot", {thousand, ints({2}), two}},
      {"ScatterElements",
       {rows, ints([] {
          Ints all(1000);
          for (size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<int64_t>(i);
          return all;
        }()),
        strings(Strings(1000, std::string(5000, 'y')), {1000})}},
      {"Pad", {one, ints({500, 500}), one}},
      {"Resize", {one, Datum(), Datum(), ints({1000})}, {{"mode", std::string("nearest")}}},
      {"StringConcat", {strings(Strings(100, text), {100}), strings(Strings(10, text), {10, 1})}},
      {"ai.onnx.ml::LabelEncoder", {thousand}, encoder},
      {"ai.onnx.ml::ArrayFeatureExtractor", {one, thousand}},
      {"ai.onnx.ml::LinearClassifier", {Tensor::zeros(DType::kFloat, {1000, 1})}, classifier, 2},
      {"com.microsoft::Tokenizer",
       {strings({words, "w"}, {2})},
       {{"mark", int64_t{0}},
        {"pad_value", text},
        {"separators", Strings{" "}},
        {"mincharnum", int64_t{1}}}},
      {"StringSplit", {strings(Strings(1, std::string(3'000'000, 'x')), {1})}, {}, 2},
      {"StringNormalizer",
       {strings({std::string(3'000'000, 'x')}, {1})},
       {{"case_change_action", std::string("UPPER")}}},
  };
}

TEST(StringElements, CharactersCountAgainstTheLimit) {
  for (const Call& call : calls()) {
    SCOPED_TRACE(call.op);
    const auto budget = std::make_shared<MemoryBudget>(kLimit);
    {
      const RunControl control{.budget = budget, .deadline = {}, .cancel = {}};
      const ControlScope scope(control);
      const std::string error = error_of(call.op, call.inputs, call.attrs, call.outputs);
      const bool fits = std::string_view(call.op).starts_with("StringS") ||
                        std::string_view(call.op).starts_with("StringN");
      if (fits)
        EXPECT_EQ(error, "");
      else
        EXPECT_NE(error.find("memory limit"), std::string::npos) << error;
    }
    if (std::string_view(call.op).starts_with("StringN")) {
      EXPECT_GE(budget->peak(), 3'000'000u);
    }
    // What the last few nodes of an encoder were made of is kept.
    const bool is_kept = std::string_view(call.op).ends_with("LabelEncoder");
    EXPECT_LE(budget->used(), is_kept ? 20'000u : 0u);
  }
}

TEST(StringElements, AreGivenBackWithTheirBuffer) {
  const auto budget = std::make_shared<MemoryBudget>(kLimit);
  const RunControl control{.budget = budget, .deadline = {}, .cancel = {}};
  const ControlScope scope(control);
  {
    Tensor a = Tensor::allocate(DType::kString, {3});
    const size_t objects = budget->used();
    assign_string(a.mutable_values<std::string>()[0], std::string(1000, 'x'));
    EXPECT_EQ(budget->used(), objects + 1001);
    assign_string(a.mutable_values<std::string>()[0], std::string("short"));  // keeps its capacity
    EXPECT_EQ(budget->used(), objects + 1001);
    Tensor b = a.clone();
    move_string(b.mutable_values<std::string>()[1], std::move(a.mutable_values<std::string>()[0]));
    EXPECT_EQ(budget->used(), 2 * objects + 1001);
    a = Tensor();
    EXPECT_EQ(budget->used(), objects + 1001);
    EXPECT_THROW(assign_string(b.mutable_values<std::string>()[2], std::string(kLimit, 'x')),
                 Error);
    EXPECT_EQ(b.values<std::string>()[2], "");
  }
  EXPECT_EQ(budget->used(), 0u);
}

TEST(StringElements, LongCopiesLookAtTheDeadline) {
  const auto late = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  for (const Call& call : calls()) {
    const RunControl control{.budget = {}, .deadline = late, .cancel = {}};
    const ControlScope scope(control);
    EXPECT_NE(error_of(call.op, call.inputs, call.attrs, call.outputs).find("deadline"),
              std::string::npos)
        << call.op;
  }
}

}  // namespace
}  // namespace sardonyx
