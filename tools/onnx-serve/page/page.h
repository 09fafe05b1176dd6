// The page at "/": what the server has and does, in a browser.
#pragma once

#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

// One document, which asks for nothing but the server's own calls.
HttpAnswer page();

}  // namespace sardonyx::serve
