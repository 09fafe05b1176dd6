// Methods of Tensor as functions, in torch's order of arguments.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

inline Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                  Loc loc = Loc::current()) {
  return x.sum(axes, keepdim, loc);
}
inline Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                   Loc loc = Loc::current()) {
  return x.mean(axes, keepdim, loc);
}
inline Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                   Loc loc = Loc::current()) {
  return x.amax(axes, keepdim, loc);
}
inline Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                   Loc loc = Loc::current()) {
  return x.amin(axes, keepdim, loc);
}
inline Tensor reshape(const Tensor& x, const Dims& shape, Loc loc = Loc::current()) {
  return x.reshape(shape, loc);
}
inline Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1,
                      Loc loc = Loc::current()) {
  return x.flatten(first, last, loc);
}
inline Tensor squeeze(const Tensor& x, const Axes& axes = {}, Loc loc = Loc::current()) {
  return x.squeeze(axes, loc);
}
inline Tensor unsqueeze(const Tensor& x, int64_t axis, Loc loc = Loc::current()) {
  return x.unsqueeze(axis, loc);
}
inline Tensor permute(const Tensor& x, const Axes& axes, Loc loc = Loc::current()) {
  return x.permute(axes, loc);
}
inline Tensor transpose(const Tensor& x, int64_t a, int64_t b, Loc loc = Loc::current()) {
  return x.transpose(a, b, loc);
}
inline Tensor select(const Tensor& x, int64_t axis, int64_t index, Loc loc = Loc::current()) {
  return x.select(axis, index, loc);
}
inline Tensor clone(const Tensor& x, Loc loc = Loc::current()) {
  return x.clone(loc);
}

}  // namespace sardonyx::eager
