// Groups give the bits that their ops give one after the other, on any shapes, operands and values
// (but for which NaN a NaN is).
#include "ir/ops/elementwise/fused_elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ir/graph.h"
#include "ir/kernel.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

using ops::FusedElementwiseAttrs;

std::vector<Tensor> run(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& inputs,
                        const std::vector<Type>& results, int threads = 1) {
  std::vector<KernelTensor> in, out;
  std::vector<const void*> sources;
  std::vector<Tensor> made;
  std::vector<void*> targets;
  for (const Tensor& input : inputs) {
    in.push_back({input.dtype(), input.shape(), nullptr, input.count() == 1 ? &input : nullptr});
    sources.push_back(input.raw());
  }
  for (const Type& type : results) {
    made.push_back(Tensor::allocate(type.dtype, *type.known_shape()));
    out.push_back({type.dtype, made.back().shape(), nullptr, nullptr});
    targets.push_back(made.back().raw());
  }
  KernelRequest request{op, attrs, in, out};
  request.threads = threads;
  const Provider* const providers[] = {&cpu_provider()};
  const Prepared prepared = prepare_kernel(providers, request);
  EXPECT_TRUE(prepared.kernel) << op.name << prepared.refusal;
  if (!prepared.kernel) return made;
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  prepared.kernel->run({sources.data(), targets.data(), scratch->data()});
  return made;
}

// The ops of the group's body, each with the kernel that it has alone.
std::vector<Tensor> run_one_by_one(const FusedElementwiseAttrs& attrs,
                                   const std::vector<Tensor>& inputs, std::vector<Type>& results) {
  Graph graph;
  std::map<const Value*, Tensor> values;
  Vals vals;
  for (const Tensor& input : inputs) {
    Value* value = graph.add_input("", Type::tensor(input.dtype(), to_dims(input.shape())));
    if (input.count() == 1) value->constant = std::make_shared<Tensor>(input);
    values.emplace(value, input);
    vals.push_back(GraphEmitter::wrap(value));
  }
  const OpDef& op = op_named("sardonyx::FusedElementwise");
  GraphEmitter emitter(graph);
  const Vals outputs = op.body(emitter, {op, Attrs(attrs), vals, attrs.results.size()});
  for (const auto& node : graph.nodes()) {
    std::vector<Tensor> operands;
    for (const Value* input : node->inputs)
      operands.push_back(input->constant ? *input->constant : values.at(input));
    values.emplace(node->outputs[0],
                   run(*node->op, node->attrs, operands, {node->outputs[0]->type})[0]);
  }
  std::vector<Tensor> made;
  for (const Val& output : outputs) {
    made.push_back(values.at(GraphEmitter::unwrap(output)));
    results.push_back(GraphEmitter::unwrap(output)->type);
  }
  return made;
}

// Which NaN it is depends on the order of an addition's operands, which compilers choose.
void unify_nans(Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat) return;
  for (float& value : tensor.mutable_values<float>())
    value = std::isnan(value) ? NAN : value;
}

void expect_same_bits(const FusedElementwiseAttrs& attrs, const std::vector<Tensor>& inputs) {
  std::vector<Type> results;
  std::vector<Tensor> expected = run_one_by_one(attrs, inputs, results);
  for (Tensor& tensor : expected)
    unify_nans(tensor);
  for (const int threads : {1, 3}) {
    std::vector<Tensor> got =
        run(op_named("sardonyx::FusedElementwise"), Attrs(attrs), inputs, results, threads);
    for (size_t i = 0; i < got.size(); ++i) {
      unify_nans(got[i]);
      const size_t bytes = bytes_for(got[i].dtype(), got[i].count());
      EXPECT_EQ(std::memcmp(got[i].raw(), expected[i].raw(), bytes), 0) << "output " << i;
    }
  }
}

// Mostly small numbers; zeros, infinities, NaN and large ones among them.
Tensor floats(const Shape& shape, std::mt19937& generator) {
  static constexpr float kSpecial[] = {0.f, -0.f, INFINITY, -INFINITY, NAN, 1e30f, -1e-30f, 4e4f};
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::normal_distribution<float> normal(0, 2);
  for (float& value : tensor.mutable_values<float>())
    value = generator() % 16 == 0 ? kSpecial[generator() % std::size(kSpecial)] : normal(generator);
  return tensor;
}

// A shape that broadcasts to `target`.
Shape part_of(Shape target, std::mt19937& generator) {
  for (int64_t& size : target) {
    if (generator() % 3 == 0) size = 1;
  }
  if (generator() % 4 == 0)
    target.erase(target.begin(), target.begin() + generator() % (target.size() + 1));
  return target;
}

// Rows that groups may hold, which compute floats of floats, and GeluTanh; by their names there.
std::vector<std::string> float_functions() {
  std::vector<std::string> names{"GeluTanh"};
  for (const OpDef* op : all_ops()) {
    if (!op->is(kFusable) || op->name == "Cast" || op->name == "Where") continue;
    const Signature& signature = signature_of(*op);
    const bool keeps_type = signature.inputs[0].type == signature.outputs[0].type;
    const TypeConstraint* type = op->types.begin();
    if (keeps_type && type->types.has(Type::tensor(DType::kFloat))) names.emplace_back(op->name);
  }
  return names;
}

// Random ops on floats, each of which reads the result of the one before it.
FusedElementwiseAttrs random_group(size_t inputs, std::mt19937& generator) {
  static const std::vector<std::string> kOps = float_functions();
  FusedElementwiseAttrs attrs;
  const size_t steps = 2 + generator() % 8;
  for (size_t step = 0; step < steps; ++step) {
    const ops::GroupedOp* op = ops::find_grouped_op(kOps[generator() % kOps.size()]);
    attrs.ops.emplace_back(op->name);
    const size_t before = inputs + step;
    for (size_t i = 0; i < op->operands; ++i)
      attrs.operands.push_back(static_cast<int64_t>(i == 0 ? before - 1 : generator() % before));
    for (size_t i = 0; i < op->params; ++i)
      attrs.params.push_back(0.25f * static_cast<float>(i + 1));
  }
  attrs.results = {static_cast<int64_t>(inputs + steps - 1)};
  return attrs;
}

TEST(FusedElementwise, RandomGroupsOnRandomShapes) {
  std::mt19937 generator(7);
  const Shape targets[] = {{1},         {7},          {3, 5},      {2, 3, 33},   {64, 48},
                           {5, 1, 301}, {2, 3, 4, 5}, {3, 2, 700}, {1, 40, 257}, {0, 3}};
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const Shape& target = targets[generator() % std::size(targets)];
    std::vector<Tensor> inputs;
    for (size_t i = generator() % 4; i > 0; --i)
      inputs.push_back(floats(part_of(target, generator), generator));
    inputs.push_back(floats(target, generator));
    expect_same_bits(random_group(inputs.size(), generator), inputs);
  }
}

// A row that says kFusable needs a line in the table of functions, and no more.
TEST(FusedElementwise, EveryFunctionHasAFastRow) {
  const std::vector<std::string> names = float_functions();
  EXPECT_GE(names.size(), 33u);
  for (const std::string& name : names) {
    const ops::GroupedOp* op = ops::find_grouped_op(name);
    ASSERT_TRUE(op) << name;
    EXPECT_TRUE(op->operands == 1 ? cpu::find_unary(name) != nullptr
                                  : cpu::find_binary(name).has_value())
        << name;
  }
}

TEST(FusedElementwise, TypesAndSeveralOutputs) {
  std::mt19937 generator(3);
  Tensor mask = Tensor::allocate(DType::kInt64, {4, 1, 30});
  for (int64_t& value : mask.mutable_values<int64_t>())
    value = static_cast<int64_t>(generator() % 2);
  const std::vector<Tensor> inputs = {floats({4, 20, 30}, generator), mask,
                                      Tensor::scalar(-10000.f), Tensor::scalar(int64_t{0})};
  FusedElementwiseAttrs attrs;
  attrs.ops = {"Equal", "Not", "Cast", "Mul", "Where", "Greater", "Or", "Cast"};
  attrs.operands = {1, 3, 4, 5, 6, 2, 5, 0, 7, 0, 7, 9, 4, 10};
  attrs.params = {static_cast<float>(DType::kFloat), static_cast<float>(DType::kInt32)};
  attrs.results = {8, 10, 11};
  // Values before they meet the whole operand are smaller in the body.
  expect_same_bits(attrs, inputs);
}

TEST(FusedElementwise, RefusesWhatDoesNotFitTogether) {
  FusedElementwiseAttrs attrs;
  attrs.ops = {"Add"};
  attrs.operands = {0, 2};
  attrs.results = {2};
  EXPECT_THROW(ops::group_steps(attrs, 2), Error);
  attrs.operands = {0};
  EXPECT_THROW(ops::group_steps(attrs, 2), Error);
  attrs.operands = {0, 1};
  EXPECT_EQ(ops::group_steps(attrs, 2).size(), 1u);
  attrs.results = {3};
  EXPECT_THROW(ops::group_steps(attrs, 2), Error);
  attrs.ops = {"MatMul"};
  EXPECT_THROW(ops::group_steps(attrs, 2), Error);
}

}  // namespace
}  // namespace sardonyx
