#include "providers/cpu/conv/conv_params.h"

#include <algorithm>

#include "providers/cpu/conv/igemm_f32.h"
#include "providers/cpu/conv/igemm_u8s8.h"

namespace sardonyx::cpu {
namespace {

// Elements of input and output of a tile: a second-level cache holds them while all weights are
// multiplied.
constexpr double kTileElements = 1 << 17;
constexpr double kMaxPadded = 1 << 22;                 // elements of a padded tile
constexpr double kMaxTileProducts = int64_t{1} << 31;  // some milliseconds
constexpr int64_t kRowUnit = 4, kColumnUnit = 28;      // tile extents are multiples of these

// The strides of an image in this order; in NCHW `block` is the distance between planes.
ImageSteps steps_of(ImageOrder order, int64_t channels, int64_t rows, int64_t columns) {
  if (order == ImageOrder::kPlanes) return {columns, 1, rows * columns};
  return image_steps(order == ImageOrder::kBlocks, channels, rows, columns);
}

double padded_elements(const ConvParams& f, const OutputTile& tile) {
  const int64_t channels = f.read == ImageOrder::kBlocks
                               ? (f.inputs + kChannelBlock - 1) / kChannelBlock * kChannelBlock
                               : f.inputs;
  return static_cast<double>(f.covered(0, tile.rows)) *
         static_cast<double>(f.covered(1, tile.columns)) * static_cast<double>(channels);
}

// Whether windows reach outside the input. A negative pad crops it instead.
bool reaches_outside(const ConvParams& form) {
  return form.pad[0] > 0 || form.pad[1] > 0 ||
         form.covered(0, form.out_height) - form.pad[0] > form.height ||
         form.covered(1, form.out_width) - form.pad[1] > form.width;
}

// True for 1x1 windows with strides of 1 and no padding.
bool is_pixel_by_pixel(const ConvParams& f) {
  return f.kernel[0] * f.kernel[1] * f.stride[0] * f.stride[1] == 1 && !reaches_outside(f) &&
         f.height == f.out_height && f.width == f.out_width;
}

void choose_orders(ConvParams& form, const KernelTensor& x) {
  const bool is_blocked = form.inputs % kChannelBlock == 0 && is_nchw16c(x);
  const bool is_narrow = form.inputs < kChannelBlock;
  form.from = ImageOrder::kPixels;
  if (is_blocked) form.from = ImageOrder::kBlocks;
  if (!x.layout && is_narrow) form.from = ImageOrder::kPlanes;
  form.read = form.from;
  if (form.from == ImageOrder::kPixels && (!is_narrow || form.groups > 1))
    form.read = ImageOrder::kBlocks;
  form.to =
      is_blocked && form.outputs % kChannelBlock == 0 ? ImageOrder::kBlocks : ImageOrder::kPixels;
  form.is_padded = form.read != form.from || reaches_outside(form);
}

void choose_tile(ConvParams& form) {
  const int64_t unit = form.is_line() ? kColumnUnit : kRowUnit;
  int64_t length = std::min(form.length(), unit);
  const auto elements = [&](const OutputTile& tile) {
    return padded_elements(form, tile) +
           static_cast<double>(tile.rows * tile.columns) * static_cast<double>(form.outputs);
  };
  while (length < form.length() && elements(form.cut(0, length + unit)) <= kTileElements)
    length += unit;
  form.tile = form.cut(0, std::min(length, form.length()));
}

// A row-major image is transposed while its tiles are copied, and the output where it is written,
// rather than each as a whole before and behind: tiles are in a near cache. An image of which each
// row is in many tiles is transposed once, ahead.
void transpose_tiles(ConvParams& form, const KernelRequest& request) {
  const size_t axis = form.is_line() ? 1 : 0;
  const int64_t length = form.is_line() ? form.tile.columns : form.tile.rows;
  const bool is_row_major = form.from == ImageOrder::kPixels && !request.inputs[0].layout;
  if (is_row_major && form.is_padded && form.read == ImageOrder::kBlocks &&
      form.covered(axis, length) <= 2 * length * form.stride[axis])
    form.from = ImageOrder::kPlanes;
  form.is_transposed =
      form.to == ImageOrder::kPixels && !request.layout_readers && !form.has_residual;
  if (form.is_transposed) form.to = ImageOrder::kPlanes;
}

// Windows are read from the image itself, a tap at a time.
void read_in_place(ConvParams& form) {
  form.read = form.from;
  form.is_padded = false;
  ConvParams one_tap = form;
  one_tap.kernel[0] = one_tap.kernel[1] = 1;
  choose_tile(one_tap);
  form.tile = one_tap.tile;
}

bool is_dilated(const ConvParams& f) {
  return (f.kernel[0] > 1 && f.dilation[0] > 1) || (f.kernel[1] > 1 && f.dilation[1] > 1);
}

// Windows of more taps are not looked at tap by tap.
constexpr int64_t kFewTaps = 64;

// The products of all taps that read the image rather than padding, of 1.
double part_inside(const ConvParams& f) {
  double part = 1;
  for (const size_t axis : {0, 1}) {
    double products = 0;
    for (const auto& [windows, taps] : taps_inside(f, axis))
      products += static_cast<double>((windows.end - windows.begin) * (taps.end - taps.begin));
    part *=
        products / static_cast<double>((axis == 0 ? f.out_height : f.out_width) * f.kernel[axis]);
  }
  return part;
}

}  // namespace

ImageSteps ConvParams::in_steps() const {
  return steps_of(from, in_channels(), height, width);
}

ImageSteps ConvParams::out_steps() const {
  return steps_of(to, out_channels(), out_height, out_width);
}

ImageSteps ConvParams::read_steps() const {
  if (!is_padded) return in_steps();
  return steps_of(read, inputs, covered(0, tile.rows), covered(1, tile.columns));
}

int64_t ConvParams::channels_interleaved() const {
  if (read == ImageOrder::kPixels) return inputs;
  return read == ImageOrder::kBlocks ? kChannelBlock : 1;
}

int64_t ConvParams::padded_size() const {
  return is_padded ? static_cast<int64_t>(padded_elements(*this, tile)) : 0;
}

int64_t ConvParams::transposed_size() const {
  return is_transposed ? tile.rows * tile.columns * outputs : 0;
}

OutputTile ConvParams::cut(int64_t begin, int64_t end) const {
  if (is_line()) return {0, begin, 1, end - begin};
  return {begin, 0, end - begin, out_width};
}

namespace {

// The parameters without layouts and tiling.
ConvParams sizes_of(const Shape& x, const Shape& w, const Shape& y, const ops::Window& window,
                    int64_t groups) {
  ConvParams form{};
  const Shape in = image_shape(x), out = image_shape(y);
  form.images = in[0];
  form.groups = groups;
  form.inputs = w[1];
  form.outputs = w[0] / groups;
  form.height = in[2], form.width = in[3];
  form.out_height = out[2], form.out_width = out[3];
  const size_t first = 2 - window.rank();
  for (size_t axis = first; axis < 2; ++axis) {
    form.kernel[axis] = window.kernel[axis - first];
    form.stride[axis] = window.strides[axis - first];
    form.dilation[axis] = window.dilations[axis - first];
    form.pad[axis] = window.pads_begin[axis - first];
  }
  if (form.width == 1 && form.out_width == 1 && form.kernel[1] == 1) {
    std::swap(form.height, form.width);
    std::swap(form.out_height, form.out_width);
    for (int64_t* const sizes : {form.kernel, form.stride, form.dilation, form.pad})
      std::swap(sizes[0], sizes[1]);
  }
  return form;
}

ConvParams sizes_of(const KernelRequest& request, const ops::Window& window, int64_t groups,
                    const Epilogue& finish) {
  ConvParams form = sizes_of(request.inputs[0].shape, request.inputs[1].shape,
                             request.outputs[0].shape, window, groups);
  form.finish = finish;
  form.has_residual = request.has(3);
  return form;
}

double products_of(const ConvParams& f) {
  return static_cast<double>(f.images * f.out_height * f.out_width * f.out_channels()) *
         static_cast<double>(f.elements());
}

// Why tiles need too much memory, or too long between two checks of the deadline; or null.
const char* why_unsupported_tile(const ConvParams& f) {
  if (f.is_padded && padded_elements(f, f.tile) > kMaxPadded) return "tiles are large";
  // A tile cannot be interrupted before all outputs that the kernel takes at once are computed.
  const double tile_products = static_cast<double>(f.tile.rows * f.tile.columns) *
                               static_cast<double>(f.elements() * kConvolutionUnit);
  return tile_products > kMaxTileProducts ? "tiles take long" : nullptr;
}

}  // namespace

ConvParams conv_params(const KernelRequest& request, const ops::Window& window, int64_t groups,
                       const Epilogue& finish) {
  ConvParams form = sizes_of(request, window, groups, finish);
  choose_orders(form, request.inputs[0]);
  choose_tile(form);
  transpose_tiles(form, request);
  return form;
}

ConvParams conv_kn2row_params(const KernelRequest& request, const ops::Window& window,
                              int64_t groups, const Epilogue& finish) {
  ConvParams form = sizes_of(request, window, groups, finish);
  choose_orders(form, request.inputs[0]);
  read_in_place(form);
  return form;
}

ConvParams conv_nchw_params(const KernelRequest& request, const ops::Window& window,
                            const Epilogue& finish) {
  ConvParams form = sizes_of(request, window, 1, finish);
  const KernelTensor& x = request.inputs[0];
  form.from = is_nchw16c(x) ? ImageOrder::kBlocks
              : x.layout    ? ImageOrder::kPixels
                            : ImageOrder::kPlanes;
  form.read = form.to = ImageOrder::kPlanes;
  form.is_padded = form.from != ImageOrder::kPlanes || reaches_outside(form);
  choose_tile(form);
  return form;
}

ConvParams conv_int8_params(const Shape& x, const Shape& w, const Shape& y,
                            const ops::Window& window, int64_t groups, ImageOrder from,
                            bool is_copied) {
  ConvParams form = sizes_of(x, w, y, window, groups);
  form.inputs /= kVnniGroup;
  form.from = form.read = from;
  form.to = ImageOrder::kPixels;
  form.is_padded = is_copied || reaches_outside(form);
  if (from == ImageOrder::kPixels && is_pixel_by_pixel(form)) {  // then all images are one line
    form.width = form.out_width = form.images * form.height * form.width;
    form.images = form.height = form.out_height = 1;
  }
  choose_tile(form);
  return form;
}

ConvParams conv_int8_inside_params(const Shape& x, const Shape& w, const Shape& y,
                                   const ops::Window& window, int64_t groups) {
  ConvParams form =
      conv_int8_params(x, w, y, window, groups, ImageOrder::kPixels, /*is_copied=*/false);
  read_in_place(form);
  return form;
}

IndexRange windows_inside(int64_t windows, int64_t stride, int64_t place, int64_t size) {
  const int64_t first = place < 0 ? (-place + stride - 1) / stride : 0;
  const int64_t end = place < size ? (size - place + stride - 1) / stride : 0;
  const int64_t begin = std::min(first, windows);
  return {begin, std::clamp(end, begin, windows)};
}

std::vector<TapsInside> taps_inside(const ConvParams& f, size_t axis) {
  const int64_t windows = axis == 0 ? f.out_height : f.out_width;
  std::vector<IndexRange> readers;  // of each tap
  std::vector<int64_t> cuts{0, windows};
  for (int64_t tap = 0; tap < f.kernel[axis]; ++tap) {
    readers.push_back(windows_inside(windows, f.stride[axis], tap * f.dilation[axis] - f.pad[axis],
                                     axis == 0 ? f.height : f.width));
    if (const auto [begin, end] = readers.back(); begin < end)
      cuts.insert(cuts.end(), {begin, end});
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  std::vector<TapsInside> parts;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto reads = [&](const IndexRange& tap) {
      return tap.begin <= cuts[i] && cuts[i] < tap.end;
    };
    const auto first = std::ranges::find_if(readers, reads);
    const auto last = std::find_if_not(first, readers.end(), reads);
    parts.push_back({{cuts[i], cuts[i + 1]}, {first - readers.begin(), last - readers.begin()}});
  }
  return parts;
}

LayoutPtr layout_for(ImageOrder order, const Shape& shape) {
  return order == ImageOrder::kPlanes ? nullptr
                                      : float_image_layout(shape, order == ImageOrder::kBlocks);
}

const char* why_unsupported_int8(const ConvParams& f) {
  constexpr double kFarthest = 1 << 28;  // whose bytes an int32 can count
  const ImageSteps steps = f.read_steps();
  const double reach = static_cast<double>(f.covered(0, 1)) * static_cast<double>(steps.row) +
                       static_cast<double>(f.covered(1, 1)) * static_cast<double>(steps.column);
  if (reach > kFarthest) return "windows are large";
  return why_unsupported_tile(f);
}

const char* why_unsupported_int8_inside(const ConvParams& f) {
  constexpr size_t kMaxParts = 64;  // each has its initial sums
  constexpr double kFewInside = 0.8;
  if (!is_dilated(f)) return "windows are not dilated";
  if (f.taps() > kFewTaps || taps_inside(f, 0).size() * taps_inside(f, 1).size() > kMaxParts)
    return "windows are long";
  if (part_inside(f) > kFewInside) return "windows reach outside little";
  return why_unsupported_int8(f);
}

const char* why_unsupported(const ConvParams& f) {
  constexpr double kFewProducts = 1 << 20;  // take less time than to generate code for them
  constexpr int64_t kFewElements = 64, kFewInputs = 256, kFewPixels = 400;
  if (const char* why = why_unsupported_tile(f)) return why;
  const int64_t pixels = f.out_height * f.out_width;
  const double products = products_of(f);
  const bool is_pointwise = f.elements() == f.inputs;
  if (products <= kFewProducts && !is_pointwise) return nullptr;
  // A stem convolution reads NCHW planes, which oneDNN would reorder first.
  constexpr int64_t kStemElements = 27, kStemPixels = 1 << 15;
  const bool is_stem = f.read == ImageOrder::kPlanes && f.inputs > 1 &&
                       f.elements() >= kStemElements && f.elements() < kFewElements &&
                       pixels < kStemPixels;
  if (is_stem && f.outputs >= kChannelBlock) return nullptr;
  // Grouped 1-D convolutions stay here: oneDNN lowers them to matrices, which takes some
  // milliseconds.
  const bool is_left_over = f.groups > 1 && f.is_line();
  if (f.outputs <= kChannelBlock && !is_left_over) return "there are few channels";
  if (f.elements() < kFewElements) return "windows are small";
  if (is_pointwise && (f.inputs < kFewInputs || pixels > kFewPixels)) return "pixels are many";
  return nullptr;
}

const char* why_unsupported_kn2row(const ConvParams& f) {
  constexpr int64_t kFewInputs = 32;  // adding to the outputs takes as long as their products
  if (!is_dilated(f)) return "windows are not dilated";
  if (f.from == ImageOrder::kPlanes || f.inputs < kFewInputs) return "there are few channels";
  const OutputTile least = f.cut(0, std::min(f.length(), f.is_line() ? kColumnUnit : kRowUnit));
  if (padded_elements(f, least) > kTileElements) return nullptr;
  constexpr double kFewInside = 0.5;
  return f.taps() > kFewTaps || part_inside(f) > kFewInside ? "padded tiles are small" : nullptr;
}

const char* why_unsupported_nchw(const ConvParams& f) {
  constexpr double kFewProducts = 1 << 20;  // are as fast directly
  constexpr int64_t kFewElements = 16, kFewColumns = 24;
  if (const char* why = why_unsupported_tile(f)) return why;
  if (f.outputs > kChannelBlock) return "there are many channels";
  if (f.stride[1] != 1) return "windows are strided";
  if (f.out_width < kFewColumns || products_of(f) < kFewProducts) return "there are few pixels";
  return f.elements() < kFewElements ? "windows are small" : nullptr;
}

IndirectionBuffer make_indirection(const ConvParams& f) {
  const ImageSteps steps = f.read_steps();
  const int64_t interleaved = f.channels_interleaved();
  IndirectionBuffer walk;
  for (int64_t first = 0; first < f.inputs; first += interleaved) {
    const int64_t channels = std::min(interleaved, f.inputs - first);
    for (int64_t tap = 0; tap < f.kernel[0] * f.kernel[1]; ++tap) {
      const int64_t offset = first / interleaved * steps.block +
                             tap / f.kernel[1] * f.dilation[0] * steps.row +
                             tap % f.kernel[1] * f.dilation[1] * steps.column;
      for (int64_t channel = 0; channel < channels; ++channel) {
        walk.offsets.push_back(static_cast<int32_t>(offset + channel));
        walk.order.push_back((first + channel) * f.kernel[0] * f.kernel[1] + tap);
      }
    }
  }
  return walk;
}

}  // namespace sardonyx::cpu
