// Values on the way to and from the other runtime.
#pragma once

#include "ir/datum.h"
#include "tools/onnx-run/ort/ort_api.h"

namespace sardonyx::tool::ort {

// Tensors lend their elements, so `datum` must live as long as the value.
OwnedValue to_value(const Api& api, const Datum& datum);

// A copy.
Datum to_datum(const Api& api, Value* value);

}  // namespace sardonyx::tool::ort
