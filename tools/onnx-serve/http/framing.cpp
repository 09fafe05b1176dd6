#include "tools/onnx-serve/http/framing.h"

#include <boost/beast/http/field.hpp>

namespace sardonyx::serve {
namespace {

namespace http = beast::http;

// Without white space around it.
std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// The values of all fields of that name, as one list.
std::string joined(const http::fields& fields, http::field name) {
  std::string all;
  const auto range = fields.equal_range(name);
  for (auto one = range.first; one != range.second; ++one) {
    if (one != range.first) all += ',';
    all.append(one->value().data(), one->value().size());
  }
  return all;
}

// Chunks are the only coding that is undone here; where they are not the last one, the end of the
// body is unknown.
std::optional<HttpAnswer> coding_refusal(const std::string& codings) {
  if (beast::iequals(trimmed(codings), "chunked")) return std::nullopt;
  const size_t comma = codings.rfind(',');
  const bool is_chunked_last =
      comma != std::string::npos &&
      beast::iequals(trimmed(std::string_view(codings).substr(comma + 1)), "chunked");
  if (!is_chunked_last)
    return error_answer(400, text("Transfer-Encoding '", codings,
                                  "': expected chunked as the last coding of a request"));
  return error_answer(501, text("Transfer-Encoding '", codings,
                                "': chunked alone is known; compress with Content-Encoding"));
}

}  // namespace

bool is_token_char(char c) {
  const bool is_alphanumeric =
      (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_alphanumeric ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

std::optional<HttpAnswer> framing_refusal(const http::fields& fields, bool is_http_10) {
  const size_t hosts = fields.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !is_http_10))
    return error_answer(400, text("expected one field Host, got ", hosts));
  if (fields.count(http::field::transfer_encoding) == 0) return std::nullopt;
  if (is_http_10) return error_answer(400, "Transfer-Encoding is none of HTTP/1.0's fields");
  if (fields.count(http::field::content_length) > 0)
    return error_answer(400, "expected either Transfer-Encoding or Content-Length, got both");
  return coding_refusal(joined(fields, http::field::transfer_encoding));
}

}  // namespace sardonyx::serve
