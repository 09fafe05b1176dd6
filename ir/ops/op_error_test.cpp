// Calls that are wrong in a way that is easily missed: each is refused, by a message that names
// what disagrees.
#include <string>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;

Datum ints(const Ints& values) {
  return Tensor::vector(values);
}
Datum floats(const Shape& shape) {
  return Tensor::zeros(DType::kFloat, shape);
}

struct Wrong {
  const char* op;
  std::vector<Datum> inputs;
  AttrMap attrs;
  const char* mention;
  size_t outputs = 1;
};

std::vector<Wrong> wrong_calls() {
  const Datum x = floats({2, 3}), image = floats({1, 1, 8, 8}), window = floats({1, 1, 3, 3});
  const auto text_of = [](const char* value) { return std::string(value); };
  return {
      {"Mod", {x, x}, {}, "fmod: expected 1"},
      {"NonMaxSuppression",
       {floats({1, 3, 4}), floats({1, 1, 3})},
       {{"center_point_box", int64_t{7}}},
       "got 7"},
      {"SplitToSequence", {x, ints({1, 9})}, {{"axis", int64_t{1}}}, "9"},
      {"SplitToSequence", {x, ints({1, -1})}, {{"axis", int64_t{1}}}, "-1"},
      {"TopK", {x, ints({-1})}, {}, "-1", 2},
      {"TopK", {x, ints({(int64_t{1} << 32) + 2})}, {}, "4294967298", 2},
      {"Pad", {x, ints({1, 1, 1})}, {}, "3"},
      {"Pad", {x, ints({-3, 0, 0, 0})}, {}, "-"},
      {"Tile", {x, ints({2, -3})}, {}, "-3"},
      {"Expand", {x, ints({2, 5})}, {}, "5"},
      {"Reshape", {x, ints({-1, -1})}, {}, "-1"},
      {"Split", {x, ints({4, -1})}, {{"axis", int64_t{1}}}, "-1", 2},
      {"Conv", {image, window}, {{"kernel_shape", Ints{5, 5}}}, "5"},
      {"Conv", {image, window}, {{"group", int64_t{0}}}, "0"},
      {"Conv", {image, window}, {{"strides", Ints{0, 1}}}, "0"},
      {"Conv", {image, window}, {{"auto_pad", text_of("SAME")}}, "SAME"},
      {"MaxPool", {image}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 0}}}, "0"},
      {"GroupNormalization",
       {floats({1, 4, 2}), floats({4}), floats({4})},
       {{"num_groups", int64_t{0}}},
       "0"},
      {"Attention",
       {floats({1, 2, 4}), floats({1, 2, 4}), floats({1, 2, 4})},
       {{"q_num_heads", int64_t{0}}, {"kv_num_heads", int64_t{0}}},
       "0"},
      {"ReverseSequence", {x, ints({1, 5, 1})}, {}, "5"},
      {"RoiAlign",
       {image, floats({1, 4}), ints({0})},
       {{"sampling_ratio", int64_t{1} << 40}},
       "1099511627776"},
      {"DepthToSpace", {floats({1, 4, 2, 2})}, {{"blocksize", int64_t{-2}}}, "-2"},
      {"ScatterND", {x, Tensor::of<int64_t>({0, 9}, {1, 2}), floats({1})}, {}, "9"},
      {"CumSum", {x, ints({7})}, {}, "7"},
      {"Einsum", {x, x}, {{"equation", text_of("ij,jk->ik")}}, "3"},
  };
}

TEST(Refusals, NameWhatDisagrees) {
  for (const Wrong& wrong : wrong_calls()) {
    const std::string message = error_of(wrong.op, wrong.inputs, wrong.attrs, wrong.outputs);
    EXPECT_NE(message.find(wrong.mention), std::string::npos)
        << wrong.op << " with " << wrong.mention << ": \"" << message << '"';
  }
}

}  // namespace
}  // namespace sardonyx
