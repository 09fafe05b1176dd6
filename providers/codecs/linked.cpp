// The decoders of this build, which a program's link pulls in by the name of their list.
#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {

const LinkedDecoders sardonyx_codecs{
#ifdef SARDONYX_CODEC_JPEG
    .jpeg = decode_jpeg,
#endif
#ifdef SARDONYX_CODEC_JPEG2000
    .jpeg2000 = decode_jpeg2000,
#endif
#ifdef SARDONYX_CODEC_PNG
    .png = decode_png,
#endif
#ifdef SARDONYX_CODEC_TIFF
    .tiff = decode_tiff,
#endif
#ifdef SARDONYX_CODEC_WEBP
    .webp = decode_webp,
#endif
};

}  // namespace sardonyx::ops
