// Special functions under torch's names. Integers are taken as float32. All have gradients and are
// written in ONNX's ops, so that they can be compiled and exported.
//
// They compute in float64, whatever the elements: results of float32 are exact to its last digits,
// those of float64 to about 1e-13 of their magnitude. Near a zero of lgamma or digamma that is an
// absolute error, as terms of the order of 10 cancel there.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// log |gamma(x)|; infinite at 0, at the negative integers and at both infinities. Its slope is
// digamma. Factorials are exp(lgamma(n + 1)).
Tensor lgamma(const Tensor& x, Loc loc = Loc::current());
// The slope of lgamma: NaN at the negative integers, -infinity at 0 and infinity at -0, as torch
// has it. Its own slope (torch's polygamma(1, x)) is what backward() gives.
Tensor digamma(const Tensor& x, Loc loc = Loc::current());
// The n-th derivative of digamma, 0 <= n <= 169: infinite at 0 and the negative integers.
Tensor polygamma(int64_t n, const Tensor& x, Loc loc = Loc::current());
// The modified Bessel functions of the first kind of orders 0 and 1, and these times exp(-|x|).
Tensor i0(const Tensor& x, Loc loc = Loc::current());
Tensor i0e(const Tensor& x, Loc loc = Loc::current());
Tensor i1(const Tensor& x, Loc loc = Loc::current());
Tensor i1e(const Tensor& x, Loc loc = Loc::current());
// The number whose erf is x: infinite at -1 and 1, NaN beyond. Quantiles of the normal distribution
// are ndtri(p).
Tensor erfinv(const Tensor& x, Loc loc = Loc::current());
// exp(x^2) * erfc(x), which ends far later than its factors.
Tensor erfcx(const Tensor& x, Loc loc = Loc::current());
// The normal distribution: the share below x, its logarithm, and the x below which the share p is.
Tensor ndtr(const Tensor& x, Loc loc = Loc::current());
Tensor log_ndtr(const Tensor& x, Loc loc = Loc::current());
Tensor ndtri(const Tensor& p, Loc loc = Loc::current());
// -x * log(x): 0 at 0, -infinity below.
Tensor entr(const Tensor& x, Loc loc = Loc::current());
// The logarithm of the gamma function of p dimensions.
Tensor multigammaln(const Tensor& x, int64_t p, Loc loc = Loc::current());

}  // namespace sardonyx::eager
