// Image files by their names.
#pragma once

#include <filesystem>

namespace sardonyx::ops {

// Whether the file's ending, in letters of any case, is one of the formats that ImageDecoder reads.
bool is_image_file(const std::filesystem::path& path);

}  // namespace sardonyx::ops
