// Damaged files of the formats that libraries read.
#include "ir/ops/image_decoder/codecs.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

string number(uint32_t value, int bytes) {
  string out;
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(uint64_t{value} >> std::min(8 * i, 32) & 0xff);
  return out;
}

// The operator makes an empty image of these; the decoders say why.
TEST(CodecRefusals, Files) {
  struct Damaged {
    Tensor (*decode)(ops::FileBytes);
    string bytes;
    const char* mention;
  };
  const Damaged files[] = {
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
TEST(CodecRefusals, Pixels) {
  const auto entry = [](uint32_t tag, uint32_t type, uint32_t value) {
    return number(tag, 2) + number(type, 2) + number(1, 4) + number(value, 4);
  };
  // One row of two grey pixels, which are beyond the end.
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
}

}  // namespace
}  // namespace sardonyx
