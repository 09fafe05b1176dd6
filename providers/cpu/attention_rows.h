// The inner loops of attention on float32, for a few queries of one head at a time.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// Queries that share the keys and values that are read.
inline constexpr size_t kQueriesAtOnce = 4;

// scores[r][t] = scale * <queries[r], keys[t]> for t in [first, last); `keys` are rows of `size`.
void score_rows(const float* const* queries, size_t rows, const float* keys, size_t size,
                size_t first, size_t last, float scale, float* const* scores);

// Turns scores[0 .. count) into exp(score - greatest) and gives their sum. What lies more than 87
// below the greatest becomes 0.
float exponentials(float* scores, size_t count, float greatest);

// outputs[r] = the sum of weights[r][t] * values[t] for t in [first, last); `values` are rows of
// `size`.
void mix_rows(const float* const* weights, size_t rows, const float* values, size_t size,
              size_t first, size_t last, float* const* outputs);

}  // namespace sardonyx::cpu
