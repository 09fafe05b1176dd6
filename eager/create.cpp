#include "eager/create.h"

#include <numeric>

#include "eager/dispatch.h"
#include "eager/frame.h"
#include "eager/functional.h"
#include "ir/convert.h"
#include "ir/random.h"

namespace sardonyx::eager {
namespace {

Tensor finished(Tensor tensor, const CreateOptions& options) {
  if (options.requires_grad) tensor.set_requires_grad();
  return tensor;
}

sardonyx::Tensor filled(DType dtype, const Shape& shape, double value) {
  sardonyx::Tensor made = sardonyx::Tensor::zeros(dtype, shape);
  if (value == 0) return made;
  const std::vector<double> piece(256, value);
  for (int64_t at = 0; at < made.count(); at += 256)
    store_numbers(dtype, made.raw(), at, std::min<int64_t>(256, made.count() - at), piece.data());
  return made;
}

// Draws by the op where a trace records it, so that each run draws anew.
Tensor drawn(const Dims& shape, const CreateOptions& options, bool is_normal, const Loc& loc) {
  const std::optional<Shape> known = known_shape(shape);
  Frame* frame = Frame::active();
  if (known && frame && frame->records({})) {
    const OpDef& op = op_named(is_normal ? "RandomNormal" : "RandomUniform");
    return apply(op, {}, AttrMap{{"shape", *known}, {"dtype", static_cast<int64_t>(options.dtype)}},
                 loc);
  }
  if (!known) {
    const OpDef& op = op_named(is_normal ? "RandomNormalLike" : "RandomUniformLike");
    return apply(op, {full(shape, 0, options, loc)}, loc);
  }
  sardonyx::Tensor made = sardonyx::Tensor::allocate(options.dtype, *known);
  const RandomStream stream = next_random_stream();
  std::vector<double> piece(256);
  for (int64_t at = 0; at < made.count(); at += 256) {
    const int64_t count = std::min<int64_t>(256, made.count() - at);
    const auto draw = is_normal ? &RandomStream::normals : &RandomStream::uniforms;
    (stream.*draw)(static_cast<uint64_t>(at), static_cast<size_t>(count), piece.data());
    store_numbers(options.dtype, made.raw(), at, count, piece.data());
  }
  return Tensor(made);
}

}  // namespace

Tensor full(const Dims& shape, double value, CreateOptions options, Loc loc) {
  if (const std::optional<Shape> known = known_shape(shape))
    return finished(Tensor(filled(options.dtype, *known, value)), options);
  static const OpDef& expand = op_named("Expand");
  return apply(expand, {literal(value, options.dtype), dims_tensor(shape, loc)}, loc);
}
Tensor zeros(const Dims& shape, CreateOptions options, Loc loc) {
  return full(shape, 0, options, loc);
}
Tensor ones(const Dims& shape, CreateOptions options, Loc loc) {
  return full(shape, 1, options, loc);
}
Tensor full_like(const Tensor& x, double value, Loc loc) {
  return full(x.shape(), value, {.dtype = x.dtype()}, loc);
}
Tensor zeros_like(const Tensor& x, Loc loc) {
  return full_like(x, 0, loc);
}
Tensor ones_like(const Tensor& x, Loc loc) {
  return full_like(x, 1, loc);
}

Tensor arange(const Dim& begin, const Dim& end, int64_t step, CreateOptions options, Loc loc) {
  static const OpDef& range = op_named("Range");
  const Tensor from = dim_tensor(begin, loc), to = dim_tensor(end, loc);
  const Tensor counted = apply(range, {from, to, literal(sardonyx::Tensor::scalar(step))}, loc);
  return finished(counted.to(options.dtype, loc), options);
}
Tensor arange(const Dim& end, CreateOptions options, Loc loc) {
  return arange(0, end, 1, options, loc);
}

Tensor linspace(double begin, double end, int64_t count, CreateOptions options) {
  sardonyx::Tensor made = sardonyx::Tensor::allocate(options.dtype, {count});
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    // From the nearer end, so that both ends are exact.
    const double value = i < count / 2 ? begin + step * static_cast<double>(i)
                         : count == 1  ? begin
                                       : end - step * static_cast<double>(count - 1 - i);
    store_numbers(options.dtype, made.raw(), i, 1, &value);
  }
  return finished(Tensor(made), options);
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, CreateOptions options) {
  sardonyx::Tensor made = sardonyx::Tensor::zeros(options.dtype, {rows, columns.value_or(rows)});
  const double one = 1;
  for (int64_t i = 0; i < std::min(rows, columns.value_or(rows)); ++i)
    store_numbers(options.dtype, made.raw(), i * columns.value_or(rows) + i, 1, &one);
  return finished(Tensor(made), options);
}

void manual_seed(uint64_t seed) {
  set_random_seed(seed);
}
Tensor rand(const Dims& shape, CreateOptions options, Loc loc) {
  return finished(drawn(shape, options, false, loc), options);
}
Tensor randn(const Dims& shape, CreateOptions options, Loc loc) {
  return finished(drawn(shape, options, true, loc), options);
}
Tensor rand_like(const Tensor& x, Loc loc) {
  return rand(x.shape(), {.dtype = x.dtype()}, loc);
}
Tensor randn_like(const Tensor& x, Loc loc) {
  return randn(x.shape(), {.dtype = x.dtype()}, loc);
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, CreateOptions options) {
  if (low >= high) {
    fail(ErrorCode::kInvalidArgument, "randint: expected low below high, got ", low, " and ", high);
  }
  sardonyx::Tensor made = sardonyx::Tensor::allocate(options.dtype, shape);
  const RandomStream stream = next_random_stream();
  for (int64_t i = 0; i < made.count(); ++i) {
    const double span = static_cast<double>(high) - static_cast<double>(low);
    const auto value = low + static_cast<int64_t>(stream.uniform(static_cast<uint64_t>(i)) * span);
    store_numbers(options.dtype, made.raw(), i, 1, &value);
  }
  return Tensor(made);
}

Tensor randperm(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  const RandomStream stream = next_random_stream();
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(stream.uniform(i) * static_cast<double>(i))]);
  return tensor(order);
}

}  // namespace sardonyx::eager
