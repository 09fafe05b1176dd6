// The C++ text of one op's function, written from its row.
#pragma once

#include <string>

#include "ir/op_def.h"

namespace sardonyx::tool {

// False of ops that cannot be called without a subgraph (eager/trace/control_flow.h has what they
// are for).
bool has_function(const OpDef& op);
// What a header declares: the struct of attributes and the functions.
std::string declaration_of(const OpDef& op);
// The list of the attributes' fields that conversions are derived from; empty without attributes.
std::string fields_of(const OpDef& op);
std::string definition_of(const OpDef& op);
// A call by position, for the tests: arguments from a list, attributes from a map.
std::string caller_of(const OpDef& op);

}  // namespace sardonyx::tool
