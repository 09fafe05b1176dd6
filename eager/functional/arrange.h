// Tensors taken apart, moved, filled and joined under torch's names, beside
// eager/functional/functional.h. Negative axes count from the end.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// --- order of elements and axes ---
Tensor flip(const Tensor& x, const Axes& axes, Loc loc = Loc::current());
// Elements move `shifts` places on along `axes`, the last ones to the front; without axes over all
// elements in row-major order.
Tensor roll(const Tensor& x, const IntList& shifts, const Axes& axes = {},
            Loc loc = Loc::current());
// A quarter turn from axis `from` towards axis `to`, `times` over.
Tensor rot90(const Tensor& x, int64_t times = 1, int64_t from = 0, int64_t to = 1,
             Loc loc = Loc::current());
Tensor movedim(const Tensor& x, const IntList& from, const IntList& to, Loc loc = Loc::current());
Tensor swapaxes(const Tensor& x, int64_t a, int64_t b, Loc loc = Loc::current());
// One axis as several; one of their sizes may be -1.
Tensor unflatten(const Tensor& x, int64_t axis, const Dims& sizes, Loc loc = Loc::current());

// --- repeated and broadcast ---
// The whole of x `counts` times along each axis; more counts than axes make axes in front.
Tensor repeat(const Tensor& x, const IntList& counts, Loc loc = Loc::current());
// Each element (slice along an axis) `count` times in a row; without an axis, x is flattened.
Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis = {},
                         Loc loc = Loc::current());
// The same with a count for each: counts [n], integers.
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int64_t> axis = {},
                         Loc loc = Loc::current());
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors, Loc loc = Loc::current());
Tensor broadcast_to(const Tensor& x, const Dims& shape, Loc loc = Loc::current());
// One tensor a coordinate, from vectors of them. indexing: "ij", or "xy" (first two axes swapped).
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, std::string_view indexing = "ij",
                             Loc loc = Loc::current());

// --- parts ---
// The slices along an axis, without it. Asks for its size (eager/dim.h), as split() does.
std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0, Loc loc = Loc::current());
Tensor narrow(const Tensor& x, int64_t axis, const Dim& start, const Dim& length,
              Loc loc = Loc::current());
// Pieces of `size` along an axis, the last one of what is left.
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis = 0,
                          Loc loc = Loc::current());
// `count` pieces, the first ones longer by 1 where they can't be equal.
std::vector<Tensor> tensor_split(const Tensor& x, int64_t count, int64_t axis = 0,
                                 Loc loc = Loc::current());
Tensor hstack(const std::vector<Tensor>& tensors, Loc loc = Loc::current());
Tensor vstack(const std::vector<Tensor>& tensors, Loc loc = Loc::current());

// --- padding ---
// By pairs {before, after} of the last axis, then of the one before it, and so on. mode: constant
// (`value`), reflect, replicate (the edge), circular; pads of less than 0 cut off, but for
// circular.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, std::string_view mode,
           Number value = 0, Loc loc = Loc::current());

// --- by index ---
// Elements at places of the flattened x, in the indices' shape.
Tensor take(const Tensor& x, const Tensor& indices, Loc loc = Loc::current());
Tensor take_along_dim(const Tensor& x, const Tensor& indices, int64_t axis,
                      Loc loc = Loc::current());
// x with slices of `source` in place of (added to, times alpha) those that indices [n] name along
// an axis.
Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                  Loc loc = Loc::current());
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                 Number alpha = 1, Loc loc = Loc::current());
Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& indices, Number value,
                  Loc loc = Loc::current());
// x[indices[i][j]][j] += source[i][j] for axis 0, and so on.
Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                   Loc loc = Loc::current());

// --- by mask (bool, broadcast) ---
// x with `value` where the mask is true; keeps x's type.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value);
// The elements [n] where the mask is true, in row-major order.
Tensor masked_select(const Tensor& x, const Tensor& mask, Loc loc = Loc::current());
// x with the elements of `source`, one after the other, where the mask is true.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source,
                      Loc loc = Loc::current());

// --- diagonals ---
// The diagonal of a matrix, or a matrix with the vector x on its diagonal.
Tensor diag(const Tensor& x, int64_t offset = 0, Loc loc = Loc::current());
// Diagonals of the matrices that two axes span, as a new last axis.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t a = 0, int64_t b = 1,
                Loc loc = Loc::current());
// Matrices with the last axis of x on a diagonal: [..., n] to [..., n + |offset|, n + |offset|].
Tensor diag_embed(const Tensor& x, int64_t offset = 0, Loc loc = Loc::current());
// Row and column numbers [2, n] of the lower (upper) triangle of a matrix, int64.
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset = 0);
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset = 0);

}  // namespace sardonyx::eager
