// Images that are damaged, and windows that do not fit what they slide over.
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

TEST(PictureRefusals, Attributes) {
  expect_refused(std::vector<Refused>{
      {"ImageDecoder",
       {file_of("P2 1 1 9 1 ")},
       {{"pixel_format", string("odd")}},
       "pixel_format: expected RGB, BGR or Grayscale, got \"odd\""},
      {"ImageDecoder", {zeros({1, 4}, DType::kUInt8)}, {}, "expected rank 1, got 2"},
  });
}

// The operator makes an empty image of these; the decoders say why.
TEST(PictureRefusals, Files) {
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
      {ops::decode_tiff, string("II\x2a\0\xff\xff\xff\x7f", 8), "its header is damaged"},
      {ops::decode_tiff, string("II\x2a\0\x08\0\0\0\0\0\0\0\0\0", 14), "its header is damaged"},
      {ops::decode_webp, string("RIFF\x10\0\0\0WEBPVP8 \0\0\0\0", 20), "its header is damaged"},
      {ops::decode_png, "\x89PNG\r\n\x1a\nxxxxxxxxxxxxxxxxx", "it ends too early"},
      {ops::decode_jpeg, "\xff\xd8\xff\xe0xxxxxxxxxxxx", "Premature end of JPEG file"},
      {ops::decode_jpeg2000, string("\0\0\0\x0cjP  \r\n\x87\nxxxxxxxx", 20), "JPEG 2000"},
  };
  for (const Damaged& file : files) {
    const std::vector<uint8_t> bytes(file.bytes.begin(), file.bytes.end());
    expect_refusal(kBadArgument, file.mention, [&] { file.decode(bytes); });
  }
}

// Headers that are good before pixels that are not.
TEST(PictureRefusals, Pixels) {
  const auto entry = [](uint32_t tag, uint32_t type, uint32_t value) {
    return number(tag, 2) + number(type, 2) + number(1, 4) + number(value, 4);
  };
  // One row of two grey pixels, which lie beyond the end.
  const string tiff = string("II\x2a\0\x08\0\0\0", 8) + number(9, 2) + entry(256, 3, 2) +
                      entry(257, 3, 1) + entry(258, 3, 8) + entry(259, 3, 1) + entry(262, 3, 1) +
                      entry(273, 4, 5000) + entry(277, 3, 1) + entry(278, 3, 1) + entry(279, 4, 2) +
                      number(0, 4);
  // The same without a width.
  string narrow = tiff;
  narrow.replace(10, 2, number(255, 2));
  const string lossless = string("\x2f\x01\0\0\0\xff\xff\xff", 8);
  const string webp = "RIFF" + number(20, 4) + "WEBPVP8L" + number(8, 4) + lossless;
  // A tile of 2 x 1 pixels, then the start of tile 5, which there is not.
  const string jpeg2000 = string("\xff\x4f\xff\x51\0\x29\0\0\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0", 24) +
                          string("\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0\0\1\7\1\1", 21) +
                          string("\xff\x52\0\x0c\0\0\0\1\0\0\4\4\0\1\xff\x5c\0\4\x40\x40", 20) +
                          string("\xff\x90\0\x0a\0\5\0\0\0\0\0\1\xff\x93", 14);
  const auto decoded = [](Tensor (*decode)(ops::FileBytes), const string& file) {
    return [=] { decode(std::vector<uint8_t>(file.begin(), file.end())); };
  };
  expect_refusal(kBadArgument, "TIFF file: its pixels are damaged or of a kind that cannot be read",
                 decoded(ops::decode_tiff, tiff));
  expect_refusal(kBadArgument, "TIFF file: its header is damaged",
                 decoded(ops::decode_tiff, narrow));
  expect_refusal(kBadArgument, "WebP file: its pixels are damaged",
                 decoded(ops::decode_webp, webp));
  expect_refusal(kBadArgument, "JPEG 2000 file: its pixels are damaged",
                 decoded(ops::decode_jpeg2000, jpeg2000));
  expect_refusal(kBadArgument, "BMP file: it ends too early",
                 decoded(ops::decode_bmp, "BM" + number(0, 12) + number(40, 4)));
  expect_refusal(ErrorCode::kResourceExhausted, "a picture of 65536 x 65537 pixels is larger than",
                 [] { ops::new_picture(65536, 65537); });
}

TEST(WindowRefusals, Attributes) {
  const Datum image = zeros({1, 2, 4, 4}), w = zeros({2, 1, 3, 3}), kernel = zeros({1, 2, 3, 3});
  const auto conv = [&](const AttrMap& attrs, const char* mention) {
    return Refused{"Conv", {image, kernel}, attrs, mention};
  };
  const auto transposed = [&](const AttrMap& attrs, const char* mention) {
    return Refused{"ConvTranspose", {image, w}, attrs, mention};
  };
  expect_refused(std::vector<Refused>{
      conv({{"strides", Ints{1}}}, "strides: expected 2 values, got 1"),
      conv({{"strides", Ints{1, 0}}}, "strides: expected values of at least 1, got 0"),
      conv({{"dilations", Ints{1}}}, "dilations: expected 2 values, got 1"),
      conv({{"dilations", Ints{0, 1}}}, "dilations: expected values of at least 1, got 0"),
      conv({{"pads", Ints{1, 1}}}, "pads: expected 4 values, got 2"),
      conv({{"pads", Ints{-5, 0, 9, 0}}},
           "pads: -5 crops more of spatial axis 0 than its 4 elements"),
      conv({{"pads", Ints{0, 9, 0, -5}}},
           "pads: -5 crops more of spatial axis 1 than its 4 elements"),
      conv({{"dilations", Ints{3, 1}}}, "kernel: expected at most the padded input's size 4"),
      conv({{"auto_pad", string("odd")}},
           "auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, got \"odd\""),
      {"MaxPool", {image}, {{"kernel_shape", Ints{2}}}, "kernel: expected 2 sizes, one for each"},
      {"MaxPool", {image}, {{"kernel_shape", Ints{0, 2}}}, "kernel: expected sizes of at least 1"},
      {"AveragePool",
       {image},
       {{"kernel_shape", Ints(2, int64_t{1} << 33)}},
       "[8589934592, 8589934592] has more elements than an int64 counts"},
      {"Conv", {image, zeros({1, 2, 0, 3})}, {}, "kernel: expected sizes of at least 1"},
      transposed({{"output_shape", Ints{5}}}, "output_shape: expected 2 spatial sizes, got 1"),
      transposed({{"output_shape", Ints{-1, 5}}},
                 "output_shape: expected sizes that are not negative"),
      transposed({{"pads", Ints{9, 9, 9, 9}}}, "pads: 9 and 9 leave nothing of the 6 outputs"),
      transposed({{"output_padding", Ints{1}}}, "output_padding: expected 2 values, got 1"),
      transposed({{"output_padding", Ints{-1, 0}}},
                 "output_padding: expected values of at least 0"),
      transposed({{"strides", Ints{0, 1}}}, "strides: expected values of at least 1, got 0"),
      transposed({{"group", 0}}, "group: expected at least 1, got 0"),
      {"ConvTranspose", {zeros({1, 3, 4, 4}), w}, {}, "3 and 2"},
      {"ConvTranspose", {zeros({2, 4}), w}, {}, "expected at least rank 3"},
      {"ConvTranspose", {image, zeros({2, 1})}, {}, "expected at least rank 3"},
      {"ConvTranspose", {image, w, zeros({3})}, {}, "input B (float[3])"},
  });
}

}  // namespace
}  // namespace sardonyx
