// When each operator of ONNX appeared, changed and was removed.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sardonyx {

struct OpHistory {
  std::string_view domain, name;
  // Opsets in which the op got a new version, rising; one in which it was removed has a minus
  // before it: "7 9 -10".
  std::string_view versions;
};

// Sorted by domain and name. Ops of other domains than ONNX's own are not listed.
std::span<const OpHistory> op_histories();

struct OpVersions {
  std::vector<int> since;  // rising; empty for an op that is not listed
  std::vector<bool> removed;
};
std::optional<OpVersions> versions_of(std::string_view domain, std::string_view name);

// The version of the op that `opset` means: the newest one not after it. `since` is 0 where the op
// came later.
struct OpVersion {
  int since = 0;
  bool removed = false;
};
OpVersion version_in(const OpVersions& versions, int64_t opset);

}  // namespace sardonyx
