#include "executor/ort_abi/values/sparse_formats.h"

#include <algorithm>
#include <cstring>

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

using Indices = std::span<const int64_t>;

void check_range(int64_t index, int64_t end, const char* what) {
  if (index >= 0 && index < end) return;
  refuse(ORT_INVALID_ARGUMENT, what, " index out of bounds: ", index, " must be in [0, ", end, ")");
}

void check_matrix(const Shape& dense, const char* format) {
  if (dense.size() == 2) return;
  refuse(ORT_INVALID_ARGUMENT, format, " is for 2-D shapes, got ", dense.size(), " dimensions");
}

void check_coo(const SparseParts& parts, const Shape& dense) {
  const Indices indices = parts.first.values<int64_t>();
  if (parts.first.rank() == 1) {
    for (const int64_t index : indices)
      check_range(index, element_count(dense), "COO linear");
    return;
  }
  check_matrix(dense, "COO with two indices for each value");
  for (size_t i = 0; i < indices.size(); ++i)
    check_range(indices[i], dense[i % 2], i % 2 == 0 ? "COO row" : "COO column");
}

void check_csr(const SparseParts& parts, const Shape& dense) {
  check_matrix(dense, "CSR");
  const Indices inner = parts.first.values<int64_t>(), outer = parts.second.values<int64_t>();
  const auto count = static_cast<int64_t>(inner.size());
  if (outer.empty() && inner.empty()) return;  // no elements
  if (outer.empty() || outer.back() != count) {
    refuse(ORT_INVALID_ARGUMENT, "CSR outer index last element must equal inner index count (",
           count, "), got: ", outer.empty() ? 0 : outer.back());
  }
  if (count != parts.values.count()) {
    refuse(ORT_INVALID_ARGUMENT, "Expecting inner indices to be same as nnz. Got: ", count,
           ", values: ", parts.values.count());
  }
  if (static_cast<int64_t>(outer.size()) != dense[0] + 1) {
    refuse(ORT_INVALID_ARGUMENT, "Outer indices must be M + 1 = ", dense[0] + 1,
           ". Got: ", outer.size());
  }
  for (size_t i = 0; i < outer.size(); ++i) {
    const int64_t before = i == 0 ? 0 : outer[i - 1];
    if (outer[i] < before || (i == 0 && outer[i] != 0))
      refuse(ORT_INVALID_ARGUMENT, "CSR outer indices must begin with 0 and never fall, got ",
             outer[i], " at ", i);
  }
  for (const int64_t index : inner)
    check_range(index, dense[1], "CSR inner");
}

void check_blocks(const SparseParts& parts, const Shape& dense) {
  check_matrix(dense, "Block sparse");
  const Shape &values = parts.values.shape(), &indices = parts.first.shape();
  if (parts.values.count() == 0) return;
  if (values.size() < 3)
    refuse(ORT_FAIL, "Expecting to have at least 3-D shape. Got: ", values.size());
  if (indices.size() != 2)
    refuse(ORT_FAIL, "Expecting indices to have 2-D shape. Got: ", indices.size());
  if (indices[0] != 2)
    refuse(ORT_FAIL, "Indices shape must have dim[0] == 2, got ", to_text(indices));
  const int64_t blocks = parts.values.count() / (values[0] * values[1]);
  if (parts.first.count() != 2 * blocks) {
    refuse(ORT_FAIL, "Expecting index blocks: ", parts.first.count() / 2,
           " to be equal to values blocks: ", blocks);
  }
  const std::span<const int32_t> places = parts.first.values<int32_t>();
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t axis = i < places.size() / 2 ? 0 : 1;
    const int64_t size = values[axis];
    check_range(places[i], (dense[axis] + size - 1) / size, "Block sparse");
  }
}

Tensor pairs(const std::vector<int64_t>& coordinates) {
  Tensor made = Tensor::allocate(DType::kInt64, {static_cast<int64_t>(coordinates.size()) / 2, 2});
  std::copy(coordinates.begin(), coordinates.end(), made.mutable_values<int64_t>().begin());
  return made;
}

Tensor csr_coordinates(const SparseParts& parts) {
  const Indices inner = parts.first.values<int64_t>(), outer = parts.second.values<int64_t>();
  std::vector<int64_t> coordinates;
  for (size_t row = 0; row + 1 < outer.size(); ++row) {
    for (int64_t i = outer[row]; i < outer[row + 1]; ++i)
      coordinates.insert(coordinates.end(),
                         {static_cast<int64_t>(row), inner[static_cast<size_t>(i)]});
  }
  return pairs(coordinates);
}

// Values are [height, width, blocks], indices [2, blocks]: rows of blocks, then columns. Blocks at
// the edges of the shape may go over it: a coordinate there is of no element.
Datum block_coordinates(const SparseParts& parts, const Shape& dense) {
  const Shape& values = parts.values.shape();
  const int64_t blocks = parts.values.count() / (values[0] * values[1]);
  const std::span<const int32_t> places = parts.first.values<int32_t>();
  std::vector<int64_t> coordinates, kept;
  for (int64_t i = 0; i < parts.values.count(); ++i) {
    const int64_t within = i / blocks;
    const auto block = static_cast<size_t>(i % blocks);
    const int64_t row = places[block] * values[0] + within / values[1];
    const int64_t column =
        places[static_cast<size_t>(blocks) + block] * values[1] + within % values[1];
    if (row >= dense[0] || column >= dense[1]) continue;
    coordinates.insert(coordinates.end(), {row, column});
    kept.push_back(i);
  }
  const DType dtype = parts.values.dtype();
  Tensor elements = Tensor::allocate(dtype, {static_cast<int64_t>(kept.size())});
  for (size_t i = 0; i < kept.size(); ++i) {
    if (dtype == DType::kString) {
      elements.mutable_values<std::string>()[i] =
          parts.values.values<std::string>()[size_t(kept[i])];
      continue;
    }
    const size_t size = bytes_for(dtype, 1);
    std::memcpy(static_cast<std::byte*>(elements.raw()) + i * size,
                static_cast<const std::byte*>(parts.values.raw()) + size_t(kept[i]) * size, size);
  }
  return SparseTensor{std::move(elements), pairs(coordinates), dense};
}

}  // namespace

void check_sparse_parts(const SparseParts& parts, const Shape& dense) {
  if (parts.format == ORT_SPARSE_COO) check_coo(parts, dense);
  if (parts.format == ORT_SPARSE_CSRC) check_csr(parts, dense);
  if (parts.format == ORT_SPARSE_BLOCK_SPARSE) check_blocks(parts, dense);
}

Datum coordinates_of(const SparseParts& parts, const Shape& dense) {
  if (parts.format == ORT_SPARSE_BLOCK_SPARSE && parts.values.count() > 0)
    return block_coordinates(parts, dense);
  if (parts.values.count() == 0)
    return SparseTensor{Tensor::allocate(parts.values.dtype(), {0}),
                        Tensor::allocate(DType::kInt64, {0}), dense};
  return SparseTensor{
      parts.values, parts.format == ORT_SPARSE_CSRC ? csr_coordinates(parts) : parts.first, dense};
}

}  // namespace sardonyx::ort_abi
