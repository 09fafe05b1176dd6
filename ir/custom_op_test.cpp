#include "ir/custom_op.h"

#include <gtest/gtest.h>

#include "ir/reference_evaluator.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

CustomOp valid(const std::string& name) {
  return {.domain = "ir.test",
          .name = name,
          .signature = "(X: T) -> (Y: T)",
          .types = {{"T", kFloats}},
          .compute = [](const EvalCall& call) { call.outputs[0] = call.inputs[0]; }};
}

TEST(CustomOp, is_found_by_name_until_it_is_unregistered) {
  const OpDef& row = register_custom_op(valid("Found"));
  EXPECT_EQ(find_op("Found", "ir.test"), &row);
  EXPECT_EQ(&op_named("ir.test::Found"), &row);
  expect_refusal(ErrorCode::kInvalidArgument,
                 "custom operator ir.test::Found: there is an operator of this name",
                 [&] { register_custom_op(valid("Found")); });
  EXPECT_TRUE(unregister_custom_op("Found", "ir.test"));
  EXPECT_EQ(find_op("Found", "ir.test"), nullptr);
  const OpDef& again = register_custom_op(valid("Found"));
  EXPECT_NE(&again, &row);
  // The first one goes on where it is in use.
  const Datum x[] = {Datum(Tensor::vector<float>({1, 2}))};
  EXPECT_EQ(evaluate(row, Attrs(Attrs::parse(*row.attrs, {})), x, 1)[0].tensor(), x[0].tensor());
}

// What changes a good description into one that is refused, and how.
struct Fault {
  const char* message;
  std::function<void(CustomOp&)> make;
};

TEST(CustomOp, a_description_that_is_not_well_formed_is_refused) {
  const std::vector<Fault> faults{
      {"expected a domain of the program's own", [](CustomOp& op) { op.domain = ""; }},
      {"expected a domain of the program's own", [](CustomOp& op) { op.domain = "ai.onnx"; }},
      {"expected a domain of the program's own", [](CustomOp& op) { op.domain = "sardonyx"; }},
      {"expected a domain without", [](CustomOp& op) { op.domain = "a::b"; }},
      {"expected a name without", [](CustomOp& op) { op.name = ""; }},
      {"expected a name without", [](CustomOp& op) { op.name = "a::b"; }},
      {"since: expected at least 1, got 0", [](CustomOp& op) { op.since = 0; }},
      {"has no function that computes", [](CustomOp& op) { op.compute = nullptr; }},
      {"expected ( before", [](CustomOp& op) { op.signature = ""; }},
      {"expected -> before", [](CustomOp& op) { op.signature = "(X: T)"; }},
      {"expected : before", [](CustomOp& op) { op.signature = "(X) -> (Y: T)"; }},
      {"expected its end before", [](CustomOp& op) { op.signature = "(X: T) -> (Y: T) more"; }},
      {"has no outputs", [](CustomOp& op) { op.signature = "(X: T) -> ()"; }},
      {"input 0 has no name", [](CustomOp& op) { op.signature = "(: T) -> (Y: T)"; }},
      {"two inputs are named X", [](CustomOp& op) { op.signature = "(X: T, X: T) -> (Y: T)"; }},
      {"input X: expected an element type such as",
       [](CustomOp& op) { op.signature = "(X: U) -> (Y: T)"; }},
      {"only the last one may be variadic",
       [](CustomOp& op) { op.signature = "(X...: T, Z: T) -> (Y: T)"; }},
      {"output Y: its type T is that of no required input",
       [](CustomOp& op) { op.signature = "(X?: T) -> (Y: T)"; }},
      {"an attribute has no name",
       [](CustomOp& op) {
         op.attributes = {{"", int64_t{1}}};
       }},
      {"two attributes are named a",
       [](CustomOp& op) {
         op.attributes = {{"a", int64_t{1}}, {"a", 1.0f}};
       }},
  };
  for (const Fault& fault : faults) {
    CustomOp op = valid("Faulty");
    fault.make(op);
    expect_refusal(ErrorCode::kInvalidArgument, fault.message,
                   [&] { register_custom_op(std::move(op)); });
  }
  EXPECT_EQ(find_op("Faulty", "ir.test"), nullptr);
  expect_refusal(ErrorCode::kInvalidArgument, "there is an operator of this name", [&] {
    register_custom_op([] {
      CustomOp op = valid("FusedGemm");
      op.domain = "com.microsoft";
      return op;
    }());
  });
}

TEST(CustomOp, attributes_have_kinds_and_defaults) {
  CustomOp op = valid("WithAttributes");
  op.attributes = {{"i", int64_t{7}},
                   {"s", std::string("text")},
                   {"list", std::vector<float>{1, 2}},
                   {"needed", 0.0f, /*is_required=*/true},
                   {"maybe", Tensor(), /*is_required=*/false, /*is_optional=*/true}};
  const OpDef& row = register_custom_op(std::move(op));
  expect_refusal(ErrorCode::kInvalidModel, "attribute needed: is required and was not given",
                 [&] { Attrs::parse(*row.attrs, {}); });
  const Attrs attrs = Attrs::parse(*row.attrs, {{"needed", 2.5f}, {"i", int64_t{8}}});
  EXPECT_EQ(custom_attribute<int64_t>(attrs, "i"), 8);
  EXPECT_EQ(custom_attribute<std::string>(attrs, "s"), "text");
  EXPECT_EQ(custom_attribute<std::vector<float>>(attrs, "list"), (std::vector<float>{1, 2}));
  EXPECT_EQ(custom_attribute<float>(attrs, "needed"), 2.5f);
  EXPECT_FALSE(custom_attribute<Tensor>(attrs, "maybe").has_value());
  EXPECT_FALSE(custom_attribute<float>(attrs, "unknown").has_value());
  expect_refusal(ErrorCode::kInvalidArgument, "attribute i is of kind INT",
                 [&] { custom_attribute<float>(attrs, "i"); });
  // What a file holds of it.
  EXPECT_EQ(attrs.to_map().size(), 2u);
  EXPECT_EQ(Attrs::parse(*row.attrs, attrs.to_map()), attrs);
  EXPECT_FALSE(Attrs::parse(*row.attrs, {{"needed", 2.5f}}) == attrs);
}

TEST(CustomOp, types_follow_the_signature_where_nothing_else_is_told) {
  CustomOp op = valid("Typed");
  op.signature = "(X: T) -> (Y: T, count: int64)";
  const OpDef& row = register_custom_op(std::move(op));
  const InferInput inputs[] = {{Type::tensor(DType::kDouble, Dims{3})}};
  const auto fresh = [] { return Dim::symbol("?"); };
  const std::vector<InferOutput> outputs =
      infer(row, Attrs::parse(*row.attrs, {}), inputs, 1, 2, fresh);
  EXPECT_EQ(outputs[0].type, Type::tensor(DType::kDouble));
  EXPECT_EQ(outputs[1].type, Type::tensor(DType::kInt64));
}

}  // namespace
}  // namespace sardonyx
