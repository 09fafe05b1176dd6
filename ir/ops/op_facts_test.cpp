// The facts of rows agree with each other and with the signatures.
#include <gtest/gtest.h>

#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/elementwise/fused_elementwise.h"

namespace sardonyx {
namespace {

size_t inputs_of(const OpDef& op) {
  return std::min<size_t>(signature_of(op).max_inputs, 32);
}

TEST(OpFacts, FitTheRest) {
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(full_name(*op));
    EXPECT_EQ(uint64_t{op->weight_inputs} >> inputs_of(*op), 0u);
    EXPECT_EQ(uint64_t{op->shape_inputs} >> inputs_of(*op), 0u);
    // Weights may be out of memory where shapes are inferred.
    EXPECT_EQ(op->weight_inputs & op->shape_inputs, 0u);
    if (op->is(kFusable)) {
      EXPECT_TRUE(op->is(kElementwise));
    }
    if (op->is(kActivation)) {
      EXPECT_TRUE(op->is(kFusable));
    }
    if (op->is(kReadsTable)) {
      EXPECT_EQ(op->weight_inputs, 1u);
    }
    if (op->is(kProduct)) {
      EXPECT_EQ(op->weight_inputs, 2u);
    }
    // Mixed precision computes it in one way.
    EXPECT_FALSE(op->is(kSmallInMixed) && op->is(kFloat32InMixed));
    if (op->is(kSmallInMixed) || op->is(kFloat32InMixed)) {
      EXPECT_TRUE(op->domain.empty());
    }
    EXPECT_TRUE(op->doc.ends_with('.')) << op->doc;
    EXPECT_FALSE(op->is(kView) && (op->part_offsets || op->join_offsets));
  }
}

TEST(OpFacts, FusableRowsAreOpsOfGroups) {
  size_t fusable = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->is(kFusable)) continue;
    SCOPED_TRACE(full_name(*op));
    ++fusable;
    const ops::GroupedOp* grouped = ops::find_grouped_op(op->name);
    ASSERT_TRUE(grouped);
    EXPECT_EQ(grouped->row, op);
    EXPECT_GE(grouped->operands, 1u);
    EXPECT_LE(grouped->operands, 3u);
    const std::vector<float> params(grouped->params, 0.5f);
    EXPECT_EQ(ops::is_known({std::string(op->name), params}), op->is(kActivation));
    EXPECT_FALSE(ops::is_known({std::string(op->name), std::vector<float>(3)}));
  }
  EXPECT_GE(fusable, 43u);
  EXPECT_FALSE(ops::find_grouped_op("MatMul"));
}

TEST(OpFacts, ParamsAreFloatAttributes) {
  const auto params_of = [](const char* name, const AttrMap& attrs) {
    const OpDef& op = op_named(name);
    return ops::float_params(op, Attrs::parse(*op.attrs, attrs));
  };
  EXPECT_EQ(params_of("HardSigmoid", {{"beta", 0.25f}}), (std::vector{0.2f, 0.25f}));
  EXPECT_EQ(params_of("LeakyRelu", {}), std::vector{0.01f});
  EXPECT_TRUE(params_of("Relu", {}).empty());
  const OpDef& gelu = op_named("Gelu");
  const Attrs tanh = Attrs::parse(*gelu.attrs, {{"approximate", std::string("tanh")}});
  EXPECT_EQ(ops::grouped_name(gelu, tanh), "GeluTanh");
  EXPECT_EQ(ops::grouped_name(gelu, Attrs::parse(*gelu.attrs, {})), "Gelu");
  EXPECT_EQ(ops::find_grouped_op("Clip")->params, 2u);
  EXPECT_EQ(ops::find_grouped_op("Where")->operands, 3u);
  EXPECT_EQ(ops::find_grouped_op("Max")->operands, 2u);
}

}  // namespace
}  // namespace sardonyx
