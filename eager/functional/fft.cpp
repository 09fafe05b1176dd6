#include "eager/functional/fft.h"

#include <numeric>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::fft {
namespace {

[[noreturn]] void refuse_transform(const char* name, const std::string& why, const Tensor& x,
                                   const Loc& loc) {
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": ", why, ", got ", x.type());
}

void check_pairs(const char* name, const Tensor& z, const Loc& loc) {
  require_defined(z, name, "z", loc);
  if (z.rank() >= 1 && z.size(-1) == 2) return;
  refuse_transform(name, "expected complex numbers as pairs, [..., 2] (fft::complex makes them)", z,
                   loc);
}

int64_t checked_axis(const char* name, int64_t axis, int64_t rank, const Tensor& x,
                     const Loc& loc) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  refuse_transform(name, text("expected an axis within [", -rank, ", ", rank, "), not ", axis), x,
                   loc);
}

// One transform of a tensor of pairs (or of single real numbers).
struct FftTransform {
  const char* name;
  bool inverse, onesided;
};
constexpr FftTransform kFft{"fft", false, false}, kIfft{"ifft", true, false},
    kRfft{"rfft", false, true}, kIrfft{"irfft", true, true};

Tensor transformed(const FftTransform& kind, const Tensor& x, const Options& options,
                   const Loc& loc) {
  static const OpDef& op = op_named("DFT");
  const int64_t axis =
      checked_axis(kind.name, options.axis, static_cast<int64_t>(x.rank()) - 1, x, loc);
  const bool to_real = kind.inverse && kind.onesided;
  if (options.n && *options.n < 1)
    refuse_transform(kind.name, text("expected n of at least 1, not ", *options.n), x, loc);
  const Dim size = x.size(axis, loc);
  const Dim n = options.n ? Dim(*options.n) : to_real ? Dim(2 * (size - 1)) : size;
  const Tensor length =
      options.n ? literal(static_cast<double>(*options.n), DType::kInt64) : Tensor();
  const Tensor inputs[] = {x, length, literal(static_cast<double>(axis), DType::kInt64)};
  const Tensor out = apply_many(
      op, inputs, {{"inverse", int64_t{kind.inverse}}, {"onesided", int64_t{kind.onesided}}}, 1,
      loc)[0];
  // The op divides by n where it goes back.
  if (options.norm == Norm::kBackward) return out;
  const Tensor count = dim_tensor(n, loc).to(x.dtype(), loc);
  const Tensor factor = options.norm == Norm::kForward ? count : sqrt(count, loc);
  return kind.inverse ? mul({out, loc}, factor) : div({out, loc}, factor);
}

Norm other_side(Norm norm) {
  if (norm == Norm::kOrtho) return norm;
  return norm == Norm::kBackward ? Norm::kForward : Norm::kBackward;
}

struct TransformAxes {
  std::vector<int64_t> axes;
  std::vector<std::optional<int64_t>> lengths;
};

TransformAxes axes_of(const char* name, const Tensor& x, int64_t rank, const OptionsN& options,
                      const Loc& loc) {
  TransformAxes found{options.axes, {}};
  if (found.axes.empty()) {
    const auto count = options.s.empty() ? rank : static_cast<int64_t>(options.s.size());
    if (count > rank) refuse_transform(name, text("expected at most ", rank, " lengths"), x, loc);
    found.axes.resize(static_cast<size_t>(count));
    std::iota(found.axes.begin(), found.axes.end(), rank - count);
  }
  if (!options.s.empty() && options.s.size() != found.axes.size()) {
    refuse_transform(
        name,
        text("expected a length for each of ", found.axes.size(), " axes, not ", options.s.size()),
        x, loc);
  }
  for (int64_t& axis : found.axes)
    axis = checked_axis(name, axis, rank, x, loc);
  for (const int64_t length : options.s)
    found.lengths.emplace_back(length);
  found.lengths.resize(found.axes.size());
  return found;
}

// All the axes but the last `skipped` ones.
Tensor over_axes(const FftTransform& kind, Tensor z, const TransformAxes& axes, size_t skipped,
                 Norm norm, const Loc& loc) {
  for (size_t i = 0; i + skipped < axes.axes.size(); ++i)
    z = transformed(kind, z, {axes.lengths[i], axes.axes[i], norm}, loc);
  return z;
}

Tensor part(const Tensor& z, int64_t index, const Loc& loc) {
  return z.select(-1, index, loc);
}

Tensor rolled(const Tensor& x, const std::vector<int64_t>& axes, bool back, const Loc& loc) {
  require_defined(x, "fftshift", "x", loc);
  Tensor out = x;
  std::vector<int64_t> all(axes.empty() ? x.rank() : 0);
  std::iota(all.begin(), all.end(), 0);
  for (const int64_t axis : axes.empty() ? all : axes) {
    const Dim size = x.size(axis, loc);
    const Dim begin = back ? Dim(floor_div(size, 2)) : Dim(size - floor_div(size, 2));
    out = cat({out.slice(axis, {begin, {}}, loc), out.slice(axis, {{}, begin}, loc)}, axis, loc);
  }
  return out;
}

Tensor frequencies(const std::vector<double>& bins, double length, DType dtype) {
  std::vector<double> values;
  for (const double bin : bins)
    values.push_back(bin / length);
  return tensor(values).to(dtype);
}

void check_count(const char* name, int64_t n, double spacing) {
  if (n >= 1 && spacing != 0) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected n of at least 1 and a spacing, got ", n,
       " and ", spacing);
}

}  // namespace

Tensor complex(const Tensor& real, const Tensor& imag, Loc loc) {
  require_defined(real, "complex", "the real part", loc);
  const Tensor other = imag.defined() ? imag : mul({real, loc}, 0.0);
  return stack({real, other}, -1, loc);
}
Tensor real(const Tensor& z, Loc loc) {
  check_pairs("real", z, loc);
  return part(z, 0, loc);
}
Tensor imag(const Tensor& z, Loc loc) {
  check_pairs("imag", z, loc);
  return part(z, 1, loc);
}
Tensor conj(const Tensor& z, Loc loc) {
  check_pairs("conj", z, loc);
  return stack({part(z, 0, loc), neg(part(z, 1, loc), loc)}, -1, loc);
}
Tensor multiply(const Tensor& a, const Tensor& b, Loc loc) {
  check_pairs("multiply", a, loc);
  check_pairs("multiply", b, loc);
  const Tensor ar = part(a, 0, loc), ai = part(a, 1, loc), br = part(b, 0, loc),
               bi = part(b, 1, loc);
  const Tensor re = sub(mul({ar, loc}, br), mul({ai, loc}, bi));
  return stack({re, eager::add(mul({ar, loc}, bi), mul({ai, loc}, br))}, -1, loc);
}
Tensor abs(const Tensor& z, Loc loc) {
  check_pairs("abs", z, loc);
  return norm(z, 2, {-1}, false, loc);
}

Tensor fft(const Tensor& z, Options options, Loc loc) {
  check_pairs("fft", z, loc);
  return transformed(kFft, z, options, loc);
}
Tensor ifft(const Tensor& z, Options options, Loc loc) {
  check_pairs("ifft", z, loc);
  return transformed(kIfft, z, options, loc);
}
Tensor rfft(const Tensor& x, Options options, Loc loc) {
  require_defined(x, "rfft", "x", loc);
  return transformed(kRfft, x.unsqueeze(-1, loc), options, loc);
}
Tensor irfft(const Tensor& z, Options options, Loc loc) {
  check_pairs("irfft", z, loc);
  return transformed(kIrfft, z, options, loc).squeeze({-1}, loc);
}

// The transform that has the other sign is the other one of the conjugate; 1/n changes sides.
Tensor hfft(const Tensor& z, Options options, Loc loc) {
  check_pairs("hfft", z, loc);
  options.norm = other_side(options.norm);
  return irfft(conj(z, loc), options, loc);
}
Tensor ihfft(const Tensor& x, Options options, Loc loc) {
  require_defined(x, "ihfft", "x", loc);
  options.norm = other_side(options.norm);
  return conj(rfft(x, options, loc), loc);
}

Tensor fftn(const Tensor& z, const OptionsN& options, Loc loc) {
  check_pairs("fftn", z, loc);
  const TransformAxes axes = axes_of("fftn", z, static_cast<int64_t>(z.rank()) - 1, options, loc);
  return over_axes(kFft, z, axes, 0, options.norm, loc);
}
Tensor ifftn(const Tensor& z, const OptionsN& options, Loc loc) {
  check_pairs("ifftn", z, loc);
  const TransformAxes axes = axes_of("ifftn", z, static_cast<int64_t>(z.rank()) - 1, options, loc);
  return over_axes(kIfft, z, axes, 0, options.norm, loc);
}
Tensor rfftn(const Tensor& x, const OptionsN& options, Loc loc) {
  require_defined(x, "rfftn", "x", loc);
  const TransformAxes axes = axes_of("rfftn", x, static_cast<int64_t>(x.rank()), options, loc);
  if (axes.axes.empty()) refuse_transform("rfftn", "expected an axis", x, loc);
  const Tensor half = rfft(x, {axes.lengths.back(), axes.axes.back(), options.norm}, loc);
  return over_axes(kFft, half, axes, 1, options.norm, loc);
}
Tensor irfftn(const Tensor& z, const OptionsN& options, Loc loc) {
  check_pairs("irfftn", z, loc);
  const TransformAxes axes = axes_of("irfftn", z, static_cast<int64_t>(z.rank()) - 1, options, loc);
  if (axes.axes.empty()) refuse_transform("irfftn", "expected an axis", z, loc);
  const Tensor half = over_axes(kIfft, z, axes, 1, options.norm, loc);
  return irfft(half, {axes.lengths.back(), axes.axes.back(), options.norm}, loc);
}

Tensor fftfreq(int64_t n, double spacing, DType dtype) {
  check_count("fftfreq", n, spacing);
  std::vector<double> bins;
  for (int64_t i = 0; i < n; ++i)
    bins.push_back(static_cast<double>(2 * i < n ? i : i - n));
  return frequencies(bins, static_cast<double>(n) * spacing, dtype);
}
Tensor rfftfreq(int64_t n, double spacing, DType dtype) {
  check_count("rfftfreq", n, spacing);
  std::vector<double> bins;
  for (int64_t i = 0; 2 * i <= n; ++i)
    bins.push_back(static_cast<double>(i));
  return frequencies(bins, static_cast<double>(n) * spacing, dtype);
}
Tensor fftshift(const Tensor& x, const IntList& axes, Loc loc) {
  return rolled(x, axes, false, loc);
}
Tensor ifftshift(const Tensor& x, const IntList& axes, Loc loc) {
  return rolled(x, axes, true, loc);
}

}  // namespace sardonyx::eager::fft
