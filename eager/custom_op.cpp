#include "eager/custom_op.h"

#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {
namespace {

const OpDef& row_named(std::string_view name, const Loc& loc) {
  try {
    return op_named(name);
  } catch (const Error& error) {
    throw placed(error, loc);
  }
}

}  // namespace

std::vector<Tensor> call_many(size_t outputs, std::string_view name,
                              const std::vector<Tensor>& inputs, const AttrMap& attrs, Loc loc) {
  const OpDef& op = row_named(name, loc);
  const Attrs given = parsed(op, attrs, loc);
  std::vector<Tensor> results(outputs);
  apply({op, given, trimmed(inputs), 0, loc}, results);
  return results;
}

Tensor call(std::string_view name, const std::vector<Tensor>& inputs, const AttrMap& attrs,
            Loc loc) {
  return call_many(1, name, inputs, attrs, loc)[0];
}

}  // namespace sardonyx::eager::op
