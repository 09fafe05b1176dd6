#include "tools/onnx-serve/http/message.h"

#include "executor/serving/json_text.h"

namespace sardonyx::serve {

size_t HttpAnswer::size() const {
  size_t bytes = text.size();
  for (const Part& part : parts)
    bytes += part.tensor.defined() ? part.tensor.bytes() : part.text.size();
  return bytes;
}

unsigned http_status(Status status) {
  switch (status) {
    case Status::kOk:
      return 200;
    case Status::kInvalidArgument:
    case Status::kCancelled:
      return 400;
    case Status::kNotFound:
      return 404;
    case Status::kUnavailable:
      return 503;
    case Status::kResourceExhausted:
      return 429;
    case Status::kTooLarge:
      return 413;
    case Status::kUnsupported:
      return 501;
    case Status::kDeadlineExceeded:
      return 504;
    case Status::kInternal:
      break;
  }
  return 500;
}

HttpAnswer json_answer(std::string text) {
  HttpAnswer answer;
  answer.text = std::move(text);
  return answer;
}

HttpAnswer error_answer(unsigned status, std::string_view message) {
  HttpAnswer answer;
  answer.status = status;
  answer.text = "{\"error\":" + serving::json_string(message) + "}";
  if (status == 429 || status == 503) answer.fields.emplace_back("Retry-After", "1");
  return answer;
}

HttpAnswer error_answer(const ServingError& error) {
  return error_answer(http_status(error.status()), error.message());
}

HttpAnswer wrong_method(std::string_view allowed) {
  HttpAnswer answer = error_answer(405, text("expected method ", allowed));
  answer.fields.emplace_back("Allow", std::string(allowed));
  return answer;
}

}  // namespace sardonyx::serve
