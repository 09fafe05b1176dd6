// NonMaxSuppression against its definition, with equal scores and boxes that are none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

struct Inputs {
  Floats boxes, scores;
  int64_t count, classes;
};

Inputs draw(std::mt19937& generator, int64_t count, int64_t classes) {
  std::uniform_real_distribution<float> places(0, 1);
  Inputs inputs{Floats(static_cast<size_t>(count) * 4),
                Floats(static_cast<size_t>(count * classes)), count, classes};
  for (float& place : inputs.boxes)
    place = generator() % 50 == 0 ? 0 : places(generator);
  const float strange[] = {0.0f, -0.0f, std::nanf(""), -std::numeric_limits<float>::infinity()};
  for (float& score : inputs.scores)
    score =
        generator() % 8 == 0 ? strange[generator() % 4] : std::round(places(generator) * 99) / 99;
  return inputs;
}

double overlap(const float* a, const float* b) {
  const auto low = [](const float* box, int axis) { return std::min(box[axis], box[axis + 2]); };
  const auto high = [](const float* box, int axis) { return std::max(box[axis], box[axis + 2]); };
  const auto area = [&](const float* box) {
    return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
  };
  const float height = std::min(high(a, 0), high(b, 0)) - std::max(low(a, 0), low(b, 0));
  const float width = std::min(high(a, 1), high(b, 1)) - std::max(low(a, 1), low(b, 1));
  if (!(height > 0 && width > 0)) return 0;
  return width * height / (area(a) + area(b) - width * height);
}

Ints by_definition(const Inputs& inputs, int64_t most, float threshold, float least) {
  Ints selected;
  for (int64_t cls = 0; cls < inputs.classes; ++cls) {
    const float* scores = inputs.scores.data() + cls * inputs.count;
    Ints order, kept;
    for (int64_t i = 0; i < inputs.count; ++i) {
      if (scores[i] > least) order.push_back(i);
    }
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) == most) break;
      const bool is_apart = std::ranges::none_of(kept, [&](int64_t better) {
        return overlap(inputs.boxes.data() + 4 * i, inputs.boxes.data() + 4 * better) > threshold;
      });
      if (!is_apart) continue;
      kept.push_back(i);
      selected.insert(selected.end(), {0, cls, i});
    }
  }
  return selected;
}

TEST(NonMaxSuppression, IsThatOfTheDefinition) {
  std::mt19937 generator(9);
  for (const int64_t count : {1, 7, 300, 1500}) {
    const Inputs inputs = draw(generator, count, 3);
    for (const int64_t most : {0, 1, 20, 5000}) {
      for (const float threshold : {0.0f, 0.5f}) {
        for (const float least : {-1.0f, 0.0f, 0.6f}) {
          const auto selected =
              run_op("NonMaxSuppression",
                     {Tensor::of(inputs.boxes, {1, count, 4}),
                      Tensor::of(inputs.scores, {1, 3, count}), Tensor::vector(Ints{most}),
                      Tensor::vector(Floats{threshold}), Tensor::vector(Floats{least})});
          EXPECT_EQ(selected[0].tensor().to_int64s(), by_definition(inputs, most, threshold, least))
              << count << " boxes, " << most << ", " << threshold << ", " << least;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::ops
