// Tables of 256 bytes, looked up for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// out[i] = table[in[i]]. `out` may be `in`.
void byte_table_row(const uint8_t* table, const uint8_t* in, uint8_t* out, size_t count);

}  // namespace sardonyx::cpu
