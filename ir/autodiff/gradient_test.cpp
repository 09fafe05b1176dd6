// Gradients of every row that has them, against finite differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "tests/support/gradient_check.h"

namespace sardonyx {
namespace {

struct Exception {
  std::string_view op, reason;
};

// Rows from floats to floats that have no gradient, and why that is right.
constexpr Exception kNotDifferentiable[] = {
    {"Bernoulli", "what is drawn does not change smoothly"},
    {"BitCast", "the bits of a number are not numbers that change with it"},
    {"EyeLike", "only the shape of the input matters"},
    {"ai.onnx.ml::Binarizer", "it is constant between its steps"},
    {"ai.onnx.ml::LabelEncoder", "labels are looked up, not computed"},
    {"ai.onnx.ml::OneHotEncoder", "labels are looked up, not computed"},
    {"ai.onnx.ml::TreeEnsemble", "it is constant between its thresholds"},
    {"ai.onnx.ml::TreeEnsembleClassifier", "it is constant between its thresholds"},
    {"ai.onnx.ml::TreeEnsembleRegressor", "it is constant between its thresholds"},
    {"Range", "its inputs say how many numbers there are"},
    {"MelWeightMatrix", "the edges of the bands are rounded to bins"},
    {"RandomNormalLike", "only the shape of the input matters"},
    {"RandomUniformLike", "only the shape of the input matters"},
    {"com.microsoft::BeamSearch", "words are chosen"},
    {"com.microsoft::WhisperBeamSearch", "words are chosen"},
    {"com.microsoft::Sampling", "words are drawn"},
};

// Rows that should be differentiable and are not yet, in first or second order.
constexpr Exception kGaps[] = {
    // Arithmetic, elementwise, casts, reductions, shapes, indices, products, losses.
    {"DynamicQuantizeLinear", "samples of zeros lie at the kink of the range that it finds"},
    {"ai.onnx.ml::SVMClassifier", "models of ai.onnx.ml are fitted by other means"},
    {"ai.onnx.ml::SVMRegressor", "models of ai.onnx.ml are fitted by other means"},
    // Convolution, pooling, normalisation, recurrence, attention, images, signals, control flow,
    // sequences, optionals, random.
    {"SequenceAt", "samples hold tensors only; sequence_gradient_test has it"},
    {"SequenceConstruct", "samples hold tensors only; sequence_gradient_test has it"},
    {"SequenceErase", "samples hold tensors only; sequence_gradient_test has it"},
    {"SequenceInsert", "samples hold tensors only; sequence_gradient_test has it"},
    {"ConcatFromSequence", "samples hold tensors only; sequence_gradient_test has it"},
    {"SplitToSequence", "samples hold tensors only; sequence_gradient_test has it"},
    {"Optional", "samples hold tensors only; sequence_gradient_test has it"},
    {"SequenceMap", "samples hold tensors only; sequence_gradient_test has it"},
    {"com.microsoft::DynamicQuantizeLSTM", "its state is rounded at each step"},
    {"com.microsoft::Range", "its inputs say how many numbers there are"},
    {"com.microsoft::SparseToDenseMatMul", "samples hold dense tensors only, and there is no rule"},
};

// Float inputs of differentiable rows by which nobody differentiates.
struct Constant {
  std::string_view op;
  size_t input;
  std::string_view reason;
};
constexpr Constant kConstants[] = {
    {"CastLike", 1, "only its type matters"},
    {"MaxRoiPool", 1, "its corners are rounded"},
    {"com.microsoft::DynamicQuantizeMatMul", 0,
     "it is rounded to steps that are smaller than differences"},
    {"Dropout", 1, "the rate of a draw is no weight"},
    {"Resize", 1, "it is refused: the borders of a region are no weights"},
    {"Resize", 2, "it is refused: scales are no weights"},
};

const Exception* find(std::span<const Exception> table, const OpDef& op) {
  const auto at = std::ranges::find(table, full_name(op), &Exception::op);
  return at == table.end() ? nullptr : &*at;
}

bool has_floats(const OpDef& op, const std::vector<Param>& params) {
  return std::ranges::any_of(params, [&](const Param& param) {
    const auto at = std::ranges::find(op.types, param.type, &TypeConstraint::name);
    if (at == op.types.end()) return kFloats.has(dtype_named(param.type));
    const TypeSet& types = at->types;
    const DTypeSet all =
        types.tensors | types.sequences | types.optional_tensors | types.optional_sequences;
    return (all.bits() & kFloats.bits()) != 0;
  });
}

// From floats to floats.
std::vector<const OpDef*> rows_that_may_have_gradients() {
  std::vector<const OpDef*> rows;
  for (const OpDef* op : all_ops()) {
    const Signature& signature = signature_of(*op);
    if (has_floats(*op, signature.inputs) && has_floats(*op, signature.outputs)) rows.push_back(op);
  }
  return rows;
}

GradientReport check_all_samples(const OpDef& op) {
  std::set<size_t> constants;
  for (const Constant& constant : kConstants) {
    if (constant.op == full_name(op)) constants.insert(constant.input);
  }
  GradientReport all;
  const std::vector<Sample> samples = op.samples ? op.samples() : std::vector<Sample>();
  for (size_t i = 0; i < samples.size(); ++i) {
    GradientReport report = check_gradients(op, samples[i], constants);
    for (const std::string& problem : report.problems)
      all.problems.push_back("sample " + std::to_string(i) + ": " + problem);
    all.first += report.first;
    all.second += report.second;
  }
  if (all.problems.empty() && (all.first == 0 || all.second == 0)) {
    all.problems.push_back("no sample has an element by which to compare");
  }
  return all;
}

class Gradients : public testing::TestWithParam<const OpDef*> {};

TEST_P(Gradients, are_those_of_finite_differences) {
  const OpDef& op = *GetParam();
  if (find(kNotDifferentiable, op)) {
    EXPECT_FALSE(op.grad || op.body) << "it is listed as not differentiable, but has a rule";
    return;
  }
  const bool is_gap = find(kGaps, op);
  const GradientReport report = check_all_samples(op);
  if (is_gap) {
    EXPECT_FALSE(report.problems.empty()) << "it is listed as a gap, but it is right";
    return;
  }
  for (size_t i = 0; i < report.problems.size() && i < 10; ++i)
    ADD_FAILURE() << report.problems[i];
}

INSTANTIATE_TEST_SUITE_P(Rows, Gradients, testing::ValuesIn(rows_that_may_have_gradients()),
                         [](const auto& row) {
                           std::string name = full_name(*row.param);
                           std::ranges::replace_if(
                               name, [](unsigned char letter) { return !std::isalnum(letter); },
                               '_');
                           return name;
                         });

// The check itself: rules that are wrong in one way each.

const Sample kPlainSample{.inputs = {{.shape = {2, 3}, .low = 0.5, .high = 2}}};

std::string first_problem(Vals (*rule)(Emitter&, const GradCall&)) {
  // Rows keep their addresses: what is read from a signature is held by them.
  static std::list<OpDef> rows;
  OpDef& row = rows.emplace_back(*find_op("Exp"));
  row.grad = rule;
  const GradientReport report = check_gradients(row, kPlainSample);
  return report.problems.empty() ? "" : report.problems[0];
}

TEST(GradientCheck, accepts_a_right_rule) {
  EXPECT_EQ(first_problem([](Emitter& e, const GradCall& c) {
              return Vals{e.call("Mul", {c.d_outputs[0], c.outputs[0]})};
            }),
            "");
}

TEST(GradientCheck, finds_a_wrong_slope) {
  EXPECT_THAT(first_problem([](Emitter& e, const GradCall& c) {
                return Vals{e.call("Mul", {c.d_outputs[0], c.inputs[0]})};
              }),
              testing::StartsWith("input 0, element 0"));
}

TEST(GradientCheck, finds_a_missing_gradient) {
  EXPECT_THAT(first_problem([](Emitter&, const GradCall&) { return Vals{}; }),
              testing::StartsWith("input 0, element 0"));
}

TEST(GradientCheck, finds_what_is_wrong_in_the_second_order_only) {
  EXPECT_THAT(first_problem([](Emitter& e, const GradCall& c) {
                const std::optional<Tensor> y = e.constant_value(c.outputs[0]);
                return Vals{e.call("Mul", {c.d_outputs[0], y ? e.constant(*y) : c.outputs[0]})};
              }),
              testing::StartsWith("second order, input 0, element 0"));
}

TEST(GradientCheck, finds_what_is_wrong_for_sizes_known_at_run_time_only) {
  EXPECT_THAT(first_problem([](Emitter& e, const GradCall& c) {
                const bool known = e.type(c.inputs[0]).known_shape().has_value();
                return Vals{e.call("Mul", {c.d_outputs[0], known ? c.outputs[0] : c.inputs[0]})};
              }),
              testing::HasSubstr("known at run time"));
}

TEST(GradientCheck, finds_a_gradient_of_another_type) {
  EXPECT_THAT(first_problem([](Emitter& e, const GradCall& c) {
                const Val d = e.call("Mul", {c.d_outputs[0], c.outputs[0]});
                return Vals{e.call("Unsqueeze", {d, e.int64s({0})})};
              }),
              testing::StartsWith("the gradient of input 0 is"));
}

TEST(GradientTables, name_rows_that_exist) {
  const auto expect_row = [](std::string_view name) {
    const size_t colons = name.find("::");
    const bool plain = colons == std::string_view::npos;
    EXPECT_TRUE(plain ? find_op(name) : find_op(name.substr(colons + 2), name.substr(0, colons)))
        << name;
  };
  for (const Exception& exception : kNotDifferentiable)
    expect_row(exception.op);
  for (const Exception& exception : kGaps)
    expect_row(exception.op);
  for (const Constant& constant : kConstants)
    expect_row(constant.op);
}

}  // namespace
}  // namespace sardonyx
