// Who may ask for what: groups of endpoints, each with tokens of its own.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::serve {

// Health is open to all: probes carry no secrets.
enum class EndpointGroup { kHealth, kInfer, kControl, kMetrics };
inline constexpr size_t kEndpointGroups = 4;

enum class Access { kGranted, kNoToken, kWrongToken };

class AccessControl {
 public:
  // "infer=FILE": each line of the file is a token of the group. Throws ServingError
  // kInvalidArgument for an unknown group, or a file that can't be read or has no token.
  void add_tokens(std::string_view setting);
  // `authorization`: the header of that name. A group without tokens is open to all.
  Access check(EndpointGroup group, std::string_view authorization) const;

 private:
  std::array<std::vector<std::string>, kEndpointGroups> tokens_;
};

}  // namespace sardonyx::serve
