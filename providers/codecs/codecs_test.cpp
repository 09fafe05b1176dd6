// Images written by the libraries' encoders must come back pixel by pixel.
#include <openjpeg.h>
#include <png.h>

#include <gtest/gtest.h>

#include <cstring>

#include "ir/ops/image_decoder/codecs.h"
#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

using Bytes = std::vector<uint8_t>;

// 8 x 6 pixels with `channels` samples each.
constexpr int kWidth = 8, kHeight = 6;
Bytes pattern(int channels) {
  Bytes samples(static_cast<size_t>(kWidth * kHeight * channels));
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<uint8_t>(i * 37 % 251);
  return samples;
}

// The first three channels of each pixel, or the only one three times.
std::vector<int64_t> expected(const Bytes& samples, int channels) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < samples.size(); i += static_cast<size_t>(channels)) {
    for (size_t k = 0; k < 3; ++k)
      result.push_back(samples[i + (channels >= 3 ? k : 0)]);
  }
  return result;
}

Bytes as_png(const Bytes& samples, uint32_t format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = kWidth;
  image.height = kHeight;
  image.format = format;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, samples.data(), 0, nullptr);
  Bytes file(size);
  EXPECT_TRUE(png_image_write_to_memory(&image, file.data(), &size, 0, samples.data(), 0, nullptr));
  file.resize(size);
  return file;
}

TEST(CodecsTest, Png) {
  const std::pair<uint32_t, int> kinds[] = {
      {PNG_FORMAT_GRAY, 1}, {PNG_FORMAT_GA, 2}, {PNG_FORMAT_RGB, 3}, {PNG_FORMAT_RGBA, 4}};
  for (const auto& [format, channels] : kinds) {
    const Bytes samples = pattern(channels);
    const Tensor image = decode_png(as_png(samples, format));
    EXPECT_EQ(image.shape(), (Shape{kHeight, kWidth, 3}));
    EXPECT_EQ(image.to_int64s(), expected(samples, channels)) << channels;
  }
}

OPJ_SIZE_T append(void* from, OPJ_SIZE_T count, void* user) {
  auto& file = *static_cast<std::pair<Bytes, size_t>*>(user);
  if (file.first.size() < file.second + count) file.first.resize(file.second + count);
  std::memcpy(file.first.data() + file.second, from, count);
  file.second += count;
  return count;
}
OPJ_BOOL move_to(OPJ_OFF_T place, void* user) {
  static_cast<std::pair<Bytes, size_t>*>(user)->second = static_cast<size_t>(place);
  return OPJ_TRUE;
}
OPJ_OFF_T move_by(OPJ_OFF_T count, void* user) {
  static_cast<std::pair<Bytes, size_t>*>(user)->second += static_cast<size_t>(count);
  return count;
}

Bytes as_jpeg2000(const Bytes& samples, int channels, OPJ_CODEC_FORMAT format) {
  std::vector<opj_image_cmptparm_t> components(static_cast<size_t>(channels));
  for (auto& component : components) {
    component = {};
    component.dx = component.dy = 1;
    component.w = kWidth;
    component.h = kHeight;
    component.prec = 8;
  }
  opj_image_t* image = opj_image_create(static_cast<OPJ_UINT32>(channels), components.data(),
                                        channels >= 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
  image->x1 = kWidth;
  image->y1 = kHeight;
  for (size_t i = 0; i < samples.size(); ++i)
    image->comps[i % static_cast<size_t>(channels)].data[i / static_cast<size_t>(channels)] =
        samples[i];
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;  // one layer of rate 0: without loss
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = 2;
  parameters.tcp_mct = channels >= 3;
  opj_codec_t* codec = opj_create_compress(format);
  std::pair<Bytes, size_t> file;
  opj_stream_t* stream = opj_stream_default_create(OPJ_FALSE);
  opj_stream_set_user_data(stream, &file, nullptr);
  opj_stream_set_write_function(stream, append);
  opj_stream_set_seek_function(stream, move_to);
  opj_stream_set_skip_function(stream, move_by);
  EXPECT_TRUE(opj_setup_encoder(codec, &parameters, image));
  EXPECT_TRUE(opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
              opj_end_compress(codec, stream));
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return file.first;
}

TEST(CodecsTest, Jpeg2000) {
  for (const OPJ_CODEC_FORMAT format : {OPJ_CODEC_J2K, OPJ_CODEC_JP2}) {
    for (const int channels : {1, 3}) {
      const Bytes samples = pattern(channels);
      const Bytes file = as_jpeg2000(samples, channels, format);
      EXPECT_EQ(decode_jpeg2000(file).to_int64s(), expected(samples, channels)) << channels;
      const Bytes half(file.begin(), file.begin() + static_cast<ptrdiff_t>(file.size() / 4));
      EXPECT_THROW(decode_jpeg2000(half), Error);
    }
  }
}

// Through the operator: the list of decoders is linked.
TEST(CodecsTest, AreFoundByTheOperator) {
  const Bytes samples = pattern(3);
  const Datum file(sardonyx::Tensor::vector(as_png(samples, PNG_FORMAT_RGB)));
  EXPECT_EQ(run_op("ImageDecoder", {file}, {})[0].tensor().to_int64s(), expected(samples, 3));
}

TEST(CodecsTest, OfDamagedFilesTheOperatorMakesEmptyImages) {
  for (const std::string damaged :
       {"\x89PNG\r\n\x1a\nrest", "\xff\xd8\xff", "RIFF....WEBPxx", "\xff\x4f\xff\x51"}) {
    const Datum file(sardonyx::Tensor::vector(Bytes(damaged.begin(), damaged.end())));
    const Datum image =
        run_op("ImageDecoder", {file}, {{"pixel_format", std::string("Grayscale")}})[0];
    EXPECT_EQ(image.tensor().shape(), (Shape{0, 0, 1})) << damaged;
  }
}

}  // namespace
}  // namespace sardonyx::ops
