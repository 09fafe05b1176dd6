#include "eager/trace/graph_session.h"

#include <gtest/gtest.h>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/control_flow.h"
#include "ir/graph.h"
#include "tests/support/message_of.h"

namespace sardonyx::eager {
namespace {

TEST(GraphSession, ThePlaceholdersOfEveryIntroduction) {
  GraphBuilder g;
  const Tensor a = g.placeholder(DType::kFloat, {}, "a"), b = g.placeholder(DType::kFloat, {}, "b");
  const Tensor c = a * b;
  const std::vector<Tensor> d = g.gradients(c, {a, b});
  GraphSession session(g);
  const std::vector<Tensor> results = session.run({c, d[0], d[1]}, {{a, 15.f}, {b, 20.f}});
  EXPECT_EQ(results[0].item<float>(), 300);
  EXPECT_EQ(results[1].item<float>(), 20);
  EXPECT_EQ(results[2].item<float>(), 15);
  EXPECT_EQ(session.run({c}, {{a, 2}, {b, Tensor::scalar(4.f)}})[0].item<float>(), 8);
}

TEST(GraphSession, GradientsOfGradientsAndOfValuesInBetween) {
  GraphBuilder g;
  const Tensor x = g.placeholder(DType::kDouble, {3}), y = x * x, z = y * y;
  const Tensor unrelated = g.placeholder(DType::kDouble, {});
  const std::vector<Tensor> first = g.gradients(z, {x, y, unrelated});
  EXPECT_FALSE(first[2].defined());
  const Tensor second = g.gradients(first[0], {x})[0];
  GraphSession session(g);
  const auto results =
      session.run({first[0], first[1], second, x}, {{x, Tensor::of<double>({1, 2, 3}, {3})}});
  EXPECT_EQ(results[0].to_vector<double>(), (std::vector<double>{4, 32, 108}));
  EXPECT_EQ(results[1].to_vector<double>(), (std::vector<double>{2, 8, 18}));
  EXPECT_EQ(results[2].to_vector<double>(), (std::vector<double>{12, 48, 108}));
  EXPECT_EQ(results[3].to_vector<double>(), (std::vector<double>{1, 2, 3}));
}

TEST(GraphSession, VariablesLearnALine) {
  GraphBuilder g;
  const Tensor x = g.placeholder(DType::kFloat, {Dim::symbol("n")}, "x");
  const Tensor y = g.placeholder(DType::kFloat, {Dim::symbol("n")}, "y");
  const Tensor w = g.variable(Tensor::scalar(0.f), "w"), b = g.variable(Tensor::scalar(1.f), "b");
  const Tensor loss = square(x * w + b - y).mean();
  const std::vector<Tensor> slopes = g.gradients(loss, {w, b});
  const Tensor new_w = g.assign(w, w - slopes[0] * 0.3f), new_b = g.assign(b, b - slopes[1] * 0.3f);
  g.end();
  GraphSession session(g), other(g);
  const Tensor xs = linspace(-1, 1, 16);
  float last = 0;
  for (int i = 0; i < 100; ++i)
    last = session.run({new_w, new_b, loss}, {{x, xs}, {y, xs * 2}})[2].item<float>();
  EXPECT_LT(last, 1e-6f);
  EXPECT_NEAR(session.value(w).item<float>(), 2, 1e-3);
  EXPECT_NEAR(session.value(b).item<float>(), 0, 1e-3);
  EXPECT_EQ(other.value(b).item<float>(), 1);
  // Fetching what was assigned, not the assignment, changes nothing.
  other.set_value(w, Tensor::scalar(5.f));
  EXPECT_EQ(other.run({w})[0].item<float>(), 5);
  EXPECT_EQ(other.run({w}, {{w, 7}})[0].item<float>(), 7);
  EXPECT_EQ(other.value(w).item<float>(), 5);
  const Model model = session.model({loss});
  EXPECT_EQ(model.graph->inputs().size(), 2u);
}

TEST(GraphSession, GrowsBetweenRunsAndBranches) {
  GraphBuilder g;
  const Tensor x = g.placeholder(DType::kFloat, {2});
  const Tensor branched = cond(
      x.sum() > 0, [&] { return x * 2; }, [&] { return x - 1; });
  GraphSession session(g);
  const Tensor high = full({2}, 1), low = full({2}, -1);
  EXPECT_EQ(session.run({branched}, {{x, high}})[0].to_vector<float>(), (std::vector<float>{2, 2}));
  const Tensor more = branched + 10;
  EXPECT_EQ(session.run({more}, {{x, low}})[0].to_vector<float>(), (std::vector<float>{8, 8}));
}

TEST(GraphSession, MisuseIsNamed) {
  GraphBuilder g;
  const Tensor x = g.placeholder(DType::kFloat, {2}, "x"), y = x + 1;
  const Tensor v = g.variable(zeros({2}), "v");
  GraphSession session(g);
  EXPECT_NE(message_of([&] { session.run({y}); }).find("x"), std::string::npos);
  EXPECT_NE(message_of([&] { session.run({ones({2})}); }).find("no tensor of the graph"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              session.run({y}, {{y, 1.f}});
            }).find("computed by"),
            std::string::npos);
  EXPECT_NE(message_of([&] { session.run({y}, {{x, 1.f}}); }), "");
  EXPECT_NE(message_of([&] { g.assign(x, y); }).find("no variable"), std::string::npos);
  EXPECT_NE(message_of([&] { g.assign(v, y.sum()); }).find("expected"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)y.item<float>(); }).find("symbolic"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::eager
