#include "ir/ops/inference/propagate_elements.h"

#include <algorithm>
#include <vector>

#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

// What the row's reference gives for `inputs`: elements of type `carried`, or of the inferred one.
// Empty where a shape is unknown or large, and where the reference refuses: bad indices are an
// error of the run, which may never come here.
std::vector<Tensor> run_row(const InferContext& c, std::span<const Tensor> inputs,
                            std::optional<DType> carried) {
  std::vector<Tensor> outputs;
  for (const InferOutput& output : c.outputs()) {
    const auto shape = output.type.known_shape();
    if (!shape || element_count(*shape) > kMaxPropagatedElements) return {};
    outputs.push_back(Tensor::zeros(carried.value_or(output.type.dtype), *shape));
  }
  std::vector<TensorView> in, out;
  for (const Tensor& input : inputs)
    in.push_back(input ? input.view() : TensorView{});
  for (const Tensor& output : outputs)
    out.push_back(output.view());
  try {
    run_reference(c.op(), c.raw_attrs(), in, out);
  } catch (const Error&) {
    return {};
  }
  return outputs;
}

// Whether all inputs are small constants. The reference then computes the elements themselves.
bool propagate_constants(InferContext& c) {
  std::vector<Tensor> inputs(c.input_count());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!c.has(i)) continue;
    const Tensor* constant = c.constant(i);
    if (!constant || constant->count() > kMaxPropagatedElements) return false;
    inputs[i] = *constant;
  }
  const std::vector<Tensor> outputs = run_row(c, inputs, std::nullopt);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_integer(outputs[i].dtype())) c.set_dims(i, to_dims(outputs[i].to_int64s()));
  }
  return true;
}

// Gives each element of the data inputs a number; 0 stands for the integer zero.
class Carrier {
 public:
  explicit Carrier(InferContext& c) : c_(c), inputs_(c.input_count()), elements_{Dim(0)} {}

  bool add_data(size_t input) {
    const auto shape = c_.type(input).known_shape();
    const auto elements = known_elements(c_, input);
    if (!shape || !elements) return false;
    inputs_[input] = Tensor::allocate(DType::kInt64, *shape);
    for (int64_t& number : inputs_[input].mutable_values<int64_t>()) {
      number = static_cast<int64_t>(elements_.size());
      elements_.push_back((*elements)[static_cast<size_t>(number - first_)]);
    }
    first_ = static_cast<int64_t>(elements_.size());
    return true;
  }

  bool add_parameter(size_t input) {
    if (!c_.has(input)) return true;
    if (const Tensor* constant = c_.constant(input)) {
      inputs_[input] = *constant;
      return true;
    }
    const auto values = c_.int64s(input);
    const auto shape = c_.type(input).known_shape();
    if (!values || !shape) return false;
    if (c_.dtype(input) == DType::kInt64) {
      inputs_[input] = Tensor::of(*values, *shape);
    } else if (c_.dtype(input) == DType::kInt32) {
      inputs_[input] = Tensor::of(std::vector<int32_t>(values->begin(), values->end()), *shape);
    } else {
      return false;
    }
    return true;
  }

  void run() {
    const std::vector<Tensor> outputs = run_row(c_, inputs_, DType::kInt64);
    for (size_t i = 0; i < outputs.size(); ++i) {
      Dims dims;
      for (const int64_t number : outputs[i].values<int64_t>())
        dims.push_back(elements_[static_cast<size_t>(number)]);
      c_.set_dims(i, std::move(dims));
    }
  }

 private:
  InferContext& c_;
  std::vector<Tensor> inputs_;
  Dims elements_;
  int64_t first_ = 1;  // the number of the next data input's first element
};

}  // namespace

std::optional<Dims> known_elements(const InferContext& c, size_t input) {
  if (!c.has(input) || !c.type(input).is_tensor() || !is_integer(c.dtype(input))) {
    return std::nullopt;
  }
  const auto shape = c.type(input).known_shape();
  if (!shape || element_count(*shape) > kMaxPropagatedElements) return std::nullopt;
  std::optional<Dims> elements = c.dims(input);
  if (elements && static_cast<int64_t>(elements->size()) != element_count(*shape)) {
    return std::nullopt;
  }
  return elements;
}

void propagate_elements(InferContext& c, std::initializer_list<size_t> data_inputs) {
  if (!c.op().reference || !c.type(0).is_tensor() || !is_integer(c.dtype(0))) return;
  if (propagate_constants(c)) return;
  Carrier carrier(c);
  for (size_t i = 0; i < c.input_count(); ++i) {
    const bool is_data = std::find(data_inputs.begin(), data_inputs.end(), i) != data_inputs.end();
    if (is_data && c.has(i) ? !carrier.add_data(i) : !carrier.add_parameter(i)) return;
  }
  carrier.run();
}

void propagate_all_elements(InferContext& c) {
  if (!c.op().reference || !is_integer(c.dtype(0)) || propagate_constants(c)) return;
  Carrier carrier(c);
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i) || !carrier.add_data(i)) return;
  }
  carrier.run();
}

}  // namespace sardonyx::ops
