#include <png.h>

#include <cstring>
#include <vector>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

[[noreturn]] void throw_error(png_structp, png_const_charp message) {
  fail_image("PNG", message);
}
void ignore_warning(png_structp, png_const_charp) {}

void read_png(png_structp png, png_bytep to, size_t count) {
  auto& rest = *static_cast<FileBytes*>(png_get_io_ptr(png));
  if (count > rest.size()) fail_image("PNG", "it ends too early");
  std::memcpy(to, rest.data(), count);
  rest = rest.subspan(count);
}

struct PngReader {
  png_structp png;
  png_infop info = nullptr;

  explicit PngReader(FileBytes& rest)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, throw_error, ignore_warning)) {
    if (png) info = png_create_info_struct(png);
    if (!info) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      fail(ErrorCode::kResourceExhausted, "out of memory for a PNG reader");
    }
    png_set_read_fn(png, &rest, read_png);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
};

// Sets libpng's transforms so that every file is read as 8-bit RGB.
void ask_for_rgb(png_structp png, png_infop info) {
  const int color = png_get_color_type(png, info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8) {
    png_set_expand_gray_1_2_4_to_8(png);
  }
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  if (!(color & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

}  // namespace

Tensor decode_png(FileBytes file) {
  FileBytes rest = file;
  PngReader reader(rest);
  png_read_info(reader.png, reader.info);
  const auto width = static_cast<int64_t>(png_get_image_width(reader.png, reader.info));
  const auto height = static_cast<int64_t>(png_get_image_height(reader.png, reader.info));
  Tensor image = new_image(width, height);
  ask_for_rgb(reader.png, reader.info);
  SARDONYX_CHECK(png_get_rowbytes(reader.png, reader.info) == static_cast<size_t>(width) * 3);
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y)
    rows.push_back(image.mutable_values<uint8_t>().data() + y * width * 3);
  png_read_image(reader.png, rows.data());
  return image;
}

}  // namespace sardonyx::ops
