// Inputs of a run from files.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

// FOLDER/input_0.pb, input_1.pb ...: each belongs to the input of its position. Throws
// kInvalidArgument where there are more or fewer files than values.
std::vector<Datum> read_by_position(const std::filesystem::path& folder, std::string_view stem,
                                    std::span<const ValueInfo> values);

// FOLDER/input_K.pb for every K there is: each is fed to the input that bears the tensor's name.
NamedData read_by_name(const std::filesystem::path& folder, const Runner& runner);

// FOLDER/test_data_set_K in rising order.
std::vector<std::filesystem::path> data_sets_in(const std::filesystem::path& folder);

// Throws kInvalidArgument where a value can't be fed to the input of its name: the kind, element
// type, rank or a dim differs, or two inputs disagree about a symbolic dim.
void check_feeds(const Runner& runner, const NamedData& feeds);

}  // namespace sardonyx::tool
