// Weights that were packed are let go, and are there again for everybody who asks.
#include "executor/weights/weight_residency.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class OriginalsTest : public testing::Test {
 protected:
  static constexpr int64_t kWidth = 256;
  static constexpr size_t kWeightBytes = kWidth * kWidth * sizeof(float);

  static Tensor ramp(Shape shape, float step) {
    Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
    float value = -1;
    for (float& element : tensor.mutable_values<float>())
      element = value = value > 1 ? -1 : value + step;
    return tensor;
  }

  // y = relu(x w1) w2, x: [rows, 256]; the second weights may be the first.
  fs::path saved(const Dim& rows, bool tied = false) const {
    Model model;
    GraphEmitter e(*model.graph);
    const Val x = GraphEmitter::wrap(
        model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{rows, Dim(kWidth)})));
    const Val w1 = e.constant(ramp({kWidth, kWidth}, 0.013f));
    const Val w2 = tied ? w1 : e.constant(ramp({kWidth, kWidth}, 0.017f));
    const Val h = e.call("Relu", {e.call("MatMul", {x, w1})});
    const Val y = e.call("MatMul", {h, w2});
    model.graph->rename(*GraphEmitter::unwrap(h), "h");
    model.graph->rename(*GraphEmitter::unwrap(y), "y");
    model.graph->add_output(GraphEmitter::unwrap(y));
    const fs::path path = folder_ / "model.onnx";
    save_model(model, path);
    usleep(50'000);  // a file that was just written has no identity
    return path;
  }

  static Tensor input() { return ramp({64, kWidth}, 0.1f); }

  const TemporaryFolder folder_;
};

TEST_F(OriginalsTest, are_let_go_when_they_are_packed) {
  const Session session(saved(64));
  const Tensor x = input();
  const Datum first = session.run({{"x", x}})[0];
  ASSERT_GE(session.stats().packed_weight_bytes, 2 * kWeightBytes);
  const size_t used = session.stats().memory_used;
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), first.tensor());
  EXPECT_EQ(session.graph().inputs().size(), 1u);
  EXPECT_EQ(session.stats().memory_used, used);
  session.model();
  EXPECT_EQ(session.stats().memory_used, used + 2 * kWeightBytes);
}

// Other sizes use what was packed; a single row reads the weights as they are stored.
TEST_F(OriginalsTest, are_read_again_for_sizes_that_want_them) {
  const fs::path path = saved(Dim::symbol("rows"));
  const Session session(path), whole(load_model(path));
  size_t evicted = 0;
  for (const int64_t rows : {64, 40, 1, 64, 3}) {
    const Tensor x = ramp({rows, kWidth}, 0.1f);
    EXPECT_EQ(session.run({{"x", x}})[0].tensor(), whole.run({{"x", x}})[0].tensor()) << rows;
    if (rows == 64) evicted = session.stats().memory_used;
  }
  session.model();
  EXPECT_GE(session.stats().memory_used, evicted);
}

TEST_F(OriginalsTest, stay_where_somebody_has_the_model) {
  const fs::path path = saved(64);
  const Model model = load_model(path);
  const Session session{Model(model)};
  session.run({{"x", input()}});
  for (const auto& node : model.graph->nodes()) {
    for (const Value* value : node->inputs)
      EXPECT_TRUE(!value->constant || value->constant->raw());
  }
}

TEST_F(OriginalsTest, are_there_again_for_all_who_look) {
  const Session session(saved(64));
  const Tensor x = input();
  const Datum y = session.run({{"x", x}})[0];
  const std::vector<std::string> names = {"h"};
  const Tensor h = session.fetch({{"x", x}}, names)[0].tensor();
  for (const auto& node : session.model().graph->nodes()) {
    for (const Value* value : node->inputs)
      EXPECT_TRUE(!value->constant || value->constant->raw());
  }
  EXPECT_GE(h.values<float>()[0], 0);
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), y.tensor());
}

TEST_F(OriginalsTest, are_packed_once_for_all_sessions_of_a_file) {
  const fs::path path = saved(64);
  const Tensor x = input();
  auto first = std::make_unique<Session>(path);
  const Tensor y = first->run({{"x", x}})[0].tensor();
  const Session second(path);
  EXPECT_EQ(second.run({{"x", x}})[0].tensor(), y);
  EXPECT_EQ(second.stats().packed_weight_bytes, first->stats().packed_weight_bytes);
  EXPECT_LT(second.stats().memory_used + 2 * kWeightBytes, first->stats().memory_used + 1000);
  first.reset();
  EXPECT_EQ(second.run({{"x", x}})[0].tensor(), y);
  // Another file under the same name.
  const Session other(saved(64, /*tied=*/true));
  EXPECT_NE(other.run({{"x", x}})[0].tensor(), y);
  EXPECT_EQ(second.run({{"x", x}})[0].tensor(), y);
}

// What a pass computed from weights is computed again.
TEST_F(OriginalsTest, that_were_scaled_are_there_again) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{1, 64, 9, 9})));
  const Val conv = e.call("Conv", {x, e.constant(ramp({64, 64, 3, 3}, 0.013f))});
  const Val y = e.call("Mul", {conv, e.constant(ramp({64, 1, 1}, 0.017f))});
  model.graph->rename(*GraphEmitter::unwrap(y), "y");
  model.graph->add_output(GraphEmitter::unwrap(y));
  const fs::path path = folder_ / "conv.onnx";
  save_model(model, path);
  const Session session(path), whole(load_model(path));
  const Tensor input = ramp({1, 64, 9, 9}, 0.1f);
  EXPECT_EQ(session.run({{"x", input}})[0].tensor(), whole.run({{"x", input}})[0].tensor());
  const Node& mine = *session.model().graph->nodes().front();
  const Node& other = *whole.model().graph->nodes().front();
  ASSERT_TRUE(mine.inputs[1]->constant && other.inputs[1]->constant);
  EXPECT_EQ(*mine.inputs[1]->constant, *other.inputs[1]->constant);
}

// Of products of bytes: signed ones as they are, others without their zero points.
TEST_F(OriginalsTest, of_bytes_are_packed_in_place) {
  const auto bytes = [](DType dtype, Shape shape) {
    Tensor tensor = Tensor::allocate(dtype, std::move(shape));
    auto* elements = static_cast<uint8_t*>(tensor.raw());
    for (int64_t i = 0; i < tensor.count(); ++i)
      elements[i] = static_cast<uint8_t>(i * 7 % 101);
    return tensor;
  };
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kUInt8, Dims{1, 64, 16, 16})));
  const Val scale = e.constant(Tensor::scalar(0.02f)), wide = e.constant(Tensor::scalar(9.f));
  const Val zero = e.constant(Tensor::scalar(uint8_t{90})),
            none = e.constant(Tensor::scalar(int8_t{0}));
  const Val kernel = e.constant(bytes(DType::kInt8, {128, 64, 3, 3}));
  const Val matrix = e.constant(bytes(DType::kUInt8, {16, 8192}));
  const Val results[] = {
      e.call("QLinearConv", {x, scale, zero, kernel, scale, none, wide, zero}),
      e.call("ConvInteger", {x, kernel, zero}),
      e.call("QLinearMatMul", {x, scale, zero, matrix, scale, zero, wide, zero}),
      e.call("MatMulInteger", {x, matrix, zero, zero}),
  };
  for (const Val& result : results)
    model.graph->add_output(GraphEmitter::unwrap(result));
  const fs::path path = folder_ / "bytes.onnx";
  save_model(model, path);
  const Session whole(load_model(path));
  const Tensor input = bytes(DType::kUInt8, {1, 64, 16, 16});
  const auto expected = whole.run({{"x", input}});
  for (const std::vector<std::string>& providers :
       {std::vector<std::string>{"onednn", "cpu"}, {"cpu"}, {"reference"}}) {
    SessionOptions options;
    options.providers = providers;
    const Session session(path, options);
    for (int run = 0; run < 2; ++run) {
      const auto got = session.run({{"x", input}});
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(got[i].tensor(), expected[i].tensor()) << providers[0] << ", output " << i;
    }
  }
}

// A table stays in the file; other readers have it in memory.
TEST_F(OriginalsTest, that_are_tables_are_read_in_place) {
  for (const bool has_other_reader : {false, true}) {
    Model model;
    GraphEmitter e(*model.graph);
    const Val rows = GraphEmitter::wrap(
        model.graph->add_input("rows", Type::tensor(DType::kInt64, Dims{Dim(3)})));
    const Val table = e.constant(ramp({kWidth, kWidth}, 0.013f));
    const Val picked = e.call("Gather", {table, rows});
    model.graph->rename(*GraphEmitter::unwrap(picked), "picked");
    model.graph->add_output(GraphEmitter::unwrap(picked));
    if (has_other_reader) {
      const Val all = e.call("MatMul", {picked, table});
      const Val most =
          e.call("Add", {all, e.call("ReduceMax", {table}, {{"keepdims", int64_t{1}}})});
      model.graph->rename(*GraphEmitter::unwrap(most), "most");
      model.graph->add_output(GraphEmitter::unwrap(most));
    }
    const fs::path path = folder_ / "table.onnx";
    save_model(model, path);
    const Session session(path), whole(load_model(path));
    const Tensor wanted = Tensor::vector<int64_t>({255, 0, -2});
    const auto ours = session.run({{"rows", wanted}}), theirs = whole.run({{"rows", wanted}});
    for (size_t i = 0; i < theirs.size(); ++i)
      EXPECT_EQ(ours[i].tensor(), theirs[i].tensor());
    if (!has_other_reader) {
      EXPECT_LT(session.stats().memory_peak, kWeightBytes / 2);
    }
    session.model();
    EXPECT_EQ(session.run({{"rows", wanted}})[0].tensor(), theirs[0].tensor());
  }
}

TEST_F(OriginalsTest, of_two_readers_go_after_the_last) {
  const Session session(saved(64, /*tied=*/true));
  const Tensor x = input();
  const Datum first = session.run({{"x", x}})[0];
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), first.tensor());
}

TEST_F(OriginalsTest, of_a_file_that_was_written_to_are_an_error) {
  const fs::path path = saved(64);
  const Session session(path);
  const Tensor x = input();
  const Datum y = session.run({{"x", x}})[0];
  fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::hours(1));
  try {
    session.model();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("was changed"), std::string::npos);
  }
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), y.tensor());  // what is packed stays
}

TEST_F(OriginalsTest, of_a_file_that_was_replaced_are_still_read) {
  const Session session(saved(64));
  session.run({{"x", input()}});
  saved(64, /*tied=*/true);
  session.model();
}

}  // namespace
}  // namespace sardonyx
