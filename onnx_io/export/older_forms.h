// What operators of ai.onnx were in versions before their newest: how many inputs and outputs, of
// which types, with which attributes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ir/op_def.h"

namespace sardonyx::onnx_export {

struct WrittenCall;

struct OlderForm {
  OpDef op;  // name, since, signature and types; nothing that computes
  std::set<std::string_view> attributes;
};

// One line for each version that is in force at the oldest saved opset or later, other than the
// newest, by name: "Clip-6 (input: T) -> (output: T) [max min] T = ieee", that is name and version,
// a signature as OpDef has it, the attributes, and what the type constraints allow: dtypes, seq()
// and optional() of them, and "ints", "ieee" (float16, float, double), "float8" (all four) and
// "classic" (all of opset 7) for several. A line starts and ends with a line break.
std::string_view older_signatures();

// The form of version `since`; nullptr where that is the newest. The pointer stays good.
// Thread-safe.
const OlderForm* older_form(std::string_view op, int since);

// What keeps the call from being one of that form: a required input that is missing, a type or an
// attribute that came later; "" where nothing does.
std::string mismatch(const WrittenCall& call, const OlderForm& form);

}  // namespace sardonyx::onnx_export
