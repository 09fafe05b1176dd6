#include "providers/cpu/pooling/max_pool_grad_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sardonyx::cpu {
namespace {

// Which of four elements is taken, one comparison after the other.
size_t taken(const float (&window)[4]) {
  size_t best = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (std::isnan(window[best]) || window[i] > window[best]) best = i;
  }
  return best;
}

// Windows of all mixtures of four values, NaN among them.
TEST(MaxPoolGradientPairs, share_as_one_comparison_after_the_other_does) {
  const float values[] = {-1, 2, 3, NAN};
  for (const size_t lanes : {1, 16, 32}) {
    const size_t outputs = 256 + 3;
    std::vector<float> top(2 * outputs * lanes), bottom(top), d_y(outputs * lanes);
    for (size_t i = 0; i < d_y.size(); ++i) {
      const size_t left = i / lanes * 2 * lanes + i % lanes, mixture = i * 7;
      top[left] = values[mixture % 4], top[left + lanes] = values[mixture / 4 % 4];
      bottom[left] = values[mixture / 16 % 4], bottom[left + lanes] = values[mixture / 64 % 4];
      d_y[i] = static_cast<float>(i + 1);
    }
    std::vector<float> d_top(top.size(), -7), d_bottom(d_top);
    max_pool_gradient_pairs(top.data(), bottom.data(), d_y.data(), outputs, lanes, d_top.data(),
                            d_bottom.data());
    for (size_t i = 0; i < d_y.size(); ++i) {
      const size_t left = i / lanes * 2 * lanes + i % lanes, right = left + lanes;
      const size_t best = taken({top[left], top[right], bottom[left], bottom[right]});
      const float found[] = {d_top[left], d_top[right], d_bottom[left], d_bottom[right]};
      for (size_t k = 0; k < 4; ++k)
        ASSERT_EQ(found[k], k == best ? d_y[i] : 0) << lanes << " lanes, element " << i;
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
