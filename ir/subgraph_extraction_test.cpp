#include "ir/subgraph_extraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/core/error.h"
#include "ir/print.h"

namespace sardonyx {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

// a = x + one, (b, c) = Split(a), d = b * y, e = Sqrt(c)
class ExtractTest : public testing::Test {
 protected:
  ExtractTest() {
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 4});
    Value* x = graph_.add_input("x", type);
    Value* y = graph_.add_input("y", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 2}));
    Value* one = graph_.add_constant("one", Tensor::scalar(1.0f));
    Node* sum = graph_.append(op_named("Add"), {}, {x, one}, {"a"});
    Node* split = graph_.append(
        op_named("Split"),
        Attrs::parse(*op_named("Split").attrs, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}),
        {sum->outputs[0]}, {"b", "c"});
    Node* product = graph_.append(op_named("Mul"), {}, {split->outputs[0], y}, {"d"});
    Node* root = graph_.append(op_named("Sqrt"), {}, {split->outputs[1]}, {"e"});
    infer_types(graph_);
    graph_.add_output(product->outputs[0]);
    graph_.add_output(root->outputs[0]);
  }

  std::string refusal(const Names& inputs, const Names& outputs) {
    try {
      extract(graph_, inputs, outputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "";
  }

  Graph graph_;
};

TEST_F(ExtractTest, TakesWhatTheOutputsNeed) {
  const auto part = extract(graph_, {}, Names{"e"});
  verify(*part);
  EXPECT_EQ(to_text(*part),
            "graph (unnamed) {\n"
            "  input %x: float[n, 4]\n"
            "  %a: float[n, 4] = Add(%x, %one (float[] { 1 }))\n"
            "  %b: float[n, 2], %c: float[n, 2] = Split(%a) {axis = 1, num_outputs = 2}\n"
            "  %e: float[n, 2] = Sqrt(%c)\n"
            "  return %e\n"
            "}\n");
}

TEST_F(ExtractTest, CutsAtValuesBetween) {
  const auto part = extract(graph_, Names{"y", "b"}, Names{"d"});
  verify(*part);
  ASSERT_EQ(part->inputs().size(), 2u);
  EXPECT_EQ(part->inputs()[0]->name, "y");
  EXPECT_EQ(part->inputs()[1]->type, graph_.find_value("b")->type);
  EXPECT_EQ(part->nodes().size(), 1u);
}

TEST_F(ExtractTest, KeepsAnOutputThatShadowsAnInputApart) {
  // Split still runs for c, but b is given.
  const auto part = extract(graph_, Names{"x", "y", "b"}, Names{"d", "e"});
  verify(*part);
  EXPECT_EQ(part->nodes().size(), 4u);
  EXPECT_EQ(part->outputs()[0]->producer->inputs[0], part->inputs()[2]);
}

TEST_F(ExtractTest, SaysWhyNot) {
  EXPECT_THAT(refusal({}, {"z"}), HasSubstr("output 'z': the graph has no such value"));
  EXPECT_THAT(refusal({"x", "x"}, {"e"}), HasSubstr("input 'x' is named twice"));
  EXPECT_THAT(refusal({"x", "y"}, {"e"}), HasSubstr("input 'y': no output depends on it"));
  EXPECT_THAT(refusal({"b"}, {"d"}), HasSubstr("also depend on the graph's input 'y'"));
}

}  // namespace
}  // namespace sardonyx
