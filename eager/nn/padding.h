// Padding as layers; eager::pad() with a mode is the function. Sizes are one number for all sides,
// or torch's order: {before, after} of the last axis, then of the one before it.
#pragma once

#include "eager/nn/module.h"
#include "eager/nn/sizes.h"

namespace sardonyx::eager::nn {

// What the padding layers share: x [N, C, spatial...] to [N, C, spatial + before + after ...].
// forward() throws kInvalidArgument where x has another number of axes, or is too small for what is
// to be taken from it.
class Padding : public Layer<Padding> {
 public:
  Tensor forward(const Tensor& x) const;

 protected:
  Padding(const char* name, size_t axes, const Sizes& pads, std::string mode, Number value,
          Loc loc);

 private:
  size_t axes_;
  std::vector<int64_t> pads_;
  std::string mode_;
  Number value_;
};

// Elements of one value around x. Negative sizes cut elements off.
template <size_t axes>
class ConstantPad : public Padding {
 public:
  ConstantPad(const Sizes& pads, Number value, Loc loc = Loc::current())
      : Padding("ConstantPad", axes, pads, "constant", value, loc) {}
};
// Zeros around x.
template <size_t axes>
class ZeroPad : public Padding {
 public:
  explicit ZeroPad(const Sizes& pads, Loc loc = Loc::current())
      : Padding("ZeroPad", axes, pads, "constant", 0, loc) {}
};
// x mirrored at its first and last elements, which are not repeated; a size must be below x's.
template <size_t axes>
class ReflectionPad : public Padding {
 public:
  explicit ReflectionPad(const Sizes& pads, Loc loc = Loc::current())
      : Padding("ReflectionPad", axes, pads, "reflect", 0, loc) {}
};
// The first and last elements of each axis repeated, however large the sizes are; x must not be
// empty.
template <size_t axes>
class ReplicationPad : public Padding {
 public:
  explicit ReplicationPad(const Sizes& pads, Loc loc = Loc::current())
      : Padding("ReplicationPad", axes, pads, "replicate", 0, loc) {}
};
// x as if it were one period of a signal; a size must not be above x's.
template <size_t axes>
class CircularPad : public Padding {
 public:
  explicit CircularPad(const Sizes& pads, Loc loc = Loc::current())
      : Padding("CircularPad", axes, pads, "circular", 0, loc) {}
};

// By the number of spatial axes: x is [N, C, L], [N, C, H, W] or [N, C, D, H, W].
using ConstantPad1d = ConstantPad<1>;
using ConstantPad2d = ConstantPad<2>;
using ConstantPad3d = ConstantPad<3>;
using ZeroPad1d = ZeroPad<1>;
using ZeroPad2d = ZeroPad<2>;
using ZeroPad3d = ZeroPad<3>;
using ReflectionPad1d = ReflectionPad<1>;
using ReflectionPad2d = ReflectionPad<2>;
using ReflectionPad3d = ReflectionPad<3>;
using ReplicationPad1d = ReplicationPad<1>;
using ReplicationPad2d = ReplicationPad<2>;
using ReplicationPad3d = ReplicationPad<3>;
using CircularPad1d = CircularPad<1>;
using CircularPad2d = CircularPad<2>;
using CircularPad3d = CircularPad<3>;

}  // namespace sardonyx::eager::nn
