#include "eager/create.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/random.h"

namespace sardonyx::eager {
namespace {

Tensor finished(Tensor tensor, const CreateOptions& options, const Loc& loc) {
  if (options.requires_grad) tensor.set_requires_grad(true, loc);
  return tensor;
}

int64_t checked_count(const char* function, int64_t count, const Loc& loc) {
  if (count >= 0) return count;
  fail_at(loc, function, ": expected a count of at least 0, got ", count);
}
void check_sizes(const char* function, const Shape& shape, const Loc& loc) {
  if (std::ranges::all_of(shape, [](int64_t size) { return size >= 0; })) return;
  fail_at(loc, function, ": expected sizes of at least 0, got ", to_text(shape));
}

constexpr int64_t kPiece = 1024;  // elements made at a time

template <typename Make>
void for_each_piece(int64_t count, const Make& make) {
  for (int64_t at = 0; at < count; at += kPiece)
    make(at, std::min(kPiece, count - at));
}

bool draws_in_graph() {
  TraceContext* frame = TraceContext::active();
  return frame && frame->root().records_draws;
}

void check_no_generator(const CreateOptions& options, const char* function, const Loc& loc) {
  if (!options.generator) return;
  fail_at(loc, function, ": a graph draws from the generator of each run, and takes none of its ",
          "own: call it under UseGenerator");
}

RandomStream stream_of(const CreateOptions& options) {
  return options.generator ? options.generator->source().next() : next_random_stream();
}

// Draws by the op where a trace records it, so that each run draws anew.
Tensor drawn(const Dims& shape, const CreateOptions& options, bool is_normal, const Loc& loc) {
  const std::optional<Shape> known = known_shape(shape);
  if (known) check_sizes(is_normal ? "randn" : "rand", *known, loc);
  if (draws_in_graph() || !known) check_no_generator(options, is_normal ? "randn" : "rand", loc);
  if (known && draws_in_graph()) {
    const OpDef& op = op_named(is_normal ? "RandomNormal" : "RandomUniform");
    return apply(op, {}, AttrMap{{"shape", *known}, {"dtype", static_cast<int64_t>(options.dtype)}},
                 loc);
  }
  if (!known) {
    const OpDef& op = op_named(is_normal ? "RandomNormalLike" : "RandomUniformLike");
    return apply(op, {full(shape, 0, {.dtype = options.dtype}, loc)}, loc);
  }
  if (!is_floating(options.dtype)) {
    fail_at(loc, is_normal ? "randn" : "rand", ": expected a floating type, got ", options.dtype,
            "; randint() gives integers");
  }
  auto made = at_line(loc, [&] { return sardonyx::Tensor::allocate(options.dtype, *known); });
  const RandomStream stream = stream_of(options);
  const auto draw = is_normal ? &RandomStream::normals : &RandomStream::uniforms;
  for_each_piece(made.count(), [&](int64_t at, int64_t count) {
    double piece[kPiece];
    (stream.*draw)(static_cast<uint64_t>(at), static_cast<size_t>(count), piece);
    store_numbers(options.dtype, made.raw(), at, count, piece);
  });
  return Tensor(made);
}

}  // namespace

Tensor full(const Dims& shape, Number value, CreateOptions options, Loc loc) {
  if (const std::optional<Shape> known = known_shape(shape)) {
    check_sizes("full", *known, loc);
    const auto made = at_line(loc, [&] { return filled(options.dtype, *known, value); });
    return finished(Tensor(made), options, loc);
  }
  static const OpDef& expand = op_named("Expand");
  return apply(expand, {literal(value, options.dtype), dims_tensor(shape, loc)}, loc);
}
Tensor zeros(const Dims& shape, CreateOptions options, Loc loc) {
  return full(shape, 0, options, loc);
}
Tensor ones(const Dims& shape, CreateOptions options, Loc loc) {
  return full(shape, 1, options, loc);
}
Tensor full_like(const Tensor& x, Number value, Loc loc) {
  require_defined(x, "full_like", "x", loc);
  return full(x.shape(loc), value, {.dtype = x.dtype()}, loc);
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
  return finished(counted.to(options.dtype, loc), options, loc);
}
Tensor arange(const Dim& end, CreateOptions options, Loc loc) {
  return arange(0, end, 1, options, loc);
}

Tensor fractions(double begin, double end, double step, CreateOptions options, const Loc& loc) {
  const double count = std::ceil((end - begin) / step);
  if (!std::isfinite(count) || count < 0) {
    fail_at(loc, "arange: expected a step from ", begin, " towards ", end, ", got ", step);
  }
  std::vector<double> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = begin + static_cast<double>(i) * step;
  return finished(tensor(numbers).to(options.dtype, loc), options, loc);
}
Tensor linspace(double begin, double end, int64_t count, CreateOptions options, Loc loc) {
  sardonyx::Tensor made =
      sardonyx::Tensor::allocate(options.dtype, {checked_count("linspace", count, loc)});
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    // From the nearer end, so that both ends are exact.
    const double value = i < count / 2 ? begin + step * static_cast<double>(i)
                         : count == 1  ? begin
                                       : end - step * static_cast<double>(count - 1 - i);
    store_numbers(options.dtype, made.raw(), i, 1, &value);
  }
  return finished(Tensor(made), options, loc);
}

Tensor logspace(double begin, double end, int64_t count, double base, CreateOptions options,
                Loc loc) {
  checked_count("logspace", count, loc);
  std::vector<double> powers =
      linspace(begin, end, count, {.dtype = DType::kDouble}, loc).to_vector<double>();
  for (double& power : powers)
    power = std::pow(base, power);
  return finished(tensor(powers).to(options.dtype, loc), options, loc);
}
Tensor eye(int64_t rows, std::optional<int64_t> columns, CreateOptions options, Loc loc) {
  const Shape shape{rows, columns.value_or(rows)};
  check_sizes("eye", shape, loc);
  sardonyx::Tensor made = sardonyx::Tensor::zeros(options.dtype, shape);
  const double one = 1;
  for (int64_t i = 0; i < std::min(rows, columns.value_or(rows)); ++i)
    store_numbers(options.dtype, made.raw(), i * columns.value_or(rows) + i, 1, &one);
  return finished(Tensor(made), options, loc);
}

Tensor rand(const Dims& shape, CreateOptions options, Loc loc) {
  return finished(drawn(shape, options, false, loc), options, loc);
}
Tensor randn(const Dims& shape, CreateOptions options, Loc loc) {
  return finished(drawn(shape, options, true, loc), options, loc);
}
Tensor rand_like(const Tensor& x, Loc loc) {
  require_defined(x, "rand_like", "x", loc);
  return rand(x.shape(loc), {.dtype = x.dtype()}, loc);
}
Tensor randn_like(const Tensor& x, Loc loc) {
  require_defined(x, "randn_like", "x", loc);
  return randn(x.shape(loc), {.dtype = x.dtype()}, loc);
}

Tensor randint(int64_t low, int64_t high, const Dims& shape, CreateOptions options, Loc loc) {
  if (low >= high) fail_at(loc, "randint: expected low below high, got ", low, " and ", high);
  const std::optional<Shape> known = known_shape(shape);
  if (known) check_sizes("randint", *known, loc);
  // The difference is exact in 64 bits without a sign, whatever the bounds.
  const auto first = static_cast<uint64_t>(low);
  const auto span = static_cast<double>(static_cast<uint64_t>(high) - first);
  if (draws_in_graph() || !known) {
    check_no_generator(options, "randint", loc);
    const Tensor parts = mul({rand(shape, {.dtype = DType::kDouble}, loc), loc}, span);
    const Tensor from_zero = floor(parts, loc).to(DType::kInt64, loc);
    return finished(add({from_zero, loc}, low).to(options.dtype, loc), options, loc);
  }
  auto made = at_line(loc, [&] { return sardonyx::Tensor::allocate(options.dtype, *known); });
  const RandomStream stream = stream_of(options);
  for_each_piece(made.count(), [&](int64_t at, int64_t count) {
    double uniforms[kPiece];
    int64_t values[kPiece];
    stream.uniforms(static_cast<uint64_t>(at), static_cast<size_t>(count), uniforms);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<int64_t>(first + static_cast<uint64_t>(uniforms[i] * span));
    store_numbers(options.dtype, made.raw(), at, count, values);
  });
  return finished(Tensor(made), options, loc);
}

Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Loc loc) {
  require_defined(x, "randint_like", "x", loc);
  return randint(low, high, x.shape(loc), {.dtype = x.dtype()}, loc);
}
Tensor randperm(const Dim& count, CreateOptions options, Loc loc) {
  if (draws_in_graph() || !count.is_known()) {
    check_no_generator(options, "randperm", loc);
    const Tensor keys = rand({count}, {.dtype = DType::kDouble}, loc);
    return topk(keys, count, 0, true, loc).second.to(options.dtype, loc);
  }
  if (count.value() < 0) {
    fail_at(loc, "randperm: expected a count of at least 0, got ", count.value());
  }
  std::vector<int64_t> order(static_cast<size_t>(count.value()));
  std::iota(order.begin(), order.end(), 0);
  const RandomStream stream = stream_of(options);
  // Element i - 1 changes places with one of the first i, by number i of the stream.
  std::array<double, 256> uniforms;
  for (size_t end = order.size() + 1; end > 2;) {
    const size_t count = std::min(uniforms.size(), end - 2);
    stream.uniforms(end - count, count, uniforms.data());
    for (size_t i = end - 1; i >= end - count; --i) {
      const double place = uniforms[i - (end - count)] * static_cast<double>(i);
      std::swap(order[i - 1], order[static_cast<size_t>(place)]);
    }
    end -= count;
  }
  return tensor(order).to(options.dtype, loc);
}

}  // namespace sardonyx::eager
