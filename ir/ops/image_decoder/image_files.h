// Image files by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sardonyx::ops {

// Whether the file's ending, in letters of any case, is one of the formats that ImageDecoder reads.
bool is_image_file(const std::filesystem::path& path);

// Why ImageDecoder gives an empty image for the bytes of a file; "" where it gives one.
std::string why_not_decoded(std::span<const uint8_t> file);

}  // namespace sardonyx::ops
