// Which methods a path has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::serve {

// As field Allow has them: "GET, HEAD", "POST", or "GET, HEAD, POST"; "" where there is nothing.
// Bodies are for POST alone.
std::string_view methods_of(const std::vector<std::string>& path);

}  // namespace sardonyx::serve
