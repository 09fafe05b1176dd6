#include "eager/data/augmentations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn/convolution.h"
#include "eager/nn/resampling.h"
#include "ir/type.h"

namespace sardonyx::eager::data::transforms {
namespace {

double drawn_within(double low = 0, double high = 1) {
  return low + (high - low) * rand({}, {.dtype = DType::kDouble}).item<double>();
}

// x as a batch [1, channels, height, width] of floating elements.
Tensor batch_of(const char* name, const Tensor& x) {
  if (!x.defined() || x.rank() != 3 || !is_floating(x.dtype())) {
    fail(ErrorCode::kInvalidArgument, name,
         ": expected an image [channels, height, width] of floating elements, got ",
         x.defined() ? text(x.type()) : "an undefined tensor");
  }
  return x.unsqueeze(0);
}

}  // namespace

// The grid says where each result comes from, so the map is the inverse one. Its coordinates are
// halves of the sides, which differ.
Tensor affine(const Tensor& x, const AffineMap& how) {
  const Tensor batch = batch_of("affine", x);
  if (!(how.scale > 0))
    fail(ErrorCode::kInvalidArgument, "affine: expected a scale above 0, got ", how.scale);
  const double angle = how.angle * std::numbers::pi / 180;
  const double cosine = std::cos(angle) / how.scale, sine = std::sin(angle) / how.scale;
  const auto height = static_cast<double>(x.size(-2).value()),
             width = static_cast<double>(x.size(-1).value());
  const double a = cosine, b = -sine * height / width, c = sine * width / height, d = cosine;
  const double right = 2 * how.translate.first, down = 2 * how.translate.second;
  const std::vector<double> theta{a, b, -(a * right + b * down), c, d, -(c * right + d * down)};
  const Tensor grid = nn::affine_grid(Tensor::of(theta, {1, 2, 3}).to(x.dtype()), batch.shape());
  return nn::grid_sample(batch, grid, {.mode = how.bilinear ? "bilinear" : "nearest"}).squeeze(0);
}
Tensor rotate(const Tensor& x, double angle, bool bilinear) {
  return affine(x, {.angle = angle, .bilinear = bilinear});
}

Tensor gaussian_blur(const Tensor& x, int64_t kernel, double sigma) {
  const Tensor batch = batch_of("gaussian_blur", x);
  if (kernel < 1 || kernel % 2 == 0 || !(sigma > 0)) {
    fail(ErrorCode::kInvalidArgument, "gaussian_blur: expected an odd kernel and a sigma above 0, ",
         "got ", kernel, " and ", sigma);
  }
  const int64_t half = kernel / 2, channels = x.size(0).value();
  const Tensor at = arange(-half, half + 1, 1, {.dtype = DType::kDouble}) / sigma;
  const Tensor weights = softmax(square(at) * -0.5, 0);
  const Tensor window = outer(weights, weights).to(x.dtype());
  const Tensor wide = eager::pad(batch, {half, half, half, half}, "reflect");
  return nn::conv2d(wide, window.expand({channels, 1, kernel, kernel}), {}, {.groups = channels})
      .squeeze(0);
}

// Of hue h, saturation s and value v, a channel is v - v s max(0, min(k, 4 - k, 1)) with k = n + 6h
// modulo 6 and n = 5, 3 and 1 for red, green and blue.
Tensor adjust_hue(const Tensor& x, double factor) {
  batch_of("adjust_hue", x);
  if (std::abs(factor) > 0.5 || !(x.size(0) == 3)) {
    fail(ErrorCode::kInvalidArgument, "adjust_hue: expected 3 channels and a factor within ",
         "[-0.5, 0.5], got ", x.type(), " and ", factor);
  }
  const Tensor red = x[0], green = x[1], blue = x[2];
  const Tensor value = x.amax(0), spread = value - x.amin(0);
  const Tensor safe = where(spread == 0, 1.0, spread);
  const Tensor sixths =
      where(value == red, (green - blue) / safe,
            where(value == green, (blue - red) / safe + 2.0, (red - green) / safe + 4.0));
  const auto channel = [&](double n) {
    const Tensor k = remainder(sixths + (n + 6 * factor), 6.0);
    return value - spread * clamp(minimum(k, 4.0 - k), 0, 1);
  };
  return stack({channel(5), channel(3), channel(1)});
}

Pad::Pad(std::vector<int64_t> each, double with, std::string how)
    : sides(std::move(each)), value(with), mode(std::move(how)) {
  if (sides.size() == 4) return;
  fail(ErrorCode::kInvalidArgument, "Pad: expected {left, top, right, bottom}, got ", sides.size(),
       " numbers");
}
Tensor Pad::operator()(const Tensor& x) const {
  return pad(x, sides[0], sides[1], sides[2], sides[3], value, mode);
}
Tensor RandomGrayscale::operator()(const Tensor& x) const {
  return drawn_within() < p ? grayscale(x, 3) : x;
}
Tensor RandomRotation::operator()(const Tensor& x) const {
  return rotate(x, drawn_within(-degrees, degrees), bilinear);
}
Tensor RandomAffine::operator()(const Tensor& x) const {
  AffineMap how{.bilinear = bilinear};
  how.angle = drawn_within(-degrees, degrees);
  how.translate.first = drawn_within(-translate.first, translate.first);
  how.translate.second = drawn_within(-translate.second, translate.second);
  how.scale = drawn_within(scale.first, scale.second);
  return affine(x, how);
}
Tensor GaussianBlur::operator()(const Tensor& x) const {
  return gaussian_blur(x, kernel, drawn_within(sigma.first, sigma.second));
}
Tensor RandomApply::operator()(const Tensor& x) const {
  return drawn_within() < p ? steps(x) : x;
}
RandomChoice::RandomChoice(std::vector<Transform> of) : choices(std::move(of)) {
  if (choices.empty()) fail(ErrorCode::kInvalidArgument, "RandomChoice: expected some transforms");
}
Tensor RandomChoice::operator()(const Tensor& x) const {
  const auto at = static_cast<size_t>(drawn_within(0, static_cast<double>(choices.size())));
  return choices[std::min(at, choices.size() - 1)](x);
}

}  // namespace sardonyx::eager::data::transforms
