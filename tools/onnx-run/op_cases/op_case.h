// Calls of single ops at sizes that are typical of models, to be measured.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::tool {

// As the tables of calls write them.
inline constexpr DType kI64 = DType::kInt64, kI32 = DType::kInt32;

struct CaseOperand {
  Shape shape;
  DType dtype = DType::kFloat;
  double low = -2, high = 2;  // what elements are drawn from
  Tensor value;               // instead of drawn elements, where it is defined
  bool is_constant = false;   // in the model, not an input of it
  bool is_omitted = false;
};

struct OpCase {
  std::string_view op;  // full name of a row
  std::string variant;  // tells the cases of one row apart; may be empty
  std::vector<CaseOperand> operands;
  AttrMap attrs = {};
  size_t outputs = 1;
};

// An input of the model.
inline CaseOperand input(Shape shape, DType dtype = DType::kFloat, double low = -2,
                         double high = 2) {
  return {std::move(shape), dtype, low, high};
}
// A weight, drawn as well.
inline CaseOperand weight(Shape shape, DType dtype = DType::kFloat, double low = -0.1,
                          double high = 0.1) {
  return {std::move(shape), dtype, low, high, {}, true};
}
// An input with these elements.
inline CaseOperand given(Tensor value) {
  return {value.shape(), value.dtype(), 0, 0, value};
}
// A constant with these elements.
inline CaseOperand fixed(Tensor value) {
  return {value.shape(), value.dtype(), 0, 0, value, true};
}
inline CaseOperand int64s(const std::vector<int64_t>& values) {
  return fixed(Tensor::vector<int64_t>(values));
}
template <typename T>
CaseOperand scalar(T value) {
  return fixed(Tensor::scalar<T>(value));
}
inline CaseOperand none() {
  CaseOperand operand;
  operand.is_omitted = true;
  return operand;
}

// Cases by family; a row may have several, or none where it has no typical size.
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> network_cases();
std::vector<OpCase> product_cases();
std::vector<OpCase> arrange_cases();
std::vector<OpCase> quantized_cases();
std::vector<OpCase> contrib_cases();
std::vector<OpCase> classic_cases();

// All of them. Elementwise rows that no family names are called on float (or the first type that
// they allow) of [256, 1024].
std::vector<OpCase> all_op_cases();

// Rows that have no case.
std::vector<const OpDef*> ops_without_case();

// The model of one node; what it is fed is drawn with a fixed seed into `feeds`.
Model model_of(const OpCase& what, std::map<std::string, Datum, std::less<>>& feeds);

}  // namespace sardonyx::tool
