// Row kernels of float32 attention on its scores, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// The masks of one row of scores, applied after scaling. A mask that does not step is one element
// for the whole row; null: there is none.
struct ScoreMasks {
  float fill = 0;           // the score of positions where `kept` is false,
  bool fills_last = false;  // after `added` is added, else before
  const float* added = nullptr;
  bool added_steps = true;
  const bool* kept = nullptr;
  bool kept_steps = true;
};

// Scales and masks scores[0 .. count) and gives the greatest of them, minus infinity where there is
// none. A NaN among them may be left out of that.
float scale_scores(float* scores, size_t count, float scale, const ScoreMasks& masks);

// The greatest of scores[0 .. count), minus infinity where there is none. A NaN among them may be
// left out.
float greatest_score(const float* scores, size_t count);

// Turns scores[0 .. count) into exp(scale * score - greatest) and gives their sum, for scores that
// are not greater. What is more than 87 below becomes 0; a NaN stays one.
float exponentials(float* scores, size_t count, float scale, float greatest);

// row[0 .. count) times factor.
void scale_row(float* row, size_t count, float factor);

// Rows of `count` elements, `step` from one to the next.
struct AttentionRows {
  float* at;
  size_t step, rows, count;
};
// Does with each row of scores what greatest_score() and exponentials() do: greatest[i] is `scale`
// times its greatest score, or minus infinity where that is NaN, and sums[i] the sum of its
// exponentials. `scale` > 0.
void weigh_rows(const AttentionRows& scores, float scale, float* greatest, float* sums);
// Row i times 1 / sums[i].
void divide_rows(const AttentionRows& rows, const float* sums);

// Rotates pairs of numbers by angles: y = (cosine * real - sine * imaginary, sine * real + cosine *
// imaginary), for the `count` pairs (x[i], x[i + count]), or (x[2 * i], x[2 * i + 1]) where they
// are `interleaved`. y may be x.
void rotate_pairs(const float* x, const float* cosines, const float* sines, size_t count,
                  bool interleaved, float* y);

}  // namespace sardonyx::cpu
