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

const auto kUnbounded = [](size_t) { return true; };

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

TEST(Compression, ABombIsCutOff) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", "gzip");
  HttpAnswer answer;
  answer.text.assign(10 << 20, 'x');
  compress_answer(request, answer);
  EXPECT_LT(answer.text.size(), 100'000u);
  const auto whole = decompressed(answer.text, 10 << 20, 64, kUnbounded);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->size(), size_t{10} << 20);
  const auto cut = decompressed(answer.text, 1000, 64, kUnbounded);
  ASSERT_TRUE(cut);
  EXPECT_LT(cut->size(), 100'000u);
  EXPECT_FALSE(decompressed(answer.text.substr(0, 100), 10 << 20, 64, kUnbounded));
}

TEST(Compression, MembersFollowEachOtherAndNothingElse) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", "GZIP;q=0.5, br");
  const auto member = [&](char letter) {
    HttpAnswer answer;
    answer.text.assign(2000, letter);
    compress_answer(request, answer);
    EXPECT_LT(answer.text.size(), 100u);
    return answer.text;
  };
  EXPECT_EQ(decompressed(member('a') + member('b'), 1 << 20, 64, kUnbounded),
            std::string(2000, 'a') + std::string(2000, 'b'));
  EXPECT_FALSE(decompressed(member('a') + "rest", 1 << 20, 64, kUnbounded));
}

TEST(Compression, DeflateWithAndWithoutItsHeader) {
  HttpRequest request;
  request.fields.set("Accept-Encoding", "gzip;q=0, deflate");
  HttpAnswer answer;
  answer.text.assign(2000, 'x');
  compress_answer(request, answer);
  const std::string plain(2000, 'x');
  EXPECT_EQ(decompressed(answer.text, 1 << 20, 64, kUnbounded), plain);
  // A header of two bytes, a check of four at the end.
  EXPECT_EQ(decompressed(answer.text.substr(2, answer.text.size() - 6), 1 << 20, 64, kUnbounded),
            plain);
}

}  // namespace
}  // namespace sardonyx::serve
