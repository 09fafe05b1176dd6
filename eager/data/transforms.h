// Changes of images for training, under torchvision's names. An image is [..., channels, height,
// width]; but for ToFloat, crops and flips its elements are floating, colours within [0, 1]. Random
// ones draw by rand(), one after the other.
//
//   const auto augment = transforms::Compose({transforms::ToFloat(), transforms::RandomCrop(32, 4),
//                                             transforms::RandomHorizontalFlip(),
//                                             transforms::Normalize({0.5}, {0.25})});
//   data::TransformedDataset(images, augment)
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "eager/data/joined.h"

namespace sardonyx::eager::data::transforms {

// Height and width; one number is both.
struct Size {
  int64_t height = 0, width = 0;
  Size(int64_t side) : height(side), width(side) {}
  Size(int64_t rows, int64_t columns) : height(rows), width(columns) {}
};

// --- what is done with one image; all throw kInvalidArgument where it does not fit ---
Tensor crop(const Tensor& x, int64_t top, int64_t left, Size size);
// Left and right exchanged; top and bottom.
Tensor horizontal_flip(const Tensor& x);
Tensor vertical_flip(const Tensor& x);
// Linear, with a filter that keeps what is made smaller from flickering (antialias).
Tensor resize(const Tensor& x, Size size, bool antialias = true);
// The same elements beside all sides; mode: constant (value), edge, reflect.
Tensor pad(const Tensor& x, int64_t left, int64_t top, int64_t right, int64_t bottom,
           double value = 0, const std::string& mode = "constant");
// One channel of luminance (0.2989 r + 0.587 g + 0.114 b), or as many that are equal.
Tensor grayscale(const Tensor& x, int64_t channels = 1);
// Away from black, from the mean luminance, from the image's greys: 1 leaves it, 0 takes it all.
Tensor adjust_brightness(const Tensor& x, double factor);
Tensor adjust_contrast(const Tensor& x, double factor);
Tensor adjust_saturation(const Tensor& x, double factor);

// --- as functions of images ---
struct Compose {
  Compose(std::vector<Transform> of) : steps(std::move(of)) {}
  Tensor operator()(const Tensor& x) const;
  std::vector<Transform> steps;
};
// uint8 of 0 ... 255 to float32 of [0, 1]; floating ones pass.
struct ToFloat {
  Tensor operator()(const Tensor& x) const;
};
// (x - mean) / std by channel; one number is for all.
struct Normalize {
  Normalize(std::vector<double> mean, std::vector<double> std);
  Tensor operator()(const Tensor& x) const;
  std::vector<double> mean, std;
};
// resize() as a transform.
struct Resize {
  Resize(Size to, bool filter = true) : size(to), antialias(filter) {}
  Tensor operator()(const Tensor& x) const { return resize(x, size, antialias); }
  Size size;
  bool antialias;
};
// The rectangle of `size` in the middle.
struct CenterCrop {
  CenterCrop(Size to) : size(to) {}
  Tensor operator()(const Tensor& x) const;
  Size size;
};
// After `padding` on all sides.
struct RandomCrop {
  RandomCrop(Size to, int64_t beside = 0) : size(to), padding(beside) {}
  Tensor operator()(const Tensor& x) const;
  Size size;
  int64_t padding;
};
// A part of `scale` of the area and with `ratio` of width to height, made `size`.
struct RandomResizedCrop {
  RandomResizedCrop(Size to, std::pair<double, double> area = {0.08, 1},
                    std::pair<double, double> sides = {3.0 / 4, 4.0 / 3});
  Tensor operator()(const Tensor& x) const;
  Size size;
  std::pair<double, double> scale, ratio;
};
// Left and right exchanged with probability p.
struct RandomHorizontalFlip {
  RandomHorizontalFlip(double share = 0.5) : p(share) {}
  Tensor operator()(const Tensor& x) const;
  double p;
};
// Top and bottom exchanged with probability p.
struct RandomVerticalFlip {
  RandomVerticalFlip(double share = 0.5) : p(share) {}
  Tensor operator()(const Tensor& x) const;
  double p;
};
// Factors within [1 - b, 1 + b], not below 0; hues move within [-hue, hue].
struct ColorJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
  Tensor operator()(const Tensor& x) const;
};
// Zeros in a rectangle of `scale` of the area (Zhong et al., 2017).
struct RandomErasing {
  double p = 0.5;
  std::pair<double, double> scale = {0.02, 0.33}, ratio = {0.3, 3.3};
  double value = 0;
  Tensor operator()(const Tensor& x) const;
};

}  // namespace sardonyx::eager::data::transforms
