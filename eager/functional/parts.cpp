#include "eager/functional/parts.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

std::vector<Tensor> each_by(Tensor (*change)(const Tensor&, Loc), const std::vector<Tensor>& all,
                            const Loc& loc) {
  std::vector<Tensor> changed;
  for (const Tensor& one : all)
    changed.push_back(change(one, loc));
  return changed;
}
void require_rank(const Tensor& x, size_t least, const char* function, const Loc& loc) {
  require_defined(x, function, "x", loc);
  if (x.rank() < least)
    fail_at(loc, function, ": expected at least ", least, " axes, got ", x.type());
}

struct SourceReduction {
  std::string_view name, onnx;
  double neutral;  // what changes nothing
};
constexpr SourceReduction kSourceReductions[] = {{"sum", "add", 0},
                                                 {"mean", "add", 0},
                                                 {"prod", "mul", 1},
                                                 {"amax", "max", -INFINITY},
                                                 {"amin", "min", INFINITY}};

const SourceReduction& reduction_of(std::string_view name, const Loc& loc) {
  for (const SourceReduction& one : kSourceReductions) {
    if (one.name == name) return one;
  }
  fail_at(loc, "scatter_reduce: expected sum, prod, mean, amax or amin, got ", name);
}
// x with what changes nothing in the places that `source` goes to: of integers there is no
// infinity, but one of the elements that go there will do.
Tensor without_self(const SourceReduction& how, const Tensor& x, int64_t axis,
                    const Tensor& indices, const Tensor& source, const Loc& loc) {
  const bool has_neutral = is_floating(x.dtype()) || std::isfinite(how.neutral);
  const Tensor start = has_neutral ? full_like(source, how.neutral, loc) : source;
  return scatter(x, axis, indices, start, "none", loc);
}

}  // namespace

Tensor concat(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  return cat(tensors, axis, loc);
}
Tensor dstack(const std::vector<Tensor>& tensors, Loc loc) {
  return cat(each_by(&atleast_3d, tensors, loc), 2, loc);
}
Tensor column_stack(const std::vector<Tensor>& tensors, Loc loc) {
  std::vector<Tensor> columns;
  for (const Tensor& one : tensors) {
    require_defined(one, "column_stack", "a tensor", loc);
    columns.push_back(one.rank() < 2 ? one.reshape({-1, 1}, loc) : one);
  }
  return cat(columns, 1, loc);
}
std::vector<Tensor> hsplit(const Tensor& x, int64_t count, Loc loc) {
  require_rank(x, 1, "hsplit", loc);
  return tensor_split(x, count, x.rank() == 1 ? 0 : 1, loc);
}
std::vector<Tensor> vsplit(const Tensor& x, int64_t count, Loc loc) {
  require_rank(x, 2, "vsplit", loc);
  return tensor_split(x, count, 0, loc);
}
std::vector<Tensor> dsplit(const Tensor& x, int64_t count, Loc loc) {
  require_rank(x, 3, "dsplit", loc);
  return tensor_split(x, count, 2, loc);
}
Tensor fliplr(const Tensor& x, Loc loc) {
  require_rank(x, 2, "fliplr", loc);
  return flip(x, 1, loc);
}
Tensor flipud(const Tensor& x, Loc loc) {
  require_rank(x, 1, "flipud", loc);
  return flip(x, 0, loc);
}
Tensor atleast_1d(const Tensor& x, Loc loc) {
  require_defined(x, "atleast_1d", "x", loc);
  return x.rank() < 1 ? x.reshape({1}, loc) : x;
}
Tensor atleast_2d(const Tensor& x, Loc loc) {
  require_defined(x, "atleast_2d", "x", loc);
  return x.rank() < 2 ? x.reshape({1, -1}, loc) : x;
}
Tensor atleast_3d(const Tensor& x, Loc loc) {
  require_defined(x, "atleast_3d", "x", loc);
  if (x.rank() < 2) return x.reshape({1, -1, 1}, loc);
  return x.rank() == 2 ? x.unsqueeze(-1, loc) : x;
}
Tensor block_diag(const std::vector<Tensor>& matrices, Loc loc) {
  std::vector<Tensor> rows;
  sardonyx::Dim width = 0, before = 0;
  for (const Tensor& one : matrices)
    width += atleast_2d(one, loc).size(1, loc);
  for (const Tensor& one : matrices) {
    const Tensor block = atleast_2d(one, loc);
    const sardonyx::Dim height = block.size(0, loc), own = block.size(1, loc);
    const auto none = [&](const sardonyx::Dim& columns) {
      return zeros({height, columns}, {.dtype = block.dtype()}, loc);
    };
    rows.push_back(cat({none(before), block, none(width - before - own)}, 1, loc));
    before += own;
  }
  return cat(rows, 0, loc);
}
Tensor cartesian_prod(const std::vector<Tensor>& vectors, Loc loc) {
  if (vectors.size() == 1) return vectors[0];
  return stack(each_by([](const Tensor& x, Loc at) { return x.reshape({-1}, at); },
                       meshgrid(vectors, "ij", loc), loc),
               1, loc);
}

Tensor argwhere(const Tensor& x, Loc loc) {
  return nonzero(x, loc);
}
std::vector<Tensor> where(const Tensor& condition, Loc loc) {
  require_defined(condition, "where", "the condition", loc);
  const Tensor places = nonzero(condition, loc);
  std::vector<Tensor> axes;
  for (size_t axis = 0; axis < condition.rank(); ++axis)
    axes.push_back(places.select(1, static_cast<int64_t>(axis), loc));
  return axes;
}

Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t axis, int64_t index, Loc loc) {
  require_defined(x, "select_scatter", "x", loc);
  require_defined(source, "select_scatter", "the source", loc);
  std::vector<Index> places(normalized_axis(axis, x.rank(), "select_scatter", loc), Slice{});
  places.emplace_back(index);
  return x.index_put(places, source, false, loc);
}
Tensor slice_scatter(const Tensor& x, const Tensor& source, int64_t axis, const Slice& range,
                     Loc loc) {
  require_defined(x, "slice_scatter", "x", loc);
  require_defined(source, "slice_scatter", "the source", loc);
  std::vector<Index> places(normalized_axis(axis, x.rank(), "slice_scatter", loc), Slice{});
  places.emplace_back(range);
  return x.index_put(places, source, false, loc);
}
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset, int64_t a, int64_t b,
                        Loc loc) {
  require_defined(x, "diagonal_scatter", "x", loc);
  require_defined(source, "diagonal_scatter", "the source", loc);
  const auto rows = static_cast<int64_t>(normalized_axis(a, x.rank(), "diagonal_scatter", loc));
  const auto columns = static_cast<int64_t>(normalized_axis(b, x.rank(), "diagonal_scatter", loc));
  const Tensor matrices = movedim(x, {rows, columns}, {-2, -1}, loc);
  const Tensor each = arange(source.size(-1, loc), {.dtype = DType::kInt64}, loc);
  const Tensor down = add({each, loc}, std::max<int64_t>(-offset, 0));
  const Tensor right = add({each, loc}, std::max<int64_t>(offset, 0));
  return movedim(matrices.index_put({Ellipsis{}, down, right}, source, false, loc), {-2, -1},
                 {rows, columns}, loc);
}
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& indices, Number value, Loc loc) {
  require_defined(x, "scatter", "x", loc);
  require_defined(indices, "scatter", "the indices", loc);
  const Tensor source = full(indices.shape(loc), value, {.dtype = x.dtype()}, loc);
  return scatter(x, axis, indices, source, "none", loc);
}
Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                      std::string_view reduction, bool include_self, Loc loc) {
  require_defined(x, "scatter_reduce", "x", loc);
  require_defined(indices, "scatter_reduce", "the indices", loc);
  const SourceReduction& how = reduction_of(reduction, loc);
  require_defined(source, "scatter_reduce", "the source", loc);
  const Tensor start = include_self ? x : without_self(how, x, axis, indices, source, loc);
  const Tensor found = scatter(start, axis, indices, source, how.onnx, loc);
  if (reduction != "mean") return found;
  if (!is_floating(x.dtype()))
    fail_at(loc, "scatter_reduce: the mean wants floating elements, got ", x.type());
  const Tensor none = zeros_like(x.detach(), loc), ones = ones_like(source.detach(), loc);
  const Tensor counts = scatter(none, axis, indices, ones, "add", loc);
  // Places that nothing goes to keep what stands there.
  const Tensor divisors = include_self ? add({counts, loc}, 1) : clamp(counts, 1, {}, loc);
  return div({found, loc}, divisors);
}

}  // namespace sardonyx::eager
