#include <cstdio>  // jpeglib.h needs it before

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <vector>

#include "ir/core/run_control.h"
#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

// libjpeg calls these at errors. They throw: the library holds nothing that jpeg_destroy does not
// free, and it is compiled with unwind tables on this platform's ABI.
[[noreturn]] void throw_error(j_common_ptr codec) {
  char message[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, message);
  fail_image("JPEG", message);
}
void handle_message(j_common_ptr codec, int level) {
  if (level < 0 && codec->err->msg_code == JWRN_JPEG_EOF) throw_error(codec);
}
void ignore_output(j_common_ptr) {}

struct Decompressor {
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};

  Decompressor() {
    codec.err = jpeg_std_error(&errors);
    errors.error_exit = throw_error;
    errors.emit_message = handle_message;
    errors.output_message = ignore_output;
    jpeg_create_decompress(&codec);
  }
  ~Decompressor() { jpeg_destroy_decompress(&codec); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
};

// Four inks to light. Adobe's files hold them inverted.
void inks_to_rgb(const uint8_t* in, uint8_t* out, int64_t count, bool inverted) {
  for (int64_t i = 0; i < count; ++i, in += 4) {
    const uint32_t black = inverted ? in[3] : 255u - in[3];
    for (int k = 0; k < 3; ++k) {
      const uint32_t ink = inverted ? in[k] : 255u - in[k];
      *out++ = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

}  // namespace

Tensor decode_jpeg(FileBytes file) {
  Decompressor decompressor;
  jpeg_decompress_struct& codec = decompressor.codec;
  jpeg_mem_src(&codec, file.data(), file.size());
  jpeg_read_header(&codec, TRUE);
  const bool inks = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
  codec.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  Tensor image = new_image(codec.image_width, codec.image_height);
  jpeg_start_decompress(&codec);
  const int64_t width = codec.output_width;
  std::vector<uint8_t> line(inks ? static_cast<size_t>(width) * 4 : 0);
  auto* out = image.mutable_values<uint8_t>().data();
  while (codec.output_scanline < codec.output_height) {
    if (codec.output_scanline % 64 == 0) check_interrupted();
    JSAMPROW row = inks ? line.data() : out;
    jpeg_read_scanlines(&codec, &row, 1);
    if (inks) inks_to_rgb(line.data(), out, width, codec.saw_Adobe_marker);
    out += width * 3;
  }
  jpeg_finish_decompress(&codec);
  return image;
}

}  // namespace sardonyx::ops
