#include "ir/ops/linalg/matrix_calls.h"

namespace sardonyx::ops {

std::optional<MatrixDims> matrix_dims(InferContext& c) {
  const Dims* shape = c.shape(0);
  if (!shape) return std::nullopt;
  if (shape->size() < 2) c.fail_input(0, "expected matrices, got rank ", shape->size());
  return MatrixDims{Dims(shape->begin(), shape->end() - 2), (*shape)[shape->size() - 2],
                    shape->back()};
}

std::optional<MatrixDims> square_dims(InferContext& c) {
  std::optional<MatrixDims> dims = matrix_dims(c);
  if (dims) {
    dims->rows = dims->columns =
        c.merged(dims->rows, dims->columns,
                 text("a square matrix is needed; rows and columns of ", c.input_label(0)));
  }
  return dims;
}

void set_output(InferContext& c, size_t index, const std::optional<MatrixDims>& dims,
                const Dims& last) {
  if (index >= c.output_count()) return;
  if (!dims) return c.set(index, c.dtype(0), std::nullopt);
  Dims shape = dims->batch;
  shape.insert(shape.end(), last.begin(), last.end());
  c.set(index, c.dtype(0), std::move(shape));
}

void merge_batch(InferContext& c, MatrixDims& dims, size_t input, size_t own) {
  const Dims* given = c.shape(input);
  if (!given) return;
  if (given->size() != dims.batch.size() + own) {
    c.fail_input(input, "expected rank ", dims.batch.size() + own,
                 ", for the batch of the matrices, got rank ", given->size());
  }
  for (size_t i = 0; i < dims.batch.size(); ++i)
    dims.batch[i] = c.merged(dims.batch[i], (*given)[i], "dims of the batches");
}

std::vector<Sample> samples_of(const std::vector<std::pair<std::vector<double>, Shape>>& values,
                               size_t outputs) {
  std::vector<Sample> samples;
  for (const auto& [elements, shape] : values) {
    samples.push_back({.inputs = {given<double>(elements, shape)}, .outputs = outputs});
    const std::vector<float> narrow(elements.begin(), elements.end());
    samples.push_back({.inputs = {given<float>(narrow, shape)}, .outputs = outputs});
  }
  return samples;
}
OpDef matrix_row(std::string_view name, std::string_view signature, void (*infer)(InferContext&),
                 void (*run)(const KernelCall&), Vals (*grad)(Emitter&, const GradCall&),
                 std::vector<Sample> (*samples)(), std::string_view file) {
  constexpr DTypeSet kReals{DType::kFloat, DType::kDouble};
  return {.name = name,
          .domain = "sardonyx",
          .signature = signature,
          .types = {{"T", kReals}},
          .infer = infer,
          .reference = run,
          .grad = grad,
          .samples = samples,
          .file = file};
}

}  // namespace sardonyx::ops
