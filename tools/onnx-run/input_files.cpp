#include "tools/onnx-run/input_files.h"

#include <algorithm>

#include "ir/ops/image_decoder/image_files.h"
#include "ir/reference_evaluator.h"
#include "onnx_io/file_access.h"
#include "onnx_io/npy.h"
#include "onnx_io/tensor_file.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

Tensor call(std::string_view op, std::vector<Datum> inputs, const AttrMap& attrs) {
  const OpDef& row = op_named(op);
  return evaluate(row, Attrs::parse(*row.attrs, attrs), inputs, 1).at(0).tensor();
}

Tensor cast(const Tensor& tensor, DType dtype) {
  return call("Cast", {tensor}, {{"to", static_cast<int64_t>(dtype)}});
}

Tensor file_bytes(const fs::path& path) {
  const OpenFile file = open_regular(path);
  Tensor bytes = Tensor::allocate(DType::kUInt8, {static_cast<int64_t>(file.size)});
  read_exactly(file, 0, bytes.raw(), file.size);
  return bytes;
}

bool is_channels(int64_t dim) {
  return dim == 1 || dim == 3;
}

// Rows, columns, channels of uint8 to what the input declares.
Tensor image(const fs::path& path, const ValueInfo& input, const Shape& shape) {
  const size_t rank = shape.size();
  if (!input.type.is_tensor() || rank < 3 || rank > 4 || (rank == 4 && shape[0] != 1)) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": an image can't be fed to input '",
         input.name, "' of shape ", to_text(shape), "; it must be [1, C, H, W] or [1, H, W, C]");
  }
  const bool channels_first = is_channels(shape[rank - 3]) && !is_channels(shape[rank - 1]);
  const int64_t channels = shape[channels_first ? rank - 3 : rank - 1];
  if (!is_channels(channels)) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": input '", input.name, "' of shape ",
         to_text(shape), " has neither 1 nor 3 channels");
  }
  const std::string format = channels == 1 ? "Grayscale" : "RGB";
  const Tensor bytes = file_bytes(path);
  Tensor pixels = call("ImageDecoder", {bytes}, {{"pixel_format", format}});
  if (pixels.count() == 0) {
    fail(ErrorCode::kInvalidArgument, path.string(),
         ": the image can't be read: ", ops::why_not_decoded(bytes.values<uint8_t>()));
  }
  if (channels_first)
    pixels = call("Transpose", {pixels}, {{"perm", std::vector<int64_t>{2, 0, 1}}});
  const Shape wanted(shape.end() - 3, shape.end());
  if (pixels.shape() != wanted) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": the image is ", to_text(pixels.shape()),
         ", but input '", input.name, "' is ", to_text(shape),
         "; scale the image, or give another shape by --shape");
  }
  pixels = pixels.reshaped(shape);
  if (!is_floating(input.type.dtype)) return cast(pixels, input.type.dtype);
  const Tensor scaled = call("Div", {cast(pixels, DType::kFloat), Tensor::scalar(255.0f)}, {});
  return cast(scaled, input.type.dtype);
}

Tensor raw_elements(const fs::path& path, const ValueInfo& input, const Shape& shape) {
  if (!input.type.is_tensor() || input.type.dtype == DType::kString) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": input '", input.name, "' is ", input.type,
         ", which can't be read from raw bytes; use a .pb or .npy file");
  }
  const OpenFile file = open_regular(path);
  const size_t bytes = bytes_for(input.type.dtype, element_count(shape));
  if (file.size != bytes) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": ", file.size, " bytes, but input '",
         input.name, "' of shape ", to_text(shape), " and type ", input.type.dtype, " takes ",
         bytes);
  }
  Tensor tensor = Tensor::allocate(input.type.dtype, shape);
  read_exactly(file, 0, tensor.raw(), bytes);
  return tensor;
}

}  // namespace

NamedFile parse_named_file(const std::string& argument) {
  // Names of values may hold any character, so the last "=@" counts, and only without one a "=".
  size_t split = argument.rfind("=@");
  size_t begin = split + 2;
  if (split == std::string::npos) {
    split = argument.find('=');
    begin = split + 1;
  }
  if (split == std::string::npos || split == 0 || begin >= argument.size())
    fail_usage("-i: expected NAME=@FILE, got '", argument, "'");
  return {argument.substr(0, split), argument.substr(begin)};
}

std::string lower_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

Datum read_input_file(const fs::path& file, const ValueInfo& input, const Shape& shape) {
  const std::string ending = lower_ending(file);
  if (ending == ".pb") return read_tensor_file(file, input.type).value;
  if (ending == ".npy") {
    const Tensor tensor = read_npy(file);
    // numpy has no such types: they are stored wider (see npy.h).
    const bool widened = input.type.is_tensor() && input.type.dtype != tensor.dtype() &&
                         (bits_of(input.type.dtype) < 8 || input.type.dtype == DType::kBFloat16 ||
                          kFloat8s.has(input.type.dtype));
    return widened ? cast(tensor, input.type.dtype) : tensor;
  }
  if (ops::is_image_file(file)) return image(file, input, shape);
  return raw_elements(file, input, shape);
}

}  // namespace sardonyx::tool
