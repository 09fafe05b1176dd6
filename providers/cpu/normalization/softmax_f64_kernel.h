// What Softmax and LogSoftmax of float64 do with a part of a line, and with a row of many lines,
// vectorised for the CPU that runs it. `count` > 0.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// A part of one line.

// The greatest element; a NaN may get lost.
double greatest_f64(const double* in, size_t count);
// The sum of exp(in - greatest) for a number that none is above, which are written to `out` unless
// it is null; it may be `in`.
double exponentials_f64(const double* in, double greatest, double* out, size_t count);
// out *= factor
void scale_f64(double* out, double factor, size_t count);
// out = in - greatest - log_sum; `out` may be `in`.
void log_shares_f64(const double* in, double greatest, double log_sum, double* out, size_t count);

// The same for a row of many lines: element i belongs to line i, of which are greatest[i], sums[i].

// greatest = max(greatest, in)
void take_greatest_f64(const double* in, double* greatest, size_t count);
// sums += exp(in - greatest), which is written as above.
void add_exponentials_f64(const double* in, const double* greatest, double* sums, double* out,
                          size_t count);
// out *= factors
void scale_each_f64(double* out, const double* factors, size_t count);
// out = in - greatest - log_sums
void log_shares_each_f64(const double* in, const double* greatest, const double* log_sums,
                         double* out, size_t count);

}  // namespace sardonyx::cpu
