// A request over HTTP and its answer.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/verb.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/batching/serving_error.h"
#include "ir/core/tensor.h"

namespace sardonyx::serve {

namespace beast = boost::beast;
using serving::ServingError;
using serving::Status;

struct HttpRequest {
  beast::http::verb method = beast::http::verb::unknown;
  std::string target;
  std::optional<std::vector<std::string>> path;  // path_parts() of the target
  beast::http::fields fields;
  // The body, or the part of it that Inference-Header-Content-Length says is JSON. Behind its end
  // there is memory that a JSON parser may read (simdjson's padding).
  std::string text;
  // The other part, from a 64-byte boundary on.
  std::shared_ptr<Buffer> binary;
  bool has_binary = false;  // Inference-Header-Content-Length was given
  bool has_body = false;    // of at least a byte, or chunked
  bool is_secure = false;
  std::chrono::steady_clock::time_point received{};  // when its first bytes were there

  // "" where there is none.
  std::string_view field(std::string_view name) const {
    const auto found = fields.find(beast::string_view(name.data(), name.size()));
    if (found == fields.end()) return {};
    return {found->value().data(), found->value().size()};
  }
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields;
  std::string text;
  // What follows the text: elements of tensors as they are, and those of tensors of strings as
  // text.
  struct Part {
    Tensor tensor;
    std::string text;
  };
  std::vector<Part> parts;
  // Called when the answer has been written, with the time when that began.
  std::function<void(std::chrono::steady_clock::time_point)> on_sent;

  size_t size() const;
};

unsigned http_status(Status status);
HttpAnswer json_answer(std::string text);
// {"error": message}
HttpAnswer error_answer(const ServingError& error);
HttpAnswer error_answer(unsigned status, std::string_view message);
// 405, with the methods that the target has.
HttpAnswer wrong_method(std::string_view allowed);

}  // namespace sardonyx::serve
