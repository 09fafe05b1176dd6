// Constants that passes compute: by kernels, and again when somebody wants to see them.
#include "ir/constant_folding.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "executor/session.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "onnx_io/save.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

// A graph of one op whose inputs are constants, and a reader of its output.
struct Folded {
  Model model;
  const Node* node;

  Folded(const char* op, const std::vector<Tensor>& inputs, const AttrMap& attrs,
         const char* reader) {
    Graph& graph = *model.graph;
    GraphEmitter e(graph);
    std::vector<Val> vals;
    for (const Tensor& input : inputs)
      vals.push_back(e.constant(input));
    const OpDef& def = op_named(op);
    const Val made = e.emit(def, vals, Attrs::parse(*def.attrs, attrs), 1)[0];
    node = graph.nodes().back().get();
    const Type x = Type::tensor(DType::kFloat, to_dims(e.type(made).known_shape().value()));
    const Val y = e.call(reader, {GraphEmitter::wrap(graph.add_input("x", x)), made});
    graph.rename(*GraphEmitter::unwrap(y), "y");
    graph.add_output(GraphEmitter::unwrap(y));
  }
  Tensor fold(const Folding& folding) const {
    const FoldingScope scope(folding);
    return sardonyx::fold(*model.graph, *node)[0].tensor();
  }
};

bool is_there(const Tensor& tensor) {
  const auto* buffer = dynamic_cast<const EvictableBuffer*>(tensor.buffer().get());
  return !buffer || buffer->is_there();
}

Tensor drawn(Shape shape, uint64_t seed) {
  return drawn_tensor(DType::kFloat, shape, -1, 1, seed);
}

Tensor wide_shape() {
  return Tensor::vector(std::vector<int64_t>{256, 256});
}

TEST(Folding, by_kernels_gives_what_the_reference_gives) {
  const Folded product("MatMul", {drawn({70, 300}, 1), drawn({300, 260}, 2)}, {}, "Add");
  const Tensor by_reference = product.fold({});
  const Tensor by_kernel = product.fold({all_providers()});
  ASSERT_EQ(by_kernel.shape(), by_reference.shape());
  for (int64_t i = 0; i < by_kernel.count(); ++i)
    ASSERT_NEAR(by_kernel.values<float>()[i], by_reference.values<float>()[i], 1e-4f);
}

TEST(Folding, evicts_weights_that_can_be_recomputed) {
  const Folded weights("ConstantOfShape", {wide_shape()},
                       {{"value", Tensor::vector(std::vector<float>{0.5f})}}, "MatMul");
  EXPECT_TRUE(is_there(weights.fold({})));
  EXPECT_TRUE(is_there(weights.fold({all_providers()})));
  const Tensor evicted = weights.fold({all_providers(), true});
  EXPECT_FALSE(is_there(evicted));
  load_weight(evicted);
  EXPECT_EQ(evicted, weights.fold({}));
}

TEST(Folding, keeps_what_others_than_products_read) {
  const Folded summand("ConstantOfShape", {wide_shape()}, {}, "Add");
  EXPECT_TRUE(is_there(summand.fold({all_providers(), true})));
  // Its own input would have to stay instead.
  const Folded transposed("Transpose", {drawn({256, 256}, 1)}, {}, "MatMul");
  EXPECT_TRUE(is_there(transposed.fold({all_providers(), true})));
}

// What is computed of weights in a file goes with them, and both come back.
TEST(Folding, turns_weights_of_a_file_again) {
  const fs::path path = fs::temp_directory_path() / ("folding_" + std::to_string(getpid()));
  save_model(Folded("Transpose", {drawn({256, 256}, 3)}, {}, "MatMul").model, path);
  const Tensor x = drawn({256, 256}, 4);
  const Session whole(load_model(path)), session(path);
  const Tensor expected = whole.run({{"x", x}})[0].tensor();
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), expected);
  EXPECT_LT(session.stats().memory_used, whole.stats().memory_used);
  session.model();
  for (const auto& node : session.graph().nodes()) {
    for (const Value* value : node->inputs)
      EXPECT_TRUE(!value->constant || is_there(*value->constant));
  }
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), expected);
  fs::remove(path);
}

}  // namespace
}  // namespace sardonyx
