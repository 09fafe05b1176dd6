// Protobuf bytes to messages of the schema.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "onnx_io/onnx.pb.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx::onnx_import {

// Fills `message` from `bytes`; throws `code` saying what `what` (a file's name) seems to be
// instead. `nesting` bounds how deep messages may be in each other.
void parse_message(std::span<const std::byte> bytes, std::string_view what, ErrorCode code,
                   const LoadLimits& limits, google::protobuf::MessageLite& message);

bool is_utf8(std::string_view value);
// Throws kInvalidModel naming `what` unless `value` is UTF-8 (as protobuf demands of every string).
void require_utf8(std::string_view value, std::string_view what);

// Quotes `value` for a message, cut short and with control characters replaced.
std::string in_quotes(std::string_view value);

}  // namespace sardonyx::onnx_import
