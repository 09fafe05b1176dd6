// The examples of docs/add-an-op.md, add-a-kernel.md, add-a-pass.md and add-a-provider.md, at work.
#include "tests/extend/signed_square.h"

#include <gtest/gtest.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"
#include "tests/support/gradient_check.h"

namespace sardonyx::extend {
namespace {

TEST(AddAnOp, its_gradient_is_that_of_its_reference) {
  const OpDef& row = signed_square_row();
  int64_t compared = 0;
  for (const Sample& sample : row.samples()) {
    const GradientReport report = check_gradients(row, sample);
    for (const std::string& problem : report.problems)
      ADD_FAILURE() << problem;
    compared += report.first;
  }
  EXPECT_GT(compared, 0);
}

// What `provider` makes of x, on one thread and on three.
Tensor run_kernel(const Provider& provider, const Tensor& x, std::string& implementation) {
  const OpDef& row = signed_square_row();
  const Attrs attrs;
  Tensor y = Tensor::zeros(x.dtype(), x.shape());
  std::vector<Tensor> results;
  for (const int threads : {1, 3}) {
    const KernelTensor in{x.dtype(), x.shape()}, out{x.dtype(), x.shape()};
    KernelRequest request{row, attrs, {&in, 1}, {&out, 1}};
    request.threads = threads;
    const Provider* providers[] = {&provider, &cpu_provider()};
    const Prepared prepared = prepare_kernel(providers, request);
    implementation = prepared.implementation;
    y = Tensor::zeros(x.dtype(), x.shape());
    const void* inputs[] = {x.raw()};
    void* outputs[] = {y.raw()};
    prepared.kernel->run({inputs, outputs, nullptr});
    results.push_back(y);
  }
  EXPECT_EQ(results[0], results[1]) << "bits depend on the number of threads";
  return results[0];
}

TEST(AddAKernel, gives_what_the_reference_gives_and_leaves_other_types_to_it) {
  for (const DType dtype : {DType::kFloat, DType::kDouble}) {
    const Tensor x = drawn_tensor(dtype, {3, 40000}, -2, 2, 1);
    std::string implementation;
    const Tensor y = run_kernel(toy_provider(), x, implementation);
    EXPECT_EQ(implementation, dtype == DType::kFloat ? "portable" : "reference");
    const Datum given[] = {Datum(x)};
    EXPECT_EQ(y, evaluate(signed_square_row(), Attrs(), given, 1)[0].tensor());
  }
}

struct Built {
  Graph graph;
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2, 3}));
  GraphEmitter e{graph};
  Val abs = e.call("Abs", {GraphEmitter::wrap(x)});
  Val y = e.call("Mul", {GraphEmitter::wrap(x), abs});
  void add_output(const Val& val) { graph.add_output(GraphEmitter::unwrap(val)); }
};

std::vector<PassEffect> fuse(Graph& graph) {
  const Pass pass{"fuse-signed-square", fuse_signed_square};
  return run_passes(graph, {&pass, 1}, {.verify_each = true});
}

TEST(AddAPass, fires_on_the_pattern_and_keeps_the_result) {
  Built built;
  built.add_output(built.y);
  const Datum given[] = {Datum(drawn_tensor(DType::kFloat, {2, 3}, -2, 2, 1))};
  const Tensor expected = evaluate(built.graph, given)[0].tensor();
  EXPECT_EQ(fuse(built.graph)[0].changes, 1u);
  ASSERT_EQ(built.graph.nodes().size(), 1u);
  EXPECT_EQ(full_name(*built.graph.nodes().front()->op), "toy::SignedSquare");
  EXPECT_EQ(evaluate(built.graph, given)[0].tensor(), expected);
}

TEST(AddAPass, does_not_fire_where_somebody_else_reads_what_it_would_remove) {
  Built built;
  built.add_output(built.y);
  built.add_output(built.abs);
  EXPECT_EQ(fuse(built.graph)[0].changes, 0u);
}

}  // namespace
}  // namespace sardonyx::extend
