// Where a model keeps what is not in its file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "onnx_io/data_place.h"
#include "onnx_io/load_options.h"

namespace sardonyx {

using DataPlaces = std::map<std::string, DataPlace, std::less<>>;

// Of the initializers of the main graph, by name. Their bytes are 0 where the file does not say how
// many. Throws as load_model does where the model can't be read.
DataPlaces external_places(const std::filesystem::path& path, const LoadOptions& options = {});
DataPlaces external_places(std::span<const std::byte> bytes, const LoadOptions& options = {});

}  // namespace sardonyx
