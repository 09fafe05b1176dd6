// What requests may look like: broken ones are refused, and nothing else happens.
#include "tools/onnx-serve/api/infer_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "executor/serving/datatype.h"
#include "tools/onnx-serve/access.h"
#include "tools/onnx-serve/api/api.h"
#include "tools/onnx-serve/api/json_data.h"
#include "tools/onnx-serve/http/compression.h"

namespace sardonyx::serve {
namespace {

using testing::ElementsAre;

std::string padded(std::string text) {
  text.reserve(text.size() + 64);
  return text;
}

const char* const kSeed =
    R"({"id":"a","parameters":{"priority":1,"timeout":5,"x":true,"y":"z","f":1.5},"inputs":[
    {"name":"x","datatype":"FP32","shape":[2,2],"data":[[1,2.5e3],[-3,0.1]],"parameters":{"binary_data_size":3}},
    {"name":"s","datatype":"BYTES","shape":[3],"data":["a\n","\u00e9\ud83d\ude00",""]},
    {"name":"i","datatype":"INT64","shape":[2],"data":[1,-9223372036854775808]}],
    "outputs":[{"name":"y","parameters":{"classification":2}}]})";

TEST(ParseInfer, ReadsAllFields) {
  const std::string text = padded(kSeed);
  const ParsedInfer parsed = parse_infer(text);
  EXPECT_EQ(*parsed.id, "a");
  EXPECT_EQ(*count_parameter(parsed.parameters, "timeout"), 5u);
  EXPECT_EQ(*bool_parameter(parsed.parameters, "x"), true);
  EXPECT_EQ(std::get<double>(parsed.parameters.at("f")), 1.5);
  ASSERT_EQ(parsed.inputs.size(), 3u);
  EXPECT_THAT(parsed.inputs[0].shape, ElementsAre(2, 2));
  const Tensor strings = tensor_from_json(DType::kString, {3}, parsed.inputs[1].data, "s", false);
  EXPECT_THAT(strings.values<std::string>(), ElementsAre("a\n", "\u00e9\U0001F600", ""));
  EXPECT_EQ(*count_parameter(parsed.outputs[0].parameters, "classification"), 2u);
}

// Texts near a good one: each is read or refused with a ServingError.
TEST(ParseInfer, BrokenTextsAreRefused) {
  std::mt19937 random(7);
  const std::string seed = kSeed;
  constexpr std::string_view kPieces = "[]{},:\"\\-+.eE0123456789 \n\x01\x80\xfftruefalsnN";
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed;
    for (unsigned change = 0; change < 1 + random() % 4; ++change) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = kPieces[random() % kPieces.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 9);
          break;
        case 2:
          text.insert(at, 1, kPieces[random() % kPieces.size()]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
      if (text.empty()) text = " ";
    }
    text = padded(std::move(text));
    try {
      const ParsedInfer parsed = parse_infer(text);
      for (const ParsedInfer::Input& input : parsed.inputs) {
        const DType dtype = serving::required_dtype(input.datatype, input.name);
        if (input.has_data) tensor_from_json(dtype, input.shape, input.data, input.name, round % 2);
      }
    } catch (const ServingError& error) {
      ASSERT_NE(error.status(), Status::kInternal) << text;
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000);
}

TEST(TensorFromJson, NumbersOutOfRangeAreRefused) {
  const auto read = [](DType dtype, const char* text) {
    return tensor_from_json(dtype, {1}, text, "x", true);
  };
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat, DType::kDouble}) {
    for (const char* text : {"[1e999]", "[-1e999]"})
      EXPECT_THROW(read(dtype, text), ServingError) << text;
    for (const char* text : {"[Infinity]", "[-Infinity]", "[NaN]", "[1e-999]"})
      EXPECT_NO_THROW(read(dtype, text)) << text;
  }
  EXPECT_NO_THROW(read(DType::kFloat16, "[65519.9]"));  // is rounded to 65504
  EXPECT_THROW(read(DType::kFloat16, "[65520]"), ServingError);
  EXPECT_THROW(read(DType::kFloat16, "[-1e5]"), ServingError);
  EXPECT_THROW(read(DType::kBFloat16, "[3.4e38]"), ServingError);
}

TEST(TensorFromBinary, LengthsAreHeldToTheBody) {
  const auto strings = [](const std::string& bytes, const Shape& shape) {
    return serving::tensor_from_binary(DType::kString, shape, std::as_bytes(std::span(bytes)), "x");
  };
  EXPECT_THAT(strings(std::string("\1\0\0\0a\0\0\0\0", 9), {2}).values<std::string>(),
              ElementsAre("a", ""));
  for (const std::string& bytes :
       {std::string("\xff\xff\xff\xff", 4), std::string("\1\0\0", 3), std::string("\0\0\0\0x", 5)})
    EXPECT_THROW(strings(bytes, {1}), ServingError);
  EXPECT_THROW(strings("", {int64_t{1} << 40}), ServingError);
}

struct Plain {
  Decompressor::State state;
  std::string text;
};

Plain decompressed(const std::string& body, uint64_t limit, uint64_t budget = UINT64_MAX / 2) {
  BodyBudget bodies(budget);
  TakenBytes taken(bodies);
  Decompressor decompressor(body, limit, kJsonPadding, taken);
  auto state = Decompressor::State::kGoesOn;
  while (state == Decompressor::State::kGoesOn)
    state = decompressor.step();
  return {state, decompressor.take_result()};
}

std::string compressed(std::string text, const char* accepted) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", accepted);
  HttpAnswer answer;
  answer.text = std::move(text);
  compress_answer(request, answer);
  return answer.text;
}

TEST(Compression, ABombIsCutOff) {
  using State = Decompressor::State;
  const std::string bomb = compressed(std::string(10 << 20, 'x'), "gzip");
  EXPECT_LT(bomb.size(), 100'000u);
  const Plain whole = decompressed(bomb, 10 << 20);
  EXPECT_EQ(whole.state, State::kDone);
  EXPECT_EQ(whole.text, std::string(10 << 20, 'x'));
  const Plain cut = decompressed(bomb, 1000);
  EXPECT_EQ(cut.state, State::kTooLarge);
  EXPECT_LT(cut.text.size(), 100'000u);
  EXPECT_EQ(decompressed(bomb, 10 << 20, 5 << 20).state, State::kNoMemory);
  EXPECT_EQ(decompressed(bomb.substr(0, 100), 10 << 20).state, State::kWrong);
}

TEST(Compression, ABombIsMadeInSteps) {
  const std::string bomb = compressed(std::string(10 << 20, 'x'), "gzip");
  BodyBudget bodies(1 << 30);
  TakenBytes taken(bodies);
  Decompressor decompressor(bomb, 1 << 30, kJsonPadding, taken);
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(decompressor.step(), Decompressor::State::kGoesOn);
    EXPECT_LT(taken.bytes(), uint64_t{3} * i << 20);
  }
}

TEST(Compression, MembersFollowEachOtherAndNothingElse) {
  const auto member = [](char letter) {
    return compressed(std::string(2000, letter), "GZIP;q=0.5, br");
  };
  EXPECT_LT(member('a').size(), 100u);
  EXPECT_EQ(decompressed(member('a') + member('b'), 1 << 20).text,
            std::string(2000, 'a') + std::string(2000, 'b'));
  EXPECT_EQ(decompressed(member('a') + "rest", 1 << 20).state, Decompressor::State::kWrong);
}

TEST(Compression, DeflateWithAndWithoutItsHeader) {
  const std::string plain(2000, 'x'), zlib = compressed(plain, "gzip;q=0, deflate");
  EXPECT_EQ(decompressed(zlib, 1 << 20).text, plain);
  // A header of two bytes, a check of four at the end.
  const Plain bare = decompressed(zlib.substr(2, zlib.size() - 6), 1 << 20);
  EXPECT_EQ(bare.state, Decompressor::State::kDone);
  EXPECT_EQ(bare.text, plain);
}

}  // namespace
}  // namespace sardonyx::serve
