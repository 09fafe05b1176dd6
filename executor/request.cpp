#include "executor/request.h"

namespace sardonyx {
namespace {

Tensor without_elements(DType dtype, const Shape& shape) {
  if (dtype == DType::kString) return Tensor::allocate(dtype, shape);
  return Tensor(dtype, shape,
                Buffer::borrow(nullptr, bytes_for(dtype, element_count(shape)), nullptr));
}

}  // namespace

Error blamed_on_request(const Error& error, std::span<const ValueInfo> inputs,
                        std::span<const Datum* const> given) {
  constexpr size_t kMaxNamed = 8;
  std::string request;
  for (size_t i = 0; i < std::min(inputs.size(), kMaxNamed); ++i) {
    request += text(i == 0 ? "" : ", ", inputs[i].name, " ");
    request += given[i]->defined() ? given[i]->type().text() : "not given";
  }
  if (inputs.size() > kMaxNamed) request += ", ...";
  return Error(ErrorCode::kInvalidArgument, text(error.what(), " (for inputs ", request, ")"))
      .at_node(error.node());
}

std::vector<Datum> tensors_of_shapes(std::span<const ValueInfo> inputs,
                                     std::span<const Datum> defaults,
                                     std::span<const std::optional<Shape>> shapes) {
  if (shapes.size() > inputs.size()) {
    fail(ErrorCode::kInvalidArgument, "shapes: the model has ", inputs.size(), " inputs, got ",
         shapes.size());
  }
  std::vector<Datum> made(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, type] = inputs[i];
    const bool is_given = i < shapes.size() && shapes[i];
    if (!is_given && defaults[i].defined()) continue;
    const std::optional<Shape> shape = is_given ? shapes[i] : type.known_shape();
    if (!type.is_tensor()) {
      fail(ErrorCode::kInvalidArgument, "input ", name, " (", type,
           "): it is no tensor; prepare with inputs");
    }
    if (!shape)
      fail(ErrorCode::kInvalidArgument, "input ", name, " (", type, "): expected its shape");
    made[i] = without_elements(type.dtype, *shape);
  }
  return made;
}

}  // namespace sardonyx
