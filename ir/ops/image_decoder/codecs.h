// Decoders of image files in memory. Each takes a whole file and gives uint8 [height, width, 3] in
// the order red, green, blue, alpha left out. All throw kInvalidArgument for a file that is damaged
// or not theirs, kResourceExhausted for an image that is too large.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/core/tensor.h"

namespace sardonyx::ops {

using FileBytes = std::span<const uint8_t>;
using Decoder = Tensor (*)(FileBytes file);

// Images of more pixels are refused: what a file says of its size is not to be trusted.
inline constexpr int64_t kMaxPixels = int64_t{1} << 28;

// An image to be filled; checks the size.
Tensor new_image(int64_t width, int64_t height);
[[noreturn]] void fail_image(std::string_view format, std::string_view why);

// Decoders in code of our own.
Tensor decode_bmp(FileBytes file);
Tensor decode_pnm(FileBytes file);

// Decoders that call libraries (providers/codecs/).
Tensor decode_jpeg(FileBytes file);
Tensor decode_jpeg2000(FileBytes file);
Tensor decode_png(FileBytes file);
Tensor decode_tiff(FileBytes file);
Tensor decode_webp(FileBytes file);

// The decoders of providers/codecs/ that this build has; null where it is configured without.
struct LinkedDecoders {
  Decoder jpeg = nullptr, jpeg2000 = nullptr, png = nullptr, tiff = nullptr, webp = nullptr;
};

// A program that reads no images links neither these decoders nor the libraries behind them: what
// links sardonyx::codecs asks for this list by name, and ImageDecoder's reference to it is weak.
extern "C" const LinkedDecoders sardonyx_codecs;

}  // namespace sardonyx::ops
