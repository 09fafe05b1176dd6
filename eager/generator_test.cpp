// Random numbers: the same again from a saved state, for any number of workers, and in a run that
// was stopped and goes on.
#include "eager/generator.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/export/export.h"
#include "eager/files/state_files.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/graph.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

std::vector<double> values_of(const Tensor& x) {
  return x.detach().data().to_doubles();
}

struct Draw {
  const char* name;
  std::function<Tensor(std::optional<Generator>)> from;
};
// All ways to draw that take a generator; none: the thread's.
std::vector<Draw> draws() {
  return {
      {"rand", [](auto g) { return rand({5}, {.generator = g}); }},
      {"randn", [](auto g) { return randn({5}, {.generator = g}); }},
      {"randint",
       [](auto g) { return randint(0, 1 << 30, {5}, {.dtype = DType::kInt64, .generator = g}); }},
      {"randperm", [](auto g) { return randperm(20, {.dtype = DType::kInt32, .generator = g}); }},
      {"dropout",
       [](auto g) {
         const Tensor x = ones({50});
         return g ? nn::dropout(x, 0.5, true, *g) : nn::dropout(x, 0.5);
       }},
  };
}

TEST(Generators, RepeatFromAState) {
  for (const Draw& draw : draws()) {
    SCOPED_TRACE(draw.name);
    const Generator own(3);
    (void)draw.from(own);
    const Tensor own_state = own.get_state(), state = get_rng_state();
    const auto first = values_of(draw.from(own)), second = values_of(draw.from(own));
    EXPECT_NE(first, second);
    EXPECT_EQ(values_of(get_rng_state()), values_of(state)) << "drew from the default generator";
    own.set_state(own_state);
    EXPECT_EQ(values_of(draw.from(own)), first);
    const auto of_default = values_of(draw.from({}));
    EXPECT_NE(values_of(draw.from({})), of_default);
    set_rng_state(state);
    EXPECT_EQ(values_of(draw.from({})), of_default);
    {
      const Generator copy = own;  // one sequence
      const UseGenerator scope(copy);
      own.set_state(own_state);
      EXPECT_EQ(values_of(draw.from({})), first);
      EXPECT_EQ(values_of(draw.from(own)), second);
    }
  }
}

TEST(Generators, OneForEachThread) {
  std::vector<double> drawn[2];
  std::vector<std::thread> threads;
  for (auto& one : drawn) {
    threads.emplace_back([&one] {
      const UseGenerator scope{Generator(7)};
      for (int i = 0; i < 50; ++i)
        one.push_back(rand({1}).item<float>());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(drawn[0], drawn[1]);
}

TEST(Generators, SeedsAndStatesThatDoNotFit) {
  const Generator generator(5);
  EXPECT_EQ(generator.initial_seed(), 5u);
  generator.manual_seed(6);
  EXPECT_EQ(generator.initial_seed(), 6u);
  EXPECT_EQ(generator.get_state().type().text(), "uint8[24]");
  const char* const kWhy =
      "expected a state as get_state() or get_rng_state() gives it (uint8[24])";
  expect_refusals({
      {kWhy, [&] { generator.set_state(Tensor()); }},
      {kWhy, [&] { generator.set_state(ones({24})); }},
      {kWhy, [&] { set_rng_state(zeros({24}, {.dtype = DType::kUInt8})); }},
      {kWhy, [&] { set_rng_state(zeros({16}, {.dtype = DType::kUInt8})); }},
  });
}

TEST(Generators, GraphsDrawAnewInEachRun) {
  const Draw ways[] = {
      {"rand", [](auto) { return rand({4}); }},
      {"randint", [](auto) { return randint(-5, 1 << 20, {4}); }},
      {"randperm", [](auto) { return randperm(30); }},
      {"dropout", [](auto) { return nn::dropout(ones({40})); }},
  };
  for (const Draw& way : ways) {
    SCOPED_TRACE(way.name);
    const auto fn = [&](const Tensors& in) -> Tensors {
      const Tensor drawn = way.from({});
      return {in[0] + drawn.sum(), drawn};
    };
    const Compiled compiled = compile(fn);
    const Tensor x = ones({1});
    const auto first = values_of(compiled({x})[1]);
    EXPECT_NE(values_of(compiled({x})[1]), first);
    const auto under = [&] {
      const UseGenerator scope{Generator(1)};
      return values_of(compiled({x})[1]);
    };
    EXPECT_EQ(under(), under());
    // Exported too: nothing is drawn for good while the function is traced.
    const Model model = traced_model(fn, {x});
    EXPECT_TRUE(std::ranges::any_of(model.graph->nodes(),
                                    [](const auto& node) { return node->op->is(kRandom); }));
  }
  const Generator own(1);
  for (const Draw& draw : draws()) {
    expect_refusal(
        ErrorCode::kInvalidArgument, "takes none of its own: call it under UseGenerator", [&] {
          compile([&](const Tensors&) -> Tensors { return {draw.from(own)}; })({own.get_state()});
        });
  }
}

TEST(Generators, IntegersInGraphsAreWithinTheirRange) {
  const Compiled compiled = compile([](const Tensors& in) -> Tensors {
    return {randint(-2, 3, {in[0].size(0)}), randperm(in[0].size(0))};
  });
  const Tensors drawn = compiled({ones({500})});
  EXPECT_EQ(drawn[0].amin().item<int64_t>(), -2);
  EXPECT_EQ(drawn[0].amax().item<int64_t>(), 2);
  std::vector<int64_t> order = drawn[1].to_vector<int64_t>();
  std::ranges::sort(order);
  EXPECT_EQ(order, arange(500).to_vector<int64_t>());
}

TEST(Generators, AnExportLeavesTheProgramsNumbersAlone) {
  const nn::Sequential net(nn::Linear(3, 3), nn::ReLU());
  const auto path = std::filesystem::temp_directory_path() / "sardonyx_generator.onnx";
  const Tensor before = get_rng_state();
  export_onnx([&](const Tensors& in) -> Tensors { return {nn::dropout(net(in[0]), 0.0)}; },
              {ones({2, 3})}, path);
  EXPECT_EQ(values_of(get_rng_state()), values_of(before));
  std::filesystem::remove(path);
}

// Crops at random: what torch's transforms do in get().
data::FunctionDataset noisy(int64_t size) {
  return {size, [](int64_t index) -> data::Sample {
            const auto reading = data::current_reading();
            return {full({2}, static_cast<double>(index)) + rand({2}) * 0.5,
                    full({}, static_cast<double>(reading ? reading->epoch : -1))};
          }};
}

TEST(LoaderRandomNumbers, DependOnSeedEpochAndPlaceAlone) {
  const auto epochs = [](data::LoaderOptions options) {
    data::DataLoader loader(noisy(23), options);
    std::vector<std::vector<double>> drawn(2);
    for (size_t epoch = 0; epoch < 2; ++epoch) {
      for (const data::Sample& batch : loader) {
        (void)rand({3});  // the loop's own draws do not matter
        for (const double value : values_of(batch[0]))
          drawn[epoch].push_back(value);
        EXPECT_EQ(values_of(batch[1])[0], static_cast<double>(epoch));
      }
    }
    return drawn;
  };
  const auto expected = epochs({.batch_size = 4, .shuffle = true, .seed = 9});
  EXPECT_NE(expected[0], expected[1]);
  for (const int workers : {0, 1, 3}) {
    for (const int64_t batch_size : {1, 4, 23})
      EXPECT_EQ(epochs({.batch_size = batch_size, .shuffle = true, .seed = 9, .workers = workers}),
                expected)
          << workers << " workers, batches of " << batch_size;
  }
  EXPECT_NE(epochs({.batch_size = 4, .shuffle = true, .seed = 10}), expected);
  EXPECT_EQ(values_of(noisy(1).get(0)[1])[0], -1);
}

// A run of two epochs with dropout, batch norm, random augmentation and Adam.
struct TrainingRun {
  nn::Sequential net{nn::Linear(2, 16), nn::BatchNorm1d(16), nn::ReLU(), nn::Dropout(0.5),
                     nn::Linear(16, 1)};
  optim::Adam optimizer{net.parameters(), {.lr = 0.01}};
  data::DataLoader loader{noisy(20), {.batch_size = 4, .shuffle = true, .seed = 2, .workers = 2}};
  bool is_compiled;
  Compiled step = compile([this](const Tensors& in) { return train(in); });

  explicit TrainingRun(bool compiled) : is_compiled(compiled) {}
  Tensors train(const Tensors& in) {
    optimizer.zero_grad();
    const Tensor loss = square(net(in[0]) - in[0].sum({1}, true) + randn({1}) * 0.1).mean();
    loss.backward();
    optimizer.step();
    return {loss};
  }
  void run_epoch() {
    for (const data::Sample& batch : loader)
      (void)(is_compiled ? step({batch[0]}) : train({batch[0]}));
  }
  std::vector<double> parameters() const {
    std::vector<double> all;
    for (const auto& [name, tensor] : net.state_dict()) {
      for (const double value : values_of(tensor))
        all.push_back(value);
    }
    return all;
  }
};

TEST(LoaderRandomNumbers, AStoppedRunGoesOnBitByBit) {
  const auto folder = std::filesystem::temp_directory_path() / "sardonyx_resume";
  std::filesystem::create_directories(folder);
  for (const bool is_compiled : {false, true}) {
    manual_seed(4);
    TrainingRun whole(is_compiled);
    whole.run_epoch();  // 5 steps
    save(whole.net.state_dict(), folder / "net.safetensors");
    save(whole.optimizer.state_dict(), folder / "optimizer.safetensors");
    save({{"random", get_rng_state()}}, folder / "random.safetensors");
    whole.run_epoch();

    manual_seed(99);
    TrainingRun resumed(is_compiled);
    resumed.net.load_state_dict(load(folder / "net.safetensors"));
    resumed.optimizer.load_state_dict(load(folder / "optimizer.safetensors"));
    set_rng_state(load(folder / "random.safetensors").at("random"));
    resumed.loader.set_epoch(1);
    resumed.run_epoch();
    EXPECT_EQ(resumed.parameters(), whole.parameters()) << (is_compiled ? "compiled" : "eager");
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sardonyx::eager
