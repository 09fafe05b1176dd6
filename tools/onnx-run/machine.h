// What is known of the machine.
#pragma once

#include <cstddef>
#include <string>

namespace sardonyx::tool {

std::string cpu_name();  // "" where it is not known
size_t usable_cores();   // in the affinity mask
size_t total_memory();   // bytes

}  // namespace sardonyx::tool
