#include "ir/layout.h"

#include "ir/core/error.h"

namespace sardonyx {
namespace {

int64_t pixels_of(const Shape& shape) {
  int64_t pixels = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis)
    pixels *= shape[axis];
  return pixels;
}

int64_t whole_blocks(int64_t channels) {
  constexpr int64_t kBlock = ImageLayout::kChannelBlock;
  return (channels + kBlock - 1) / kBlock * kBlock;
}

}  // namespace

bool same_layout(const LayoutPtr& a, const LayoutPtr& b) {
  if (a == b) return true;
  return a && b && a->equals(*b);
}

ImageLayout::ImageLayout(Kind kind, DType dtype, Shape shape)
    : Layout(kind), dtype_(dtype), shape_(std::move(shape)) {
  SARDONYX_CHECK(kind != Kind::kOpaque && shape_.size() >= 3 && shape_.size() <= 5);
}

size_t ImageLayout::bytes() const {
  const int64_t channels = kind() == Kind::kNHWC ? shape_[1] : whole_blocks(shape_[1]);
  return static_cast<size_t>(shape_[0] * channels * pixels_of(shape_)) *
         static_cast<size_t>(bits_of(dtype_)) / 8;
}

bool ImageLayout::equals(const Layout& other) const {
  if (other.kind() != kind()) return false;
  const auto& image = static_cast<const ImageLayout&>(other);  // as all that are not opaque
  return image.dtype_ == dtype_ && image.shape_ == shape_;
}

std::string ImageLayout::text() const {
  static constexpr const char* kSpatial[] = {"W", "HW", "DHW"};
  const std::string spatial = kSpatial[shape_.size() - 3];
  return kind() == Kind::kNHWC ? "N" + spatial + "C" : "NC" + spatial + "16c";
}

LayoutPtr image_layout(Layout::Kind kind, DType dtype, const Shape& shape) {
  const bool has_one_pixel = pixels_of(shape) == 1;
  const bool is_row_major = kind == Layout::Kind::kNHWC
                                ? shape[1] == 1 || has_one_pixel
                                : shape[1] % ImageLayout::kChannelBlock == 0 && has_one_pixel;
  return is_row_major ? nullptr : std::make_shared<const ImageLayout>(kind, dtype, shape);
}

}  // namespace sardonyx
