#include "eager/nn/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/random.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::nn::init {
namespace {

int64_t count_of(const Tensor& x) {
  return x.numel().value();
}

void assign(const Tensor& x, const std::vector<double>& values) {
  const Shape shape = x.data().shape();
  sardonyx::Tensor made = sardonyx::Tensor::allocate(x.dtype(), shape);
  store_numbers(x.dtype(), made.raw(), 0, made.count(), values.data());
  x.assign(Tensor(made));
}

// value(stream, i) for each element.
template <typename Value>
void draw(const Tensor& x, const Value& value) {
  const RandomStream stream = next_random_stream();
  std::vector<double> values(static_cast<size_t>(count_of(x)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = value(stream, static_cast<uint64_t>(i));
  assign(x, values);
}

void require_rank(const Tensor& x, size_t low, size_t high, const char* what) {
  if (x.rank() >= low && x.rank() <= high) return;
  fail(ErrorCode::kInvalidArgument, what, ": expected rank ", low, " to ", high, ", got shape ",
       to_text(x.shape()));
}

double normal_share(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The z below which a share of the normal distribution is: Newton's method on Acklam's start.
double normal_quantile(double share) {
  constexpr double kTail = 0.02425;
  const double tail = std::max(std::min(share, 1 - share), 1e-300);
  double z;
  if (tail < kTail) {
    const double q = std::sqrt(-2 * std::log(tail));
    z = -(q - (2.515517 + 0.802853 * q + 0.010328 * q * q) /
                  (1 + 1.432788 * q + 0.189269 * q * q + 0.001308 * q * q * q));
    if (share > 0.5) z = -z;
  } else {
    const double q = share - 0.5;
    z = q * (2.506628277459 + 2.624 * q * q);
  }
  constexpr double kRootOfTwoPi = 2.5066282746310002;
  for (int step = 0; step < 8; ++step)
    z -= (normal_share(z) - share) * kRootOfTwoPi * std::exp(0.5 * z * z);
  return z;
}

double kaiming_deviation(const Tensor& x, const Kaiming& options) {
  const Fans fans = fans_of(x);
  const double fan = options.fan_out ? fans.out : fans.in;
  if (fan == 0) return 0;
  return gain(options.nonlinearity, options.slope) / std::sqrt(fan);
}

// Modified Gram-Schmidt, twice, on `count` vectors of `length` that are one after the other.
void orthonormalize(std::vector<double>& vectors, size_t count, size_t length) {
  for (size_t i = 0; i < count; ++i) {
    double* const mine = &vectors[i * length];
    for (int round = 0; round < 2; ++round) {
      for (size_t j = 0; j < i; ++j) {
        const double* const other = &vectors[j * length];
        const double along = std::inner_product(mine, mine + length, other, 0.0);
        for (size_t k = 0; k < length; ++k)
          mine[k] -= along * other[k];
      }
    }
    const double size = std::sqrt(std::inner_product(mine, mine + length, mine, 0.0));
    for (size_t k = 0; k < length; ++k)
      mine[k] /= size;
  }
}

}  // namespace

Fans fans_of(const Tensor& x) {
  const Shape shape = x.data().shape();
  if (shape.size() < 2) {
    fail(ErrorCode::kInvalidArgument, "fans: expected rank 2 or more, got shape ", to_text(shape));
  }
  double field = 1;
  for (size_t i = 2; i < shape.size(); ++i)
    field *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * field, static_cast<double>(shape[0]) * field};
}

double gain(std::string_view nonlinearity, double slope) {
  if (nonlinearity == "linear" || nonlinearity == "conv" || nonlinearity == "sigmoid") return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::numbers::sqrt2;
  if (nonlinearity == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  if (nonlinearity == "selu") return 0.75;
  fail(ErrorCode::kInvalidArgument,
       "gain: expected linear, conv, sigmoid, tanh, relu, leaky_relu or selu, got ", nonlinearity);
}

void constant(const Tensor& x, Number value) {
  x.assign(full_like(x, value));
}
void zeros(const Tensor& x) {
  constant(x, 0);
}
void ones(const Tensor& x) {
  constant(x, 1);
}
void uniform(const Tensor& x, double low, double high) {
  draw(x, [&](const RandomStream& stream, uint64_t i) {
    return low + (high - low) * stream.uniform(i);
  });
}
Tensor uniform_tensor(const Dims& shape, double bound) {
  const Tensor made = eager::zeros(shape);
  uniform(made, -bound, bound);
  return made;
}
void normal(const Tensor& x, double mean, double deviation) {
  draw(x,
       [&](const RandomStream& stream, uint64_t i) { return mean + deviation * stream.normal(i); });
}
void trunc_normal(const Tensor& x, double mean, double deviation, double low, double high) {
  if (!(low < high) || !(deviation > 0)) {
    fail(ErrorCode::kInvalidArgument,
         "trunc_normal: expected low < high and a positive deviation, ", "got ", low, ", ", high,
         " and ", deviation);
  }
  const double from = normal_share((low - mean) / deviation);
  const double to = normal_share((high - mean) / deviation);
  draw(x, [&](const RandomStream& stream, uint64_t i) {
    const double share = from + (to - from) * stream.uniform(i);
    return std::clamp(mean + deviation * normal_quantile(share), low, high);
  });
}

void xavier_uniform(const Tensor& x, double gain) {
  const Fans fans = fans_of(x);
  const double bound = gain * std::sqrt(6 / (fans.in + fans.out));
  uniform(x, -bound, bound);
}
void xavier_normal(const Tensor& x, double gain) {
  const Fans fans = fans_of(x);
  normal(x, 0, gain * std::sqrt(2 / (fans.in + fans.out)));
}
void kaiming_uniform(const Tensor& x, Kaiming options) {
  const double bound = std::numbers::sqrt3 * kaiming_deviation(x, options);
  uniform(x, -bound, bound);
}
void kaiming_normal(const Tensor& x, Kaiming options) {
  normal(x, 0, kaiming_deviation(x, options));
}

void orthogonal(const Tensor& x, double gain) {
  if (x.rank() < 2) {
    fail(ErrorCode::kInvalidArgument, "orthogonal: expected rank 2 or more, got shape ",
         to_text(x.shape()));
  }
  if (count_of(x) == 0) return;
  const auto rows = static_cast<size_t>(x.size(0).value());
  const size_t columns = static_cast<size_t>(count_of(x)) / rows;
  const size_t vectors = std::min(rows, columns), length = std::max(rows, columns);
  const RandomStream stream = next_random_stream();
  std::vector<double> basis(vectors * length);
  for (size_t i = 0; i < basis.size(); ++i)
    basis[i] = stream.normal(i);
  orthonormalize(basis, vectors, length);
  std::vector<double> values(basis.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const size_t from = rows <= columns ? row * length + column : column * length + row;
      values[row * columns + column] = gain * basis[from];
    }
  }
  assign(x, values);
}

void eye(const Tensor& x) {
  require_rank(x, 2, 2, "eye");
  x.assign(eager::eye(x.size(0).value(), x.size(1).value(), {.dtype = x.dtype()}));
}

void dirac(const Tensor& x) {
  require_rank(x, 3, 5, "dirac");
  const Shape shape = x.data().shape();
  std::vector<double> values(static_cast<size_t>(count_of(x)));
  for (int64_t channel = 0; channel < std::min(shape[0], shape[1]); ++channel) {
    int64_t at = channel * shape[1] + channel;
    for (size_t axis = 2; axis < shape.size(); ++axis)
      at = at * shape[axis] + shape[axis] / 2;
    if (!values.empty()) values[static_cast<size_t>(at)] = 1;
  }
  assign(x, values);
}

void sparse(const Tensor& x, double sparsity, double deviation) {
  require_rank(x, 2, 2, "sparse");
  if (!(sparsity >= 0 && sparsity <= 1)) {
    fail(ErrorCode::kInvalidArgument, "sparse: expected a share within [0, 1], got ", sparsity);
  }
  normal(x, 0, deviation);
  std::vector<double> values = x.data().to_doubles();
  const int64_t rows = x.size(0).value(), columns = x.size(1).value();
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  for (int64_t column = 0; column < columns; ++column) {
    const std::vector<int64_t> order = randperm(rows).to_vector<int64_t>();
    for (int64_t i = 0; i < zeros; ++i)
      values[static_cast<size_t>(order[static_cast<size_t>(i)] * columns + column)] = 0;
  }
  assign(x, values);
}

}  // namespace sardonyx::eager::nn::init
