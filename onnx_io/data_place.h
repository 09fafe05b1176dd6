// Where the elements of a tensor are, outside of the model's file.
#pragma once

#include <cstdint>
#include <string>

namespace sardonyx {

struct DataPlace {
  std::string file;  // from the model's folder
  uint64_t offset = 0, bytes = 0;
};

}  // namespace sardonyx
