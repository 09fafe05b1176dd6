// A run fails by the fault of the request, never of the model, where its shapes or values decide.
#include <gtest/gtest.h>

#include "executor/session.h"

namespace sardonyx {
namespace {

struct Request {
  const char* what;
  const char* op;
  std::vector<Type> types;  // of the inputs, as the model declares them
  AttrMap attrs;
  std::vector<Datum> inputs;
};

Type any(DType dtype = DType::kFloat) {
  return Type::tensor(dtype);
}
Type sized(std::vector<std::string> symbols, DType dtype = DType::kFloat) {
  Dims dims;
  for (const std::string& symbol : symbols)
    dims.push_back(Dim::symbol(symbol));
  return Type::tensor(dtype, dims);
}
Tensor zeros(Shape shape, DType dtype = DType::kFloat) {
  return Tensor::zeros(dtype, std::move(shape));
}
Tensor ints(std::vector<int64_t> values) {
  return Tensor::vector<int64_t>(values);
}

std::vector<Request> requests() {
  const Type list = sized({"k"}, DType::kInt64);
  return {
      {"sizes that do not broadcast",
       "Add",
       {sized({"a"}), sized({"b"})},
       {},
       {zeros({2}), zeros({3})}},
      {"ranks that do not broadcast", "Mul", {any(), any()}, {}, {zeros({2, 3}), zeros({2})}},
      {"no elements for a shape",
       "Reshape",
       {sized({"a", "b", "c"}), list},
       {},
       {zeros({1, 0, 8}), ints({1, 16})}},
      {"too few elements", "Reshape", {sized({"a"}), list}, {}, {zeros({6}), ints({4, -1})}},
      {"inner sizes of a product",
       "MatMul",
       {sized({"a", "b"}), sized({"c", "d"})},
       {},
       {zeros({2, 3}), zeros({4, 5})}},
      {"ranks of a product", "Gemm", {any(), any()}, {}, {zeros({2, 3}), zeros({3})}},
      {"channels of a convolution",
       "Conv",
       {sized({"n", "c", "h", "w"}), sized({"m", "d", "kh", "kw"})},
       {},
       {zeros({1, 3, 8, 8}), zeros({4, 2, 3, 3})}},
      {"a window larger than the image",
       "MaxPool",
       {sized({"n", "c", "h", "w"})},
       {{"kernel_shape", std::vector<int64_t>{5, 5}}},
       {zeros({1, 1, 3, 3})}},
      {"sizes to join",
       "Concat",
       {sized({"a", "b"}), sized({"c", "d"})},
       {{"axis", int64_t{0}}},
       {zeros({2, 3}), zeros({2, 4})}},
      {"an axis beyond the rank", "Softmax", {any()}, {{"axis", int64_t{2}}}, {zeros({3})}},
      {"an axis that is not 1",
       "Squeeze",
       {sized({"a", "b"}), list},
       {},
       {zeros({2, 3}), ints({0})}},
      {"a permutation of another rank",
       "Transpose",
       {any()},
       {{"perm", std::vector<int64_t>{1, 0}}},
       {zeros({2, 3, 4})}},
      {"indices beyond the end", "Gather", {sized({"a"}), list}, {}, {zeros({3}), ints({3})}},
      {"a shape to expand to", "Expand", {sized({"a"}), list}, {}, {zeros({3}), ints({2})}},
      {"parts that do not add up", "Split", {sized({"a"}), list}, {}, {zeros({5}), ints({2, 2})}},
      {"a negative size", "ConstantOfShape", {list}, {}, {ints({-2})}},
      {"a step of zero",
       "Range",
       {any(DType::kInt64), any(DType::kInt64), any(DType::kInt64)},
       {},
       {Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(5), Tensor::scalar<int64_t>(0)}},
      {"repeats of another rank",
       "Tile",
       {sized({"a", "b"}), list},
       {},
       {zeros({2, 2}), ints({2})}},
      {"pads below zero", "Pad", {sized({"a"}), list}, {}, {zeros({2}), ints({-3, 0})}},
      {"an einsum of unequal sizes",
       "Einsum",
       {sized({"a", "b"}), sized({"c", "d"})},
       {{"equation", std::string("ij,jk->ik")}},
       {zeros({2, 3}), zeros({4, 5})}},
      {"a top that is not there", "TopK", {sized({"a"}), list}, {}, {zeros({3}), ints({4})}},
      {"a matrix that is not square", "Det", {sized({"a", "b"})}, {}, {zeros({2, 3})}},
      {"blocks that do not divide",
       "DepthToSpace",
       {sized({"n", "c", "h", "w"})},
       {{"blocksize", int64_t{2}}},
       {zeros({1, 3, 2, 2})}},
  };
}

Session session_of(const Request& request, int level) {
  Model model;
  GraphEmitter e(*model.graph);
  Vals inputs;
  for (size_t i = 0; i < request.types.size(); ++i) {
    inputs.push_back(
        GraphEmitter::wrap(model.graph->add_input("x" + std::to_string(i), request.types[i])));
  }
  e.set_origin("the_node", "", "");
  const bool has_two = std::string_view(request.op) == "TopK";
  for (const Val& output : e.call_many(request.op, inputs, request.attrs, has_two ? 2 : 1))
    model.graph->add_output(GraphEmitter::unwrap(output));
  SessionOptions options;
  options.optimization_level = level;
  return Session(std::move(model), options);
}

TEST(RequestErrors, what_depends_on_a_request_is_an_invalid_argument) {
  for (const Request& request : requests()) {
    for (const int level : {0, 2}) {
      SCOPED_TRACE(std::string(request.op) + ": " + request.what);
      const Session session = session_of(request, level);
      for (const bool prepares : {false, true}) {
        try {
          if (prepares)
            session.prepare(std::span<const Datum>(request.inputs));
          else
            session.run(request.inputs);
          // What only values decide is not seen before the run.
          EXPECT_TRUE(prepares) << "it ran";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
          EXPECT_NE(std::string(error.what()).find("the_node"), std::string::npos) << error.what();
        }
      }
    }
  }
}

TEST(RequestErrors, name_the_inputs) {
  const Session session = session_of(requests().front(), 2);
  try {
    session.run(requests().front().inputs);
    FAIL() << "2 and 3 were added";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("(for inputs x0 float[2], x1 float[3])"),
              std::string::npos)
        << error.what();
    EXPECT_EQ(error.node(), "the_node");
  }
}

TEST(RequestErrors, a_model_that_takes_nothing_is_at_fault_itself) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val random = e.call("RandomUniform", {}, {{"shape", std::vector<int64_t>{1}}});
  const Val count = e.call("Cast", {random}, {{"to", int64_t{7}}});
  const Val made =
      e.call("Reshape", {e.constant(zeros({6})), e.call("Add", {count, e.constant(ints({4}))})});
  model.graph->add_output(GraphEmitter::unwrap(made));
  const Session session(std::move(model));
  try {
    session.run(NamedData{});
    FAIL() << "6 elements became 4";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModel) << error.what();
  }
}

}  // namespace
}  // namespace sardonyx
