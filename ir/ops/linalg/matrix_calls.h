// Helpers that rows of linear algebra share: dims of matrices [..., rows, columns], and kernels
// that compute one matrix after the other in double.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/linalg/factorizations.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {

// The last two dims of input 0 after those of the batch.
struct MatrixDims {
  Dims batch;
  Dim rows, columns;
};

std::optional<MatrixDims> matrix_dims(InferContext& c);
// The dims of square matrices; others are refused.
std::optional<MatrixDims> square_dims(InferContext& c);
// Output `index` with `last` after the batch's dims; of unknown rank where that is not known.
void set_output(InferContext& c, size_t index, const std::optional<MatrixDims>& dims,
                const Dims& last);
// The dims of the batches of `input`, whose own last dims are `own`, are merged into those of dims.
void merge_batch(InferContext& c, MatrixDims& dims, size_t input, size_t own);

struct Sides {
  int64_t rows, columns;
  int64_t count() const { return rows * columns; }
};
inline Sides sides_of(const TensorView& x) {
  return {x.shape[x.rank() - 2], x.shape[x.rank() - 1]};
}

template <typename T>
Matrix matrix_at(const TensorView& x, int64_t index) {
  const Sides sides = sides_of(x);
  Matrix out(sides.rows, sides.columns);
  const T* from = x.data<T>() + index * sides.count();
  std::copy(from, from + sides.count(), out.values.begin());
  return out;
}

// Writes the elements of the matrix (or vector, number) of this index.
template <typename T>
void write_at(const KernelCall& call, size_t output, int64_t index,
              std::span<const double> values) {
  if (!call.wants(output)) return;
  T* to = call.outputs[output].data<T>() + index * static_cast<int64_t>(values.size());
  std::transform(values.begin(), values.end(), to, [](double x) { return static_cast<T>(x); });
}

// fn<T>(index) for each matrix of input 0.
template <typename Fn>
void each_matrix(const KernelCall& call, const Fn& fn) {
  const TensorView& a = call.inputs[0];
  int64_t count = 1;
  for (size_t i = 0; i + 2 < a.rank(); ++i)
    count *= a.shape[i];
  const auto all = [&]<typename T>() {
    for (int64_t i = 0; i < count; ++i) {
      check_interrupted();
      const ScratchMark mark;
      fn.template operator()<T>(i);
    }
  };
  detail::dispatch_among<float, double>(a.dtype, all);
}

// Samples of these elements and shapes, in both types.
std::vector<Sample> samples_of(const std::vector<std::pair<std::vector<double>, Shape>>& values,
                               size_t outputs);
// A row of our own domain for float32 and float64.
OpDef matrix_row(std::string_view name, std::string_view signature, void (*infer)(InferContext&),
                 void (*run)(const KernelCall&), Vals (*grad)(Emitter&, const GradCall&),
                 std::vector<Sample> (*samples)(), std::string_view file = __builtin_FILE());

}  // namespace sardonyx::ops
