// Reductions over pixels of values whose channels are last.
#include <gtest/gtest.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "tests/support/close.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

void check(const char* op_name, const Shape& shape, const Ints& axes, int64_t keepdims) {
  SCOPED_TRACE(op_name);
  const OpDef& op = op_named(op_name);
  const Attrs attrs = Attrs::parse(*op.attrs, {{"keepdims", keepdims}});
  const std::vector<Tensor> inputs{drawn_tensor(DType::kFloat, shape, -2, 2, 1),
                                   Tensor::vector(axes)};
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  for (const int threads : {1, 2}) {
    RunOptions options;
    options.layouts = true;
    options.constants = 0b10;
    options.threads = threads;
    options.incoming = {channels_last_layout(shape)};
    PreparedRun run(op, attrs, inputs, {Datum(expected).type()}, options);
    run.run();
    expect_within(run.outputs()[0], expected, 1e-5f, 1e-5f);
  }
}

TEST(ReducePixels, AgreesWithTheReference) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare",
                         "ReduceL1", "ReduceL2"}) {
    for (const int64_t keepdims : {0, 1}) {
      check(op, {2, 37, 50}, {2}, keepdims);
      check(op, {1, 16, 9, 11}, {-1, 2}, keepdims);
      check(op, {2, 5, 3, 4, 6}, {2, 3, 4}, keepdims);
    }
  }
}

TEST(ReducePixels, RefusesOtherDims) {
  const OpDef& op = op_named("ReduceMax");
  const Tensor x = drawn_tensor(DType::kFloat, {2, 37, 50}, -2, 2, 1);
  RunOptions options;
  options.layouts = true;
  options.constants = 0b10;
  options.incoming = {channels_last_layout(x.shape())};
  for (const Ints& axes : {Ints{1}, Ints{1, 2}, Ints{}}) {
    EXPECT_THROW(PreparedRun(op, Attrs::parse(*op.attrs, {}), {x, Tensor::vector(axes)},
                             {Type::tensor(DType::kFloat, Dims{})}, options),
                 Error);
  }
}

}  // namespace
}  // namespace sardonyx::onednn
