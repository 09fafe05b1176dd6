// What a session offers besides runs: metadata, names of dims, options, choice of outputs,
// preparation, weights from memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>

#include "executor/session.h"
#include "ir/core/bools.h"
#include "ir/op_samples.h"
#include "ir/value_compare.h"
#include "onnx_io/save.h"
#include "tests/support/message_of.h"
#include "tests/support/odd_bools.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

Tensor ramp(const Shape& shape, float first = 0) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  for (float& element : tensor.mutable_values<float>())
    element = first++;
  return tensor;
}

// y = x W, of x: float[n, 4] and the initializer W
Model product(const Tensor& weights) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 4})));
  Value* w = model.graph->add_constant("W", weights);
  model.graph->add_output(GraphEmitter::unwrap(e.call("MatMul", {x, GraphEmitter::wrap(w)})));
  return model;
}

// A model of one op whose inputs are those of the sample.
Model model_of_call(const OpDef& op, const Sample& sample, const std::vector<Datum>& inputs) {
  Model model;
  GraphEmitter e(*model.graph);
  std::vector<Val> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool decides = i < 32 && (op.shape_inputs >> i & 1u);
    if (!inputs[i].defined())
      operands.emplace_back();
    else if (decides)
      operands.push_back(e.constant(inputs[i].tensor()));
    else
      operands.push_back(
          GraphEmitter::wrap(model.graph->add_input(text("in", i), inputs[i].type())));
  }
  for (const Val& val :
       e.emit(op, operands, Attrs::parse(*op.attrs, sample.attrs), sample.outputs)) {
    if (val) model.graph->add_output(GraphEmitter::unwrap(val));
  }
  return model;
}

// Results of a session for the inputs of a sample, and for the same with odd bytes for true.
void expect_same_of_odd_bools(const OpDef& op, const Sample& sample,
                              const std::vector<Datum>& inputs) {
  std::optional<Session> session;
  try {
    session.emplace(model_of_call(op, sample, inputs));
  } catch (const Error&) {  // types or sizes that do not fit each other
    return;
  }
  std::vector<Datum> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool decides = i < 32 && (op.shape_inputs >> i & 1u);
    if (inputs[i].defined() && !decides) given.push_back(inputs[i]);
  }
  std::vector<Datum> expected;
  try {
    expected = session->run(given);
  } catch (const Error&) {
    return;
  }
  const std::vector<Datum> got = session->run(with_odd_bools(given));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(compare(got[i], expected[i], {.rtol = 0, .atol = 0})) << full_name(op);
}

TEST(SessionInputs, any_byte_but_0_is_true) {
  size_t calls = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->samples || op->is(kRandom)) continue;
    for (const Sample& sample : op->samples()) {
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample)) {
        if (!has_bools(inputs)) continue;
        expect_same_of_odd_bools(*op, sample, inputs);
        ++calls;
      }
    }
  }
  EXPECT_GT(calls, 100u);
}

TEST(SessionInputs, bools_that_a_model_makes_of_bytes_are_0_or_1) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kUInt8, Dims{Dim::symbol("n")})));
  const Val bools = e.call("BitCast", {x}, {{"to", int64_t{9}}});
  for (const Val& output : {bools, e.call("NonZero", {bools})})
    model.graph->add_output(GraphEmitter::unwrap(output));
  Tensor bytes = Tensor::allocate(DType::kUInt8, {4096});
  std::ranges::fill(bytes.mutable_values<uint8_t>(), uint8_t{255});
  const std::vector<Datum> outputs = Session(std::move(model)).run({{Datum(bytes)}});
  EXPECT_TRUE(are_normal_bools(outputs[0].tensor().raw(), 4096));
  EXPECT_EQ(outputs[1].tensor().shape(), (Shape{1, 4096}));
  EXPECT_EQ(outputs[1].tensor().values<int64_t>()[4095], 4095);
}

TEST(SessionInputs, bools_of_a_graph_are_0_or_1_and_those_without_elements_are_left_alone) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kBool, Dims{Dim::symbol("n")})));
  const Val odd = e.constant(with_odd_bools(Tensor::of<bool>({true}, {1})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Xor", {x, odd})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Identity", {odd})));
  const Session session(std::move(model));
  const std::vector<std::optional<Shape>> shapes{Shape{5000}};
  session.prepare(shapes);
  const std::vector<Datum> outputs =
      session.run({{Datum(with_odd_bools(Tensor::of<bool>({true, false}, {2})))}});
  EXPECT_TRUE(outputs[0].tensor() == Tensor::of<bool>({false, true}, {2}));
  EXPECT_TRUE(outputs[1].tensor() == Tensor::of<bool>({true}, {1}));
}

TEST(SessionInputs, bools_that_are_compared_are_handed_on_as_0_or_1_beside) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type type = Type::tensor(DType::kBool, Dims{Dim::symbol("n")});
  const Val x = GraphEmitter::wrap(model.graph->add_input("x", type));
  const Val y = GraphEmitter::wrap(model.graph->add_input("y", type));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Xor", {x, y})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Concat", {x, x}, {{"axis", int64_t{0}}})));
  const std::vector<Datum> outputs =
      Session(std::move(model))
          .run({{Datum(with_odd_bools(Tensor::of<bool>({true, false, true}, {3}))),
                 Datum(with_odd_bools(Tensor::of<bool>({true, true, false}, {3})))}});
  EXPECT_TRUE(outputs[0].tensor() == Tensor::of<bool>({false, true, true}, {3}));
  EXPECT_TRUE(outputs[1].tensor() == Tensor::of<bool>({true, false, true, true, false, true}, {6}));
}

TEST(SessionOptions, out_of_range_values_are_refused) {
  const auto message = [](SessionOptions options) -> std::string {
    try {
      Session(product(ramp({4, 2})), std::move(options));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({.intra_op_threads = 100000}),
            "intra_op_threads: expected 0 to 1024, got 100000");
  EXPECT_EQ(message({.intra_op_threads = -1}), "intra_op_threads: expected 0 to 1024, got -1");
  EXPECT_EQ(message({.optimization_level = 3}), "optimization_level: expected 0 to 2, got 3");
  EXPECT_EQ(message({.load_deadline = std::chrono::milliseconds::max()}), "");
}

TEST(SessionOptions, the_longest_deadlines_do_not_overflow) {
  const Session session(product(ramp({4, 2})));
  const NamedData inputs = {{"x", ramp({1, 4})}};
  EXPECT_EQ(session.run(inputs, {.deadline = std::chrono::milliseconds::max()}).size(), 1u);
  EXPECT_THROW(session.run(inputs, {.deadline = std::chrono::milliseconds::min()}), Error);
}

TEST(SessionOptions, a_load_is_cancelled) {
  std::stop_source stop;
  stop.request_stop();
  const std::string bytes = model_bytes(product(ramp({4, 2})));
  try {
    Session(std::as_bytes(std::span(bytes)), {.cancel = stop.get_token()});
    FAIL() << "it loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

TEST(SessionMetadata, is_what_the_file_says) {
  Model model = product(ramp({4, 2}));
  model.producer_name = "somebody";
  model.producer_version = "1.2";
  model.domain = "org.example";
  model.doc = "multiplies";
  model.model_version = 7;
  model.graph->name = "product";
  model.metadata["classes"] = "2";
  const std::string bytes = model_bytes(model);
  const Session session(std::as_bytes(std::span(bytes)));
  const ModelMetadata& metadata = session.metadata();
  EXPECT_EQ(metadata.producer_name, "somebody");
  EXPECT_EQ(metadata.producer_version, "1.2");
  EXPECT_EQ(metadata.domain, "org.example");
  EXPECT_EQ(metadata.description, "multiplies");
  EXPECT_EQ(metadata.model_version, 7);
  EXPECT_EQ(metadata.graph_name, "product");
  EXPECT_EQ(metadata.custom.at("classes"), "2");
  EXPECT_TRUE(metadata.opsets.contains(""));
}

TEST(SessionTypes, unnamed_dims_have_the_same_names_at_each_load) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type type = Type::tensor(DType::kFloat, Dims{Graph::fresh_symbol(), 4});
  const Val x = GraphEmitter::wrap(model.graph->add_input("x", type));
  const Val y = GraphEmitter::wrap(model.graph->add_input(
      "y", Type::sequence(Type::tensor(DType::kFloat, Dims{Graph::fresh_symbol()}))));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Concat", {x, x}, {{"axis", int64_t{0}}})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Identity", {y})));
  for (int i = 0; i < 2; ++i) {
    const Session session(Model{.graph = clone(*model.graph)});
    EXPECT_EQ(session.inputs()[0].type.text(), "float[?0, 4]");
    EXPECT_EQ(session.inputs()[1].type.text(), "seq(float[?1])");
    EXPECT_EQ(session.outputs()[0].type.text(), "float[2*?0, 4]");
  }
}

// Two products of one input, of which each output needs one, and an output of both.
TEST(SessionChoice, computes_what_is_chosen_and_the_same_bits) {
  Model model;
  GraphEmitter e(*model.graph);
  const auto input = [&](const char* name) {
    return GraphEmitter::wrap(
        model.graph->add_input(name, Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 4})));
  };
  const Val a = input("a"), b = input("b");
  const Val left = e.call("Relu", {e.call("MatMul", {a, e.constant(ramp({4, 4}))})});
  const Val right = e.call("MatMul", {b, e.constant(ramp({4, 4}, 3))});
  for (const Val& output : {left, e.call("Add", {left, right}), right})
    model.graph->add_output(GraphEmitter::unwrap(output));
  const Session session(std::move(model));
  const std::vector<Datum> inputs = {ramp({2, 4}), ramp({2, 4}, 1)};
  const std::vector<Datum> all = session.run(inputs);
  for (const std::vector<size_t>& chosen :
       std::vector<std::vector<size_t>>{{0}, {1}, {2}, {0, 2}, {0, 1, 2}}) {
    std::vector<OutputSlot> slots(3);
    for (int i = 0; i < 2; ++i)
      session.run_into(inputs, slots, {.outputs = chosen});
    for (size_t i = 0; i < 3; ++i) {
      const bool is_chosen = std::ranges::find(chosen, i) != chosen.end();
      ASSERT_EQ(slots[i].value().defined(), is_chosen);
      if (!is_chosen) continue;
      EXPECT_EQ(slots[i].value().tensor(), all[i].tensor());
    }
  }
  const std::vector<Datum> only_b = {Datum(), inputs[1]};
  std::vector<OutputSlot> slots(3);
  const std::vector<size_t> right_only = {2};
  std::vector<NodeTiming> profile;
  session.run_into(only_b, slots, {.profile = &profile, .outputs = right_only});
  EXPECT_EQ(slots[2].value().tensor(), all[2].tensor());
  EXPECT_EQ(profile.size(), 1u) << "one product is one step";
  for (const std::vector<size_t>& wrong : std::vector<std::vector<size_t>>{{3}, {1, 1}, {2, 0}})
    EXPECT_THROW(session.run_into(inputs, slots, {.outputs = wrong}), Error);
  const std::vector<std::string> names = {session.outputs()[2].name, session.outputs()[0].name,
                                          session.outputs()[2].name};
  const std::vector<Datum> fetched = session.fetch(inputs, names);
  EXPECT_EQ(fetched[0].tensor(), all[2].tensor());
  EXPECT_EQ(fetched[1].tensor(), all[0].tensor());
  EXPECT_EQ(fetched[2].tensor(), all[2].tensor());
}

TEST(SessionPrepare, a_run_finds_its_plan_and_its_packed_weights) {
  const Session session(product(ramp({4, 64})));
  EXPECT_EQ(session.stats().plans, 0u);
  const std::vector<std::optional<Shape>> shapes = {Shape{3, 4}};
  session.prepare(shapes);
  const Session::Stats ready = session.stats();
  EXPECT_EQ(ready.plans, 1u);
  const std::vector<Datum> inputs = {ramp({3, 4})};
  session.run(inputs);
  EXPECT_EQ(session.stats().plans, ready.plans);
  EXPECT_EQ(session.stats().packed_weight_bytes, ready.packed_weight_bytes);
  const std::vector<Datum> others = {ramp({5, 4})};
  session.prepare(others);
  EXPECT_EQ(session.stats().plans, 2u);
  EXPECT_THROW(session.prepare(std::vector<std::optional<Shape>>{}), Error) << "n is not known";
  EXPECT_THROW(session.prepare(std::vector<std::optional<Shape>>{Shape{3, 5}}), Error);
  std::stop_source stop;
  stop.request_stop();
  const std::vector<std::optional<Shape>> new_shapes = {Shape{7, 4}};
  EXPECT_THROW(session.prepare(new_shapes, {.cancel = stop.get_token()}), Error);
}

TEST(SessionPrepare, many_shapes_from_many_threads) {
  const Session session(product(ramp({4, 16})));
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t n = 1; n <= 8; ++n) {
        const std::vector<std::optional<Shape>> shapes = {Shape{n + i, 4}};
        session.prepare(shapes);
        EXPECT_EQ(session.run({{"x", ramp({n, 4})}})[0].tensor().shape(), (Shape{n, 16}));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(session.stats().plans, 11u);
}

TEST(LoadOptions, initializers_come_from_the_caller) {
  const Tensor own = ramp({4, 32}, 5);
  const NamedData inputs = {{"x", ramp({2, 4})}};
  const Tensor expected = Session(product(own)).run(inputs)[0].tensor();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "product.onnx";
  save_model(product(ramp({4, 32})), path);
  const std::string bytes = model_bytes(product(ramp({4, 32})));
  SessionOptions options;
  options.load.initializers["W"] = own;
  EXPECT_EQ(Session(path, options).run(inputs)[0].tensor(), expected);
  const Session session(std::as_bytes(std::span(bytes)), options);
  EXPECT_EQ(session.run(inputs)[0].tensor(), expected);
  options.load.initializers["W"] = ramp({4, 31});
  EXPECT_NE(
      message_of([&] { Session(path, options); }).find("expected float[4, 32], got float[4, 31]"),
      std::string::npos);
  options.load.initializers["W"] = own;
  options.load.initializers["V"] = own;
  EXPECT_NE(message_of([&] { Session(path, options); }).find("no initializer \"V\""),
            std::string::npos);
}

TEST(LoadOptions, external_files_in_memory) {
  const Tensor weights = ramp({4, 32}, 5);
  const NamedData inputs = {{"x", ramp({2, 4})}};
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "product.onnx";
  SaveOptions save;
  save.external_data.emplace();
  save.external_data->file = "weights.bin";
  save.external_data->threshold = 0;
  save_model(product(weights), path, save);
  const Tensor expected = Session(path).run(inputs)[0].tensor();
  std::ifstream file(folder.path() / "weights.bin", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::ifstream model(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(model), {}};
  std::filesystem::remove(folder.path() / "weights.bin");
  ASSERT_GE(content.size(), weights.bytes());
  // At an address that suits the elements, and at one that does not.
  for (const size_t shift : {0, 1}) {
    std::vector<std::byte> memory(content.size() + 65);
    const auto at = reinterpret_cast<uintptr_t>(memory.data());
    std::byte* begin = memory.data() + (64 - at % 64) + shift;
    std::memcpy(begin, content.data(), content.size());
    SessionOptions options;
    options.load.external_files["weights.bin"] =
        Tensor(DType::kUInt8, {static_cast<int64_t>(content.size())},
               Buffer::borrow(begin, content.size(), nullptr));
    const Session session(std::as_bytes(std::span(bytes)), options);
    EXPECT_EQ(session.run(inputs)[0].tensor(), expected);
    EXPECT_EQ(Session(path, options).run(inputs)[0].tensor(), expected);
    options.load.external_files["weights.bin"] = Tensor::zeros(DType::kUInt8, {3});
    EXPECT_NE(message_of([&] { Session(path, options); }).find("is past the end"),
              std::string::npos);
    options.load.external_files["weights.bin"] = Tensor::zeros(DType::kFloat, {3});
    EXPECT_NE(message_of([&] { Session(path, options); }).find("expected its bytes as uint8[size]"),
              std::string::npos);
    options.load.external_files["weights.bin"] =
        Tensor(DType::kUInt8, {static_cast<int64_t>(content.size())},
               Buffer::borrow(begin, content.size(), nullptr));
    options.load.external_files["typo.bin"] = Tensor::zeros(DType::kUInt8, {3});
    options.load.strict = true;
    EXPECT_NE(message_of([&] { Session(path, options); }).find("in \"typo.bin\""),
              std::string::npos);
    options.load.strict = false;
    EXPECT_EQ(Session(path, options).run(inputs)[0].tensor(), expected);
    options.load.external_files.clear();
    options.load.external_files["other.bin"] = Tensor::zeros(DType::kUInt8, {3});
    EXPECT_NE(message_of([&] {
                Session(std::as_bytes(std::span(bytes)), options);
              }).find("it is none of external_files"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sardonyx
