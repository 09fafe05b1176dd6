// The chains of small integer ops that exporters write must come out as exact symbolic dims.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

class CarryTest : public testing::Test {
 protected:
  Val input(Dims dims, DType dtype = DType::kFloat) {
    return GraphEmitter::wrap(graph_.add_input("", Type::tensor(dtype, std::move(dims))));
  }
  Val ints(std::vector<int64_t> values) { return e_.int64s(values); }
  std::string shape(const Val& val) { return to_text(*e_.type(val).shape); }
  std::string dims(const Val& val) {
    const auto elements = e_.dims_value(val);
    return elements ? to_text(*elements) : "unknown";
  }
  Dim batch_ = Dim::symbol("batch"), seq_ = Dim::symbol("seq");
  Graph graph_;
  GraphEmitter e_{graph_};
};

TEST_F(CarryTest, ReshapeBySizesPickedFromShape) {
  const Val x = input({batch_, seq_, 64});
  const Val all = e_.call("Shape", {x});
  const Val batch = e_.call("Gather", {all, e_.constant(Tensor::scalar<int64_t>(0))});
  const Val first = e_.call("Unsqueeze", {batch, ints({0})});
  const Val wanted = e_.call("Concat", {first, ints({-1, 8, 8})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(dims(wanted), "[batch, -1, 8, 8]");
  EXPECT_EQ(shape(e_.call("Reshape", {x, wanted})), "[batch, seq, 8, 8]");
  EXPECT_EQ(shape(e_.call("Reshape", {x, ints({0, -1})})), "[batch, 64*seq]");
  EXPECT_EQ(shape(e_.call("Reshape", {x, ints({-1, 64})})), "[batch*seq, 64]");
}

TEST_F(CarryTest, ValuesMoveAsElementsDo) {
  const Val shape = e_.call("Shape", {input({batch_, seq_, 3})});
  EXPECT_EQ(dims(e_.call("Slice", {shape, ints({-1}), ints({INT64_MIN}), ints({0}), ints({-1})})),
            "[3, seq, batch]");
  EXPECT_EQ(dims(e_.call("Tile", {shape, ints({2})})), "[batch, seq, 3, batch, seq, 3]");
  EXPECT_EQ(dims(e_.call("Pad", {shape, ints({1, 0})})), "[0, batch, seq, 3]");
  EXPECT_EQ(dims(e_.call("Expand", {e_.call("Size", {shape}), ints({2})})), "[3, 3]");
  const Val square = e_.call(
      "Reshape", {e_.call("Slice", {e_.call("Tile", {shape, ints({2})}), ints({0}), ints({4})}),
                  ints({2, 2})});
  EXPECT_EQ(dims(e_.call("Reshape", {e_.call("Transpose", {square}), ints({-1})})),
            "[batch, 3, seq, batch]");
  const Vals parts =
      e_.call_many("Split", std::vector<Val>{shape}, {{"num_outputs", int64_t{3}}}, 3);
  EXPECT_EQ(dims(parts[1]), "[seq]");
  EXPECT_EQ(dims(e_.call("Squeeze", {parts[1]})), "[seq]");
}

TEST_F(CarryTest, ValuesAreWrittenByIndex) {
  const Val shape = e_.call("Shape", {input({batch_, seq_, 3})});
  const Val last = e_.constant(Tensor::of(std::vector<int64_t>{-1}, {1, 1}));
  EXPECT_EQ(dims(e_.call("ScatterND", {shape, last, ints({8})})), "[batch, seq, 8]");
  EXPECT_EQ(dims(e_.call("ScatterElements", {shape, ints({0}), ints({1})})), "[1, seq, 3]");
  EXPECT_EQ(dims(e_.call("GatherElements", {shape, ints({1, 1})})), "[seq, seq]");
  // What cannot be told is not told.
  EXPECT_EQ(dims(e_.call("ScatterElements", {shape, ints({7}), ints({1})})), "unknown");
  EXPECT_EQ(dims(e_.call("Gather", {shape, input({1}, DType::kInt64)})), "unknown");
}

TEST_F(CarryTest, ShapesFromCarriedValues) {
  const Val x = input({batch_, seq_, 8});
  const Val length = e_.call("Slice", {e_.call("Shape", {x}), ints({1}), ints({2})});
  const Val table = input({512, 8});
  EXPECT_EQ(shape(e_.call("Slice", {table, ints({0}), length, ints({0})})), "[min(512, seq), 8]");
  EXPECT_EQ(shape(e_.call("Slice", {x, ints({0}), length, ints({1})})), "[batch, seq, 8]");
  EXPECT_EQ(shape(e_.call("Slice", {x, ints({1}), ints({INT64_MAX}), ints({1})})),
            "[batch, max(0, seq - 1), 8]");
  EXPECT_EQ(shape(e_.call("Slice", {x, ints({-1}), ints({INT32_MAX}), ints({1})})),
            "[batch, min(1, seq), 8]");
  EXPECT_EQ(shape(e_.call("Expand", {input({1, 8}), e_.call("Shape", {x})})), "[batch, seq, 8]");
  EXPECT_EQ(shape(e_.call("Concat", {x, x}, {{"axis", int64_t{1}}})), "[batch, 2*seq, 8]");
}

TEST(ReshapeTest, CopiedZeroKeepsMinusOneDefined) {
  const Datum empty = Tensor::zeros(DType::kFloat, {0, 3, 4});
  const Datum wanted = Tensor::vector(std::vector<int64_t>{0, -1});
  const std::vector<Datum> inputs{empty, wanted};
  const auto out =
      evaluate(op_named("Reshape"), Attrs::parse(*op_named("Reshape").attrs, {}), inputs, 1);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{0, 12}));
}

}  // namespace
}  // namespace sardonyx
