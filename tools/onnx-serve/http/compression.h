// Bodies in gzip and deflate (zlib's format).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

bool is_known_encoding(std::string_view encoding);

// nullopt where `body` is not in that encoding. More than `limit` bytes are cut off after some more
// than that; `padding` bytes of memory are reserved behind them.
std::optional<std::string> decompressed(std::string_view body, std::string_view encoding,
                                        size_t limit, size_t padding);

// Compresses an answer of some size as the request's Accept-Encoding allows.
void compress_answer(const HttpRequest& request, HttpAnswer& answer);

}  // namespace sardonyx::serve
