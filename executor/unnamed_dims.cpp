#include "executor/unnamed_dims.h"

#include "ir/core/error.h"
#include "onnx_io/dim_names.h"

namespace sardonyx {

Type UnnamedDims::numbered(const Type& type) {
  const auto rename = [this](std::string_view symbol) -> std::optional<Dim> {
    if (!is_of_one_dim(symbol)) return std::nullopt;
    const auto [at, is_new] = names_.try_emplace(std::string(symbol));
    if (is_new) at->second = text(name_in_file(symbol), "?", names_.size() - 1);
    return Dim::symbol(at->second);
  };
  Type renamed = type;
  if (renamed.shape) {
    for (Dim& dim : *renamed.shape)
      dim = dim.substitute(rename);
  }
  if (type.element) renamed.element = std::make_shared<const Type>(numbered(*type.element));
  return renamed;
}

}  // namespace sardonyx
