// Operators of the program's in every way in which sardonyx runs operators.
#include "eager/custom_op.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

// y = x * |x|^power, and gradients in ops.
CustomOp signed_power(const std::string& name) {
  return {.domain = "test.custom",
          .name = name,
          .since = 3,
          .signature = "(X: T) -> (Y: T)",
          .types = {{"T", {DType::kFloat, DType::kDouble}}},
          .attributes = {{"power", 1.0f}},
          .compute =
              [](const EvalCall& call) {
                const sardonyx::Tensor& x = call.inputs[0].tensor();
                sardonyx::Tensor& y = call.tensor(0, x.dtype(), x.shape());
                const float power = *custom_attribute<float>(call, "power");
                const auto apply = [&]<typename T>(T) {
                  for (int64_t i = 0; i < x.count(); ++i) {
                    const T value = x.values<T>()[static_cast<size_t>(i)];
                    y.mutable_values<T>()[static_cast<size_t>(i)] =
                        value * std::pow(std::abs(value), static_cast<T>(power));
                  }
                };
                x.dtype() == DType::kFloat ? apply(0.0f) : apply(0.0);
              },
          .infer = ops::same_as_first,
          .gradient = [](Emitter& e, const GradCall& call) -> Vals {
            const ops::Term dy = ops::d_output(e, call, 0), x = ops::input(e, call, 0);
            const double power = *custom_attribute<float>(call, "power");
            const ops::Term slope = ops::apply("Pow", ops::apply("Abs", x), x.number(power));
            return {(power + 1) * dy * slope};
          }};
}

// Registered once for all tests of the process, under its own name.
std::string_view signed_power_name() {
  static const std::string name = full_name(register_custom_op(signed_power("SignedPower")));
  return name;
}

TEST(CustomOps, compute_at_once_in_each_type_and_have_gradients) {
  const Tensor x = Tensor::of<float>({-2, 0.5f, 3}, {3}).set_requires_grad();
  const Tensor y = op::call(signed_power_name(), {x}, {{"power", 2.0f}});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{-8, 0.125f, 27}));
  y.sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{12, 0.75f, 27}));
  const Tensor twice = op::call(signed_power_name(), {Tensor::of<double>({-2, 3}, {2})});
  EXPECT_EQ(twice.to_vector<double>(), (std::vector<double>{-4, 9}));
}

TEST(CustomOps, are_part_of_compiled_training_steps) {
  const Tensor w = Tensor::of<float>({-2, 3}, {2}).set_requires_grad();
  const Compiled step = compile([&](const Tensors& in) -> Tensors {
    w.zero_grad();
    op::call(signed_power_name(), {w * in[0]}).sum().backward();
    return {w.grad()};
  });
  for (const float scale : {1.0f, 2.0f}) {
    const Tensor got = step({Tensor::of<float>({scale, scale}, {2})})[0];
    EXPECT_EQ(got.to_vector<float>(), (std::vector<float>{4 * scale * scale, 6 * scale * scale}));
  }
}

TEST(CustomOps, are_exported_loaded_and_run_by_a_session) {
  const TensorFunction fn = [](const Tensors& in) -> Tensors {
    return {op::call(signed_power_name(), {in[0] + 1}, {{"power", 3.0f}}) * 2};
  };
  const ExportOptions options{.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "n"}}}}};
  const std::string bytes = model_bytes(traced_model(fn, {ones({2})}, options));
  const Session session(std::as_bytes(std::span(bytes)));
  for (const int64_t count : {1, 4, 2, 0}) {
    const Tensor x = rand({count}) - 2;
    EXPECT_EQ(Tensor(session.run({{"x", x.datum()}})[0]).to_vector<float>(),
              fn({x})[0].to_vector<float>());
  }
}

TEST(CustomOps, say_what_was_wrong_with_a_call) {
  const Tensor x = ones({2});
  expect_refusal(ErrorCode::kUnsupported, "no operator is named test.custom::Nothing",
                 [&] { op::call("test.custom::Nothing", {x}); });
  expect_refusal(ErrorCode::kInvalidModel, "attribute exponent: the op has no such attribute", [&] {
    op::call(signed_power_name(), {x}, {{"exponent", 2.0f}});
  });
  expect_refusal(ErrorCode::kInvalidModel, "attribute power: expected FLOAT, got INT", [&] {
    op::call(signed_power_name(), {x}, {{"power", int64_t{2}}});
  });
  expect_refusal(ErrorCode::kInvalidArgument, "expected a type of float, double, got int32[2]",
                 [&] { op::call(signed_power_name(), {ones({2}).to(DType::kInt32)}); });
}

}  // namespace
}  // namespace sardonyx::eager
