// In place of the readers of images that this build is configured without.
#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

[[noreturn]] [[maybe_unused]] Tensor refuse(std::string_view format, std::string_view option) {
  fail(ErrorCode::kUnsupported, "ImageDecoder: this build of sardonyx reads no ", format,
       " pictures; configure it with -DSARDONYX_CODECS=ON and -DSARDONYX_CODEC_", option, "=ON");
}

}  // namespace

#ifdef SARDONYX_WITHOUT_JPEG
Tensor decode_jpeg(FileBytes) {
  return refuse("JPEG", "JPEG");
}
#endif
#ifdef SARDONYX_WITHOUT_JPEG2000
Tensor decode_jpeg2000(FileBytes) {
  return refuse("JPEG 2000", "JPEG2000");
}
#endif
#ifdef SARDONYX_WITHOUT_PNG
Tensor decode_png(FileBytes) {
  return refuse("PNG", "PNG");
}
#endif
#ifdef SARDONYX_WITHOUT_TIFF
Tensor decode_tiff(FileBytes) {
  return refuse("TIFF", "TIFF");
}
#endif
#ifdef SARDONYX_WITHOUT_WEBP
Tensor decode_webp(FileBytes) {
  return refuse("WebP", "WEBP");
}
#endif

}  // namespace sardonyx::ops
