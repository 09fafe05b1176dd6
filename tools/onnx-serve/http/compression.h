// Bodies in gzip and deflate (zlib's format).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

bool is_known_encoding(std::string_view encoding);

// Of a body in either encoding, deflate with or without zlib's header; nullopt where it is in none.
// More than `limit` bytes are cut off after some more than that; `padding` bytes of memory are
// reserved behind them. Ends early where take(bytes), asked before as many are kept, says false.
std::optional<std::string> decompressed(std::string_view body, size_t limit, size_t padding,
                                        const std::function<bool(size_t)>& take);

// Compresses an answer of some size as the request's Accept-Encoding allows.
void compress_answer(const HttpRequest& request, HttpAnswer& answer);

}  // namespace sardonyx::serve
