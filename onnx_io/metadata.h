// Keys of ours in the metadata_props of nodes.
#pragma once

#include <string_view>

namespace sardonyx {

constexpr std::string_view kScopeKey = "sardonyx.scope";    // Node::scope
constexpr std::string_view kSourceKey = "sardonyx.source";  // Node::source

}  // namespace sardonyx
