// What is known of the machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sardonyx::tool {

std::string cpu_name();                   // "" where it is not known
std::vector<std::string> cpu_features();  // vector and matrix extensions that kernels care for
size_t usable_cores();                    // in the affinity mask
size_t total_memory();                    // bytes

}  // namespace sardonyx::tool
