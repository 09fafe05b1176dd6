#include "eager/export/export.h"

#include <gtest/gtest.h>

#include <fstream>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/control_flow.h"
#include "executor/session.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

class ExportTest : public testing::Test {
 protected:
  ExportTest() {
    folder_ =
        std::filesystem::temp_directory_path() / ("sardonyx_export_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~ExportTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(ExportTest, WritesDynamicAxesNamesAndTheSameBytes) {
  manual_seed(1);
  const Tensor weight = randn({5, 12}), bias = randn({5});
  const TensorFunction fn = [&](const Tensors& in) -> Tensors {
    return {softmax(linear(in[0].flatten(1), weight, bias))};
  };
  const ExportOptions options{.input_names = {"x"},
                              .output_names = {"y"},
                              .dynamic_axes = {{"x", {{0, "batch"}}}},
                              .metadata = {{"author", "test"}},
                              .names = {{"fc.weight", weight}, {"fc.bias", bias}}};
  const auto path = folder_ / "m.onnx";
  const ExportReport report = export_onnx(fn, {randn({2, 3, 4})}, path, options);
  EXPECT_EQ(report.checks.size(), 4u);
  for (const ExportCheck& check : report.checks)
    EXPECT_TRUE(check.skipped.empty()) << check.skipped;
  EXPECT_EQ(report.inputs[0], "x: float[batch, 3, 4]");
  const std::string first = bytes_of(path);
  export_onnx(fn, {randn({2, 3, 4})}, path, options);
  EXPECT_EQ(bytes_of(path), first);
  const Session session(path);
  EXPECT_EQ(session.inputs()[0].type.text(), "float[batch, 3, 4]");
  EXPECT_EQ(session.model().metadata.at("author"), "test");
  EXPECT_NE(first.find("fc.weight"), std::string::npos);
}

TEST_F(ExportTest, ABranchOnAValueTakesBothWaysInTheFile) {
  const TensorFunction fn = [](const Tensors& in) -> Tensors {
    return {cond(
        in[0].mean() > 0.5, [&] { return in[0] * 2; }, [&] { return in[0] - 1; })};
  };
  const auto path = folder_ / "branch.onnx";
  export_onnx(fn, {rand({2, 3})}, path,
              {.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "n"}}}}, .opset = 13});
  const Session session(path);
  for (const double value : {0.0, 1.0}) {
    const Tensor x = full({4, 3}, value);
    const Datum got = session.run({{"x", x.datum()}})[0];
    EXPECT_EQ(Tensor(got).to_vector<float>(), fn({x})[0].to_vector<float>());
  }
}

// Before opset 21 it is written out; where an axis behind the channels may be 0, so is the shape
// that it goes back to.
TEST_F(ExportTest, GroupNormsOfImagesOfAllSizesInOlderOpsets) {
  const nn::GroupNorm norm(2, 4);
  const TensorFunction fn = [&](const Tensors& in) -> Tensors { return {norm(in[0])}; };
  const auto path = folder_ / "norm.onnx";
  for (const int64_t opset : {14, 17, 20, 21}) {
    SCOPED_TRACE(opset);
    export_onnx(fn, {randn({2, 4, 3, 5})}, path,
                {.input_names = {"x"},
                 .dynamic_axes = {{"x", {{0, "n"}, {2, "h"}, {3, "w"}}}},
                 .opset = opset});
    const Tensor x = randn({1, 4, 2, 7});
    const Tensor got(Session(path).run({{"x", x.datum()}})[0]);
    EXPECT_TRUE(allclose(got, norm(x), {.rtol = 1e-5, .atol = 1e-6}));
  }
  export_onnx(fn, {randn({2, 4, 3, 5})}, path,
              {.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "n"}}}}, .opset = 11});
}

TEST_F(ExportTest, ATrainingStepIsAGraphWithItsStates) {
  const Tensor w = Tensor::scalar(1.f).set_requires_grad();
  const TensorFunction step = [&](const Tensors& in) -> Tensors {
    w.zero_grad();
    const Tensor loss = square(in[0] * w - in[1]).mean();
    loss.backward();
    w.assign(w.detach() - 0.5 * w.grad());
    w.zero_grad();
    return {loss};
  };
  const auto path = folder_ / "step.onnx";
  export_onnx(step, {ones({2}), ones({2})}, path,
              {.input_names = {"x", "y"},
               .output_names = {"loss"},
               .dynamic_axes = {{"x", {{0, "n"}}}, {"y", {{0, "n"}}}},
               .names = {{"w", w}},
               .training_step = true});
  const Session session(path);
  const Tensor x = tensor({1.f, 1.f, 1.f}), y = tensor({3.f, 3.f, 3.f});
  Datum state = Tensor::scalar(1.f).datum();
  for (int i = 0; i < 3; ++i) {
    const auto out = session.run({{"x", x.datum()}, {"y", y.datum()}, {"w", state}});
    EXPECT_EQ(session.outputs()[1].name, "w.next");
    state = out[1];
  }
  EXPECT_FLOAT_EQ(Tensor(state).item<float>(), 3);
}

TEST_F(ExportTest, WhatDiffersFromTheCodeIsNotWritten) {
  const TensorFunction two_faced = [](const Tensors& in) -> Tensors {
    return {in[0] * (in[0].is_symbolic() ? 2 : 3)};
  };
  const auto path = folder_ / "differs.onnx";
  try {
    export_onnx(two_faced, {ones({2, 3})}, path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("output_0"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".trial"));
}

TEST_F(ExportTest, AnUnknownInputInDynamicAxesIsAnError) {
  const TensorFunction same = [](const Tensors& in) -> Tensors { return {in[0]}; };
  EXPECT_THROW(export_onnx(same, {ones({2, 3})}, folder_ / "m.onnx", {.dynamic_axes = {{"z", {}}}}),
               Error);
}

TEST_F(ExportTest, TakesFunctionsOfTensors) {
  const auto path = folder_ / "m.onnx";
  const auto sums = [](const Tensor& a, const Tensor& b) { return std::pair{a + b, a - b}; };
  const Tensor x = randn({2, 3});
  const ExportReport report = export_onnx(sums, {x, x}, path, {.output_names = {"sum", "rest"}});
  EXPECT_EQ(report.outputs.size(), 2u);
  EXPECT_THROW(export_onnx(sums, {x}, path), Error);
}

}  // namespace
}  // namespace sardonyx::eager
