// Where a request ends, as its header says.
#pragma once

#include <optional>

#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

// RFC 9110, 5.6.2.
bool is_token_char(char c);

// A refusal of a header that leaves open, or tells in two ways, where the body ends or which host
// is meant. After it nothing can be read from the connection.
std::optional<HttpAnswer> framing_refusal(const beast::http::fields& fields, bool is_http_10);

}  // namespace sardonyx::serve
