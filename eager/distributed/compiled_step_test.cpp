// Compiled training steps: every rank runs all of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/distributed/data_parallel.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/distributed/sharded_optimizer.h"
#include "eager/distributed/sync_batch_norm.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/generator.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "executor/session.h"

namespace sardonyx::eager::distributed {
namespace {

// Level 0 computes what the function does op by op, as eager code does.
constexpr CompileOptions kOpByOp{.optimization_level = 0};

struct Perceptron : nn::Layer<Perceptron> {
  nn::Linear first = add("first", nn::Linear(5, 16));
  nn::Linear second = add("second", nn::Linear(16, 16));
  nn::Linear last = add("last", nn::Linear(16, 3));
  Tensor forward(const Tensor& x) const { return last(relu(second(relu(first(x))))); }
};

struct Normalizing : nn::Layer<Normalizing> {
  nn::Linear first = add("first", nn::Linear(5, 8));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(8));
  nn::Linear last = add("last", nn::Linear(8, 3));
  Tensor forward(const Tensor& x) const { return last(relu(norm(first(x)))); }
};

Tensor target_of(int step, int rank) {
  return batch_of(step + 50, rank, 3);
}
Tensor squares(const Tensor& scores, const Tensor& target) {
  const Tensor difference = scores - target;
  return (difference * difference).mean();
}

template <typename M>
M seeded(uint64_t seed) {
  manual_seed(seed);
  return M();
}

template <typename M>
void expect_same_buffers(const M& a, const M& b) {
  const nn::NamedTensors ours = a.named_buffers(), theirs = b.named_buffers();
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_TRUE(ours[i].second.data() == theirs[i].second.data()) << ours[i].first;
}

// One step of training, to be run at once or compiled; refers to both arguments.
template <typename M>
auto training_step(const DataParallel<M>& of, optim::Optimizer& optimizer) {
  return [&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    const Tensor loss = squares(of(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
}

// The same steps at once and compiled give the same bits, parameters and buffers.
template <typename M>
void check_equals_eager(const DataParallelOptions& options = {}) {
  const DataParallel eager(seeded<M>(1), world(), options);
  const DataParallel model(seeded<M>(1), world(), options);
  sync_batch_norms(eager.module(), world());
  sync_batch_norms(model.module(), world());
  optim::Adam adam(model.parameters(), {.lr = 0.01}), other(eager.parameters(), {.lr = 0.01});
  const auto compiled = compile(training_step(model, adam), kOpByOp);
  const auto at_once = training_step(eager, other);
  for (int step = 0; step < 4; ++step) {
    const Tensor x = batch_of(step, world().rank(), 5), y = target_of(step, world().rank());
    const Tensor ours = compiled(x, y), theirs = at_once(x, y);
    EXPECT_TRUE(ours.data() == theirs.data()) << step;
  }
  EXPECT_EQ(compiled.traces(), 1u) << testing::PrintToString(compiled.trace_log());
  expect_same_bits(model.module(), eager.module());
  expect_same_buffers(model.module(), eager.module());
}

TEST(CompiledStepTest, EqualsEagerBitForBit) {
  check_equals_eager<Perceptron>();
  check_equals_eager<Perceptron>({.bucket_bytes = 100, .first_bucket_bytes = 100});
  check_equals_eager<Perceptron>({.bucket_bytes = 1, .first_bucket_bytes = 1});
  check_equals_eager<Perceptron>({.find_unused_parameters = true});
  check_equals_eager<Perceptron>({.bfloat16_gradients = true});
}

TEST(CompiledStepTest, WithStatisticsOfAllRanks) {
  check_equals_eager<Normalizing>();
}

// Gradients of the compiled step are the mean of what each rank's batch gives alone, compiled as
// well, and so are updates that start from them.
void check_equals_accumulation(int level) {
  const auto reference = seeded<Perceptron>(1);
  const DataParallel model(seeded<Perceptron>(1 + static_cast<uint64_t>(world().rank())), world(),
                           {.first_bucket_bytes = 300});
  optim::Adam adam(model.parameters(), {.lr = 0.01}), other(reference.parameters(), {.lr = 0.01});
  const auto compiled = compile(
      [&](const Tensor& x, const Tensor& y) {
        adam.zero_grad();
        const Tensor loss = squares(model(x), y);
        loss.backward();
        return loss.detach();
      },
      {.optimization_level = level});
  const auto alone = compile(
      [&](const Tensor& x, const Tensor& y) {
        const Tensor loss = squares(reference(x), y);
        loss.backward();
        return loss.detach();
      },
      {.optimization_level = level});
  const auto ranks = static_cast<float>(world().size());
  for (int step = 0; step < 3; ++step) {
    compiled(batch_of(step, world().rank(), 5), target_of(step, world().rank()));
    adam.step();
    other.zero_grad();
    for (int rank = 0; rank < world().size(); ++rank)
      alone(batch_of(step, rank, 5), target_of(step, rank));
    for (const Tensor& parameter : reference.parameters())
      parameter.set_grad(parameter.grad() / Tensor::scalar(ranks));
    other.step();
    expect_same_bits(model.module(), reference);
  }
}

TEST(CompiledStepTest, EqualsAccumulationBitForBit) {
  for (const int level : {0, 2})
    check_equals_accumulation(level);
}

// The first bucket is on its way while later gradients are computed.
TEST(CompiledStepTest, SendsWhileBackwardGoesOn) {
  if (world().size() == 1) GTEST_SKIP() << "one rank sends nothing";
  const DataParallel model(seeded<Perceptron>(1), world(),
                           {.bucket_bytes = 100, .first_bucket_bytes = 100});
  const auto step = compile([&](const Tensor& x) {
    model.module().zero_grad();
    const Tensor loss = model(x).sum();
    loss.backward();
    return loss.detach();
  });
  step(batch_of(0, world().rank(), 5));
  std::istringstream plan(step.plan_text());
  std::vector<std::string> order;
  for (std::string line; std::getline(plan, line);) {
    for (const char* op : {"StartMean", "FinishMean", "Gemm", "MatMul"}) {
      if (line.find(op) == std::string::npos) continue;
      order.emplace_back(op == std::string("MatMul") ? "Gemm" : op);
      break;
    }
  }
  const auto first = std::ranges::find(order, "StartMean");
  const auto product = std::find(first, order.end(), "Gemm");
  const auto last = std::find(first, order.end(), "FinishMean");
  EXPECT_LT(product, last) << step.plan_text();
  EXPECT_EQ(std::count(order.begin(), order.end(), "StartMean"), 3) << step.plan_text();
  EXPECT_EQ(std::find(last, order.end(), "StartMean"), order.end()) << step.plan_text();
}

TEST(CompiledStepTest, SizesChangeFromCallToCall) {
  const DataParallel eager(seeded<Perceptron>(1), world());
  const DataParallel model(seeded<Perceptron>(1), world());
  const auto gradients = [](const DataParallel<Perceptron>& of) {
    return [&](const Tensor& x) {
      of.module().zero_grad();
      const Tensor loss = of(x).sum();
      loss.backward();
      return loss.detach();
    };
  };
  const auto compiled = compile(gradients(model), kOpByOp);
  for (const int64_t rows : {6, 2, 5}) {
    // Ranks need not have batches of one size.
    const int64_t own = std::max<int64_t>(1, rows - world().rank());
    const Tensor x = batch_of(0, world().rank(), 5).slice(0, {0, own});
    compiled(x);
    gradients(eager)(x);
    for (size_t i = 0; i < model.parameters().size(); ++i)
      EXPECT_TRUE(model.parameters()[i].grad().data() == eager.parameters()[i].grad().data());
  }
  EXPECT_EQ(compiled.traces(), 1u) << testing::PrintToString(compiled.trace_log());
}

TEST(CompiledStepTest, NoSyncAroundTheCall) {
  const DataParallel eager(seeded<Perceptron>(7), world());
  const DataParallel model(seeded<Perceptron>(7), world());
  const auto backward = [](const DataParallel<Perceptron>& of) {
    return [&](const Tensor& x, const Tensor& y) {
      const Tensor loss = squares(of(x), y);
      loss.backward();
      return loss.detach();
    };
  };
  const auto compiled = compile(backward(model), kOpByOp);
  const auto three_batches = [&](const DataParallel<Perceptron>& of, const auto& call) {
    of.module().zero_grad();
    const auto batch = [&](int step) {
      call(batch_of(step, world().rank(), 5), target_of(step, world().rank()));
    };
    {
      const auto guard = of.no_sync();
      batch(0);
      batch(1);
    }
    batch(2);
  };
  for (int round = 0; round < 2; ++round) {
    three_batches(model, compiled);
    three_batches(eager, backward(eager));
    for (size_t i = 0; i < model.parameters().size(); ++i)
      EXPECT_TRUE(model.parameters()[i].grad().data() == eager.parameters()[i].grad().data());
  }
  // Without gradients, with them, and then synchronised.
  EXPECT_EQ(compiled.traces(), world().size() == 1 ? 2u : 3u);
}

TEST(CompiledStepTest, NoSyncWithinTheStep) {
  const DataParallel eager(seeded<Perceptron>(7), world());
  const DataParallel model(seeded<Perceptron>(7), world());
  const auto step_of = [](const DataParallel<Perceptron>& of) {
    return [&](const Tensor& x, const Tensor& y, const Tensor& x2, const Tensor& y2) {
      of.module().zero_grad();
      {
        const auto guard = of.no_sync();
        squares(of(x), y).backward();
      }
      const Tensor loss = squares(of(x2), y2);
      loss.backward();
      return loss.detach();
    };
  };
  const auto compiled = compile(step_of(model), kOpByOp);
  for (int step = 0; step < 3; ++step) {
    const int rank = world().rank();
    const Tensor x = batch_of(step, rank, 5), y = target_of(step, rank);
    const Tensor x2 = batch_of(step + 9, rank, 5), y2 = target_of(step + 9, rank);
    compiled(x, y, x2, y2);
    step_of(eager)(x, y, x2, y2);
    for (size_t i = 0; i < model.parameters().size(); ++i)
      EXPECT_TRUE(model.parameters()[i].grad().data() == eager.parameters()[i].grad().data());
  }
  EXPECT_EQ(compiled.traces(), 1u) << testing::PrintToString(compiled.trace_log());
}

// Rank r has 2 + r batches; who has none left takes part with zeros, at once or compiled.
void check_uneven_inputs(bool is_join_compiled) {
  const DataParallel eager(seeded<Perceptron>(1), world(), {.first_bucket_bytes = 100});
  const DataParallel model(seeded<Perceptron>(1), world(), {.first_bucket_bytes = 100});
  optim::Adam adam(model.parameters(), {.lr = 0.01}), other(eager.parameters(), {.lr = 0.01});
  const auto step = compile(
      [&](const Tensor& x, const Tensor& y) {
        adam.zero_grad();
        const Tensor loss = squares(model(x), y);
        loss.backward();
        adam.step();
        return loss.detach();
      },
      kOpByOp);
  const auto without = [&] {
    adam.zero_grad();
    model.reducer().step_without_batch();
    adam.step();
  };
  const auto compiled_without = compile(
      [&](const std::vector<Tensor>&) {
        without();
        return std::vector<Tensor>();
      },
      kOpByOp);
  const auto has_batch = [](int at) { return at < 2 + world().rank(); };
  int at = 0;
  for (; model.reducer().any_has_batch(has_batch(at)); ++at) {
    const Tensor x = batch_of(at, world().rank(), 5), y = target_of(at, world().rank());
    if (has_batch(at))
      step(x, y);
    else if (is_join_compiled)
      compiled_without({});
    else
      without();
    other.zero_grad();
    if (has_batch(at))
      squares(eager(x), y).backward();
    else
      eager.reducer().step_without_batch();
    other.step();
  }
  EXPECT_EQ(at, 1 + world().size());
  expect_same_bits(model.module(), eager.module());
}

TEST(CompiledStepTest, UnevenInputs) {
  check_uneven_inputs(false);
  check_uneven_inputs(true);
}

TEST(CompiledStepTest, BuffersAreThoseOfTheFirstRank) {
  const DataParallel model(Counting(), world());
  const auto step = compile([&](const Tensor& x) {
    const Tensor loss = model(x).sum();
    loss.backward();
    return loss.detach();
  });
  for (int at = 0; at < 3; ++at)
    step(batch_of(at, 0, 5));
  const float expected = 3.0f + static_cast<float>(world().rank());
  EXPECT_FLOAT_EQ(model.module().count.item<float>(), world().size() == 1 ? 3.0f : expected);
}

template <typename Make>
void check_sharded(const Make& make) {
  const DataParallel eager(seeded<Perceptron>(2), world());
  const DataParallel model(seeded<Perceptron>(2), world());
  auto whole = make(eager.parameters());
  ShardedOptimizer parts(model.parameters(), world(), make);
  const auto compiled = compile(training_step(model, parts), kOpByOp);
  for (int step = 0; step < 4; ++step) {
    const Tensor x = batch_of(step, world().rank(), 5), y = target_of(step, world().rank());
    whole.set_lr(0.02 / (step + 1));
    parts.set_lr(0.02 / (step + 1));
    // Steps at once in between find what the compiled ones left.
    step == 2 ? training_step(model, parts)(x, y) : compiled(x, y);
    training_step(eager, whole)(x, y);
  }
  expect_same_bits(model.module(), eager.module());
  const nn::StateDict ours = parts.state_dict(), theirs = whole.state_dict();
  for (const auto& [name, tensor] : theirs)
    EXPECT_TRUE(ours.at(name).data() == tensor.data()) << name;
}

TEST(CompiledStepTest, ShardedOptimizer) {
  check_sharded([](const auto& own) { return optim::Adam(own, {.lr = 0.02}); });
  check_sharded([](const auto& own) {
    return optim::SGD(own, {.lr = 0.02, .momentum = 0.9, .nesterov = true});
  });
}

TEST(CompiledStepTest, ReducesMetrics) {
  const auto mean = compile([&](const Tensor& x) {
    return world().all_reduce(x.sum(), ReduceOp::kMean) + world().all_reduce(x.sum());
  });
  const auto rank = static_cast<float>(world().rank()), ranks = static_cast<float>(world().size());
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(mean(floats({rank, 1}, {2})).item<float>(),
              ((ranks - 1) / 2 + 1) + (ranks * (ranks - 1) / 2 + ranks));
  }
}

// A file holds what one rank does by itself, of standard operators.
TEST(CompiledStepTest, ExportsTheStepOfOneRank) {
  const DataParallel model(seeded<Perceptron>(3), world());
  const auto reference = seeded<Perceptron>(3);
  optim::SGD sgd(model.parameters(), {.lr = 0.1}), other(reference.parameters(), {.lr = 0.1});
  const auto step = [](const auto& of, optim::Optimizer& optimizer) {
    return [&](const Tensor& x, const Tensor& y) {
      optimizer.zero_grad();
      const Tensor loss = squares(of(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
  };
  const Tensor x = batch_of(0, world().rank(), 5), y = target_of(0, world().rank());
  const auto path = std::filesystem::temp_directory_path() /
                    ("sardonyx_step_" + std::to_string(world().rank()) + ".onnx");
  ExportOptions options{.input_names = {"x", "y"}, .training_step = true};
  for (const auto& [name, parameter] : model.module().named_parameters())
    options.names.emplace_back(name, parameter);
  const ExportReport report = export_onnx(step(model, sgd), {x, y}, path, options);
  for (const auto& [op, count] : report.ops)
    EXPECT_EQ(op.find("sardonyx.distributed"), std::string::npos) << op;
  const Session session(path, SessionOptions{.optimization_level = 0});
  std::vector<Datum> inputs{x.datum(), y.datum()};
  for (size_t i = 2; i < session.inputs().size(); ++i) {
    const std::string& name = session.inputs()[i].name;
    const auto named =
        std::ranges::find(options.names, name, &std::pair<std::string, Tensor>::first);
    inputs.push_back(named != options.names.end() ? named->second.datum()
                                                  : sgd.lr_tensor().datum());
  }
  const std::vector<Datum> outputs = session.run(inputs);
  step(reference, other)(x, y);
  for (const auto& [name, parameter] : reference.named_parameters()) {
    size_t at = 0;
    while (at < outputs.size() && session.outputs()[at].name != name + ".next")
      ++at;
    ASSERT_LT(at, outputs.size()) << name;
    // The update's body in standard operators rounds where the row does not.
    const auto ours = outputs[at].tensor().to_doubles(), theirs = parameter.data().to_doubles();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t k = 0; k < ours.size(); ++k)
      EXPECT_NEAR(ours[k], theirs[k], 1e-6) << name;
  }
  std::filesystem::remove(path);
}

struct TwoHeads : nn::Layer<TwoHeads> {
  nn::Linear body = add("body", nn::Linear(5, 4));
  nn::Linear used = add("used", nn::Linear(4, 3));
  nn::Linear never = add("never", nn::Linear(4, 3));
  Tensor forward(const Tensor& x) const { return used(relu(body(x))); }
};

TEST(CompiledStepTest, NamesParametersWithoutAGradient) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const DataParallel unprepared(TwoHeads(), world());
  const auto failing = compile([&](const Tensor& x) {
    const Tensor loss = unprepared(x).sum();
    loss.backward();
    return loss.detach();
  });
  const std::string message = message_of([&] { failing(batch_of(0, 0, 5)); });
  EXPECT_THAT(message, testing::HasSubstr("no gradient for 2 of 6 parameters: 'never.weight'"));
  EXPECT_THAT(message, testing::HasSubstr("set find_unused_parameters"));
  // Left out of training they are no parameters of the reduction.
  const TwoHeads module;
  for (Tensor parameter : module.never.parameters())
    parameter.set_requires_grad(false);
  const DataParallel model(module, world());
  const auto step = compile([&](const Tensor& x) {
    const Tensor loss = model(x).sum();
    loss.backward();
    return loss.detach();
  });
  step(batch_of(0, 0, 5));
  EXPECT_FLOAT_EQ(model.module().used.bias.grad().to_vector<float>()[0], 6.0f);
}

// A head by rank and step, and one that no rank uses at first: with and without the gradient of
// another rank, momentum and decay do the same as eagerly.
struct ThreeHeads : nn::Layer<ThreeHeads> {
  nn::Linear body = add("body", nn::Linear(5, 4));
  nn::Linear first = add("first", nn::Linear(4, 3));
  nn::Linear second = add("second", nn::Linear(4, 3));
  nn::Linear third = add("third", nn::Linear(4, 3));
  Tensor forward(const Tensor& x, int head) const {
    return (head == 0 ? first : head == 1 ? second : third)(relu(body(x)));
  }
};

template <typename MakeOptimizer>
void check_unused(const MakeOptimizer& make) {
  const DataParallelOptions options{.first_bucket_bytes = 100, .find_unused_parameters = true};
  const DataParallel eager(seeded<ThreeHeads>(1), world(), options);
  const DataParallel model(seeded<ThreeHeads>(1), world(), options);
  auto own = make(model.parameters()), other = make(eager.parameters());
  const auto training_step = [](const auto& of, optim::Optimizer& optimizer, int head) {
    return [&of, &optimizer, head](const Tensor& x) {
      optimizer.zero_grad();
      const Tensor loss = square(of(x, head)).sum();
      loss.backward();
      optim::clip_grad_value(of.parameters(), 0.05);
      optimizer.step();
      return loss.detach();
    };
  };
  std::vector<Compiled> compiled;
  for (int head = 0; head < 3; ++head)
    compiled.push_back(compile(training_step(model, *own, head), kOpByOp));
  for (int step = 0; step < 6; ++step) {
    SCOPED_TRACE(step);
    // Ranks choose among the first two, all of them now and then the third.
    const int head = step == 3 ? 2 : (step / 2 + world().rank()) % 2;
    const Tensor x = batch_of(step, world().rank(), 5);
    training_step(eager, *other, head)(x);
    compiled[static_cast<size_t>(head)](std::vector<Tensor>{x});
    expect_same_bits(model.module(), eager.module());
    const auto ours = model.parameters(), theirs = eager.parameters();
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_EQ(ours[i].grad().defined(), theirs[i].grad().defined()) << i;
  }
}

TEST(CompiledStepTest, LeavesOutParametersThatNoRankUses) {
  check_unused([](const std::vector<Tensor>& parameters) {
    return std::make_unique<optim::SGD>(
        parameters, optim::SgdOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1});
  });
  check_unused([](const std::vector<Tensor>& parameters) {
    return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions{.lr = 0.01});
  });
  check_unused([](const std::vector<Tensor>& parameters) {
    return std::make_unique<ShardedOptimizer>(
        parameters, world(), [](const auto& own) { return optim::AdamW(own, {.lr = 0.01}); });
  });
}

TEST(CompiledStepTest, RefusesWhatItCannotDo) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const DataParallel model(seeded<Perceptron>(1), world());
  const auto refusal = [](const auto& body) {
    const auto step = compile([&](const Tensor& x) {
      body(x);
      return x;
    });
    return message_of([&] { step(batch_of(0, 0, 5)); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](const Tensor&) { world().barrier(); }), HasSubstr("barrier: a compiled"));
  EXPECT_THAT(refusal([](const Tensor&) { world().all_gather(""); }), HasSubstr("all_gather"));
  EXPECT_THAT(refusal([&](const Tensor&) { model.reducer().any_has_batch(true); }),
              HasSubstr("any_has_batch(): a compiled step"));
  EXPECT_THAT(refusal([&](const Tensor& x) {
                cond(
                    x.sum() > 0.0, [&] { return world().all_reduce(x.sum()); },
                    [&] { return x.sum(); });
              }),
              HasSubstr("in the body of cond"));
  world().barrier();
}

TEST(CompiledStepTest, WithoutItsModel) {
  if (world().size() == 1) GTEST_SKIP() << "one rank needs no buckets";
  const auto module = seeded<Perceptron>(1);
  auto model = std::make_unique<DataParallel<Perceptron>>(module, world());
  const auto step = compile([&](const Tensor& x) {
    module.zero_grad();
    const Tensor loss = module(x).sum();
    loss.backward();
    return loss.detach();
  });
  step(batch_of(0, 0, 5));
  model.reset();
  EXPECT_THAT(message_of([&] { step(batch_of(0, 0, 5)); }),
              testing::HasSubstr("DataParallel that the step was compiled with is gone"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
