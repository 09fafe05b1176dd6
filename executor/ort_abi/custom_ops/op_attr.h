// An attribute of a node, by itself.
#pragma once

#include <string>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/attributes.h"

struct OrtOpAttr {
  std::string name;
  sardonyx::AttrValue value;
};
