// Windows bitmaps: headers from BITMAPCOREHEADER to BITMAPV5HEADER, palettes of 1, 4 and 8 bits,
// run-length encoding, 16, 24 and 32 bits with or without masks.
#include <algorithm>
#include <array>
#include <bit>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kAlphaMasks = 6 };

// Little-endian numbers at checked places.
class BmpReader {
 public:
  explicit BmpReader(FileBytes file) : file_(file) {}
  uint32_t byte(size_t at) const {
    if (at >= file_.size()) fail_image("BMP", "it ends too early");
    return file_[at];
  }
  uint32_t u16(size_t at) const { return byte(at) | byte(at + 1) << 8; }
  uint32_t u32(size_t at) const { return u16(at) | u16(at + 2) << 16; }
  int32_t s32(size_t at) const { return static_cast<int32_t>(u32(at)); }
  size_t size() const { return file_.size(); }

 private:
  FileBytes file_;
};

struct BmpHeader {
  int64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0, compression = kPlain;
  std::array<uint32_t, 3> masks{};  // red, green, blue
  std::vector<std::array<uint8_t, 3>> palette;
  size_t pixels_at = 0;
};

void read_palette(const BmpReader& in, BmpHeader& header, size_t at, size_t entry_bytes,
                  uint32_t used) {
  const size_t most = size_t{1} << header.bits;
  const size_t count = used == 0 ? most : std::min<size_t>(used, most);
  for (size_t i = 0; i < count; ++i, at += entry_bytes) {
    header.palette.push_back({static_cast<uint8_t>(in.byte(at + 2)),
                              static_cast<uint8_t>(in.byte(at + 1)),
                              static_cast<uint8_t>(in.byte(at))});
  }
}

void read_masks(const BmpReader& in, BmpHeader& header) {
  if (header.compression == kMasks || header.compression == kAlphaMasks) {
    // Behind a short header, or inside a long one: the place is the same.
    for (size_t i = 0; i < 3; ++i)
      header.masks[i] = in.u32(14 + 40 + 4 * i);
  } else if (header.bits == 16) {
    header.masks = {0x7c00, 0x03e0, 0x001f};
  } else {
    header.masks = {0xff0000, 0x00ff00, 0x0000ff};
  }
}

BmpHeader read_header(const BmpReader& in) {
  BmpHeader header;
  header.pixels_at = in.u32(10);
  const uint32_t size = in.u32(14);
  if (size != 12 && size < 40) fail_image("BMP", "its header is of an unknown kind");
  const bool core = size == 12;
  header.width = core ? in.u16(18) : in.s32(18);
  const int64_t height = core ? in.u16(20) : in.s32(22);
  header.top_down = height < 0;
  header.height = height < 0 ? -height : height;
  header.bits = core ? in.u16(24) : in.u16(28);
  if (!core) header.compression = in.u32(30);
  const auto is = [&](std::initializer_list<uint32_t> bits) {
    return std::find(bits.begin(), bits.end(), header.bits) != bits.end();
  };
  const bool fits = header.compression == kPlain  ? is({1, 4, 8, 16, 24, 32})
                    : header.compression == kRle8 ? is({8})
                    : header.compression == kRle4 ? is({4})
                    : header.compression == kMasks || header.compression == kAlphaMasks
                        ? is({16, 32})
                        : false;
  if (!fits) fail_image("BMP", "its depth and compression do not go together");
  if (header.bits <= 8) {
    read_palette(in, header, 14 + size, core ? 3 : 4, core ? 0 : in.u32(46));
  } else {
    read_masks(in, header);
  }
  return header;
}

// The bits of `mask`, scaled to 0 .. 255.
uint8_t masked(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const uint64_t most = mask >> shift;
  const uint64_t value = (pixel & mask) >> shift;
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

void put_index(const BmpHeader& header, uint8_t* row, int64_t x, uint32_t index) {
  if (index >= header.palette.size()) fail_image("BMP", "a pixel is outside the palette");
  std::copy_n(header.palette[index].data(), 3, row + 3 * x);
}

uint8_t* row_of(const BmpHeader& header, Tensor& image, int64_t line) {
  const int64_t y = header.top_down ? line : header.height - 1 - line;
  return image.mutable_values<uint8_t>().data() + y * header.width * 3;
}

void read_plain(const BmpReader& in, const BmpHeader& header, Tensor& image) {
  const auto line_bytes = (static_cast<uint64_t>(header.width) * header.bits + 31) / 32 * 4;
  for (int64_t line = 0; line < header.height; ++line) {
    const size_t at = header.pixels_at + line_bytes * static_cast<uint64_t>(line);
    uint8_t* row = row_of(header, image, line);
    for (int64_t x = 0; x < header.width; ++x) {
      const auto n = static_cast<size_t>(x);
      if (header.bits <= 8) {
        const uint32_t per_byte = 8 / header.bits;
        const uint32_t shift = 8 - header.bits * (static_cast<uint32_t>(n % per_byte) + 1);
        put_index(header, row, x, in.byte(at + n / per_byte) >> shift & ((1u << header.bits) - 1));
        continue;
      }
      const uint32_t pixel = header.bits == 16 ? in.u16(at + 2 * n)
                             : header.bits == 24
                                 ? in.u16(at + 3 * n) | in.byte(at + 3 * n + 2) << 16
                                 : in.u32(at + 4 * n);
      for (size_t k = 0; k < 3; ++k)
        row[3 * x + static_cast<int64_t>(k)] = masked(pixel, header.masks[k]);
    }
  }
}

// Runs, literal pieces, ends of lines and jumps; pixels that are jumped over have index 0.
class RunDecoder {
 public:
  RunDecoder(const BmpReader& in, const BmpHeader& header, Tensor& image)
      : in_(in), header_(header), image_(image), at_(header.pixels_at) {}

  void run() {
    for (int64_t line = 0; line < header_.height; ++line) {
      for (int64_t x = 0; x < header_.width; ++x)
        put_index(header_, row_of(header_, image_, line), x, 0);
    }
    while (at_ + 1 < in_.size()) {
      const uint32_t count = in_.byte(at_), value = in_.byte(at_ + 1);
      at_ += 2;
      if (count > 0) {
        for (uint32_t i = 0; i < count; ++i)
          put(nibbles() ? (i % 2 == 0 ? value >> 4 : value & 15) : value);
      } else if (value == 0) {
        x_ = 0;
        ++line_;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x_ += in_.byte(at_);
        line_ += in_.byte(at_ + 1);
        at_ += 2;
      } else {
        literal(value);
      }
    }
  }

 private:
  bool nibbles() const { return header_.bits == 4; }

  void literal(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t byte = in_.byte(at_ + (nibbles() ? i / 2 : i));
      put(nibbles() ? (i % 2 == 0 ? byte >> 4 : byte & 15) : byte);
    }
    const size_t bytes = nibbles() ? (count + 1) / 2 : count;
    at_ += bytes + bytes % 2;
  }

  void put(uint32_t index) {
    if (x_ < header_.width && line_ < header_.height)
      put_index(header_, row_of(header_, image_, line_), x_, index);
    ++x_;
  }

  const BmpReader& in_;
  const BmpHeader& header_;
  Tensor& image_;
  size_t at_;
  int64_t x_ = 0, line_ = 0;
};

}  // namespace

Tensor decode_bmp(FileBytes file) {
  const BmpReader in(file);
  const BmpHeader header = read_header(in);
  Tensor image = new_image(header.width, header.height);
  if (header.compression == kRle8 || header.compression == kRle4) {
    RunDecoder(in, header, image).run();
  } else {
    read_plain(in, header, image);
  }
  return image;
}

}  // namespace sardonyx::ops
