// Why models are not loaded, in ONNX Runtime's codes and words.
#pragma once

#include <optional>
#include <string>

#include "executor/ort_abi/load/load_session.h"
#include "ir/core/error.h"

namespace sardonyx::ort_abi {

// Throws where there is nothing to load from. `format`: what the caller says that it is, or "".
void check_source(const ModelSource& source, std::string_view format);
[[noreturn]] void refuse_load(const ModelSource& source, const Error& error);
// Where the error is that the model has no initializer of a name that a caller gave: the name.
std::optional<std::string> unknown_initializer(const Error& error);

}  // namespace sardonyx::ort_abi
