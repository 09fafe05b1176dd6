// New tensors: constants, ranges and random numbers.
#pragma once

#include "eager/generator.h"
#include "eager/tensor.h"

namespace sardonyx::eager {

// Dims may be symbolic in a trace (`zeros({x.size(0), 4})`); then the tensor is computed in the
// graph. Random tensors in a trace are drawn anew in each run of the graph, from the generator of
// that run's thread (UseGenerator): there they take none of their own.
//
// Arguments that make no tensor (a negative size, an element type that can't hold the numbers)
// throw kInvalidArgument, with the caller's line.
struct CreateOptions {
  DType dtype = DType::kFloat;
  bool requires_grad = false;
  std::optional<Generator> generator = {};  // of random tensors; else the thread's
};
// Filled with one number: 0, 1 or `value`, rounded to the element type.
Tensor zeros(const Dims& shape, CreateOptions options = {}, Loc loc = Loc::current());
Tensor ones(const Dims& shape, CreateOptions options = {}, Loc loc = Loc::current());
Tensor full(const Dims& shape, Number value, CreateOptions options = {}, Loc loc = Loc::current());
// Of the shape and element type of x.
Tensor zeros_like(const Tensor& x, Loc loc = Loc::current());
Tensor ones_like(const Tensor& x, Loc loc = Loc::current());
Tensor full_like(const Tensor& x, Number value, Loc loc = Loc::current());
// One dim for a shape of one, zeros(3), or sizes that are kept as integers.
template <IntegerSizes S>
Tensor zeros(const S& sizes, CreateOptions options = {}, Loc loc = Loc::current()) {
  return zeros(dims_of(sizes), options, loc);
}
template <IntegerSizes S>
Tensor ones(const S& sizes, CreateOptions options = {}, Loc loc = Loc::current()) {
  return ones(dims_of(sizes), options, loc);
}
template <IntegerSizes S>
Tensor full(const S& sizes, Number value, CreateOptions options = {}, Loc loc = Loc::current()) {
  return full(dims_of(sizes), value, options, loc);
}
// What arange() of fractions is.
Tensor fractions(double begin, double end, double step, CreateOptions options, const Loc& loc);
// begin, begin + step ... below end (above it for a negative step): [ceil((end - begin) / step)]. A
// step of 0, or one that never reaches end, is an error.
Tensor arange(const Dim& begin, const Dim& end, int64_t step = 1,
              CreateOptions options = {.dtype = DType::kInt64}, Loc loc = Loc::current());
// From 0.
Tensor arange(const Dim& end, CreateOptions options = {.dtype = DType::kInt64},
              Loc loc = Loc::current());
// The same of fractions, float32 unless asked otherwise: arange(0, 1, 0.1), arange(2.5).
template <typename... Numbers>
concept HasFraction = (std::is_arithmetic_v<Numbers> && ...) &&
                      (std::floating_point<Numbers> || ...);
template <typename Begin, typename End, typename Step>
requires HasFraction<Begin, End, Step> Tensor arange(Begin begin, End end, Step step,
                                                     CreateOptions options = {},
                                                     Loc loc = Loc::current()) {
  return fractions(static_cast<double>(begin), static_cast<double>(end), static_cast<double>(step),
                   options, loc);
}
template <typename Begin, typename End>
requires HasFraction<Begin, End> Tensor arange(Begin begin, End end, Loc loc = Loc::current()) {
  return fractions(static_cast<double>(begin), static_cast<double>(end), 1, {}, loc);
}
template <std::floating_point End>
Tensor arange(End end, CreateOptions options = {}, Loc loc = Loc::current()) {
  return fractions(0, end, 1, options, loc);
}
// `count` numbers evenly spaced over [begin, end], both included: begin + i * (end - begin) /
// (count - 1). One number is begin.
Tensor linspace(double begin, double end, int64_t count, CreateOptions options = {},
                Loc loc = Loc::current());
// base to the power of these numbers: from base^begin to base^end.
Tensor logspace(double begin, double end, int64_t count, double base = 10,
                CreateOptions options = {}, Loc loc = Loc::current());
// Ones on the diagonal of [rows, columns], zeros elsewhere; square where columns are left out.
Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, CreateOptions options = {},
           Loc loc = Loc::current());

// Random numbers (eager/generator.h) are the same for any number of threads, and on every CPU: they
// are drawn in double precision and then rounded. Of floating types alone; randint() draws
// integers.
Tensor rand(const Dims& shape, CreateOptions options = {}, Loc loc = Loc::current());   // [0, 1)
Tensor randn(const Dims& shape, CreateOptions options = {}, Loc loc = Loc::current());  // N(0, 1)
template <IntegerSizes S>
Tensor rand(const S& sizes, CreateOptions options = {}, Loc loc = Loc::current()) {
  return rand(dims_of(sizes), options, loc);
}
template <IntegerSizes S>
Tensor randn(const S& sizes, CreateOptions options = {}, Loc loc = Loc::current()) {
  return randn(dims_of(sizes), options, loc);
}
// Of the shape and element type of x.
Tensor rand_like(const Tensor& x, Loc loc = Loc::current());
Tensor randn_like(const Tensor& x, Loc loc = Loc::current());
// Integers in [low, high), each as likely as the others; low must be below high.
Tensor randint(int64_t low, int64_t high, const Dims& shape,
               CreateOptions options = {.dtype = DType::kInt64}, Loc loc = Loc::current());
Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Loc loc = Loc::current());
// The integers [0, count) in random order.
Tensor randperm(const Dim& count, CreateOptions options = {.dtype = DType::kInt64},
                Loc loc = Loc::current());

// From elements, of the type that they have in C++: tensor({1.f, 2.f}) is [2], tensor({{1.f, 2.f},
// {3.f, 4.f}}) is [2, 2], and tensor(1.f) has no dims; up to four braces deep. Rows must be of one
// length.
template <typename T>
requires std::is_arithmetic_v<T> Tensor tensor(T value) {
  return Tensor::scalar(value);
}
template <typename T>
Tensor tensor(const std::vector<T>& values) {
  return Tensor::of(values, {static_cast<int64_t>(values.size())});
}
template <typename T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(std::vector<T>(values));
}
namespace detail {

template <typename T>
using Rows = std::initializer_list<T>;

// The elements of rows within rows; `shape` has a size for each depth that has been seen.
template <typename T, typename Row>
void collect_elements(Rows<Row> rows, size_t depth, Shape& shape, std::vector<T>& elements) {
  const auto size = static_cast<int64_t>(rows.size());
  if (depth == shape.size()) shape.push_back(size);
  if (size != shape[depth]) {
    fail(ErrorCode::kInvalidArgument, "tensor: expected rows of ", shape[depth],
         " elements, got one of ", size);
  }
  if constexpr (std::is_same_v<Row, T>) {
    elements.insert(elements.end(), rows.begin(), rows.end());
  } else {
    for (const Row& row : rows)
      collect_elements(row, depth + 1, shape, elements);
  }
}

template <typename T, size_t rank, typename Row>
Tensor tensor_of_rows(Rows<Row> rows) {
  Shape shape;
  std::vector<T> elements;
  collect_elements(rows, 0, shape, elements);
  shape.resize(rank, 0);  // of no rows
  return Tensor::of(elements, std::move(shape));
}

}  // namespace detail

template <typename T>
Tensor tensor(detail::Rows<detail::Rows<T>> rows) {
  return detail::tensor_of_rows<T, 2>(rows);
}
template <typename T>
Tensor tensor(detail::Rows<detail::Rows<detail::Rows<T>>> rows) {
  return detail::tensor_of_rows<T, 3>(rows);
}
template <typename T>
Tensor tensor(detail::Rows<detail::Rows<detail::Rows<detail::Rows<T>>>> rows) {
  return detail::tensor_of_rows<T, 4>(rows);
}

}  // namespace sardonyx::eager
