// Reads types as Type::text() writes them.
#pragma once

#include <string_view>

#include "ir/type.h"

namespace sardonyx::c_api {

// "float", "float[2, n]", "seq(map(int64, float))"; sizes are not looked at. Throws
// kInvalidArgument naming what was not understood.
Type parse_type(std::string_view text);

}  // namespace sardonyx::c_api
