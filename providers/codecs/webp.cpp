#include <webp/decode.h>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {

Tensor decode_webp(FileBytes file) {
  int width = 0, height = 0;
  if (!WebPGetInfo(file.data(), file.size(), &width, &height)) {
    fail_image("WebP", "its header is damaged");
  }
  Tensor image = new_image(width, height);
  if (!WebPDecodeRGBInto(file.data(), file.size(), image.mutable_values<uint8_t>().data(),
                         image.bytes(), width * 3)) {
    fail_image("WebP", "its pixels are damaged");
  }
  return image;
}

}  // namespace sardonyx::ops
