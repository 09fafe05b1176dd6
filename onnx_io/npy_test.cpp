#include "onnx_io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <complex>
#include <filesystem>
#include <fstream>

#include "onnx_io/npz.h"
#include "onnx_io/utf.h"

namespace sardonyx {
namespace {

using namespace std::string_literals;

Tensor parsed(const std::string& bytes) {
  return parse_npy(std::as_bytes(std::span(bytes)), "test");
}

std::string npy(const std::string& dict, const std::string& data) {
  const std::string header = dict + "\n";
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

std::string refusal(const std::string& bytes) {
  try {
    parsed(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name);
}

TEST(NpyTest, RoundTrip) {
  const Tensor tensors[] = {
      Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}),
      Tensor::scalar<double>(0.5),
      Tensor::vector<int8_t>({-1, 2}),
      Tensor::vector<uint16_t>({65535}),
      Tensor::vector<int64_t>({INT64_MIN, INT64_MAX}),
      Tensor::of<uint8_t>({}, {0, 4}),
      Tensor::vector<Float16>({Float16(1.5f)}),
      Tensor::vector<std::complex<float>>({{1, -2}}),
      Tensor::vector<std::complex<double>>({{1, -2}}),
      Tensor::vector<std::string>({"", "na\xc3\xafve", "\xf0\x9f\x99\x82", "x"}),
  };
  for (const Tensor& tensor : tensors)
    EXPECT_TRUE(parsed(npy_bytes(tensor)) == tensor) << tensor.dtype();
  Tensor flags = Tensor::zeros(DType::kBool, {2});
  flags.mutable_values<bool>()[1] = true;
  EXPECT_TRUE(parsed(npy_bytes(flags)) == flags);
}

TEST(NpyTest, DataIsAligned) {
  const std::string bytes = npy_bytes(Tensor::vector<float>({1}));
  EXPECT_EQ((bytes.size() - sizeof(float)) % 64, 0u);
}

TEST(NpyTest, TypesThatNumpyLacksAreWidened) {
  EXPECT_TRUE(parsed(npy_bytes(Tensor::vector<BFloat16>({BFloat16(2.0f)}))) ==
              Tensor::vector<float>({2}));
  Tensor packed = Tensor::zeros(DType::kInt4, {2});
  set_packed(DType::kInt4, packed.raw(), 1, 0xf);
  EXPECT_TRUE(parsed(npy_bytes(packed)) == Tensor::vector<int8_t>({0, -1}));
}

TEST(NpyTest, ForeignForms) {
  const std::string big =
      npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", std::string("\0\1\1\0", 4));
  EXPECT_TRUE(parsed(big) == Tensor::vector<int16_t>({1, 256}));
  const std::string columns = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
                                  std::string("\1\4\2\5\3\6", 6));
  EXPECT_TRUE(parsed(columns) == Tensor::of<uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3}));
  const std::string bytes =
      npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", std::string("ab\0cde", 6));
  EXPECT_TRUE(parsed(bytes) == Tensor::vector<std::string>({"ab", "cde"}));
  const std::string old = npy("{\"shape\": (1L,), 'fortran_order': False, 'descr': '<u1'}", "\x7");
  EXPECT_TRUE(parsed(old) == Tensor::vector<uint8_t>({7}));
}

TEST(NpyTest, Refusals) {
  EXPECT_NE(refusal("").find("begin"), std::string::npos);
  EXPECT_NE(refusal("\x93NUMPY\x01").find("begin"), std::string::npos);
  const std::string order = "'fortran_order': False, ";
  EXPECT_NE(refusal(npy("{'descr': '<f4', " + order + "'shape': (2,)}", "1234")).find("needs more"),
            std::string::npos);
  const std::string huge = "(4611686018427387904, 4611686018427387904)";
  EXPECT_THROW(parsed(npy("{'descr': '<f4', " + order + "'shape': " + huge + "}", "")), Error);
  EXPECT_NE(refusal(npy("{'descr': '<U0', " + order + "'shape': (1000000000000,)}", "")), "");
  EXPECT_NE(refusal(npy("{'descr': '|O', " + order + "'shape': ()}", "")), "");
  EXPECT_NE(refusal(npy("{'descr': [('a', '<f4')], " + order + "'shape': ()}", "")), "");
  EXPECT_NE(refusal(npy("{'descr': '<f4', " + order + "'shape': (-1,)}", "")), "");
  EXPECT_NE(refusal(npy("{'descr': '<f4', 'shape': ()}", "1234")).find("lacks"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': '<f4', ", "")), "");
  EXPECT_THROW(npy_bytes(Tensor::vector<std::string>({"\xff"})), Error);
  EXPECT_THROW(npy_bytes(Tensor::vector<std::string>({std::string("a\0", 2)})), Error);
}

TEST(NpyTest, NoPrefixIsReadBeyondItsEnd) {
  const std::string whole = npy_bytes(Tensor::of<float>({1, 2, 3, 4}, {2, 2}));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(refusal(whole.substr(0, length)), "") << length;
}

TEST(NpzTest, RoundTrip) {
  const auto path = temporary("round.npz");
  const Tensor x = Tensor::of<float>({1, 2, 3}, {3}), y = Tensor::vector<std::string>({"a", "b"});
  NpzWriter writer(path);
  writer.add("x", x);
  writer.add("in/side", y);
  writer.close();
  const NpzReader reader(path);
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"x", "in/side"}));
  EXPECT_TRUE(reader.read("x") == x);
  EXPECT_TRUE(reader.read("in/side") == y);
  EXPECT_THROW(reader.read("z"), Error);
  std::filesystem::remove(path);
}

TEST(NpzTest, DamageIsFound) {
  const auto path = temporary("damaged.npz");
  {
    NpzWriter writer(path);
    writer.add("x", Tensor::of<float>({1, 2, 3}, {3}));
    writer.close();
  }
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto read_changed = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    NpzReader(path).read("x");
  };
  std::string flipped = whole;
  flipped[whole.find("NUMPY") + 130] ^= 1;  // within the elements
  EXPECT_THROW(read_changed(flipped), Error);
  for (const char* mark : {"PK\3\4", "PK\1\2"}) {  // of the member and of the directory
    std::string unmarked = whole;
    unmarked[whole.find(mark)] ^= 1;
    EXPECT_THROW(read_changed(unmarked), Error);
  }
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(read_changed(whole.substr(0, length)), Error) << length;
  EXPECT_NO_THROW(read_changed(whole));
  std::filesystem::remove(path);
}

TEST(UtfTest, WellFormedOnly) {
  for (const std::u32string& text :
       {U""s, U"a\u00e9\u20ac\U0001f642"s, U"\u07ff\u0800\uffff\U0010ffff"s})
    EXPECT_EQ(from_utf8(to_utf8(text)), text);
  for (const char* bytes : {"\x80", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                            "\xf8\x88\x80\x80\x80", "\xe0\x80\x80"})
    EXPECT_FALSE(from_utf8(bytes)) << bytes;
}

}  // namespace
}  // namespace sardonyx
