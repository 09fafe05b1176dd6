// What the target of a request names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::serve {

// The parts of a path, decoded: "/v2/models/m?x=1" and "http://host/v2/models/m" are {"v2",
// "models", "m"}. nullopt where an escape is broken.
std::optional<std::vector<std::string>> path_parts(std::string_view target);

// The value of a name in the query, decoded; nullopt where it is not there, or broken.
std::optional<std::string> query_value(std::string_view target, std::string_view name);

}  // namespace sardonyx::serve
