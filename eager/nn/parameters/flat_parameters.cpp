#include "eager/nn/parameters/flat_parameters.h"

#include "eager/autograd/autograd.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Loc loc) {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters)
    parts.push_back(parameter.reshape({-1}, loc));
  if (parts.empty()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": parameters_to_vector: expected parameters, got none");
  }
  return cat(parts, 0, loc);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters, Loc loc) {
  Dim total = 0;
  for (const Tensor& parameter : parameters)
    total += parameter.numel(loc);
  if (vector.rank() != 1 || !(vector.size(0, loc) == total)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": vector_to_parameters: expected a vector of ",
         total, " elements, got ", vector.type());
  }
  const NoGrad no_grad;
  Dim begin = 0;
  for (const Tensor& parameter : parameters) {
    const Dim end = begin + parameter.numel(loc);
    const Tensor part = vector.slice(0, {begin, end}, loc).reshape(parameter.shape(loc), loc);
    parameter.assign(part.to(parameter.dtype(), loc), loc);
    begin = end;
  }
}

}  // namespace sardonyx::eager::nn
