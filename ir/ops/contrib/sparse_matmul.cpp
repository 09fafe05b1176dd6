#include "ir/ops/contrib/sparse_matmul.h"

#include <algorithm>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/ops/inference/infer.h"

namespace sardonyx::ops {
namespace {

// A matrix's element by its place, whichever of its dims the attributes say is the first.
struct DenseMatrix {
  const Tensor& tensor;
  bool is_transposed;
  int64_t rows() const { return tensor.shape()[is_transposed ? 1 : 0]; }
  int64_t columns() const { return tensor.shape()[is_transposed ? 0 : 1]; }
  int64_t row_step() const { return is_transposed ? 1 : tensor.shape()[1]; }
  int64_t column_step() const { return is_transposed ? tensor.shape()[1] : 1; }
};

struct SparsePlace {
  int64_t row, column;
};

// Element `index` of a sparse matrix, whose indices are linear or pairs. Throws where it is outside
// of the matrix.
SparsePlace place_of(const SparseTensor& a, size_t index) {
  const std::span<const int64_t> places = a.indices.values<int64_t>();
  const int64_t height = a.shape[0], width = a.shape[1];
  SparsePlace place{-1, -1};
  if (a.indices.rank() == 2)
    place = {places[2 * index], places[2 * index + 1]};
  else if (places[index] >= 0 && places[index] < height * width)
    place = {places[index] / width, places[index] % width};
  if (place.row < 0 || place.row >= height || place.column < 0 || place.column >= width) {
    fail(ErrorCode::kInvalidArgument, "SparseToDenseMatMul: input A: element ", index, " is at [",
         place.row, ", ", place.column, "], which is outside of the shape ", to_text(a.shape));
  }
  return place;
}

constexpr size_t kElementsPerPoll = 4096;

template <typename T>
void add_products(const SparseTensor& a, bool is_transposed, const DenseMatrix& b,
                  std::span<T> sums) {
  const std::span<const T> elements = a.values.values<T>();
  const T* dense = b.tensor.values<T>().data();
  const int64_t columns = b.columns();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i % kElementsPerPoll == 0) check_interrupted();
    const SparsePlace at = place_of(a, i);
    const T* from = dense + (is_transposed ? at.row : at.column) * b.row_step();
    T* to = sums.data() + (is_transposed ? at.column : at.row) * columns;
    for (int64_t j = 0; j < columns; ++j)
      to[j] += elements[i] * from[j * b.column_step()];
  }
}

void check_parts(const SparseTensor& a) {
  const int64_t per_element = a.indices.rank() == 1 ? 1 : 2;
  if (a.shape.size() != 2 || a.indices.count() != per_element * a.values.count()) {
    fail(ErrorCode::kInvalidArgument, "SparseToDenseMatMul: input A: expected a matrix with ",
         "coordinates of each of its elements, got the shape ", to_text(a.shape), ", ",
         a.values.count(), " elements and indices ", to_text(a.indices.shape()));
  }
}

}  // namespace

void infer_sparse_matmul(InferContext& c) {
  const auto& attrs = c.attrs<SparseMatMulAttrs>();
  const Type& a = c.type(0);
  if (a.kind != Type::Kind::kSparseTensor) c.fail_input(0, "expected a sparse tensor, got ", a);
  c.require(attrs.alpha == 1 || is_floating(c.dtype(0)),
            "attribute alpha: integers are not scaled, expected 1, got ", attrs.alpha);
  if (a.shape && a.shape->size() != 2) c.fail_input(0, "expected a matrix, got ", a);
  c.require_rank(1, 2);
  Dims out{c.unknown(), c.unknown()};
  const Dims* b = c.shape(1);
  if (a.shape) out[0] = (*a.shape)[attrs.transA ? 1 : 0];
  if (b) out[1] = (*b)[attrs.transB ? 0 : 1];
  if (a.shape && b) {
    c.merged((*a.shape)[attrs.transA ? 0 : 1], (*b)[attrs.transB ? 1 : 0],
             text("inner dims of ", c.input_label(0), " and ", c.input_label(1)));
  }
  c.set(0, c.dtype(0), std::move(out));
}

void sparse_matmul(const EvalCall& call) {
  const auto& attrs = call.attrs<SparseMatMulAttrs>();
  const SparseTensor& a = call.inputs[0].sparse();
  const DenseMatrix b{call.inputs[1].tensor(), attrs.transB};
  check_parts(a);
  if (a.shape[attrs.transA ? 0 : 1] != b.rows()) {
    fail(ErrorCode::kInvalidArgument, "SparseToDenseMatMul: inner dims of input A ",
         to_text(a.shape), " and input B ", to_text(b.tensor.shape()), " differ");
  }
  const DimValues shape{a.shape[attrs.transA ? 1 : 0], b.columns()};
  detail::dispatch_among<float, double, int64_t, int32_t, uint64_t, uint32_t>(
      a.values.dtype(), [&]<typename T>() {
        const std::span<T> sums = call.tensor(0, dtype_of<T>(), shape).template mutable_values<T>();
        std::ranges::fill(sums, T());
        add_products<T>(a, attrs.transA, b, sums);
        if (attrs.alpha == 1) return;
        for (T& sum : sums)
          sum *= static_cast<T>(attrs.alpha);
      });
}

}  // namespace sardonyx::ops
