// How the functions of eager/op.h call their rows: attributes are parsed once for each set of
// values, not in each call.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "eager/dispatch/attr_fields.h"
#include "eager/dispatch/dispatch.h"

namespace sardonyx::eager::op {

std::vector<Tensor> joined(std::initializer_list<Tensor> first, const std::vector<Tensor>& rest);

// Omitted inputs at the end are none.
std::span<const Tensor> trimmed(std::span<const Tensor> inputs);

// Errors name the op and the line.
Attrs parsed(const OpDef& op, const AttrMap& attrs, const Loc& loc);

// The row of an op whose attributes are a struct with these fields. `attrs` of a call is such a
// struct; null where the op has no fields.
class OpRow {
 public:
  explicit OpRow(const char* name, std::vector<NamedMember> fields = {});

  Tensor call(std::span<const Tensor> inputs, const void* attrs, const Loc& loc) const;
  Tensor call(std::initializer_list<Tensor> inputs, const void* attrs, const Loc& loc) const {
    return call(std::span(inputs.begin(), inputs.size()), attrs, loc);
  }
  std::vector<Tensor> call_many(std::span<const Tensor> inputs, const void* attrs, size_t outputs,
                                const Loc& loc) const;
  std::vector<Tensor> call_many(std::initializer_list<Tensor> inputs, const void* attrs,
                                size_t outputs, const Loc& loc) const {
    return call_many(std::span(inputs.begin(), inputs.size()), attrs, outputs, loc);
  }

 private:
  Attrs attrs_of(const void* attrs, const Loc& loc) const;
  bool is_same(std::span<const std::any> copies, const void* attrs) const;

  template <typename Run>
  void with_attrs(const void* attrs, const Loc& loc, const Run& run) const;

  const OpDef& op_;
  const std::vector<NamedMember> fields_;
  const Attrs plain_;   // of an op without fields
  const size_t index_;  // of this row in what a thread keeps
};

}  // namespace sardonyx::eager::op
