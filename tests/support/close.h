// For tests of kernels: elements that may differ by rounding.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "ir/core/tensor.h"

namespace sardonyx::onednn {

// Each element of `got` is within relative * |expected| + absolute of the expected one.
inline void expect_within(const Tensor& got, const Tensor& expected, float relative,
                          float absolute) {
  ASSERT_EQ(got.shape(), expected.shape());
  const auto a = got.values<float>(), b = expected.values<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], relative * std::abs(b[i]) + absolute) << "element " << i;
}

}  // namespace sardonyx::onednn
