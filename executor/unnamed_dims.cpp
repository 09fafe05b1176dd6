#include "executor/unnamed_dims.h"

namespace sardonyx {

Type UnnamedDims::numbered(const Type& type) {
  const auto rename = [this](std::string_view symbol) -> std::optional<Dim> {
    if (!symbol.starts_with('?')) return std::nullopt;
    const auto [at, is_new] = names_.try_emplace(std::string(symbol));
    if (is_new) at->second = "?" + std::to_string(names_.size() - 1);
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
