// Rows of float32 brought to one scale, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

struct RowStatistics {
  float mean = 0;    // the subtracted mean
  float factor = 1;  // the factor of the centered elements, before `scale`
};

// out[i] = (in[i] - mean) * factor * scale[i] + bias[i] for i < count, with the mean of the
// elements where `is_centered`, else 0, and factor = 1 / sqrt(mean square of what is left +
// epsilon). A null `bias` adds nothing. `out` may be `in`. The squares are those of the
// differences, so nothing cancels.
RowStatistics normalize_row(const float* in, const float* scale, const float* bias, float epsilon,
                            bool is_centered, float* out, size_t count);

}  // namespace sardonyx::cpu
