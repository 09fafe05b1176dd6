// The handles through which a custom operator's C callbacks see its call and its inference.
#pragma once

#include <deque>
#include <vector>

#include "ir/custom_op.h"
#include "sardonyx/sardonyx.h"

// Attributes of the node. Values and string lists that the callback has read live until it returns.
struct sx_op_attributes {
  const sardonyx::Attrs& attrs;
  std::deque<sardonyx::AttrValue> read = {};
  std::deque<std::vector<const char*>> strings = {};
};

struct sx_op_call {
  const sardonyx::EvalCall& call;
  sx_op_attributes attributes{call.raw_attrs};
};

struct sx_op_inference {
  sardonyx::InferContext& context;
  sx_op_attributes attributes{context.raw_attrs()};
  std::deque<std::vector<int64_t>> lists = {};  // dims and elements that were asked for
};
