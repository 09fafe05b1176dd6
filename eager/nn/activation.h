// Activations as layers; the functions are in eager/functional/functional.h.
#pragma once

#include "eager/functional/functional.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// max(x, 0), element by element; shapes of these layers stay.
class ReLU : public Layer<ReLU> {
 public:
  Tensor forward(const Tensor& x) const { return relu(x, caller()); }
};
// x limited to [0, 6].
class ReLU6 : public Layer<ReLU6> {
 public:
  Tensor forward(const Tensor& x) const { return clamp(x, 0, 6, caller()); }
};
// x where it is not negative, else slope * x.
class LeakyReLU : public Layer<LeakyReLU> {
 public:
  explicit LeakyReLU(double slope = 0.01) : slope_(slope) {}
  Tensor forward(const Tensor& x) const { return leaky_relu(x, slope_, caller()); }

 private:
  double slope_;
};
// A slope for negative values that is trained: one, or one for each channel of x [N, C, ...].
class PReLU : public Layer<PReLU> {
 public:
  explicit PReLU(int64_t channels = 1, double slope = 0.25, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;
  Tensor weight;
};
// In training a slope for each negative element, U(lower, upper); else that of their mean (Xu et
// al., "Empirical evaluation of rectified activations in convolution network", 2015).
Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
             Loc loc = Loc::current());
class RReLU : public Layer<RReLU> {
 public:
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3) : lower_(lower), upper_(upper) {}
  Tensor forward(const Tensor& x) const {
    return rrelu(x, lower_, upper_, is_training(), caller());
  }

 private:
  double lower_, upper_;
};
// x where it is positive, else alpha * (exp(x) - 1).
class ELU : public Layer<ELU> {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& x) const { return elu(x, alpha_, caller()); }

 private:
  double alpha_;
};
// ELU with the two constants that keep mean 0 and variance 1 (Klambauer et al., 2017).
class SELU : public Layer<SELU> {
 public:
  Tensor forward(const Tensor& x) const { return selu(x, caller()); }
};
// x * Phi(x), Phi the normal distribution function; approximate: "none" (erf) or "tanh".
class GELU : public Layer<GELU> {
 public:
  explicit GELU(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& x) const { return gelu(x, approximate_, caller()); }

 private:
  std::string approximate_;
};
// x * sigmoid(x), also called swish.
class SiLU : public Layer<SiLU> {
 public:
  Tensor forward(const Tensor& x) const { return silu(x, caller()); }
};
// 1 / (1 + exp(-x)).
class Sigmoid : public Layer<Sigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return sigmoid(x, caller()); }
};
// The hyperbolic tangent.
class Tanh : public Layer<Tanh> {
 public:
  Tensor forward(const Tensor& x) const { return tanh(x, caller()); }
};
// max(0, min(1, x / 6 + 0.5)).
class Hardsigmoid : public Layer<Hardsigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return hardsigmoid(x, caller()); }
};
// x * hardsigmoid(x) (MobileNetV3).
class Hardswish : public Layer<Hardswish> {
 public:
  Tensor forward(const Tensor& x) const { return hardswish(x, caller()); }
};
// x limited to [low, high].
class Hardtanh : public Layer<Hardtanh> {
 public:
  explicit Hardtanh(Number low = -1, Number high = 1) : low_(low), high_(high) {}
  Tensor forward(const Tensor& x) const { return clamp(x, low_, high_, caller()); }

 private:
  Number low_, high_;
};
// log(1 + exp(x)), without overflow for large x; above the threshold, where one is given, x.
class Softplus : public Layer<Softplus> {
 public:
  explicit Softplus(double beta = 1, std::optional<double> threshold = {})
      : beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& x) const {
    return threshold_ ? softplus(x, beta_, *threshold_, caller()) : softplus(x, beta_, caller());
  }

 private:
  double beta_;
  std::optional<double> threshold_;
};
// x * tanh(softplus(x)).
class Mish : public Layer<Mish> {
 public:
  Tensor forward(const Tensor& x) const { return mish(x, caller()); }
};
// exp(x) over its sum along `axis`, which counts from the end where it is negative.
class Softmax : public Layer<Softmax> {
 public:
  explicit Softmax(int64_t axis) : axis_(axis) {}
  Tensor forward(const Tensor& x) const { return softmax(x, axis_, caller()); }

 private:
  int64_t axis_;
};
// The logarithm of Softmax, computed without the quotient: what NLLLoss takes.
class LogSoftmax : public Layer<LogSoftmax> {
 public:
  explicit LogSoftmax(int64_t axis) : axis_(axis) {}
  Tensor forward(const Tensor& x) const { return log_softmax(x, axis_, caller()); }

 private:
  int64_t axis_;
};
// softmax(-x): the share is large where the element is small.
class Softmin : public Layer<Softmin> {
 public:
  explicit Softmin(int64_t axis) : axis_(axis) {}
  Tensor forward(const Tensor& x) const { return softmin(x, axis_, caller()); }

 private:
  int64_t axis_;
};
// Over the channels of x [N, C, H, W].
class Softmax2d : public Layer<Softmax2d> {
 public:
  Tensor forward(const Tensor& x) const { return softmax(x, -3, caller()); }
};
// x / (1 + |x|).
class Softsign : public Layer<Softsign> {
 public:
  Tensor forward(const Tensor& x) const { return softsign(x, caller()); }
};
// x moved towards 0 by lambda; 0 within [-lambda, lambda].
class Softshrink : public Layer<Softshrink> {
 public:
  explicit Softshrink(double lambda = 0.5) : lambda_(lambda) {}
  Tensor forward(const Tensor& x) const { return softshrink(x, lambda_, caller()); }

 private:
  double lambda_;
};
// x outside of [-lambda, lambda], else 0.
class Hardshrink : public Layer<Hardshrink> {
 public:
  explicit Hardshrink(double lambda = 0.5) : lambda_(lambda) {}
  Tensor forward(const Tensor& x) const { return hardshrink(x, lambda_, caller()); }

 private:
  double lambda_;
};
// x - tanh(x).
class Tanhshrink : public Layer<Tanhshrink> {
 public:
  Tensor forward(const Tensor& x) const { return tanhshrink(x, caller()); }
};
// x where it is greater than the limit, else the value.
class Threshold : public Layer<Threshold> {
 public:
  Threshold(Number limit, Number value) : limit_(limit), value_(value) {}
  Tensor forward(const Tensor& x) const { return threshold(x, limit_, value_, caller()); }

 private:
  Number limit_, value_;
};
// log(sigmoid(x)), without overflow for very negative x.
class LogSigmoid : public Layer<LogSigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return logsigmoid(x, caller()); }
};
// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron, 2017).
class CELU : public Layer<CELU> {
 public:
  explicit CELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& x) const { return celu(x, alpha_, caller()); }

 private:
  double alpha_;
};
// The first half along an axis times the sigmoid of the second.
class GLU : public Layer<GLU> {
 public:
  explicit GLU(int64_t axis = -1) : axis_(axis) {}
  Tensor forward(const Tensor& x) const;

 private:
  int64_t axis_;
};

}  // namespace sardonyx::eager::nn
