#include "eager/functional/arrange.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

int64_t positive(int64_t axis, size_t rank, const char* what, const Loc& loc) {
  return static_cast<int64_t>(normalized_axis(axis, rank, what, loc));
}

// x spread to the shape that it and `other` broadcast to.
Tensor spread_over(const Tensor& x, const Tensor& other, const Loc& loc) {
  static const OpDef& expand = op_named("Expand");
  static const OpDef& shape = op_named("Shape");
  return apply(expand, {x, apply(shape, {other}, loc)}, loc);
}

// [0, n) for an axis of x, shaped so that it is along `axis` of `rank` axes.
Tensor places_along(const Dim& size, int64_t axis, size_t rank, const Loc& loc) {
  Dims shape(rank, 1);
  shape[static_cast<size_t>(axis)] = size;
  return arange(Dim(0), size, 1, {.dtype = DType::kInt64}, loc).reshape(shape, loc);
}

// Where the target is little behind the source by the last 12 bits of their addresses, CPUs take
// loads for ones of what was just stored, and wait. Not so from the end on, by pieces that are
// loaded before they are stored.
void copy_bytes(const std::byte* from, std::byte* to, size_t bytes) {
  constexpr size_t kPiece = 512, kPage = 4096;
  const size_t behind =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  const size_t piece = behind == 0 || behind >= kPiece ? bytes : kPiece;
  for (size_t end = bytes; end > 0;) {
    const size_t count = std::min(piece, end);
    end -= count;
    std::memcpy(to + end, from + end, count);
  }
}

// Values outside of traces: both parts of each row go to their places in one pass.
Tensor rolled_value(const Tensor& x, int64_t first, size_t axis, const Loc& loc) {
  const sardonyx::Tensor& from = x.data(loc);
  sardonyx::Tensor to = sardonyx::Tensor::allocate(from.dtype(), from.shape());
  const auto size = static_cast<size_t>(from.shape()[axis]);
  const auto rows =
      std::accumulate(from.shape().begin(), from.shape().begin() + static_cast<ptrdiff_t>(axis),
                      int64_t{1}, std::multiplies<>());
  if (from.count() == 0) return Tensor(to);
  const size_t row = from.bytes() / static_cast<size_t>(rows);
  const size_t head = row / size * static_cast<size_t>(first), tail = row - head;
  const auto* source = static_cast<const std::byte*>(from.raw());
  auto* target = static_cast<std::byte*>(to.raw());
  constexpr int64_t kElementsPerThread = 1 << 16;
  const auto threads =
      static_cast<int>(std::min<int64_t>(num_threads(), from.count() / kElementsPerThread + 1));
  const ThreadScope scope(threads);
  parallel_for(rows, threads, [&](int64_t begin, int64_t end, int) {
    for (auto at = static_cast<size_t>(begin) * row; at < static_cast<size_t>(end) * row;
         at += row) {
      copy_bytes(source + at + head, target + at, tail);
      copy_bytes(source + at, target + at + tail, head);
    }
  });
  return Tensor(to);
}

// Elements [from, to) of an axis, then what is before them.
Tensor rolled(const Tensor& x, int64_t shift, int64_t axis, const Loc& loc) {
  const Dim size = x.size(axis, loc);
  if (!size.is_known()) {
    const Tensor places = arange(Dim(0), size, 1, {.dtype = DType::kInt64}, loc);
    const Tensor from = remainder(sub({places, loc}, shift), {dim_tensor(size, loc), loc});
    return index_select(x, axis, from, loc);
  }
  // What was rolled is rolled back.
  if (!TraceContext::active() && is_grad_enabled() && x.requires_grad()) {
    using Tensors = std::vector<Tensor>;
    const auto there = [=](const Tensors& in) { return Tensors{rolled(in[0], shift, axis, loc)}; };
    const auto back = [=](const Tensors&, const Tensors&, const Tensors& d) {
      return Tensors{rolled(d[0], -shift, axis, loc)};
    };
    return apply(CustomFunction{there, back}, {x}, loc)[0];
  }
  const int64_t count = size.value();
  if (count == 0) return x;
  const int64_t first = ((-shift % count) + count) % count;
  if (first == 0) return x;
  const bool has_value = !TraceContext::active() && !x.is_symbolic() &&
                         !(is_grad_enabled() && x.requires_grad()) && x.dtype() != DType::kString &&
                         bits_of(x.dtype()) >= 8;
  if (has_value)
    return rolled_value(x, first, static_cast<size_t>(positive(axis, x.rank(), "roll", loc)), loc);
  return cat({x.slice(axis, {Dim(first), {}}, loc), x.slice(axis, {{}, Dim(first)}, loc)}, axis,
             loc);
}

// Slices along `axis` first, then the other axes in their order.
Tensor to_front(const Tensor& x, int64_t axis, const Loc& loc) {
  return axis == 0 ? x : movedim(x, {axis}, {0}, loc);
}

// ScatterND of slices along an axis.
Tensor scatter_slices(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                      const char* what, const char* reduction, const Loc& loc) {
  require_defined(x, what, "x", loc);
  require_defined(indices, what, "the indices", loc);
  require_defined(source, what, "the source", loc);
  static const OpDef& op = op_named("ScatterND");
  if (indices.rank() != 1 || source.rank() != x.rank()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", what,
         ": expected indices [n] and a source of x's rank, got ", indices.type(), " and ",
         source.type(), " for x ", x.type());
  }
  const int64_t at = positive(axis, x.rank(), what, loc);
  const Tensor rows = indices.to(DType::kInt64, loc).unsqueeze(-1, loc);
  const Tensor done =
      apply(op, {to_front(x, at, loc), rows, to_front(source.to(x.dtype(), loc), at, loc)},
            {{"reduction", std::string(reduction)}}, loc);
  return at == 0 ? done : movedim(done, {0}, {at}, loc);
}

// What is at the other end comes before and after.
Tensor circular(const Tensor& x, int64_t axis, int64_t before, int64_t after, const Loc& loc) {
  const Dim size = x.size(axis, loc);
  const int64_t most = std::max(before, after);
  if (std::min(before, after) < 0 || !size_reaches(size, most, loc)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": pad: circular pads of axis ", axis, " of ",
         x.type(), ": expected numbers from 0 to its size, got ", before, " and ", after);
  }
  std::vector<Tensor> parts{x};
  if (before > 0) parts.insert(parts.begin(), x.slice(axis, {Dim(-before), {}}, loc));
  if (after > 0) parts.push_back(x.slice(axis, {{}, Dim(after)}, loc));
  return parts.size() == 1 ? x : cat(parts, axis, loc);
}

// min(a, b), asked of the trace where sizes are open.
Dim lesser(const Dim& a, const Dim& b) {
  return proved_equal(a, b) || a < b ? a : b;
}

Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool upper) {
  std::vector<int64_t> row_numbers, column_numbers;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      if (upper ? column - row < offset : column - row > offset) continue;
      row_numbers.push_back(row);
      column_numbers.push_back(column);
    }
  }
  const auto count = static_cast<int64_t>(row_numbers.size());
  row_numbers.insert(row_numbers.end(), column_numbers.begin(), column_numbers.end());
  return Tensor::of(row_numbers, {2, count});
}

}  // namespace

Tensor flip(const Tensor& x, const Axes& axes, Loc loc) {
  static const OpDef& op = op_named("Slice");
  const std::vector<int64_t> backwards(axes.size(), -1), all(axes.size(), INT64_MIN);
  if (axes.empty()) return x;
  return apply(op, {x, int64s(backwards), int64s(all), int64s(axes), int64s(backwards)}, loc);
}
Tensor roll(const Tensor& x, const IntList& shifts, const Axes& axes, Loc loc) {
  require_defined(x, "roll", "x", loc);
  const bool is_flat = axes.empty() && shifts.size() == 1;
  if (is_flat) return rolled(x.reshape({-1}, loc), shifts[0], 0, loc).reshape(x.shape(loc), loc);
  if (axes.size() != shifts.size()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": roll: expected a shift for each axis, got ",
         shifts.size(), " for ", axes.size());
  }
  Tensor found = x;
  for (size_t i = 0; i < axes.size(); ++i)
    found = rolled(found, shifts[i], axes[i], loc);
  return found;
}
Tensor rot90(const Tensor& x, int64_t times, int64_t from, int64_t to, Loc loc) {
  switch (((times % 4) + 4) % 4) {
    case 0:
      return x;
    case 1:
      return flip(x, {to}, loc).transpose(from, to, loc);
    case 2:
      return flip(x, {from, to}, loc);
    default:
      return flip(x.transpose(from, to, loc), {to}, loc);
  }
}
Tensor movedim(const Tensor& x, const IntList& from, const IntList& to, Loc loc) {
  require_defined(x, "movedim", "x", loc);
  std::vector<int64_t> order(x.rank(), -1);
  std::vector<bool> moves(x.rank(), false);
  bool fits = from.size() == to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const auto source = static_cast<size_t>(positive(from[i], x.rank(), "movedim", loc));
    const auto target = static_cast<size_t>(positive(to[i], x.rank(), "movedim", loc));
    fits = !moves[source] && order[target] < 0;
    moves[source] = true;
    order[target] = static_cast<int64_t>(source);
  }
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": movedim: expected as many different axes to move as places for them, got ",
         to_text(Shape(from)), " to ", to_text(Shape(to)));
  }
  size_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (moves[next])
      ++next;
    place = static_cast<int64_t>(next++);
  }
  return x.permute(order, loc);
}
Tensor swapaxes(const Tensor& x, int64_t a, int64_t b, Loc loc) {
  return x.transpose(a, b, loc);
}
Tensor unflatten(const Tensor& x, int64_t axis, const Dims& sizes, Loc loc) {
  require_defined(x, "unflatten", "x", loc);
  const Dims dims = x.shape(loc);
  const int64_t at = positive(axis, dims.size(), "unflatten", loc);
  const sardonyx::Dim& size = dims[static_cast<size_t>(at)];
  sardonyx::Dim others = 1;
  for (const sardonyx::Dim& part : sizes) {
    if (!(part == -1)) others = others * part;
  }
  // What -1 stands for is said where it can be, for reshape can't tell beside a size of 0.
  const bool can_divide = others.is_known() && others.value() > 0;
  const sardonyx::Dim rest = can_divide ? sardonyx::floor_div(size, others) : sardonyx::Dim(-1);
  Dims shape(dims.begin(), dims.begin() + at);
  sardonyx::Dim product = 1;
  for (const sardonyx::Dim& part : sizes) {
    shape.push_back(part == -1 ? rest : part);
    product = product * shape.back();
  }
  shape.insert(shape.end(), dims.begin() + at + 1, dims.end());
  if (can_divide && size.is_known() && !(product == size)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": unflatten: axis ", axis, " of ", x.type(),
         " can't be ", to_text(sizes));
  }
  return x.reshape(shape, loc);
}

Tensor repeat(const Tensor& x, const IntList& counts, Loc loc) {
  require_defined(x, "repeat", "x", loc);
  if (counts.size() < x.rank()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": repeat: expected at least ", x.rank(),
         " counts for ", x.type(), ", got ", counts.size());
  }
  Dims shape(counts.size() - x.rank(), 1);
  const Dims dims = x.shape(loc);
  shape.insert(shape.end(), dims.begin(), dims.end());
  return tile(counts.size() == x.rank() ? x : x.reshape(shape, loc), to_dims(counts), loc);
}
Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis, Loc loc) {
  require_defined(x, "repeat_interleave", "x", loc);
  if (count < 0) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": repeat_interleave: expected a count of at least 0, got ", count);
  }
  if (!axis) return repeat_interleave(x.reshape({-1}, loc), count, 0, loc);
  const int64_t at = positive(*axis, x.rank(), "repeat_interleave", loc);
  std::vector<int64_t> counts(x.rank() + 1, 1);
  counts[static_cast<size_t>(at) + 1] = count;
  Dims shape = x.shape(loc);
  shape[static_cast<size_t>(at)] = shape[static_cast<size_t>(at)] * sardonyx::Dim(count);
  return tile(x.unsqueeze(at + 1, loc), counts, loc).reshape(shape, loc);
}
// Result i comes from the first element whose counts, up to it, exceed i.
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int64_t> axis,
                         Loc loc) {
  require_defined(x, "repeat_interleave", "x", loc);
  require_defined(counts, "repeat_interleave", "the counts", loc);
  if (!axis) return repeat_interleave(x.reshape({-1}, loc), counts, 0, loc);
  if (counts.rank() != 1 || is_floating(counts.dtype())) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": repeat_interleave: expected integer counts [n], got ", counts.type());
  }
  static const OpDef& range = op_named("Range");
  const Tensor ends =
      cumsum(spread_over(counts.to(DType::kInt64, loc),
                         arange(Dim(0), x.size(*axis, loc), 1, {.dtype = DType::kInt64}, loc), loc),
             0, loc);
  const Tensor zero = literal(sardonyx::Tensor::scalar(int64_t{0}));
  const Tensor one = literal(sardonyx::Tensor::scalar(int64_t{1}));
  const Tensor last = cat({int64s({0}), ends}, 0, loc).amax({}, false, loc);
  const Tensor places = apply(range, {zero, last, one}, loc);
  const Tensor from = (Operand(ends, loc) <= places.unsqueeze(-1, loc)).sum({-1}, false, loc);
  return index_select(x, *axis, from, loc);
}
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors, Loc loc) {
  std::vector<Tensor> spread;
  for (const Tensor& tensor : tensors) {
    Tensor& one = spread.emplace_back(tensor);
    for (const Tensor& other : tensors) {
      if (!other.is_same(tensor)) one = spread_over(one, other, loc);
    }
  }
  return spread;
}
Tensor broadcast_to(const Tensor& x, const Dims& shape, Loc loc) {
  return x.expand(shape, loc);
}
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, std::string_view indexing,
                             Loc loc) {
  for (const Tensor& vector : vectors)
    require_defined(vector, "meshgrid", "a vector", loc);
  if (indexing != "ij" && indexing != "xy") {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": meshgrid: expected indexing ij or xy, got ",
         indexing);
  }
  const bool swaps = indexing == "xy" && vectors.size() > 1;
  std::vector<Tensor> placed;
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i].rank() > 1) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": meshgrid: expected vectors, got ",
           vectors[i].type());
    }
    Dims shape(vectors.size(), 1);
    shape[swaps && i < 2 ? 1 - i : i] = -1;
    placed.push_back(vectors[i].reshape(shape, loc));
  }
  return broadcast_tensors(placed, loc);
}

std::vector<Tensor> unbind(const Tensor& x, int64_t axis, Loc loc) {
  require_defined(x, "unbind", "x", loc);
  std::vector<Tensor> parts;
  const int64_t count = x.size(axis, loc).value();
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(x.select(axis, i, loc));
  return parts;
}
Tensor narrow(const Tensor& x, int64_t axis, const Dim& start, const Dim& length, Loc loc) {
  require_defined(x, "narrow", "x", loc);
  const Dim size = x.size(axis, loc);
  const auto reaches = [&](const Dim& a, const Dim& b) { return size_reaches(a, b, loc); };
  if (!reaches(start, 0) || !reaches(length, 0) || !reaches(size, start + length)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": narrow: expected a part of axis ", axis,
         " of ", x.type(), ", got ", length, " elements from ", start);
  }
  return x.slice(axis, {start, start + length}, loc);
}
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis, Loc loc) {
  require_defined(x, "split", "x", loc);
  if (size < 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": split: expected a size of at least 1, got ",
         size);
  }
  const int64_t total = x.size(axis, loc).value();
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < total; at += size)
    sizes.push_back(std::min(size, total - at));
  if (sizes.size() < 2) return {x};
  return split(x, sizes, axis, loc);
}
std::vector<Tensor> tensor_split(const Tensor& x, int64_t count, int64_t axis, Loc loc) {
  require_defined(x, "tensor_split", "x", loc);
  if (count < 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": tensor_split: expected a count of at least 1, got ", count);
  }
  const int64_t total = x.size(axis, loc).value();
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(total / count + (i < total % count ? 1 : 0));
  return split(x, sizes, axis, loc);
}
Tensor hstack(const std::vector<Tensor>& tensors, Loc loc) {
  for (const Tensor& tensor : tensors)
    require_defined(tensor, "hstack", "a tensor", loc);
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors)
    parts.push_back(tensor.rank() == 0 ? tensor.reshape({1}, loc) : tensor);
  return cat(parts, parts.empty() || parts[0].rank() == 1 ? 0 : 1, loc);
}
Tensor vstack(const std::vector<Tensor>& tensors, Loc loc) {
  for (const Tensor& tensor : tensors)
    require_defined(tensor, "vstack", "a tensor", loc);
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors)
    parts.push_back(tensor.rank() < 2 ? tensor.reshape({1, -1}, loc) : tensor);
  return cat(parts, 0, loc);
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, std::string_view mode, Number value,
           Loc loc) {
  require_defined(x, "pad", "x", loc);
  static const OpDef& op = op_named("Pad");
  const auto rank = static_cast<int64_t>(x.rank());
  const auto axes = static_cast<int64_t>(pads.size() / 2);
  if (pads.size() % 2 != 0 || axes > rank) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": pad: expected pairs {before, after} for at most the ", rank, " axes of ", x.type(),
         ", got ", pads.size(), " numbers");
  }
  const bool is_circular = mode == "circular";
  const bool is_constant = mode == "constant";
  if (!is_circular && !is_constant && mode != "reflect" && mode != "replicate") {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": pad: expected mode constant, reflect, replicate or circular, got ", mode);
  }
  std::vector<int64_t> all(2 * x.rank(), 0);
  Tensor padded = x;
  for (int64_t i = 0; i < axes; ++i) {
    const auto before = static_cast<size_t>(2 * i);
    const int64_t axis = rank - 1 - i;
    all[static_cast<size_t>(axis)] = pads[before];
    all[static_cast<size_t>(rank + axis)] = pads[before + 1];
    if (is_circular) padded = circular(padded, axis, pads[before], pads[before + 1], loc);
  }
  if (is_circular) return padded;
  if (is_constant) return apply(op, {x, int64s(all), literal(value, x.dtype())}, loc);
  const std::string name(mode == "reflect" ? "reflect" : "edge");
  return apply(op, {x, int64s(all)}, {{"mode", name}}, loc);
}

Tensor take(const Tensor& x, const Tensor& indices, Loc loc) {
  return index_select(x.reshape({-1}, loc), 0, indices, loc);
}
Tensor take_along_dim(const Tensor& x, const Tensor& indices, int64_t axis, Loc loc) {
  return gather(x, axis, indices, loc);
}
Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                  Loc loc) {
  return scatter_slices(x, axis, indices, source, "index_copy", "none", loc);
}
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                 Number alpha, Loc loc) {
  const Tensor added = alpha.is(1) ? source : mul({source, loc}, alpha);
  return scatter_slices(x, axis, indices, added, "index_add", "add", loc);
}
Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& indices, Number value, Loc loc) {
  require_defined(x, "index_fill", "x", loc);
  require_defined(indices, "index_fill", "the indices", loc);
  const int64_t at = positive(axis, x.rank(), "index_fill", loc);
  const Dim size = x.size(at, loc);
  const Tensor places = arange(Dim(0), size, 1, {.dtype = DType::kInt64}, loc);
  const Tensor counted =
      remainder({indices.to(DType::kInt64, loc), loc}, {dim_tensor(size, loc), loc});
  const Tensor named = Operand(places.unsqueeze(-1, loc), loc) == counted.reshape({1, -1}, loc);
  Dims shape(x.rank(), 1);
  shape[static_cast<size_t>(at)] = size;
  const Tensor hit = Operand(named.sum({1}, false, loc), loc) > 0;
  return masked_fill(x, hit.reshape(shape, loc), {value, loc});
}
Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                   Loc loc) {
  return scatter(x, axis, indices, source, "add", loc);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value) {
  require_defined(x, "masked_fill", "x", value.loc);
  require_defined(mask, "masked_fill", "the mask", value.loc);
  if (value.tensor) require_defined(*value.tensor, "masked_fill", "the value", value.loc);
  static const OpDef& op = op_named("Where");
  if (mask.dtype() != DType::kBool) {
    fail(ErrorCode::kInvalidArgument, text_of(value.loc),
         ": masked_fill: expected a mask of bools, got ", mask.type(), "; write mask != 0");
  }
  const Tensor filling =
      value.tensor ? value.tensor->to(x.dtype(), value.loc) : literal(value, x.dtype());
  return apply(op, {mask, filling, x}, value.loc);
}
Tensor masked_select(const Tensor& x, const Tensor& mask, Loc loc) {
  require_defined(x, "masked_select", "x", loc);
  require_defined(mask, "masked_select", "the mask", loc);
  static const OpDef& op = op_named("Compress");
  if (mask.dtype() != DType::kBool) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": masked_select: expected a mask of bools, got ", mask.type(), "; write mask != 0");
  }
  const std::vector<Tensor> both = broadcast_tensors({x, mask}, loc);
  return apply(op, {both[0].reshape({-1}, loc), both[1].reshape({-1}, loc)}, {{"axis", int64_t{0}}},
               loc);
}
// The k-th true element of the mask takes element k of the source.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Loc loc) {
  require_defined(x, "masked_scatter", "x", loc);
  require_defined(mask, "masked_scatter", "the mask", loc);
  require_defined(source, "masked_scatter", "the source", loc);
  if (mask.dtype() != DType::kBool || source.dtype() != x.dtype()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": masked_scatter: expected a mask of bools and a source of x's type, got ", mask.type(),
         " and ", source.type(), " for x ", x.type());
  }
  const Tensor hits = spread_over(mask, x, loc);
  const Tensor flat = hits.reshape({-1}, loc).to(DType::kInt64, loc);
  const Tensor places = mul({sub({cumsum(flat, 0, loc), loc}, 1), loc}, flat);
  // One element more, so that there is one to read where the source is empty.
  const Tensor elements =
      cat({source.reshape({-1}, loc), zeros({1}, {.dtype = x.dtype()}, loc)}, 0, loc);
  const Tensor read = index_select(elements, 0, places, loc).reshape(x.shape(loc), loc);
  return where(hits, {read, loc}, x);
}

Tensor diag(const Tensor& x, int64_t offset, Loc loc) {
  require_defined(x, "diag", "x", loc);
  if (x.rank() == 1) return diag_embed(x, offset, loc);
  if (x.rank() == 2) return diagonal(x, offset, 0, 1, loc);
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": diag: expected a vector or a matrix, got ",
       x.type(), "; diagonal() and diag_embed() take more axes");
}
// Element i of a diagonal is element i * (columns + 1) of the matrix from where it begins.
Tensor diagonal(const Tensor& x, int64_t offset, int64_t a, int64_t b, Loc loc) {
  require_defined(x, "diagonal", "x", loc);
  const int64_t row_axis = positive(a, x.rank(), "diagonal", loc);
  const int64_t column_axis = positive(b, x.rank(), "diagonal", loc);
  if (row_axis == column_axis) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": diagonal: expected two axes, got ", a,
         " twice");
  }
  const Tensor matrices = movedim(x, {row_axis, column_axis}, {-2, -1}, loc);
  const int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  const Tensor part = matrices.slice(-2, {Dim(down), {}}, loc).slice(-1, {Dim(right), {}}, loc);
  const Dim rows = part.size(-2, loc), columns = part.size(-1, loc);
  const Dim count = lesser(rows, columns);
  const Tensor each = arange(Dim(0), count, 1, {.dtype = DType::kInt64}, loc);
  const Tensor places = mul({each, loc}, {dim_tensor(columns + 1, loc), loc});
  return index_select(part.flatten(-2, -1, loc), -1, places, loc);
}
Tensor diag_embed(const Tensor& x, int64_t offset, Loc loc) {
  require_defined(x, "diag_embed", "x", loc);
  const Dim size = x.size(-1, loc) + std::abs(offset);
  const Tensor rows = places_along(size, 0, 2, loc), columns = places_along(size, 1, 2, loc);
  const Tensor is_on = Operand(sub({columns, loc}, rows), loc) == offset;
  const Tensor longer = offset == 0 ? x : [&] {
    Dims rest = x.shape(loc);
    rest.back() = std::abs(offset);
    return cat({x, zeros(rest, {.dtype = x.dtype()}, loc)}, -1, loc);
  }();
  return where(is_on, {longer.unsqueeze(offset < 0 ? -2 : -1, loc), loc}, 0);
}
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset) {
  return triangle_indices(rows, columns, offset, false);
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset) {
  return triangle_indices(rows, columns, offset, true);
}

}  // namespace sardonyx::eager
