// Operators of the program's in sessions: sizes that data decide, optional and variadic inputs,
// errors, threads.
#include "ir/custom_op.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "executor/session.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

std::string fresh_name() {
  static std::atomic<int> count{0};
  return "Op" + std::to_string(count++);
}

const std::vector<CustomTypes> kFloatOrInt{{"T", {DType::kFloat, DType::kInt64}}};

// A graph of one node, y0, y1 ... = op(x0, x1, ...), as a file has it.
std::string model_of(const OpDef& op, const std::vector<Type>& inputs, size_t outputs = 1,
                     const AttrMap& attrs = {}) {
  Model model;
  GraphEmitter e(*model.graph);
  e.set_origin("the node", "", "");
  Vals given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(inputs[i].is_none() ? Val()
                                        : GraphEmitter::wrap(model.graph->add_input(
                                              "x" + std::to_string(i), inputs[i])));
  }
  for (const Val& result : e.emit(op, given, Attrs::parse(*op.attrs, attrs), outputs))
    model.graph->add_output(GraphEmitter::unwrap(result));
  return model_bytes(model);
}

Session loaded(const std::string& bytes) {
  return Session(std::as_bytes(std::span(bytes)));
}

Type floats_of(std::optional<Dims> shape = Dims{Dim::symbol("n")}) {
  return Type::tensor(DType::kFloat, std::move(shape));
}

// Keeps the elements above a limit, and tells where they were.
CustomOp above(const std::string& name) {
  return {.domain = "test",
          .name = name,
          .signature = "(X: T, limit?: float) -> (Y: T, places?: int64)",
          .types = kFloatOrInt,
          .compute = [](const EvalCall& call) {
            const std::span<const float> x = call.inputs[0].tensor().values<float>();
            const float limit = call.has(1) ? call.inputs[1].tensor().values<float>()[0] : 0;
            std::vector<int64_t> places;
            for (size_t i = 0; i < x.size(); ++i) {
              if (x[i] > limit) places.push_back(static_cast<int64_t>(i));
            }
            const Shape shape{static_cast<int64_t>(places.size())};
            Tensor& kept = call.tensor(0, DType::kFloat, shape);
            for (size_t i = 0; i < places.size(); ++i)
              kept.mutable_values<float>()[i] = x[static_cast<size_t>(places[i])];
            if (call.outputs.size() > 1) call.outputs[1] = Tensor::vector(places);
          }};
}

TEST(CustomOpSessions, sizes_may_be_known_when_they_are_computed) {
  const OpDef& op = register_custom_op(above(fresh_name()));
  const Session session = loaded(model_of(op, {floats_of(), floats_of(Dims{})}, 2));
  const Tensor x = Tensor::vector<float>({1, -2, 3, 4});
  for (int run = 0; run < 2; ++run) {
    for (const float limit : {0.0f, 2.0f, 9.0f}) {
      const std::vector<Datum> got = session.run({{"x0", x}, {"x1", Tensor::scalar<float>(limit)}});
      std::vector<float> kept;
      for (const float value : x.values<float>()) {
        if (value > limit) kept.push_back(value);
      }
      EXPECT_EQ(got[0].tensor(), Tensor::vector(kept));
      EXPECT_EQ(got[1].tensor().count(), static_cast<int64_t>(kept.size()));
    }
  }
}

TEST(CustomOpSessions, optional_inputs_and_outputs_may_be_left_out) {
  const OpDef& op = register_custom_op(above(fresh_name()));
  const Session session = loaded(model_of(op, {floats_of()}));
  EXPECT_EQ(session.run({{"x0", Tensor::vector<float>({-1, 5})}})[0].tensor(),
            Tensor::vector<float>({5}));
}

// Sums of any number of inputs.
CustomOp sum_of_all(const std::string& name, std::atomic<int>& calls) {
  return {.domain = "test",
          .name = name,
          .signature = "(first: T, more...0: T) -> (Y: T)",
          .types = kFloatOrInt,
          .compute =
              [&calls](const EvalCall& call) {
                ++calls;
                const Tensor& first = call.inputs[0].tensor();
                Tensor& y = call.tensor(0, first.dtype(), first.shape());
                const std::span<float> sum = y.mutable_values<float>();
                std::ranges::fill(sum, 0.0f);
                for (size_t k = 0; k < call.inputs.size(); ++k) {
                  const auto x = call.inputs[k].tensor().values<float>();
                  for (size_t i = 0; i < sum.size(); ++i)
                    sum[i] += x[i];
                }
              },
          .infer = [](InferContext& context) { context.set(0, context.type(0)); }};
}

TEST(CustomOpSessions, many_threads_run_one_with_any_number_of_inputs) {
  std::atomic<int> calls{0};
  const OpDef& op = register_custom_op(sum_of_all(fresh_name(), calls));
  const Session session = loaded(model_of(op, {floats_of(), floats_of(), floats_of()}));
  EXPECT_EQ(session.outputs()[0].type.text(), "float[n]");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (int64_t run = 0; run < 50; ++run) {
        const Tensor x =
            Tensor::of(std::vector<float>(static_cast<size_t>(run % 3 + 1), static_cast<float>(k)),
                       {run % 3 + 1});
        const Tensor got = session.run({{"x0", x}, {"x1", x}, {"x2", x}})[0].tensor();
        for (const float value : got.values<float>())
          wrong += value != 3 * static_cast<float>(k);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls, 200);
}

TEST(CustomOpSessions, pure_ones_of_constants_are_computed_once) {
  for (const bool is_pure : {true, false}) {
    std::atomic<int> calls{0};
    CustomOp description = sum_of_all(fresh_name(), calls);
    description.is_pure = is_pure;
    const OpDef& op = register_custom_op(std::move(description));
    Model model;
    GraphEmitter e(*model.graph);
    const Val constant = e.constant(Tensor::vector<float>({1, 2}));
    const Vals given{constant, constant};
    const Val x = GraphEmitter::wrap(model.graph->add_input("x", floats_of(Dims{2})));
    const Val sum = e.emit(op, given, Attrs::parse(*op.attrs, {}), 1)[0];
    model.graph->add_output(GraphEmitter::unwrap(e.call("Add", {sum, x})));
    const Session session(std::move(model));
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(session.run({{"x", Tensor::vector<float>({0, 1})}})[0].tensor(),
                Tensor::vector<float>({2, 5}));
    }
    EXPECT_EQ(calls, is_pure ? 1 : 3);
  }
}

TEST(CustomOpSessions, errors_name_operator_and_node_and_leave_the_session_usable) {
  const std::string name = fresh_name();
  const OpDef& op = register_custom_op({.domain = "test",
                                        .name = name,
                                        .signature = "(X: float) -> (Y: float)",
                                        .compute = [](const EvalCall& call) {
                                          const Tensor& x = call.inputs[0].tensor();
                                          if (x.count() == 0)
                                            throw std::runtime_error("no elements");
                                          if (x.count() == 1) fail(ErrorCode::kUnsupported, "one");
                                          if (x.count() == 2) throw 2;
                                          if (x.count() > 3) call.outputs[0] = x.clone();
                                        }});
  const Session session = loaded(model_of(op, {floats_of()}));
  const auto run = [&](int64_t count) {
    return session.run({{"x0", Tensor::zeros(DType::kFloat, {count})}});
  };
  EXPECT_EQ(run(4)[0].tensor().count(), 4);
  const std::string where = "node the node: test::" + name + ": ";
  expect_refusal(ErrorCode::kInvalidArgument, where + "no elements", [&] { run(0); });
  expect_refusal(ErrorCode::kUnsupported, where + "one", [&] { run(1); });
  expect_refusal(ErrorCode::kInternal, where + "its function threw what is no std::exception",
                 [&] { run(2); });
  // Not what the run before has left there.
  expect_refusal(ErrorCode::kInvalidArgument, where + "output Y was not made", [&] { run(3); });
  EXPECT_EQ(run(5)[0].tensor().count(), 5);
}

TEST(CustomOpSessions, outputs_have_the_types_of_the_signature) {
  const auto session_of = [](const char* signature) {
    const OpDef& op = register_custom_op(
        {.domain = "test",
         .name = fresh_name(),
         .signature = signature,
         .types = kFloatOrInt,
         .compute = [](const EvalCall& call) { call.outputs[0] = Tensor::vector<int64_t>({1}); }});
    return loaded(model_of(op, {floats_of()}));
  };
  const NamedData x{{"x0", Tensor::vector<float>({1})}};
  for (const char* signature : {"(X: T) -> (Y: T)", "(X: T) -> (Y: float)"}) {
    const Session session = session_of(signature);
    expect_refusal(ErrorCode::kInvalidArgument, "has another type than int64[1]",
                   [&] { session.run(x); });
  }
  EXPECT_EQ(session_of("(X: T) -> (Y: int64)").run(x)[0].tensor(), Tensor::vector<int64_t>({1}));
}

TEST(CustomOpSessions, a_file_needs_the_operator_in_the_version_that_has_it) {
  std::atomic<int> calls{0};
  const std::string name = fresh_name();
  CustomOp description = sum_of_all(name, calls);
  description.domain = "test.versions";
  description.since = 2;
  const std::string bytes = model_of(register_custom_op(description), {floats_of()});
  EXPECT_EQ(loaded(bytes).metadata().opsets.at("test.versions"), 2);
  const Session kept = loaded(bytes);
  EXPECT_TRUE(unregister_custom_op(name, "test.versions"));
  EXPECT_FALSE(unregister_custom_op(name, "test.versions"));
  expect_refusal(ErrorCode::kUnsupported, "there is no operator \"" + name + "\"",
                 [&] { loaded(bytes); });
  EXPECT_EQ(kept.run({{"x0", Tensor::vector<float>({7})}})[0].tensor(), Tensor::vector<float>({7}));
  description.since = 3;
  register_custom_op(description);
  expect_refusal(ErrorCode::kInvalidModel,
                 "came with version 3 of test.versions; the model imports version 2",
                 [&] { loaded(bytes); });
}

TEST(CustomOpSessions, what_is_told_must_come_true) {
  const OpDef& op = register_custom_op(
      {.domain = "test",
       .name = fresh_name(),
       .signature = "(X: float) -> (Y: float)",
       .compute = [](const EvalCall& call) { call.outputs[0] = call.inputs[0].tensor().clone(); },
       .infer = [](InferContext& context) { context.set(0, DType::kFloat, Dims{9}); }});
  const Session session = loaded(model_of(op, {floats_of()}));
  EXPECT_EQ(session.run({{"x0", Tensor::zeros(DType::kFloat, {9})}})[0].tensor().count(), 9);
  const char* const refusal = "output Y: its infer said float[9], its compute made float[8]";
  expect_refusal(ErrorCode::kInvalidArgument, refusal, [&] {
    session.run({{"x0", Tensor::zeros(DType::kFloat, {8})}});
  });
}

}  // namespace
}  // namespace sardonyx
