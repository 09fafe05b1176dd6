#include "ir/ops/image_decoder/image_files.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace sardonyx::ops {

bool is_image_file(const std::filesystem::path& path) {
  constexpr std::string_view kEndings[] = {".bmp", ".jp2", ".jpeg", ".jpg", ".pbm",  ".pgm",
                                           ".png", ".pnm", ".ppm",  ".tif", ".tiff", ".webp"};
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

}  // namespace sardonyx::ops
