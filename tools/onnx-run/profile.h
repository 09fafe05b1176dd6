// Where the time of a run went.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "executor/session.h"

namespace sardonyx::tool {

// Steps added up by op, then the slowest steps; `runs` is how often each step ran.
void print_profile(std::ostream& out, std::span<const NodeTiming> timings, int runs);

// Trace events that browsers show (chrome://tracing, Perfetto).
void write_trace(const std::filesystem::path& file, std::span<const NodeTiming> timings);

nlohmann::ordered_json json_of(std::span<const NodeTiming> timings);

}  // namespace sardonyx::tool
