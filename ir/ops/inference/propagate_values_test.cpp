// Values of small integer tensors through inference, with dims that are not known.
#include "ir/ops/inference/propagate_values.h"

#include <gtest/gtest.h>

#include "ir/core/error.h"

namespace sardonyx {
namespace {

Dim fresh() {
  static int count = 0;
  return Dim::symbol("?v" + std::to_string(count++));
}

// What inference says of output 0 of `name` on int64 inputs with these elements (a vector, or a
// scalar where `scalar`).
std::optional<Dims> inferred(std::string_view name, const std::vector<Dims>& inputs,
                             const AttrMap& attributes = {}, DType dtype = DType::kInt64,
                             bool scalars = false) {
  const OpDef& op = op_named(name);
  std::vector<InferInput> seen;
  for (const Dims& dims : inputs) {
    const Dims shape = scalars ? Dims{} : Dims{static_cast<int64_t>(dims.size())};
    seen.push_back({Type::tensor(dtype, shape), nullptr, &dims});
  }
  return infer(op, Attrs::parse(*op.attrs, attributes), seen, seen.size(), 1, fresh)[0].dims;
}

TEST(Values, pass_through_shape_arithmetic) {
  const Dim n = Dim::symbol("n"), h = Dim::symbol("h");
  const AttrMap none;
  const struct {
    const char* op;
    std::vector<Dims> inputs;
    std::optional<Dims> result;
  } cases[] = {
      {"Add", {{n, 2}, {1}}, Dims{n + 1, 3}},
      {"Sub", {{n, 2}, {n, 3}}, Dims{0, -1}},
      {"Mul", {{n, h}, {2}}, Dims{n * 2, h * 2}},
      {"Div", {{n * 6, 7}, {3}}, Dims{n * 2, 2}},
      {"Div", {{h}, {2}}, Dims{floor_div(h, 2)}},
      {"Div", {{-7}, {2}}, Dims{-3}},
      {"Div", {{h - 1}, {2}}, std::nullopt},  // h may be 0: -1 / 2 is 0, floor(-1 / 2) is -1
      {"Div", {{h}, {0}}, std::nullopt},
      {"Mod", {{7, n * 4}, {4}}, Dims{3, 0}},
      {"Max", {{n, 3}, {0}, {5}}, Dims{max(n, 5), 5}},
      {"Min", {{n, 3}, {0}}, Dims{0, 0}},
      {"Neg", {{n}}, Dims{Dim(0) - n}},
      {"Abs", {{n}}, Dims{n}},
      {"Equal", {{n, -1, 4}, {-1}}, Dims{0, 1, 0}},
      {"Equal", {{n, 3}, {n}}, std::nullopt},
      {"Less", {{n, -1}, {0}}, Dims{0, 1}},
      {"Mul", {{int64_t{1} << 62}, {4}}, std::nullopt},  // wraps at run time
      {"Cast", {{n, -1}}, Dims{n, -1}},
  };
  for (const auto& c : cases) {
    const AttrMap attributes = std::string(c.op) == "Cast" ? AttrMap{{"to", int64_t{6}}} : none;
    EXPECT_EQ(inferred(c.op, c.inputs, attributes), c.result) << c.op << to_text(c.inputs[0]);
  }
}

TEST(Values, what_does_not_fit_the_type_is_not_carried) {
  EXPECT_EQ(inferred("Add", {{127}, {1}}, {}, DType::kInt8), std::nullopt);
  EXPECT_EQ(inferred("Add", {{126}, {1}}, {}, DType::kInt8), (Dims{127}));
  EXPECT_EQ(inferred("Sub", {{1}, {2}}, {}, DType::kUInt8), std::nullopt);
  EXPECT_EQ(inferred("Cast", {{300}}, {{"to", int64_t{3}}}), std::nullopt);
}

TEST(Values, ranges_have_symbolic_lengths) {
  const Dim n = Dim::symbol("n");
  const OpDef& op = op_named("Range");
  const auto length = [&](const Dim& start, const Dim& limit, const Dim& delta) {
    const Dims elements[] = {{start}, {limit}, {delta}};
    std::vector<InferInput> seen;
    for (const Dims& dims : elements)
      seen.push_back({Type::tensor(DType::kInt64, Dims{}), nullptr, &dims});
    return (*infer(op, Attrs::parse(*op.attrs, {}), seen, 3, 1, fresh)[0].type.shape)[0];
  };
  EXPECT_EQ(length(0, n, 1), n);
  EXPECT_EQ(length(n, n + 4, 2), 2);
  EXPECT_EQ(length(0, n, 2), ceil_div(n, 2));
  EXPECT_EQ(length(n, 0, -1), n);
  EXPECT_EQ(inferred("Range", {{n}, {n + 3}, {1}}, {}, DType::kInt64, true),
            (Dims{n, n + 1, n + 2}));
}

TEST(Values, shapes_are_filled_and_chosen) {
  const Dim n = Dim::symbol("n");
  const OpDef& fill = op_named("ConstantOfShape");
  const Dims two{2}, symbolic{n, 3};
  const auto filled = [&](const Dims& shape, const Attrs& attrs) {
    const InferInput input{Type::tensor(DType::kInt64, Dims{static_cast<int64_t>(shape.size())}),
                           nullptr, &shape};
    return infer(fill, attrs, {&input, 1}, 1, 1, fresh)[0];
  };
  const Attrs sevens = Attrs::parse(*fill.attrs, {{"value", Tensor::vector<int64_t>({7})}});
  EXPECT_EQ(filled(two, sevens).dims, (Dims{7, 7}));
  EXPECT_EQ(filled(symbolic, sevens).type.shape, symbolic);

  const OpDef& where = op_named("Where");
  const Dims condition{1, 0}, x{n, 1}, y{-1, n + 2};
  const std::vector<InferInput> seen = {{Type::tensor(DType::kBool, Dims{2}), nullptr, &condition},
                                        {Type::tensor(DType::kInt64, Dims{2}), nullptr, &x},
                                        {Type::tensor(DType::kInt64, Dims{2}), nullptr, &y}};
  EXPECT_EQ(infer(where, {}, seen, 3, 1, fresh)[0].dims, (Dims{n, n + 2}));
}

}  // namespace
}  // namespace sardonyx
