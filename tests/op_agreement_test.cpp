// Every row of the op table on its samples: called eagerly, traced and run by the executor, saved,
// loaded and run again. Without rewriting passes all give the same bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "eager/autograd/autograd.h"
#include "eager/dispatch/dispatch.h"
#include "eager/trace/trace.h"
#include "executor/session.h"
#include "ir/op_samples.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"

namespace sardonyx {
namespace {

using Tensors = std::vector<eager::Tensor>;

// Samples of one row: what goes in as an argument, and what is a constant of the program since
// shapes depend on its value.
struct Call {
  const OpDef& op;
  const Sample& sample;
  std::vector<Datum> inputs;

  bool is_argument(size_t input) const {
    const bool decides = input < 32 && (op.shape_inputs >> input & 1u);
    return inputs[input].defined() && !decides;
  }
  std::vector<Datum> arguments() const {
    std::vector<Datum> given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_argument(i)) given.push_back(inputs[i]);
    }
    return given;
  }
  Tensors operator()(const Tensors& given) const {
    Tensors all;
    size_t next = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_argument(i))
        all.push_back(given[next++]);
      else
        all.push_back(inputs[i].defined() ? eager::Tensor(inputs[i]) : eager::Tensor());
    }
    return eager::apply_many(op, all, sample.attrs, sample.outputs, eager::Loc::current());
  }
};

Model traced(const Call& call) {
  std::vector<eager::TensorSpec> specs;
  for (const Datum& argument : call.arguments())
    specs.push_back({argument.tensor().dtype(), to_dims(argument.tensor().shape())});
  const auto record = [&](const Tensors& given) {
    Tensors present;
    for (const eager::Tensor& result : call(given)) {
      if (result.defined()) present.push_back(result);
    }
    return present;
  };
  Model model;
  model.graph = eager::trace(record, specs).graph;
  return model;
}

void expect_same(const std::vector<Datum>& got, const std::vector<Datum>& expected,
                 const char* form) {
  ASSERT_EQ(got.size(), expected.size()) << form;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!expected[i].is_tensor()) continue;
    EXPECT_TRUE(got[i].tensor() == expected[i].tensor()) << form << ", output " << i;
  }
}

// What the row gives; nothing where it refuses the types that a sample was given.
std::vector<Datum> results_of(const Call& call) {
  Tensors given;
  for (const Datum& argument : call.arguments())
    given.emplace_back(argument);
  std::vector<Datum> results;
  try {
    for (const eager::Tensor& result : call(given)) {
      if (result.defined()) results.push_back(result.datum());
    }
  } catch (const Error&) {
    return {};
  }
  return results;
}

void check(const Call& call) {
  const std::vector<Datum> expected = results_of(call);
  const bool is_constant_sequence =
      call.inputs.empty() && !expected.empty() && !expected[0].is_tensor();
  if (expected.empty() || is_constant_sequence) return;
  const SessionOptions plain{.optimization_level = 0};
  const std::vector<Datum> inputs = call.arguments();
  expect_same(Session(traced(call), plain).run(inputs), expected, "traced");
  if (call.op.domain == "sardonyx") return;  // files have what it stands for in its place
  // Of an opset that has every op: older ones get what it stands for.
  const std::string bytes = model_bytes(traced(call), {.opset = kNewestOpset});
  expect_same(Session(load_model(std::as_bytes(std::span(bytes))), plain).run(inputs), expected,
              "saved and loaded");
}

bool is_of_tensors(const std::vector<Datum>& inputs) {
  return std::ranges::all_of(inputs, [](const Datum& d) { return !d.defined() || d.is_tensor(); });
}

class Rows : public testing::TestWithParam<const OpDef*> {};

TEST_P(Rows, GiveTheSameInEveryForm) {
  const OpDef& op = *GetParam();
  const eager::NoGrad no_grad;
  const std::vector<Sample> samples = op.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    for (std::vector<Datum>& inputs : sample_inputs(op, samples[i])) {
      if (!is_of_tensors(inputs)) continue;
      const Call call{op, samples[i], std::move(inputs)};
      SCOPED_TRACE(text("sample ", i, " of ",
                        call.inputs.empty() || !call.inputs[0].defined()
                            ? DType::kUndefined
                            : call.inputs[0].tensor().dtype()));
      try {
        check(call);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      if (HasFailure()) return;
    }
  }
}

std::vector<const OpDef*> rows_with_samples() {
  std::vector<const OpDef*> rows;
  for (const OpDef* op : all_ops()) {
    if (op->samples && !op->is(kRandom)) rows.push_back(op);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(, Rows, testing::ValuesIn(rows_with_samples()), [](const auto& row) {
  std::string name = full_name(*row.param);
  std::ranges::replace_if(
      name, [](unsigned char letter) { return !std::isalnum(letter); }, '_');
  return name;
});

}  // namespace
}  // namespace sardonyx
