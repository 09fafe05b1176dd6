// Why models are not loaded, in ONNX Runtime's codes and words.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "executor/ort_abi/load/load_session.h"
#include "ir/core/error.h"

namespace sardonyx::ort_abi {

// Throws where there is nothing to load from. `format`: what the caller says that it is, or "".
void check_source(const ModelSource& source, std::string_view format);
// Is a file of that name of ONNX Runtime's own format? `format` tells it, or, where it is "", the
// end of the name.
bool is_meant_as_ort(const std::filesystem::path& path, std::string_view format);
// Do its first bytes say so?
bool is_ort_format(const ModelSource& source);
[[noreturn]] void refuse_load(const ModelSource& source, const Error& error);
// Where the error is that the model has no initializer of a name that a caller gave: the name.
std::optional<std::string> unknown_initializer(const Error& error);

}  // namespace sardonyx::ort_abi
