#include "executor/passes/precision/product_precision.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/passes.h"
#include "ir/emitter/emitter.h"
#include "ir/reference_evaluator.h"
#include "providers/providers.h"
#include "tests/support/pass_cases.h"

namespace sardonyx {
namespace {

constexpr DType kNarrow = DType::kBFloat16, kWide = DType::kFloat;

// A graph with a product of each of these types.
Precision precision_with(const std::vector<DType>& products) {
  Graph graph;
  GraphEmitter emitter(graph);
  for (const DType dtype : products) {
    const Val x = GraphEmitter::wrap(graph.add_input("", Type::tensor(dtype, to_dims({4, 4}))));
    graph.add_output(GraphEmitter::unwrap(emitter.call("Relu", {emitter.call("MatMul", {x, x})})));
  }
  return precision_of_products(graph);
}

TEST(GraphPrecision, IsBFloat16WhereProductsAreWrittenSo) {
  const Precision narrow = computes_bfloat16() ? Precision::kBFloat16 : Precision::kFloat32;
  EXPECT_EQ(precision_with({}), Precision::kFloat32);
  EXPECT_EQ(precision_with({kWide}), Precision::kFloat32);
  EXPECT_EQ(precision_with({kNarrow}), narrow);
  EXPECT_EQ(precision_with({kNarrow, kNarrow}), narrow);
  EXPECT_EQ(precision_with({kNarrow, kWide}), narrow);
  EXPECT_EQ(precision_with({kNarrow, DType::kFloat16}), narrow);
  EXPECT_EQ(precision_with({kNarrow, DType::kInt32}), narrow);
}

// Products under a guard and beside it, as a session of Precision::kBFloat16 prepares them.
class WrittenProductsTest : public testing::Test {
 protected:
  Val input(const Shape& shape) { return builder_.input(shape); }
  Val cast(const Val& x, DType to) {
    return builder_.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
  }
  // Of values that are cast down; the result is bfloat16.
  Val narrow_product(const Val& a, const Val& b) {
    return builder_.call("MatMul", {cast(a, kNarrow), cast(b, kNarrow)});
  }
  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {}) {
    return builder_.call(op, inputs, attrs);
  }
  void output(const Val& value) { builder_.output(value); }

  void prepare() {
    before_ = builder_.evaluate();
    Graph& graph = builder_.graph();
    const WrittenProducts written(graph);
    PassOptions options;
    for (const Pass& pass : fusion_passes()) {
      if (pass.is_float32_only) options.disabled.emplace_back(pass.name);
    }
    for (const std::string& name : WrittenProducts::merging_passes())
      options.disabled.push_back(name);
    for (const auto& passes : {generic_passes(), fusion_passes(), generic_passes()})
      run_passes(graph, passes, options);
    written.narrow(graph, options);
    remove_dead_nodes(graph);
    verify(graph);
  }

  // The types that products compute on, in the graph and its subgraphs.
  std::vector<DType> products() { return products_of(builder_.graph()); }

  // Output `index` is what it was before, to a part of its largest magnitude.
  void expect_near(size_t index, double tolerance) {
    const std::vector<double> got = builder_.evaluate().at(index).tensor().to_doubles(),
                              expected = before_.at(index).tensor().to_doubles();
    double largest = 0, apart = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      apart = std::max(apart, std::abs(got.at(i) - expected[i]));
    }
    EXPECT_LE(apart, tolerance * largest) << "output " << index;
  }

  passes::Builder builder_;

 private:
  static std::vector<DType> products_of(const Graph& graph) {
    std::vector<DType> found;
    for (const auto& node : graph.nodes()) {
      for (const GraphPtr& inner : subgraphs_of(*node)) {
        const std::vector<DType> more = products_of(*inner);
        found.insert(found.end(), more.begin(), more.end());
      }
      if (node->op->is(kProduct)) found.push_back(node->inputs[0]->type.dtype);
    }
    return found;
  }

  std::vector<Datum> before_;
};

using Types = std::vector<DType>;

TEST_F(WrittenProductsTest, AProductOfFloat32LeavesTheOthersNarrow) {
  const Val hidden = call("Relu", {call("Add", {narrow_product(input({4, 8}), input({8, 8})),
                                                cast(builder_.constant({8}), kNarrow)})});
  const Val scores = narrow_product(cast(hidden, kWide), input({8, 6}));
  output(scores);
  output(call("MatMul", {cast(scores, kWide), input({6, 3})}));
  output(call("Gemm", {input({2, 5}), input({5, 3}), input({3})}));
  prepare();
  EXPECT_EQ(products(), (Types{kNarrow, kNarrow, kWide, kWide}));
  expect_near(0, 1e-2);
  expect_near(1, 1e-2);
  expect_near(2, 1e-6);
}

TEST_F(WrittenProductsTest, FusedProductsAreWhatTheyWere) {
  const Val x = input({4, 8}), y = input({4, 8});
  const AttrMap swapped{{"perm", std::vector<int64_t>{1, 0}}};
  const auto layer = [&](const Val& sums, DType dtype) {
    return call("Relu", {call("Add", {sums, cast(builder_.constant({6}), dtype)})});
  };
  const Val w = cast(input({6, 8}), kNarrow);
  output(layer(call("MatMul", {cast(x, kNarrow), call("Transpose", {w}, swapped)}), kNarrow));
  output(layer(call("MatMul", {y, call("Transpose", {input({6, 8})}, swapped)}), kWide));
  prepare();
  EXPECT_EQ(products(), (Types{kNarrow, kWide}));
  expect_near(0, 1e-2);
  expect_near(1, 1e-6);
}

TEST_F(WrittenProductsTest, TheSameProductInBothTypesStaysInFloat32) {
  const Val x = input({4, 8}), w = input({8, 8}), other = input({8, 8});
  output(narrow_product(x, w));
  output(call("MatMul", {x, w}));
  output(narrow_product(x, other));
  prepare();
  EXPECT_EQ(std::ranges::count(products(), kNarrow), 1);
  expect_near(1, 1e-6);
  expect_near(2, 1e-2);
}

TEST_F(WrittenProductsTest, ConvolutionsOfOneImageStayApart) {
  const Val x = input({1, 3, 8, 8});
  output(call("Conv", {cast(x, kNarrow), cast(builder_.constant({2, 3, 1, 1}), kNarrow)}));
  output(call("Conv", {x, builder_.constant({2, 3, 1, 1})}));
  prepare();
  EXPECT_EQ(products(), (Types{kNarrow, kWide}));
  expect_near(0, 1e-2);
  expect_near(1, 1e-6);
}

// Where the graph does not tell them apart, bfloat16 was asked for all of them.
TEST_F(WrittenProductsTest, AGraphOfFloat32AloneIsAllNarrowed) {
  output(call("MatMul", {call("MatMul", {input({4, 8}), input({8, 8})}), input({8, 3})}));
  prepare();
  EXPECT_EQ(products(), (Types{kNarrow, kNarrow}));
  expect_near(0, 2e-2);
}

}  // namespace
}  // namespace sardonyx
