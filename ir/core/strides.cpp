#include "ir/core/strides.h"

#include "ir/core/error.h"

namespace sardonyx {

Strides row_major_strides(std::span<const int64_t> shape) {
  Strides strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    // Only an empty tensor's strides can overflow, and those are never followed.
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[i], 1), &step)) step = 0;
  }
  return strides;
}

AxisSplit split_at(std::span<const int64_t> shape, size_t axis) {
  SARDONYX_CHECK(axis < shape.size());
  AxisSplit split;
  for (size_t i = 0; i < axis; ++i)
    split.outer *= shape[i];
  split.size = shape[axis];
  for (size_t i = axis + 1; i < shape.size(); ++i)
    split.inner *= shape[i];
  return split;
}

std::optional<Shape> try_broadcast(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape result(a.begin(), a.end());
  const size_t lead = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& dim = result[lead + i];
    if (dim == 1)
      dim = b[i];
    else if (b[i] != 1 && b[i] != dim)
      return std::nullopt;
  }
  return result;
}

std::optional<Dims> try_broadcast(const Dims& a, const Dims& b,
                                  const std::function<Dim()>& unknown) {
  if (a.size() < b.size()) return try_broadcast(b, a, unknown);
  Dims result = a;
  const size_t lead = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& dim = result[lead + i];
    const Dim& other = b[i];
    if (dim == other || other == 1) continue;
    if (dim == 1)
      dim = other;
    else if (dim.is_known() && other.is_known())
      return std::nullopt;
    else if (other.is_known())
      dim = other;  // the symbol must be 1 or the same
    else if (!dim.is_known())
      dim = unknown();
  }
  return result;
}

Strides broadcast_strides(std::span<const int64_t> shape, std::span<const int64_t> target) {
  SARDONYX_CHECK(shape.size() <= target.size());
  const size_t lead = target.size() - shape.size();
  const Strides own = row_major_strides(shape);
  Strides strides(target.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    SARDONYX_CHECK(shape[i] == 1 || shape[i] == target[lead + i]);
    if (shape[i] != 1) strides[lead + i] = own[i];
  }
  return strides;
}

RowWalk::RowWalk(std::span<const int64_t> shape, std::span<const Strides> strides)
    : operands_(strides.size()), steps_(strides.size(), 0) {
  empty_ = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (empty_) return;
  // From the innermost dim outwards: a dim that every operand passes evenly after the last kept one
  // joins it. The first that is kept is the row.
  bool has_row = false;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    int64_t& size = outer_.empty() ? length_ : outer_.back();
    const int64_t* steps =
        outer_.empty() ? steps_.data() : &outer_steps_[outer_steps_.size() - operands_];
    bool joins = has_row;
    for (size_t k = 0; joins && k < operands_; ++k)
      joins = strides[k][i] == steps[k] * size;
    if (joins) {
      size *= shape[i];
    } else if (!has_row) {
      has_row = true;
      length_ = shape[i];
      for (size_t k = 0; k < operands_; ++k)
        steps_[k] = strides[k][i];
    } else {
      outer_.push_back(shape[i]);
      for (size_t k = 0; k < operands_; ++k)
        outer_steps_.push_back(strides[k][i]);
    }
  }
}

RowWalk broadcast_walk(std::span<const int64_t> target,
                       std::span<const std::span<const int64_t>> shapes) {
  constexpr size_t kUsual = 8;  // operands of which no vector is made
  Strides few[kUsual];
  std::vector<Strides> many(shapes.size() < kUsual ? 0 : shapes.size() + 1);
  const std::span<Strides> strides(many.empty() ? few : many.data(), shapes.size() + 1);
  strides[0] = row_major_strides(target);
  for (size_t i = 0; i < shapes.size(); ++i)
    strides[i + 1] = broadcast_strides(shapes[i], target);
  return RowWalk(target, strides);
}

}  // namespace sardonyx
