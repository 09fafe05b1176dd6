// ImageDecoder.
#include <algorithm>

#include "ir/eval_call.h"
#include "ir/ops/image_decoder/codecs.h"
#include "ir/ops/image_decoder/image_files.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {

// The decoders' address is null where the program does not link providers/codecs/.
extern "C" [[gnu::weak]] const LinkedDecoders sardonyx_codecs;

namespace {

struct ImageDecoderAttrs {
  std::string pixel_format = "RGB";
  static auto fields() {
    return std::tuple{field("pixel_format", &ImageDecoderAttrs::pixel_format)};
  }
};

enum class PixelFormat { kRgb, kBgr, kGrayscale };

PixelFormat pixel_format(const ImageDecoderAttrs& attrs) {
  if (attrs.pixel_format == "RGB") return PixelFormat::kRgb;
  if (attrs.pixel_format == "BGR") return PixelFormat::kBgr;
  if (attrs.pixel_format == "Grayscale") return PixelFormat::kGrayscale;
  fail(ErrorCode::kInvalidModel,
       "ImageDecoder: pixel_format: expected RGB, BGR or Grayscale, got \"", attrs.pixel_format,
       "\"");
}

void infer_image_decoder(InferContext& c) {
  c.require_rank(0, 1);
  const bool gray = pixel_format(c.attrs<ImageDecoderAttrs>()) == PixelFormat::kGrayscale;
  c.set(0, DType::kUInt8, Dims{c.unknown(), c.unknown(), gray ? 1 : 3});
}

// Throws kUnsupported where the format's library is not linked.
Tensor decode_by_library(FileBytes file, Decoder LinkedDecoders::*decoder, std::string_view format,
                         std::string_view option) {
  if (&sardonyx_codecs == nullptr) {
    fail(ErrorCode::kUnsupported, "ImageDecoder: this program is linked without the decoder of ",
         format, " images; link sardonyx::codecs as well (pkg-config: sardonyx-codecs)");
  }
  if (sardonyx_codecs.*decoder == nullptr) {
    fail(ErrorCode::kUnsupported, "ImageDecoder: this build of sardonyx reads no ", format,
         " images; configure it with -DSARDONYX_CODECS=ON and -DSARDONYX_CODEC_", option, "=ON");
  }
  return (sardonyx_codecs.*decoder)(file);
}

Tensor as_jpeg(FileBytes file) {
  return decode_by_library(file, &LinkedDecoders::jpeg, "JPEG", "JPEG");
}
Tensor as_jpeg2000(FileBytes file) {
  return decode_by_library(file, &LinkedDecoders::jpeg2000, "JPEG 2000", "JPEG2000");
}
Tensor as_png(FileBytes file) {
  return decode_by_library(file, &LinkedDecoders::png, "PNG", "PNG");
}
Tensor as_tiff(FileBytes file) {
  return decode_by_library(file, &LinkedDecoders::tiff, "TIFF", "TIFF");
}
Tensor as_webp(FileBytes file) {
  return decode_by_library(file, &LinkedDecoders::webp, "WebP", "WEBP");
}

struct Codec {
  std::string_view magic;  // how such a file begins; '?' stands for any byte
  Decoder decode;
};
constexpr Codec kCodecs[] = {
    {"BM", decode_bmp},
    {"\xff\xd8\xff", as_jpeg},
    {{"\0\0\0\x0cjP  \r\n\x87\n", 12}, as_jpeg2000},
    {"\xff\x4f\xff\x51", as_jpeg2000},
    {"\x89PNG\r\n\x1a\n", as_png},
    {"P1", decode_pnm},
    {"P2", decode_pnm},
    {"P3", decode_pnm},
    {"P4", decode_pnm},
    {"P5", decode_pnm},
    {"P6", decode_pnm},
    {{"II*\0", 4}, as_tiff},
    {{"MM\0*", 4}, as_tiff},
    {{"II+\0", 4}, as_tiff},
    {{"MM\0+", 4}, as_tiff},
    {"RIFF????WEBP", as_webp},
};

bool begins_with(FileBytes file, std::string_view magic) {
  const auto matches = [](char wanted, uint8_t byte) {
    return wanted == '?' || static_cast<uint8_t>(wanted) == byte;
  };
  return file.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), file.begin(), matches);
}

// Exchanges red and blue, in place.
void swap_ends(Tensor& image) {
  auto* data = image.mutable_values<uint8_t>().data();
  for (int64_t i = 0; i < image.count(); i += 3)
    std::swap(data[i], data[i + 2]);
}

// Luma of ITU-R 601 in 16-bit fixed point.
Tensor gray_of(const Tensor& image) {
  Tensor gray = Tensor::allocate(DType::kUInt8, {image.shape()[0], image.shape()[1], 1});
  const uint8_t* in = image.values<uint8_t>().data();
  auto* out = gray.mutable_values<uint8_t>().data();
  for (int64_t i = 0; i < gray.count(); ++i, in += 3)
    out[i] =
        static_cast<uint8_t>((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 0x8000u) >> 16);
  return gray;
}

// Throws kInvalidArgument where the file is of no known format, or is damaged.
Tensor decoded(FileBytes file) {
  const auto codec = std::find_if(std::begin(kCodecs), std::end(kCodecs),
                                  [&](const Codec& c) { return begins_with(file, c.magic); });
  if (codec == std::end(kCodecs))
    fail(ErrorCode::kInvalidArgument, "it begins like no image of a known format");
  return codec->decode(file);
}

// Bytes that can't be decoded give an empty image, as the specification of ImageDecoder says.
std::vector<Datum> run_image_decoder(const EvalCall& call) {
  const PixelFormat format = pixel_format(call.attrs<ImageDecoderAttrs>());
  const FileBytes file = call.inputs[0].tensor().values<uint8_t>();
  Tensor image = Tensor::allocate(DType::kUInt8, {0, 0, 3});
  try {
    image = decoded(file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
  }
  if (format == PixelFormat::kGrayscale) return {gray_of(image)};
  if (format == PixelFormat::kBgr) swap_ends(image);
  return {std::move(image)};
}

std::vector<Sample> image_decoder_samples() {
  const std::string pnm = "P6 2 1 255\n\x01\x02\x03\xf0\xe0\xd0";
  const Tensor file = Tensor::vector(std::vector<uint8_t>(pnm.begin(), pnm.end()));
  std::vector<Sample> samples;
  for (const char* format : {"RGB", "BGR", "Grayscale"})
    samples.push_back({{{.value = file}}, {{"pixel_format", std::string(format)}}});
  return samples;
}

const OpDef kImageDecoderOps[] = {
    {.name = "ImageDecoder",
     .doc =
         "The image that the bytes of a file encode: uint8 [height, width, channels]; empty where "
         "they are damaged. Formats besides BMP and PNM need sardonyx::codecs to be linked.",
     .since = 20,
     .signature = "(encoded_stream: T1) -> (image: T2)",
     .types = {{"T1", DType::kUInt8}, {"T2", DType::kUInt8}},
     .attrs = attr_schema<ImageDecoderAttrs>(),
     .infer = infer_image_decoder,
     .evaluate = evaluate_anew<run_image_decoder>,
     .samples = image_decoder_samples},
};

}  // namespace

Tensor new_image(int64_t width, int64_t height) {
  if (width < 1 || height < 1) fail_image("image", "it has no pixels");
  if (width > kMaxPixels / height) {
    fail(ErrorCode::kResourceExhausted, "an image of ", width, " x ", height,
         " pixels is larger than ", kMaxPixels, " pixels");
  }
  return Tensor::allocate(DType::kUInt8, {height, width, 3});
}

void fail_image(std::string_view format, std::string_view why) {
  fail(ErrorCode::kInvalidArgument, format, " file: ", why);
}

std::string why_not_decoded(FileBytes file) {
  try {
    decoded(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::span<const OpDef> image_decoder_ops() {
  return kImageDecoderOps;
}

}  // namespace sardonyx::ops
