#include <cmath>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

// The range of X is [-1, 1.55] and all weights are powers of two, so eight bits hold them all: what
// comes out is LSTM.
TEST(DynamicQuantizeLstm, IsLstmWhereNothingIsLost) {
  const Tensor x = Tensor::of<float>({-1, 1.55f}, {2, 1, 1});
  std::vector<uint8_t> codes{130, 126, 129, 136};  // 2, -2, 1, 8 above the zero point of 128
  const Tensor w = Tensor::of<uint8_t>(codes, {1, 1, 4}),
               r = Tensor::of<uint8_t>({128, 128, 128, 128}, {1, 1, 4});
  const Tensor scale = Tensor::vector<float>({0.25f}), zero = Tensor::vector<uint8_t>({128});
  const Datum none;
  const auto got = run_op("com.microsoft::DynamicQuantizeLSTM",
                          {x, w, r, none, none, none, none, none, scale, zero, scale, zero},
                          {{"hidden_size", int64_t{1}}}, 3);
  const auto wanted = run_op("LSTM",
                             {x, Tensor::of<float>({0.5f, -0.5f, 0.25f, 2}, {1, 4, 1}),
                              Tensor::of<float>({0, 0, 0, 0}, {1, 4, 1})},
                             {{"hidden_size", int64_t{1}}}, 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i].tensor().shape(), wanted[i].tensor().shape());
    expect_near(got[i], wanted[i].tensor().to_doubles(), 1e-5);
  }
  EXPECT_NE(error_of("com.microsoft::DynamicQuantizeLSTM",
                     {x, w, r, none, Tensor::vector<int32_t>({3}), none, none, none, scale, zero,
                      scale, zero},
                     {{"hidden_size", int64_t{1}}}),
            "");
}

}  // namespace
}  // namespace sardonyx
