#include "executor/plan/buffer_assigner.h"

#include <gtest/gtest.h>

namespace sardonyx {
namespace {

class MayWriteOverInputs final : public Kernel {
 public:
  void run(const KernelArgs&) const override {}
  bool may_alias(size_t, size_t) const override { return true; }
};

// y = Relu(x), z = Relu(y), w = Add(y, z): at node 1, y is read again; at node 2 it is not.
class BufferAssignment : public testing::Test {
 protected:
  BufferAssignment() {
    root_.known = knowledge_at_load(graph_, caches_.inferences);
    context_.emplace(
        PlanRequest{graph_, caches_, session_, root_, run_values_, /*may_release=*/false});
    buffers_.emplace(*context_);
    for (const ValueId value : {x_, y_, z_, w_})
      context_->known.set_typed(value, caches_.inferences.facts_of(DType::kFloat, Shape{4}));
  }

  static std::shared_ptr<const Graph> made_graph() {
    auto graph = std::make_shared<Graph>();
    GraphEmitter e(*graph);
    const Val x =
        GraphEmitter::wrap(graph->add_input("x", Type::tensor(DType::kFloat, to_dims(Shape{4}))));
    const Val y = e.call("Relu", {x});
    graph->add_output(GraphEmitter::unwrap(e.call("Add", {y, e.call("Relu", {y})})));
    return graph;
  }

  // `value`, written by node `node` into a new buffer of the arena.
  BufferOffset made(ValueId value, size_t node) {
    context_->node_index = node;
    const BufferOffset at{buffers_->add_arena_buffer(value, kBytes), 0};
    buffers_->place(value, nullptr, at);
    buffers_->add_written(at, value, kBytes);
    return at;
  }
  // Where the output of node `node` goes if it reads `inputs`.
  BufferOffset output_of(size_t node, std::initializer_list<BufferOffset> inputs) {
    context_->node_index = node;
    BufferAssigner::KernelInputs read;
    for (const BufferOffset at : inputs)
      read.push_back({at, kBytes});
    return buffers_->place_output(MayWriteOverInputs(), 0, kBytes, read);
  }

  static constexpr size_t kBytes = 4 * sizeof(float);
  IndexedGraph graph_{made_graph(), {}};
  const ValueId x_ = graph_.inputs()[0], y_ = graph_.nodes()[0].outputs[0],
                z_ = graph_.nodes()[1].outputs[0], w_ = graph_.outputs()[0];
  PlanCaches caches_{graph_.values().size()};
  SessionState session_;
  PlanSegment root_;
  std::vector<const Datum*> run_values_ = std::vector<const Datum*>(graph_.values().size());
  std::optional<PlanContext> context_;
  std::optional<BufferAssigner> buffers_;
};

TEST_F(BufferAssignment, OutputOverwritesAnInputThatIsNotReadAgain) {
  const BufferOffset y = made(y_, 0), z = made(z_, 1);
  EXPECT_EQ(output_of(2, {y, z}).buffer, y.buffer);
}

TEST_F(BufferAssignment, OutputSparesAnInputThatALaterNodeReads) {
  const BufferOffset y = made(y_, 0);
  EXPECT_NE(output_of(1, {y}).buffer, y.buffer);
}

TEST_F(BufferAssignment, OutputSparesAnInputThatTheKernelReadsTwice) {
  const BufferOffset y = made(y_, 0);
  EXPECT_NE(output_of(2, {y, y}).buffer, y.buffer);
}

// What the caller gave is written over only where the caller binds the output to it.
TEST_F(BufferAssignment, OutputMayBeBoundToAnInputOfTheSegment) {
  const BufferOffset x = *buffers_->find(x_, nullptr, /*reads_anywhere=*/false);
  EXPECT_TRUE(buffers_->is_live_in(x, kBytes));
  EXPECT_NE(output_of(0, {x}).buffer, x.buffer);
  ASSERT_EQ(buffers_->in_place().size(), 1u);
  EXPECT_EQ(buffers_->in_place()[0].output, y_);
  EXPECT_EQ(buffers_->in_place()[0].input, x_);
}

TEST_F(BufferAssignment, APartIsFoundWithinItsWhole) {
  made(y_, 0);
  buffers_->point_at(buffers_->made_at(y_), 7);
  ASSERT_TRUE(buffers_->can_become_part(y_, kBytes));
  const size_t whole = buffers_->add_arena_buffer(w_, 3 * kBytes);
  buffers_->become_part(y_, {whole, kBytes});
  EXPECT_EQ(buffers_->made_at(y_).buffer, whole);
  EXPECT_EQ(buffers_->made_at(y_).offset, kBytes);
  const PlannedBuffer& buffer = (*buffers_)[whole];
  ASSERT_EQ(buffer.pointers.size(), 1u);
  EXPECT_EQ(buffer.pointers[0].pointer, 7u);
  EXPECT_EQ(buffer.pointers[0].offset, kBytes);
  EXPECT_FALSE(buffers_->can_become_part(y_, kBytes));
}

// The caller wants an output of the graph in a buffer of its own.
TEST_F(BufferAssignment, AnOutputOfTheGraphBecomesNoPart) {
  made(w_, 2);
  EXPECT_FALSE(buffers_->can_become_part(w_, kBytes));
}

}  // namespace
}  // namespace sardonyx
