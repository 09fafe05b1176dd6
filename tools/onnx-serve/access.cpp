#include "tools/onnx-serve/access.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <fstream>

#include "executor/batching/serving_error.h"

namespace sardonyx::serve {

using serving::refuse;
using serving::Status;

void AccessControl::add_tokens(std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const std::pair<std::string_view, EndpointGroup> groups[] = {
      {"infer", EndpointGroup::kInfer},
      {"control", EndpointGroup::kControl},
      {"metrics", EndpointGroup::kMetrics}};
  const auto* group = std::begin(groups);
  while (group != std::end(groups) && group->first != name)
    ++group;
  if (group == std::end(groups) || equals == std::string_view::npos)
    refuse(Status::kInvalidArgument,
           "tokens: expected infer=FILE, control=FILE or metrics=FILE, got '", setting, "'");
  const std::string path(setting.substr(equals + 1));
  std::ifstream file(path);
  if (!file) refuse(Status::kInvalidArgument, "tokens: '", path, "' can't be read");
  auto& tokens = tokens_[static_cast<size_t>(group->second)];
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
    if (!line.empty()) tokens.push_back(line);
  }
  // An empty file must not open what was to be closed.
  if (tokens.empty()) refuse(Status::kInvalidArgument, "tokens: '", path, "' has none");
}

Access AccessControl::check(EndpointGroup group, std::string_view authorization) const {
  const auto& tokens = tokens_[static_cast<size_t>(group)];
  if (tokens.empty()) return Access::kGranted;
  constexpr std::string_view kScheme = "bearer ";
  // Names of schemes are the same in either case, and spaces follow them (RFC 9110, 11.1 and 11.4).
  const bool is_bearer =
      authorization.size() >= kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), [](char a, char b) {
        return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + ('a' - 'A')) : b);
      });
  if (!is_bearer) return Access::kNoToken;
  std::string_view given = authorization.substr(kScheme.size());
  given.remove_prefix(std::min(given.find_first_not_of(' '), given.size()));
  bool is_known = false;
  // In a time that tells nothing of how much of a token was right.
  for (const std::string& token : tokens) {
    is_known |= token.size() == given.size() &&
                CRYPTO_memcmp(token.data(), given.data(), token.size()) == 0;
  }
  return is_known ? Access::kGranted : Access::kWrongToken;
}

}  // namespace sardonyx::serve
