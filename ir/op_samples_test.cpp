#include "ir/op_samples.h"

#include <gtest/gtest.h>

namespace sardonyx {
namespace {

// All bits of packed elements depend on the seed alone, those behind the last element too.
TEST(DrawnTensor, OfPackedElementsLeavesNoBitUnset) {
  for (const DType dtype : {DType::kInt2, DType::kUInt2, DType::kInt4, DType::kUInt4}) {
    SCOPED_TRACE(text(dtype));
    const int64_t count = 3;
    const Tensor drawn = drawn_tensor(dtype, {count}, 0, 1, 7);
    const auto* bytes = static_cast<const uint8_t*>(drawn.raw());
    const auto used = static_cast<int>(count * bits_of(dtype));
    const int in_last = used - 8 * static_cast<int>(drawn.bytes() - 1);
    if (in_last < 8) {
      EXPECT_EQ(bytes[drawn.bytes() - 1] >> in_last, 0);
    }
  }
}

}  // namespace
}  // namespace sardonyx
