#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "ir/ops/image_decoder/codecs.h"

namespace sardonyx::ops {
namespace {

struct CodestreamInput {
  FileBytes bytes;
  size_t place = 0;
};

constexpr auto kEnd = static_cast<OPJ_SIZE_T>(-1);

OPJ_SIZE_T read_codestream(void* to, OPJ_SIZE_T count, void* user) {
  auto& file = *static_cast<CodestreamInput*>(user);
  if (file.place >= file.bytes.size()) return kEnd;
  count = std::min(count, file.bytes.size() - file.place);
  std::memcpy(to, file.bytes.data() + file.place, count);
  file.place += count;
  return count;
}
OPJ_OFF_T skip(OPJ_OFF_T count, void* user) {
  auto& file = *static_cast<CodestreamInput*>(user);
  if (count < 0) return -1;
  const auto rest = static_cast<OPJ_OFF_T>(file.bytes.size() - file.place);
  count = std::min(count, rest);
  file.place += static_cast<size_t>(count);
  return count;
}
OPJ_BOOL seek(OPJ_OFF_T place, void* user) {
  auto& file = *static_cast<CodestreamInput*>(user);
  if (place < 0 || static_cast<size_t>(place) > file.bytes.size()) return OPJ_FALSE;
  file.place = static_cast<size_t>(place);
  return OPJ_TRUE;
}

using StreamPtr = std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)>;
using CodecPtr = std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)>;
using ImagePtr = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

StreamPtr open_stream(CodestreamInput& file) {
  StreamPtr stream(opj_stream_default_create(OPJ_TRUE), opj_stream_destroy);
  if (!stream) fail(ErrorCode::kResourceExhausted, "out of memory for a JPEG 2000 reader");
  opj_stream_set_user_data(stream.get(), &file, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.bytes.size());
  opj_stream_set_read_function(stream.get(), read_codestream);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_stream_set_seek_function(stream.get(), seek);
  return stream;
}

// Reads the samples of one component as 8 bits, at the resolution of the whole image.
class Component {
 public:
  explicit Component(const opj_image_comp_t& component) : component_(component) {
    const bool fits = component.data && component.w > 0 && component.h > 0 && component.dx > 0 &&
                      component.dy > 0 && component.prec >= 1 && component.prec <= 31;
    if (!fits) fail_image("JPEG 2000", "a component is damaged");
  }
  int32_t at(int64_t x, int64_t y) const {
    const int64_t column = std::min<int64_t>(x / component_.dx, component_.w - 1);
    const int64_t row = std::min<int64_t>(y / component_.dy, component_.h - 1);
    int64_t value = component_.data[row * component_.w + column];
    if (component_.sgnd) value += int64_t{1} << (component_.prec - 1);
    const int64_t most = (int64_t{1} << component_.prec) - 1;
    value = std::clamp<int64_t>(value, 0, most);
    if (component_.prec == 8) return static_cast<int32_t>(value);
    return static_cast<int32_t>((value * 255 + most / 2) / most);
  }

 private:
  const opj_image_comp_t& component_;
};

uint8_t to_byte(double value) {
  return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

void fill(const opj_image_t& planes, Tensor& image) {
  const bool color = planes.numcomps >= 3;
  const bool luma = color && (planes.color_space == OPJ_CLRSPC_SYCC);
  const Component first(planes.comps[0]);
  const Component second(planes.comps[color ? 1 : 0]);
  const Component third(planes.comps[color ? 2 : 0]);
  auto* out = image.mutable_values<uint8_t>().data();
  for (int64_t y = 0; y < image.shape()[0]; ++y) {
    for (int64_t x = 0; x < image.shape()[1]; ++x, out += 3) {
      const int32_t a = first.at(x, y), b = second.at(x, y), c = third.at(x, y);
      if (luma) {
        const double blue = b - 128, red = c - 128;
        out[0] = to_byte(a + 1.402 * red);
        out[1] = to_byte(a - 0.344136 * blue - 0.714136 * red);
        out[2] = to_byte(a + 1.772 * blue);
      } else {
        out[0] = static_cast<uint8_t>(a);
        out[1] = static_cast<uint8_t>(b);
        out[2] = static_cast<uint8_t>(c);
      }
    }
  }
}

}  // namespace

Tensor decode_jpeg2000(FileBytes file) {
  CodestreamInput memory{file};
  const StreamPtr stream = open_stream(memory);
  const bool bare = file[0] == 0xff;  // a codestream without the boxes of a JP2 file
  const CodecPtr codec(opj_create_decompress(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2),
                       opj_destroy_codec);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (!codec || !opj_setup_decoder(codec.get(), &parameters)) {
    fail(ErrorCode::kResourceExhausted, "out of memory for a JPEG 2000 reader");
  }
  opj_image_t* raw = nullptr;
  const bool has_header = opj_read_header(stream.get(), codec.get(), &raw);
  const ImagePtr planes(raw, opj_image_destroy);
  if (!has_header || !planes || planes->numcomps == 0 || planes->x1 <= planes->x0 ||
      planes->y1 <= planes->y0) {
    fail_image("JPEG 2000", "its header is damaged");
  }
  Tensor image = new_image(static_cast<int64_t>(planes->x1) - planes->x0,
                           static_cast<int64_t>(planes->y1) - planes->y0);
  if (!opj_decode(codec.get(), stream.get(), planes.get()) ||
      !opj_end_decompress(codec.get(), stream.get()) || planes->numcomps == 0) {
    fail_image("JPEG 2000", "its pixels are damaged");
  }
  fill(*planes, image);
  return image;
}

}  // namespace sardonyx::ops
