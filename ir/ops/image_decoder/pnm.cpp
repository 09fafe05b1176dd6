// Netpbm's PBM, PGM and PPM, plain (P1 .. P3) and raw (P4 .. P6), up to 16 bits a sample.
#include <algorithm>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

class PnmReader {
 public:
  explicit PnmReader(FileBytes file) : rest_(file.subspan(2)) {}

  // A decimal number after white space and comments.
  int64_t number() {
    skip_spaces();
    int64_t value = 0;
    bool any = false;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_ = rest_.subspan(1)) {
      value = value * 10 + (rest_[0] - '0');
      any = true;
      if (value > INT32_MAX) fail_image("PNM", "a number is too large");
    }
    if (!any) fail_image("PNM", "a number is missing");
    return value;
  }
  // The digits of plain PBM need no spaces between them.
  int64_t bit() {
    skip_spaces();
    const int64_t byte = this->byte();
    if (byte != '0' && byte != '1') fail_image("PNM", "a pixel is neither 0 nor 1");
    return byte - '0';
  }
  int64_t byte() {
    if (rest_.empty()) fail_image("PNM", "it ends too early");
    const uint8_t value = rest_[0];
    rest_ = rest_.subspan(1);
    return value;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty()) {
      if (rest_[0] == '#') {
        while (!rest_.empty() && rest_[0] != '\n' && rest_[0] != '\r')
          rest_ = rest_.subspan(1);
      } else if (rest_[0] == ' ' || (rest_[0] >= '\t' && rest_[0] <= '\r')) {
        rest_ = rest_.subspan(1);
      } else {
        return;
      }
    }
  }
  FileBytes rest_;
};

// Rows of bits, eight to a byte, a set bit being black.
void read_raw_bits(PnmReader& in, int64_t width, int64_t height, uint8_t* out) {
  for (int64_t y = 0; y < height; ++y) {
    int64_t byte = 0;
    for (int64_t x = 0; x < width; ++x) {
      if (x % 8 == 0) byte = in.byte();
      const uint8_t value = byte >> (7 - x % 8) & 1 ? 0 : 255;
      out = std::fill_n(out, 3, value);
    }
  }
}

}  // namespace

Tensor decode_pnm(FileBytes file) {
  const int kind = file[1] - '0';
  const bool bits = kind == 1 || kind == 4, color = kind == 3 || kind == 6, raw = kind >= 4;
  PnmReader in(file);
  const int64_t width = in.number(), height = in.number();
  const int64_t most = bits ? 1 : in.number();
  if (most < 1 || most > 65535) fail_image("PNM", "the largest value is not in 1 .. 65535");
  // Each sample takes at least a bit of the file, so a short file cannot ask for a large image.
  if (width > 0 && height > 0 && static_cast<int64_t>(file.size()) < width * height / 8) {
    fail_image("PNM", "it ends too early");
  }
  Tensor image = new_image(width, height);
  if (raw) in.byte();  // the one white space after the header
  auto* out = image.mutable_values<uint8_t>().data();
  if (raw && bits) {
    read_raw_bits(in, width, height, out);
    return image;
  }
  const auto sample = [&]() -> uint8_t {
    if (bits) return in.bit() ? 0 : 255;
    int64_t value = raw ? in.byte() : in.number();
    if (raw && most > 255) value = value << 8 | in.byte();
    return static_cast<uint8_t>((std::min(value, most) * 255 + most / 2) / most);
  };
  for (int64_t i = 0; i < width * height; ++i) {
    if (color) {
      for (int k = 0; k < 3; ++k)
        *out++ = sample();
    } else {
      out = std::fill_n(out, 3, sample());
    }
  }
  return image;
}

}  // namespace sardonyx::ops
