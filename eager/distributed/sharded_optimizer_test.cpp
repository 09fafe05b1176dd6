#include "eager/distributed/sharded_optimizer.h"

#include <gmock/gmock.h>

#include <numeric>

#include "eager/create.h"
#include "eager/distributed/data_parallel.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/generator.h"
#include "eager/nn.h"
#include "eager/optim.h"

namespace sardonyx::eager::distributed {
namespace {

struct ThreeLayers : nn::Layer<ThreeLayers> {
  nn::Linear first = add("first", nn::Linear(5, 337));
  nn::Linear second = add("second", nn::Linear(337, 16));
  nn::Linear last = add("last", nn::Linear(16, 3));
  Tensor forward(const Tensor& x) const { return last(tanh(second(tanh(first(x))))); }
};

// Some steps with gradients that are the same on all ranks.
void train(const ThreeLayers& model, optim::Optimizer& optimizer, int first, int last) {
  for (int step = first; step < last; ++step) {
    optimizer.zero_grad();
    const Tensor y = model(batch_of(step, 0, 5));
    (y * y * y).mean().backward();
    optimizer.step();
  }
}

template <typename Make>
void check_same_as_whole(const Make& make, DType dtype = DType::kFloat) {
  manual_seed(2);
  const ThreeLayers plain;
  manual_seed(2);
  const ThreeLayers sharded;
  plain.to(dtype);
  sharded.to(dtype);
  auto whole = make(plain.parameters());
  ShardedOptimizer parts(sharded.parameters(), world(), make);
  const auto train_in = [&](const ThreeLayers& model, optim::Optimizer& optimizer) {
    for (int step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      const Tensor y = model(batch_of(step, 0, 5).to(dtype)).to(DType::kFloat);
      (y * y).mean().backward();
      optimizer.set_lr(0.02 / (step + 1));
      optimizer.step();
    }
  };
  train_in(plain, whole);
  train_in(sharded, parts);
  expect_same_bits(sharded, plain);
  const nn::StateDict ours = parts.state_dict(), theirs = whole.state_dict();
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, tensor] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_TRUE(ours.at(name).data() == tensor.data()) << name;
  }
}

TEST(ShardedOptimizerTest, SameBitsAsWithoutSharding) {
  check_same_as_whole([](const auto& own) { return optim::Adam(own, {.lr = 0.02}); });
  check_same_as_whole([](const auto& own) {
    return optim::SGD(own, {.lr = 0.02, .momentum = 0.9, .nesterov = true});
  });
  check_same_as_whole([](const auto& own) { return optim::NAdam(own, {.lr = 0.02}); });
  check_same_as_whole([](const auto& own) { return optim::ASGD(own, {.lr = 0.02}); });
  // The optimiser keeps float32 values beside parameters of 16 bits.
  check_same_as_whole([](const auto& own) { return optim::AdamW(own, {.lr = 0.02}); },
                      DType::kBFloat16);
}

// One of one's own that needs whole tensors: the step depends on the gradient's norm.
struct Normed : optim::Optimizer {
  explicit Normed(const std::vector<Tensor>& parameters) : Optimizer("Normed") {
    add_group(parameters, 0.1, {{"mean"}});
  }
  void update(Update& u) override {
    Tensor& mean = u.state("mean");
    mean = 0.9 * mean + 0.1 * u.gradient;
    u.parameter = u.parameter - u.lr() * mean / (u.gradient.square().sum().sqrt() + 1e-3);
  }
};

TEST(ShardedOptimizerTest, WholeTensorsWhereUpdatesNeedThem) {
  check_same_as_whole([](const auto& own) { return Normed(own); });
}

TEST(ShardedOptimizerTest, StateIsDivided) {
  manual_seed(2);
  const ThreeLayers model;
  const auto make = [](const auto& own) { return optim::Adam(own); };
  size_t all = 0;
  for (const auto& [name, tensor] : make(model.parameters()).named_states())
    all += tensor.data().bytes();
  const ShardedOptimizer optimizer(model.parameters(), world(), make);
  const double limit = static_cast<double>(all) * (1.0 / world().size() + 0.05);
  EXPECT_LE(static_cast<double>(optimizer.own_state_bytes()), limit);
}

TEST(ShardedOptimizerTest, DividesAmongRanks) {
  for (const bool may_split : {true, false}) {
    for (const int ranks : {1, 2, 3, 7, 40}) {
      const std::vector<int64_t> counts{10, 0, 3000, 1, 17, 1000};
      const auto parts = divide_among_ranks(counts, ranks, may_split);
      std::vector<int64_t> covered(counts.size());
      int64_t least = 5000, most = 0;
      for (const auto& of_rank : parts) {
        int64_t own = 0;
        for (const ParameterPart& part : of_rank) {
          EXPECT_LT(part.begin, part.end);
          covered[part.parameter] += part.end - part.begin;
          own += part.end - part.begin;
        }
        least = std::min(least, own);
        most = std::max(most, own);
      }
      EXPECT_EQ(covered, counts);
      EXPECT_TRUE(!may_split || most - least <= 128) << most << " " << least;
    }
  }
}

// Shares of any number of ranks load into any other, and into no sharding.
TEST(ShardedOptimizerTest, SharesOfOtherNumbersOfRanks) {
  const auto make = [](const auto& own) { return optim::Adam(own, {.lr = 0.02}); };
  manual_seed(2);
  const ThreeLayers reference;
  optim::Adam whole = make(reference.parameters());
  train(reference, whole, 0, 3);
  const nn::StateDict model_state = reference.state_dict(), state = whole.state_dict();
  train(reference, whole, 3, 5);
  const std::vector<Tensor> parameters = reference.parameters();
  for (const int ranks : {1, 2, 5}) {
    // Shares as `ranks` ranks would have written them.
    std::vector<int64_t> counts;
    for (const Tensor& parameter : parameters)
      counts.push_back(parameter.data().count());
    const auto divided = divide_among_ranks(counts, ranks, true);
    const auto share = [&](size_t rank) {
      nn::StateDict found;
      for (const char* name : {"group.0.lr", "group.0.momentum"})
        found[name] = state.at(name);
      for (const ParameterPart& part : divided[rank]) {
        const std::string base = "state." + std::to_string(part.parameter);
        found[base + ".step"] = state.at(base + ".step");
        for (const char* name : {".exp_avg", ".exp_avg_sq"}) {
          const sardonyx::Tensor& all = state.at(base + name).data();
          const std::string range =
              "[" + std::to_string(part.begin) + ":" + std::to_string(part.end) + "]";
          found[base + name + range] =
              Tensor(all.reshaped({all.count()}).slice(part.begin, part.end));
        }
      }
      return found;
    };
    const ThreeLayers model;
    model.load_state_dict(model_state);
    ShardedOptimizer optimizer(model.parameters(), world(), make);
    optimizer.load_shares(divided.size(), share);
    train(model, optimizer, 3, 5);
    expect_same_bits(model, reference);
    const nn::StateDict merged = merged_shares(parameters, divided.size(), share);
    ASSERT_EQ(merged.size(), state.size());
    for (const auto& [name, tensor] : state)
      EXPECT_TRUE(merged.at(name).data() == tensor.data()) << name;
    if (ranks == 1) continue;
    const auto all_but_last = divided.size() - 1;
    EXPECT_THAT(message_of([&] { (void)merged_shares(parameters, all_but_last, share); }),
                testing::HasSubstr("a share is missing"));
  }
  // As without sharding.
  const ThreeLayers model;
  model.load_state_dict(model_state);
  ShardedOptimizer optimizer(model.parameters(), world(), make);
  optimizer.load_state_dict(state);
  train(model, optimizer, 3, 5);
  expect_same_bits(model, reference);
  nn::StateDict incomplete = state;
  incomplete.erase("group.0.lr");
  EXPECT_THAT(message_of([&] { optimizer.load_state_dict(incomplete); }),
              testing::HasSubstr("'group.0.lr' is missing"));
  nn::StateDict wrong = state;
  wrong["state.0.exp_avg[0:3]"] = zeros({4});
  EXPECT_THAT(message_of([&] { optimizer.load_shares(1, [&](size_t) { return wrong; }); }),
              testing::HasSubstr("has 4 elements"));
  world().barrier();
}

TEST(ShardedOptimizerTest, RefusesWhatItCannotDo) {
  const ThreeLayers model;
  ShardedOptimizer closures(model.parameters(), world(),
                            [](const auto& own) { return optim::LBFGS(own); });
  EXPECT_THAT(message_of([&] { closures.step(); }), testing::HasSubstr("LBFGS calls the function"));
  const auto two = [](const auto& own) {
    return optim::SGD(optim::SGD::Groups{{own, {}}, {{zeros({2})}, {}}});
  };
  EXPECT_THAT(message_of([&] { ShardedOptimizer(model.parameters(), world(), two); }),
              testing::HasSubstr("an optimiser with one group"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
