// Elementwise, cumulative and contracting operators: calls that do not fit.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

TEST(ElementwiseRefusals, Activations) {
  const Datum x = zeros({2, 3}), two = zeros({2}), yes = Tensor::scalar(true);
  const auto ratio = [](float value) -> Datum { return Tensor::scalar(value); };
  expect_refused(std::vector<Refused>{
      {"PRelu", {x, zeros({2, 1, 3})}, {}, "slope [2, 1, 3] does not broadcast to X [2, 3]"},
      {"PRelu", {x, two}, {}, "slope [2] does not broadcast to X [2, 3]"},
      {"PRelu", {zeros({2, 1}), zeros({3})}, {}, "slope [3] does not broadcast to X [2, 1]"},
      {"Gelu",
       {x},
       {{"approximate", string("odd")}},
       "approximate: expected none or tanh, got odd"},
      {"Clip", {x, two}, {}, "input min (float[2]): expected a scalar or one element"},
      {"Clip", {x, none(), two}, {}, "input max (float[2]): expected a scalar or one element"},
      {"Dropout", {x, two}, {}, "input ratio (float[2]): expected a scalar or one element"},
      {"Dropout", {x, ratio(1)}, {}, "ratio: expected a number in [0, 1), got 1"},
      {"Dropout", {x, ratio(-0.5f)}, {}, "ratio: expected a number in [0, 1), got -0.5"},
      {"Dropout",
       {x, none(), zeros({2}, DType::kBool)},
       {},
       "input training_mode (bool[2]): expected a scalar or one element"},
      {"sardonyx::ReluGrad", {x, two}, {}, "expected inputs of one shape, got ranks 2 and 1"},
  });
  // Known only when it runs.
  const OpDef& dropout = op_named("Dropout");
  const Attrs attrs = Attrs::parse(*dropout.attrs, {});
  const Tensor data = Tensor::zeros(DType::kFloat, {2}), odd = Tensor::scalar(1.5f);
  Tensor out = Tensor::zeros(DType::kFloat, {2});
  const std::vector<TensorView> in{data.view(), odd.view(), yes.tensor().view()};
  const std::vector<TensorView> to{out.view()};
  expect_refusal(kBadArgument, "Dropout: ratio: expected a number in [0, 1), got 1.5", [&] {
    dropout.reference({dropout, attrs, in, to});
  });
}

TEST(ElementwiseRefusals, Arithmetic) {
  const Datum seven = ints({7}), zero = ints({0});
  const Datum bytes = zeros({1}, DType::kUInt8);
  expect_refused(std::vector<Refused>{
      {"Div", {seven, zero}, {}, "zero", kBadArgument},
      {"Mod", {seven, zero}, {}, "zero", kBadArgument},
      {"Mod", {seven, zero}, {{"fmod", 1}}, "zero", kBadArgument},
      {"Div", {bytes, bytes}, {}, "zero", kBadArgument},
      {"BitShift",
       {bytes, bytes},
       {{"direction", string("UP")}},
       "direction: expected LEFT or RIGHT"},
      {"Add", {zeros({2}), zeros({3})}, {}, "does not broadcast with [2]"},
      {"Equal", {zeros({2}), zeros({3})}, {}, "does not broadcast with [2]"},
      {"Cast",
       {seven},
       {{"to", 1}, {"round_mode", string("odd")}},
       "round_mode: expected up, down or nearest, got odd"},
      {"CastLike",
       {seven, zero},
       {{"round_mode", string("odd")}},
       "round_mode: expected up, down or nearest, got odd"},
      {"Cast", {seven}, {{"to", 99}}, "to: expected one of "},
      {"Cast", {seven}, {{"to", 0}}, "no element type has"},
      {"Cast", {seven}, {{"to", 14}}, "got complex64"},
      {"BitCast", {seven}, {{"to", 1}}, "to: float has 32 bits, the input's int64 has 64"},
      {"Cast", {strings({"many"})}, {{"to", 1}}, "many", kBadArgument},
      {"Cast",
       {strings({"99999999999999999999"})},
       {{"to", 7}},
       "cannot read \"99999999999999999999\" as int64",
       kBadArgument},
      {"Cast",
       {strings({"-9300000000000000000"})},
       {{"to", 6}},
       "cannot read \"-9300000000000000000\"",
       kBadArgument},
  });
}

TEST(ElementwiseRefusals, Cumulative) {
  const Datum x = zeros({2, 3});
  expect_refused(std::vector<Refused>{
      {"CumSum", {x, ints({0, 1})}, {}, "input axis (int64[2]): expected a scalar or one element"},
      {"CumSum", {zeros({}), ints({0})}, {}, "expected rank 1 or more, got a scalar"},
      {"CumSum", {x, ints({2})}, {}, "axis 2 is out of range [-2, 1] for rank 2"},
      {"Trilu", {x, ints({0, 1})}, {}, "input k (int64[2]): expected a scalar or one element"},
      {"Trilu", {zeros({3})}, {}, "expected rank 2 or more"},
  });
}

TEST(ElementwiseRefusals, Einsum) {
  const Datum x = zeros({2, 3});
  const auto call = [&](const char* equation, const char* mention, std::vector<Datum> inputs) {
    return Refused{"Einsum", std::move(inputs), {{"equation", string(equation)}}, mention};
  };
  expect_refused(std::vector<Refused>{
      call("i.j", "expected letters, spaces", {x}),
      call("i1", "expected letters, spaces, ',', '->' and '...', got '1'", {x}),
      call("...i...", "a term has two ellipses", {x}),
      call("ijk->i", "term 0 names 3 dims, operand 0 has rank 2", {x}),
      call("...ijk->i", "term 0 names 3 dims or more, operand 0 has rank 2", {x}),
      call("...i,...->i", "the ellipsis stands for 1 dims and for 2 dims", {x, x}),
      call("ij->k", "output index 'k' is in no operand", {x}),
      call("ij->ii", "output index 'i' stands there twice", {x}),
      call("ij,jk->ik", "has 2 terms for 1 operands", {x}),
      call("ij,jk->ik", "input Inputs #1 (float[4, 2]): dim 0 is 4 where another operand has 3",
           {x, zeros({4, 2})}),
  });
}

TEST(ElementwiseRefusals, Groups) {
  const Datum x = zeros({2});
  const auto group = [&](Strings ops, Ints operands, Ints results, const char* mention,
                         Floats params = {}) -> Refused {
    return {"sardonyx::FusedElementwise",
            {x},
            {{"ops", std::move(ops)},
             {"operands", std::move(operands)},
             {"params", std::move(params)},
             {"results", std::move(results)}},
            mention};
  };
  expect_refused(std::vector<Refused>{
      group({"Odd"}, {0}, {1}, "attribute ops: \"Odd\" is no op of groups"),
      group({"Add"}, {0}, {1}, "operands or params end before op \"Add\""),
      group({"Relu"}, {1}, {1}, "op \"Relu\" reads value 1, which is not made before it"),
      group({"Relu"}, {-1}, {1}, "op \"Relu\" reads value -1, which is not made before it"),
      group({"Relu"}, {0, 0}, {1}, "operands or params are left over"),
      group({"Relu"}, {0}, {1}, "operands or params are left over", {1.f}),
      group({"Relu"}, {0}, {2}, "result 2 is no value"),
      group({"Relu"}, {0}, {-1}, "result -1 is no value"),
      group({"Relu"}, {0}, {1, 1}, "needs one result for each output"),
  });
}

}  // namespace
}  // namespace sardonyx
