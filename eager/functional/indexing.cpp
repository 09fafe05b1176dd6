// Tensor::index: basic indexing, and tensors of indices as in torch.
#include <algorithm>
#include <numeric>
#include <utility>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager {
namespace {

// Axes that a place takes of the tensor.
size_t axes_of(const Index& place) {
  if (std::holds_alternative<NewAxis>(place) || std::holds_alternative<Ellipsis>(place)) return 0;
  const Tensor* tensor = std::get_if<Tensor>(&place);
  return tensor && tensor->dtype() == DType::kBool ? tensor->rank() : 1;
}

// An index tensor and the axis that it picks from.
struct Picked {
  size_t axis;
  Tensor indices;
};

// Picks elements along axes in ascending order; the shapes of the indices broadcast to the new
// axes. These take the place of axes that stand side by side, else they come first.
Tensor pick(const Tensor& x, std::vector<Picked> picked, const Loc& loc) {
  const size_t first = picked[0].axis, count = picked.size();
  if (count == 1) return index_select(x, static_cast<int64_t>(first), picked[0].indices, loc);
  static const OpDef& gather_nd = op_named("GatherND");
  static const OpDef& expand = op_named("Expand");
  static const OpDef& shape = op_named("Shape");
  // The indexed axes go to the front, where GatherND wants them.
  std::vector<int64_t> order;
  for (const Picked& one : picked)
    order.push_back(static_cast<int64_t>(one.axis));
  for (int64_t axis = 0; axis < x.dim(); ++axis) {
    if (std::find(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), axis) ==
        order.begin() + static_cast<ptrdiff_t>(count))
      order.push_back(axis);
  }
  Tensor common = picked[0].indices;
  for (size_t i = 1; i < count; ++i)
    common = add({common, loc}, picked[i].indices);
  const Tensor wanted = apply(shape, {common}, loc);
  std::vector<Tensor> indices;
  for (const Picked& one : picked)
    indices.push_back(apply(expand, {one.indices, wanted}, loc));
  const bool is_in_order = std::ranges::is_sorted(order);
  const Tensor moved = is_in_order ? x : x.permute(order, loc);
  const Tensor found = apply(gather_nd, {moved, stack(indices, -1, loc)}, loc);
  const bool is_one_run = picked.back().axis == first + count - 1;
  if (first == 0 || !is_one_run) return found;
  std::vector<int64_t> back(found.rank());
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin(), back.begin() + static_cast<ptrdiff_t>(common.rank()),
              back.begin() + static_cast<ptrdiff_t>(common.rank() + first));
  return found.permute(back, loc);
}

// A mask has the size of each axis that it picks from.
void check_mask(const Tensor& mask, const Tensor& x, size_t axis, const Loc& loc) {
  const Dims sizes = mask.shape(loc), all = x.shape(loc);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const sardonyx::Dim& size = all[axis + i];
    if (detail::sizes_agree(sizes[i], size, loc)) continue;
    fail_at(loc, "index: a mask ", mask.type(), " does not fit axis ", axis + i, " of ", x.type(),
            ": expected size ", size, ", got ", sizes[i]);
  }
}

// The int64 indices that a place with a tensor stands for.
std::vector<Tensor> indices_of(const Tensor& place, const Loc& loc) {
  if (place.dtype() != DType::kBool) {
    if (is_integer(place.dtype())) return {place};
    fail_at(loc, "index: expected indices of integers or a mask of bools, got ", place.type());
  }
  static const OpDef& non_zero = op_named("NonZero");
  const Tensor found = apply(non_zero, {place}, loc);
  std::vector<Tensor> indices;
  for (size_t i = 0; i < place.rank(); ++i)
    indices.push_back(found.select(0, static_cast<int64_t>(i), loc));
  return indices;
}

// Values broadcast to the places, not the other way round.
void check_values(const Tensor& values, const Tensor& places, const Loc& loc) {
  const Dims from = values.shape(loc), to = places.shape(loc);
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const sardonyx::Dim &size = from[from.size() - 1 - i], &wanted = to[to.size() - 1 - i];
    fits = size == 1 || detail::sizes_agree(size, wanted, loc) || detail::sizes_agree(size, 1, loc);
  }
  if (fits) return;
  fail_at(loc, "index_put: values ", values.type(), " do not broadcast to the places ",
          to_text(to));
}

}  // namespace

Tensor Tensor::index(const std::vector<Index>& places, Loc loc) const {
  require_defined(*this, "index", "the tensor", loc);
  size_t taken = 0, ellipses = 0;
  for (const Index& place : places) {
    if (const Tensor* tensor = std::get_if<Tensor>(&place))
      require_defined(*tensor, "index", "a place", loc);
    taken += axes_of(place);
    ellipses += std::holds_alternative<Ellipsis>(place);
  }
  if (ellipses > 1 || taken > rank()) {
    fail_at(loc, "index: ", taken, " axes and ", ellipses, " ellipses for a tensor ", type());
  }
  Tensor result = *this;
  size_t axis = 0;
  std::vector<Picked> picked;
  for (const Index& place : places) {
    if (const Tensor* tensor = std::get_if<Tensor>(&place)) {
      if (tensor->dtype() == DType::kBool) check_mask(*tensor, result, axis, loc);
      for (Tensor& index : indices_of(*tensor, loc))
        picked.push_back({axis++, std::move(index)});
    } else if (const auto* at = std::get_if<int64_t>(&place)) {
      result = result.select(static_cast<int64_t>(axis), *at, loc);
    } else if (const auto* range = std::get_if<Slice>(&place)) {
      const bool is_all = !range->begin && !range->end && range->step == 1;
      if (!is_all) result = result.slice(static_cast<int64_t>(axis), *range, loc);
      ++axis;
    } else if (std::holds_alternative<NewAxis>(place)) {
      result = result.unsqueeze(static_cast<int64_t>(axis++), loc);
    } else {
      axis += rank() - taken;
    }
  }
  return picked.empty() ? result : pick(result, std::move(picked), loc);
}

Tensor Tensor::index_put(const std::vector<Index>& places, const Tensor& values, bool accumulate,
                         Loc loc) const {
  require_defined(*this, "index_put", "the tensor", loc);
  require_defined(values, "index_put", "the values", loc);
  if (values.dtype() != dtype()) {
    fail_at(loc, "index_put: expected values of ", dtype(), ", got ", values.type(),
            "; convert them with to()");
  }
  // Which elements the places name, by their numbers in row-major order.
  const Tensor numbers =
      arange(numel(loc), {.dtype = DType::kInt64}, loc).reshape(shape(loc), loc).index(places, loc);
  check_values(values, numbers, loc);
  static const OpDef& expand = op_named("Expand");
  static const OpDef& shape_op = op_named("Shape");
  const Tensor spread = apply(expand, {values, apply(shape_op, {numbers}, loc)}, loc);
  const Tensor changed =
      eager::scatter(reshape({-1}, loc), 0, numbers.reshape({-1}, loc), spread.reshape({-1}, loc),
                     accumulate ? "add" : "none", loc);
  return changed.reshape(shape(loc), loc);
}

}  // namespace sardonyx::eager
