#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

// A file in memory, as libtiff reads it.
struct TiffInput {
  FileBytes bytes;
  uint64_t place = 0;
};

tmsize_t read_tiff(thandle_t handle, void* to, tmsize_t count) {
  auto& file = *static_cast<TiffInput*>(handle);
  if (file.place >= file.bytes.size() || count <= 0) return 0;
  const auto length = std::min(static_cast<uint64_t>(count), file.bytes.size() - file.place);
  std::memcpy(to, file.bytes.data() + file.place, length);
  file.place += length;
  return static_cast<tmsize_t>(length);
}
tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return 0;
}
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& file = *static_cast<TiffInput*>(handle);
  const uint64_t base = whence == SEEK_CUR   ? file.place
                        : whence == SEEK_END ? file.bytes.size()
                                             : 0;
  file.place = base + offset;
  return file.place;
}
int close_nothing(thandle_t) {
  return 0;
}
toff_t size_of_file(thandle_t handle) {
  return static_cast<TiffInput*>(handle)->bytes.size();
}
int map_nothing(thandle_t, void**, toff_t*) {
  return 0;
}
void unmap_nothing(thandle_t, void*, toff_t) {}

int ignore_message(TIFF*, void*, const char*, const char*, va_list) {
  return 1;  // handled: libtiff's own handler, which prints, is not called
}

using TiffPtr = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

TiffPtr open_tiff(TiffInput& file) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  if (!options) fail(ErrorCode::kResourceExhausted, "out of memory for a TIFF reader");
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), ignore_message, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_message, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxPixels * 4);
  TiffPtr tiff(
      TIFFClientOpenExt("memory", "rm", &file, read_tiff, write_nothing, seek, close_nothing,
                        size_of_file, map_nothing, unmap_nothing, options.get()),
      TIFFClose);
  if (!tiff) fail_image("TIFF", "its header is damaged");
  return tiff;
}

}  // namespace

Tensor decode_tiff(FileBytes file) {
  TiffInput memory{file};
  const TiffPtr tiff = open_tiff(memory);
  uint32_t width = 0, height = 0;  // a size that is missing leaves no pixels
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  Tensor image = new_image(width, height);
  // libtiff writes one 32-bit word per pixel. The raster is a tensor, so that the memory budget
  // counts it.
  Tensor raster = Tensor::allocate(DType::kUInt32, {height, width});
  auto* words = raster.mutable_values<uint32_t>().data();
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, words, ORIENTATION_TOPLEFT,
                                 /*stopOnError=*/1)) {
    fail_image("TIFF", "its pixels are damaged or of a kind that cannot be read");
  }
  auto* out = image.mutable_values<uint8_t>().data();
  for (int64_t i = 0; i < raster.count(); ++i) {
    *out++ = static_cast<uint8_t>(TIFFGetR(words[i]));
    *out++ = static_cast<uint8_t>(TIFFGetG(words[i]));
    *out++ = static_cast<uint8_t>(TIFFGetB(words[i]));
  }
  return image;
}

}  // namespace sardonyx::ops
