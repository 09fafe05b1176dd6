#include "eager/data/transforms.h"

#include <algorithm>
#include <cmath>

#include "eager/create.h"
#include "eager/data/augmentations.h"
#include "eager/functional/arrange.h"
#include "eager/functional/functional.h"
#include "eager/op.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::data::transforms {
namespace {

struct Image {
  int64_t channels, height, width;
};

Image image_of(const char* name, const Tensor& x) {
  if (x.defined() && x.rank() >= 3)
    return {x.size(-3).value(), x.size(-2).value(), x.size(-1).value()};
  fail(ErrorCode::kInvalidArgument, name, ": expected an image [channels, height, width], got ",
       x.defined() ? text(x.type()) : "an undefined tensor");
}

void check_floating(const char* name, const Tensor& x) {
  if (is_floating(x.dtype())) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected floating elements, got ", x.type(),
       "; ToFloat comes first");
}

double draw(double low = 0, double high = 1) {
  return low + (high - low) * rand({}, {.dtype = DType::kDouble}).item<double>();
}
// Of low, low + 1, ..., high.
int64_t draw_integer(int64_t low, int64_t high) {
  return std::min(high, low + static_cast<int64_t>(draw() * static_cast<double>(high - low + 1)));
}

Tensor blended(const Tensor& x, const Tensor& other, double factor) {
  return clamp(x * factor + other * (1 - factor), 0, 1);
}

struct Rectangle {
  int64_t top, left, height, width;
};

// Of a share of the area and a ratio of the sides, both drawn; nothing where none of ten fits.
std::optional<Rectangle> draw_rectangle(const Image& of, std::pair<double, double> scale,
                                        std::pair<double, double> ratio) {
  constexpr int kTries = 10;
  const auto area = static_cast<double>(of.height * of.width);
  for (int i = 0; i < kTries; ++i) {
    const double wanted = area * draw(scale.first, scale.second);
    const double sides = std::exp(draw(std::log(ratio.first), std::log(ratio.second)));
    const auto width = static_cast<int64_t>(std::lround(std::sqrt(wanted * sides)));
    const auto height = static_cast<int64_t>(std::lround(std::sqrt(wanted / sides)));
    if (width < 1 || height < 1 || width > of.width || height > of.height) continue;
    return Rectangle{draw_integer(0, of.height - height), draw_integer(0, of.width - width), height,
                     width};
  }
  return std::nullopt;
}

void check_range(const char* name, const char* what, std::pair<double, double> range) {
  if (range.first > 0 && range.first <= range.second) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected 0 < low <= high as ", what, ", got ",
       range.first, " and ", range.second);
}

}  // namespace

Tensor crop(const Tensor& x, int64_t top, int64_t left, Size size) {
  const Image of = image_of("crop", x);
  if (top < 0 || left < 0 || size.height < 1 || size.width < 1 || top > of.height - size.height ||
      left > of.width - size.width) {
    fail(ErrorCode::kInvalidArgument, "crop: ", size.height, " x ", size.width, " at (", top, ", ",
         left, ") is not within ", x.type());
  }
  return x.slice(-2, {top, top + size.height}).slice(-1, {left, left + size.width});
}

Tensor horizontal_flip(const Tensor& x) {
  image_of("horizontal_flip", x);
  return flip(x, {-1});
}
Tensor vertical_flip(const Tensor& x) {
  image_of("vertical_flip", x);
  return flip(x, {-2});
}

Tensor resize(const Tensor& x, Size size, bool antialias) {
  image_of("resize", x);
  check_floating("resize", x);
  if (size.height < 1 || size.width < 1) {
    fail(ErrorCode::kInvalidArgument, "resize: expected a size of at least 1 x 1, got ",
         size.height, " x ", size.width);
  }
  const auto rank = static_cast<int64_t>(x.rank());
  return op::Resize(x, {}, {}, tensor({size.height, size.width}),
                    {.antialias = antialias,
                     .axes = {rank - 2, rank - 1},
                     .exclude_outside = antialias,  // the filter stays within the image
                     .mode = "linear"});
}

Tensor pad(const Tensor& x, int64_t left, int64_t top, int64_t right, int64_t bottom, double value,
           const std::string& mode) {
  image_of("pad", x);
  std::vector<int64_t> pads(2 * x.rank());
  pads[x.rank() - 2] = top, pads[x.rank() - 1] = left;
  pads[2 * x.rank() - 2] = bottom, pads[2 * x.rank() - 1] = right;
  const Tensor filling = full({}, value, {.dtype = x.dtype()});
  return op::Pad(x, tensor(pads), filling, {}, {.mode = mode});
}

Tensor grayscale(const Tensor& x, int64_t channels) {
  const Image of = image_of("grayscale", x);
  check_floating("grayscale", x);
  if (of.channels != 3 || channels < 1) {
    fail(ErrorCode::kInvalidArgument, "grayscale: expected 3 channels to make at least 1 of, got ",
         of.channels, " and ", channels);
  }
  const Tensor weights = tensor({0.2989, 0.587, 0.114}).to(x.dtype()).reshape({3, 1, 1});
  const Tensor one = (x * weights).sum({-3}, true);
  return channels == 1 ? one : cat(std::vector<Tensor>(static_cast<size_t>(channels), one), -3);
}

Tensor adjust_brightness(const Tensor& x, double factor) {
  check_floating("adjust_brightness", x);
  return clamp(x * factor, 0, 1);
}
Tensor adjust_contrast(const Tensor& x, double factor) {
  const Image of = image_of("adjust_contrast", x);
  const Tensor light = of.channels == 3 ? grayscale(x) : x;
  return blended(x, light.mean({-3, -2, -1}, true), factor);
}
Tensor adjust_saturation(const Tensor& x, double factor) {
  return image_of("adjust_saturation", x).channels == 1 ? x : blended(x, grayscale(x), factor);
}

Tensor Compose::operator()(const Tensor& x) const {
  Tensor now = x;
  for (const Transform& step : steps)
    now = step(now);
  return now;
}

Tensor ToFloat::operator()(const Tensor& x) const {
  if (is_floating(x.dtype())) return x;
  if (x.dtype() != DType::kUInt8)
    fail(ErrorCode::kInvalidArgument, "ToFloat: expected uint8 or floating elements, got ",
         x.type());
  return x.to(DType::kFloat) / 255.0;
}

Normalize::Normalize(std::vector<double> of, std::vector<double> by)
    : mean(std::move(of)), std(std::move(by)) {
  if (mean.empty() || mean.size() != std.size() || std::ranges::count(std, 0.0) > 0) {
    fail(ErrorCode::kInvalidArgument, "Normalize: expected a mean and a std (not 0) for each ",
         "channel, got ", mean.size(), " and ", std.size());
  }
}
Tensor Normalize::operator()(const Tensor& x) const {
  const Image of = image_of("Normalize", x);
  check_floating("Normalize", x);
  if (mean.size() > 1 && static_cast<int64_t>(mean.size()) != of.channels) {
    fail(ErrorCode::kInvalidArgument, "Normalize: expected ", mean.size(), " channels, got ",
         x.type());
  }
  const auto by_channel = [&](const std::vector<double>& values) {
    return tensor(values).to(x.dtype()).reshape({-1, 1, 1});
  };
  return (x - by_channel(mean)) / by_channel(std);
}

Tensor CenterCrop::operator()(const Tensor& x) const {
  const Image of = image_of("CenterCrop", x);
  return crop(x, (of.height - size.height + 1) / 2, (of.width - size.width + 1) / 2, size);
}

Tensor RandomCrop::operator()(const Tensor& x) const {
  const Tensor wide = padding > 0 ? pad(x, padding, padding, padding, padding) : x;
  const Image of = image_of("RandomCrop", wide);
  const int64_t down = std::max<int64_t>(of.height - size.height, 0),
                right = std::max<int64_t>(of.width - size.width, 0);
  const int64_t top = draw_integer(0, down);
  return crop(wide, top, draw_integer(0, right), size);
}

RandomResizedCrop::RandomResizedCrop(Size to, std::pair<double, double> area,
                                     std::pair<double, double> sides)
    : size(to), scale(area), ratio(sides) {
  check_range("RandomResizedCrop", "scale", scale);
  check_range("RandomResizedCrop", "ratio", ratio);
}
Tensor RandomResizedCrop::operator()(const Tensor& x) const {
  const Image of = image_of("RandomResizedCrop", x);
  if (const std::optional<Rectangle> found = draw_rectangle(of, scale, ratio))
    return resize(crop(x, found->top, found->left, {found->height, found->width}), size);
  // The greatest in the middle whose sides are within the ratio.
  const double sides = static_cast<double>(of.width) / static_cast<double>(of.height);
  const double wanted = std::clamp(sides, ratio.first, ratio.second);
  const auto width = static_cast<int64_t>(
      sides > wanted ? std::lround(static_cast<double>(of.height) * wanted) : of.width);
  const auto height = static_cast<int64_t>(
      sides < wanted ? std::lround(static_cast<double>(of.width) / wanted) : of.height);
  return resize(CenterCrop({std::max<int64_t>(height, 1), std::max<int64_t>(width, 1)})(x), size);
}

Tensor RandomHorizontalFlip::operator()(const Tensor& x) const {
  return draw() < p ? horizontal_flip(x) : x;
}
Tensor RandomVerticalFlip::operator()(const Tensor& x) const {
  return draw() < p ? vertical_flip(x) : x;
}

Tensor ColorJitter::operator()(const Tensor& x) const {
  const auto factor = [](double spread) { return draw(std::max(0.0, 1 - spread), 1 + spread); };
  Tensor now = x;
  if (brightness > 0) now = adjust_brightness(now, factor(brightness));
  if (contrast > 0) now = adjust_contrast(now, factor(contrast));
  if (saturation > 0) now = adjust_saturation(now, factor(saturation));
  if (hue > 0) now = adjust_hue(now, draw(-hue, hue));
  return now;
}

Tensor RandomErasing::operator()(const Tensor& x) const {
  check_range("RandomErasing", "scale", scale);
  check_range("RandomErasing", "ratio", ratio);
  const Image of = image_of("RandomErasing", x);
  if (draw() >= p) return x;
  const std::optional<Rectangle> hole = draw_rectangle(of, scale, ratio);
  if (!hole) return x;
  const auto within = [](int64_t count, int64_t begin, int64_t length) {
    const Tensor at = arange(count);
    return at >= begin && at < begin + length;
  };
  const Tensor rows = within(of.height, hole->top, hole->height).reshape({of.height, 1});
  return where(rows && within(of.width, hole->left, hole->width), value, x);
}

}  // namespace sardonyx::eager::data::transforms
