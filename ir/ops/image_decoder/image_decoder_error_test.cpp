// Images that are damaged.
#include "ir/ops/image_decoder/codecs.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

Datum file_of(const string& bytes) {
  return Tensor::vector(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

string number(uint32_t value, int bytes) {
  string out;
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(uint64_t{value} >> std::min(8 * i, 32) & 0xff);
  return out;
}

// A bitmap of 2 x 1 pixels with a palette of two colours where it has at most 8 bits.
string bitmap(uint32_t header, uint32_t bits, uint32_t compression, const string& pixels) {
  const string palette = bits <= 8 ? string(8, '\x7f') : "";
  const auto at = static_cast<uint32_t>(14 + header + palette.size());
  string out = "BM" + number(at + static_cast<uint32_t>(pixels.size()), 4) + number(0, 4) +
               number(at, 4) + number(header, 4) + number(2, 4) + number(1, 4) + number(1, 2) +
               number(bits, 2) + number(compression, 4) + number(0, 12) + number(2, 4);
  out.resize(14 + std::max<size_t>(header, 40) - 40 + 40);
  return out + palette + pixels;
}

TEST(ImageRefusals, Attributes) {
  expect_refused(std::vector<Refused>{
      {"ImageDecoder",
       {file_of("P2 1 1 9 1 ")},
       {{"pixel_format", string("odd")}},
       "pixel_format: expected RGB, BGR or Grayscale, got \"odd\""},
      {"ImageDecoder", {zeros({1, 4}, DType::kUInt8)}, {}, "expected rank 1, got 2"},
  });
}

// The operator makes an empty image of these; the decoders say why.
TEST(ImageRefusals, Files) {
  struct Damaged {
    Tensor (*decode)(ops::FileBytes);
    string bytes;
    const char* mention;
  };
  const Damaged files[] = {
      {ops::decode_pnm, "P2 99999999999 1 9 0", "a number is too large"},
      {ops::decode_pnm, "P2 x 1 9 0", "a number is missing"},
      {ops::decode_pnm, "P2 2 1 0 0 0 ", "the largest value is not in 1 .. 65535"},
      {ops::decode_pnm, "P2 2 1 65536 0 0 ", "the largest value is not in 1 .. 65535"},
      {ops::decode_pnm, "P1 2 1 0 2 ", "a pixel is neither 0 nor 1"},
      {ops::decode_pnm, "P5 900 900 9 ", "it ends too early"},
      {ops::decode_pnm, "P6 2 1 9 12345", "it ends too early"},
      {ops::decode_bmp, bitmap(20, 8, 0, string(4, '\0')), "its header is of an unknown kind"},
      {ops::decode_bmp, bitmap(40, 7, 0, string(4, '\0')), "depth and compression do not go"},
      {ops::decode_bmp, bitmap(40, 4, 1, string(4, '\0')), "depth and compression do not go"},
      {ops::decode_bmp, bitmap(40, 8, 9, string(4, '\0')), "depth and compression do not go"},
      {ops::decode_bmp, bitmap(40, 8, 0, string("\0\2\0\0", 4)), "a pixel is outside the palette"},
  };
  for (const Damaged& file : files) {
    const std::vector<uint8_t> bytes(file.bytes.begin(), file.bytes.end());
    expect_refusal(kBadArgument, file.mention, [&] { file.decode(bytes); });
  }
}

TEST(ImageRefusals, Pixels) {
  const string bytes = "BM" + number(0, 12) + number(40, 4);
  expect_refusal(kBadArgument, "BMP file: it ends too early",
                 [&] { ops::decode_bmp(std::vector<uint8_t>(bytes.begin(), bytes.end())); });
  expect_refusal(ErrorCode::kResourceExhausted, "an image of 65536 x 65537 pixels is larger than",
                 [] { ops::new_image(65536, 65537); });
  EXPECT_THROW(ops::new_image(INT64_MAX, INT64_MAX), Error);
  EXPECT_THROW(ops::new_image(0, 5), Error);
}

// This program links no decoder of a library.
TEST(ImageRefusals, FormatsThatAreNotLinked) {
  const std::pair<string, const char*> files[] = {
      {"\x89PNG\r\n\x1a\n", "PNG"}, {"\xff\xd8\xff", "JPEG"},          {string("II*\0", 4), "TIFF"},
      {"RIFF1234WEBP", "WebP"},     {"\xff\x4f\xff\x51", "JPEG 2000"},
  };
  for (const auto& [bytes, format] : files) {
    const string mention =
        string("linked without the decoder of ") + format + " images; link sardonyx::codecs";
    expect_refused(std::vector<Refused>{
        {"ImageDecoder", {file_of(bytes)}, {}, mention.c_str(), kNotSupported}});
  }
}

}  // namespace
}  // namespace sardonyx
