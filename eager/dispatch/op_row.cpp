#include "eager/dispatch/op_row.h"

#include "eager/trace/frame.h"

namespace sardonyx::eager::op {

void set_attr(AttrMap& map, const char* name, const Tensor& value, const Loc& loc) {
  if (!value.defined()) return;
  const Datum& datum = value.datum(loc);
  if (datum.is_sparse())
    map.emplace(name, datum.sparse());
  else
    map.emplace(name, datum.tensor());
}

void set_attr(AttrMap& map, const char* name, const std::vector<Tensor>& values, const Loc& loc) {
  if (values.empty()) return;
  std::vector<sardonyx::Tensor> tensors;
  for (const Tensor& value : values)
    tensors.push_back(value.data(loc));
  map.emplace(name, std::move(tensors));
}

Attrs parsed(const OpDef& op, const AttrMap& attrs, const Loc& loc) {
  try {
    return Attrs::parse(*op.attrs, attrs);
  } catch (const Error& error) {
    throw error.with_context(text_of(loc) + ": " + full_name(op));
  }
}

std::vector<Tensor> joined(std::initializer_list<Tensor> first, const std::vector<Tensor>& rest) {
  std::vector<Tensor> all(first);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace sardonyx::eager::op
