// Changes of images that rotate, blur and recolour them, and others of one's own at random; beside
// eager/data/transforms.h, whose rules hold here too.
#pragma once

#include <utility>
#include <vector>

#include "eager/data/transforms.h"

namespace sardonyx::eager::data::transforms {

// Rotated counter-clockwise about the middle by an angle in degrees, moved right and down by shares
// of width and height, and made `scale` times as large. Outside of the image: zeros.
struct AffineMap {
  double angle = 0;
  std::pair<double, double> translate = {0, 0};
  double scale = 1;
  bool bilinear = false;  // else the nearest element
};
Tensor affine(const Tensor& x, const AffineMap& how);
Tensor rotate(const Tensor& x, double angle, bool bilinear = false);
// By a normal distribution over kernel (odd) elements a side; edges are reflected.
Tensor gaussian_blur(const Tensor& x, int64_t kernel, double sigma);
// Hues of 3 channels moved by a share of the circle, within [-0.5, 0.5].
Tensor adjust_hue(const Tensor& x, double factor);

// torchvision's name.
using ToTensor = ToFloat;
// One number for all sides, or {left, top, right, bottom}.
struct Pad {
  Pad(int64_t all, double with = 0, std::string how = "constant")
      : Pad(std::vector<int64_t>{all, all, all, all}, with, std::move(how)) {}
  Pad(std::vector<int64_t> each, double with = 0, std::string how = "constant");
  Tensor operator()(const Tensor& x) const;
  std::vector<int64_t> sides;
  double value;
  std::string mode;
};
// The channels' luminance, by the weights of ITU-R BT.601, as 1 or 3 equal channels.
struct Grayscale {
  int64_t channels = 1;
  Tensor operator()(const Tensor& x) const { return grayscale(x, channels); }
};
// Grayscale with probability p, else the image as it is.
struct RandomGrayscale {  // of 3 channels, which become equal
  double p = 0.1;
  Tensor operator()(const Tensor& x) const;
};
// By an angle within [-degrees, degrees].
struct RandomRotation {
  RandomRotation(double most, bool smooth = false) : degrees(most), bilinear(smooth) {}
  Tensor operator()(const Tensor& x) const;
  double degrees;
  bool bilinear;
};
// The same, moved by at most these shares of the sides and scaled within [first, second].
struct RandomAffine {
  double degrees = 0;
  std::pair<double, double> translate = {0, 0}, scale = {1, 1};
  bool bilinear = false;
  Tensor operator()(const Tensor& x) const;
};
// gaussian_blur() with a sigma drawn from the range.
struct GaussianBlur {
  GaussianBlur(int64_t side, std::pair<double, double> range = {0.1, 2.0})
      : kernel(side), sigma(range) {}
  Tensor operator()(const Tensor& x) const;
  int64_t kernel;
  std::pair<double, double> sigma;
};
// All of them, or none; one of them.
struct RandomApply {
  RandomApply(std::vector<Transform> of, double share = 0.5) : steps(std::move(of)), p(share) {}
  Tensor operator()(const Tensor& x) const;
  Compose steps;
  double p;
};
struct RandomChoice {
  RandomChoice(std::vector<Transform> of);
  Tensor operator()(const Tensor& x) const;
  std::vector<Transform> choices;
};

}  // namespace sardonyx::eager::data::transforms
