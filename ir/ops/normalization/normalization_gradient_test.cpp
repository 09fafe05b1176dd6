// Dropout's gradient goes where its mask lets elements through.
#include "ir/ops/normalization/normalization_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/check_graph_gradient.h"

namespace sardonyx::ops {
namespace {

struct Dropped {
  Datum y, gradient;
};

Dropped dropped(const Tensor& x, size_t outputs) {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals inputs{e.constant(x), e.scalar(DType::kDouble, 0.75),
                    e.constant(Tensor::scalar(true))};
  const Vals y = e.call_many("Dropout", inputs, {}, outputs);
  const Vals found = e.gradients(std::span(y).first(1), Vals(1), std::span(inputs).first(1));
  return {ReferenceEmitter::unwrap(y[0]), ReferenceEmitter::unwrap(found[0])};
}

TEST(DropoutGradient, IsScaledLikeWhatIsKept) {
  const Tensor x = doubles({4, 50}, 2);
  const Dropped result = dropped(x, 2);
  const std::vector<double> in = x.to_doubles(), out = result.y.tensor().to_doubles(),
                            slope = result.gradient.tensor().to_doubles();
  int kept = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_DOUBLE_EQ(slope[i], out[i] == 0 ? 0.0 : 4.0);
    EXPECT_NEAR(in[i] * slope[i], out[i], 1e-12);
    kept += out[i] != 0;
  }
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 200);
}

TEST(DropoutGradient, NeedsTheMask) {
  try {
    dropped(doubles({4}, 2), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("ask for the output mask"), std::string::npos);
  }
}

}  // namespace
}  // namespace sardonyx::ops
