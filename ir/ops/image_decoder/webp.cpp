#include <webp/decode.h>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {

Tensor decode_webp(FileBytes file) {
  int width = 0, height = 0;
  if (!WebPGetInfo(file.data(), file.size(), &width, &height)) {
    fail_picture("WebP", "its header is damaged");
  }
  Tensor picture = new_picture(width, height);
  if (!WebPDecodeRGBInto(file.data(), file.size(), picture.mutable_values<uint8_t>().data(),
                         picture.bytes(), width * 3)) {
    fail_picture("WebP", "its pixels are damaged");
  }
  return picture;
}

}  // namespace sardonyx::ops
