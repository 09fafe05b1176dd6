#include "ir/emitter/tensor_from_dims.h"

namespace sardonyx {

std::optional<Tensor> tensor_of_dims(const Type& type, const std::optional<Dims>& dims) {
  if (!dims || !type.is_tensor()) return std::nullopt;
  const std::optional<Shape> elements = known_shape(*dims);
  const std::optional<Shape> shape = type.known_shape();
  if (!elements || !shape || element_count(*shape) != static_cast<int64_t>(elements->size()))
    return std::nullopt;
  if (type.dtype == DType::kInt64) return Tensor::of(*elements, *shape);
  if (type.dtype != DType::kInt32) return std::nullopt;
  return Tensor::of(std::vector<int32_t>(elements->begin(), elements->end()), *shape);
}

}  // namespace sardonyx
