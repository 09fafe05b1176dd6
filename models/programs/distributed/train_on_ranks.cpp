// Trains a network of the zoo on several processes, and goes on where it was stopped:
//
//   mpirun -n 2 train_on_ranks --model resnet18 --steps 100 --checkpoints runs/a
#include <sardonyx/distributed.h>
#include <sardonyx/eager.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>

#include "eager/dispatch/engine.h"
#include "models/gpt2.h"
#include "models/mlp.h"
#include "models/resnet.h"

namespace {

using namespace sardonyx::eager;
namespace models = sardonyx::models;

struct Options {
  std::string model = "mlp", optimizer = "adamw", losses, checkpoints;
  int64_t steps = 50, batch = 8, samples = 4096, save_every = 10;
  int threads = 1;
  uint64_t seed = 1;
  double lr = 1e-3;
  bool is_sharded = false, syncs_batch_norms = false, is_compiled = false, is_quiet = false;
  int optimization_level = 2;  // of the compiled step
  distributed::DataParallelOptions parallel = {};
};

// Samples that depend on their number, with noise that depends on their place in the epoch: what
// random crops are to images.
class NoisySamples : public data::Dataset {
 public:
  using Make = std::function<data::Sample(int64_t index)>;
  NoisySamples(int64_t count, Make make) : count_(count), make_(std::move(make)) {}
  int64_t size() const override { return count_; }
  data::Sample get(int64_t index) const override { return make_(index); }

 private:
  int64_t count_;
  Make make_;
};

Tensor base_of(int64_t index, const Shape& shape) {
  const UseGenerator numbered(Generator(static_cast<uint64_t>(index)));
  return randn(sardonyx::to_dims(shape));
}
Tensor noisy(int64_t index, const Shape& shape) {
  return base_of(index, shape) + randn(sardonyx::to_dims(shape)) * 0.1f;
}

struct Mlp : nn::Layer<Mlp> {
  models::Mlp body = add("body", models::Mlp({784, 1024, 1024, 10}));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.1));
  Tensor forward(const Tensor& x) const { return body(dropout(x)); }
};

template <typename M>
struct Task {
  M model;
  NoisySamples::Make sample;
  std::function<Tensor(const distributed::DataParallel<M>&, const data::Sample&)> loss;
};

template <typename M>
Task<M> classification(M model, Shape image, int64_t classes) {
  return {std::move(model),
          [image, classes](int64_t index) {
            return data::Sample{noisy(index, image),
                                tensor(std::vector<int64_t>{index % classes}).select(0, 0)};
          },
          [](const auto& net, const data::Sample& batch) {
            return nn::cross_entropy(net(batch[0]), batch[1]);
          }};
}

Task<models::Gpt2> language() {
  constexpr int64_t kLength = 64, kVocabulary = 512;
  const models::GptShape shape{
      .layers = 4, .width = 128, .heads = 4, .vocabulary = kVocabulary, .positions = kLength};
  return {models::Gpt2(shape),
          [](int64_t index) {
            // A sequence with a period, begun at random.
            std::vector<int64_t> ids;
            const auto start = randint(0, 8, {1}).item<int64_t>();
            for (int64_t i = 0; i <= kLength; ++i)
              ids.push_back((index * 31 + (start + i) % 8 * 17) % kVocabulary);
            return data::Sample{tensor(ids)};
          },
          [](const auto& net, const data::Sample& batch) {
            const Tensor logits = net(batch[0].slice(1, {0, kLength}));
            const Tensor next = batch[0].slice(1, {1, kLength + 1});
            return nn::cross_entropy(logits.flatten(0, 1), next.flatten());
          }};
}

std::shared_ptr<optim::Optimizer> optimizer_of(const std::vector<Tensor>& parameters,
                                               const distributed::ProcessGroup& group,
                                               const Options& o) {
  if (o.optimizer == "sgd") {
    const auto make = [&](const auto& own) {
      return optim::SGD(own, {.lr = o.lr, .momentum = 0.9});
    };
    if (!o.is_sharded) return std::make_shared<optim::SGD>(make(parameters));
    return std::make_shared<distributed::ShardedOptimizer>(parameters, group, make);
  }
  const auto make = [&](const auto& own) { return optim::AdamW(own, {.lr = o.lr}); };
  if (!o.is_sharded) return std::make_shared<optim::AdamW>(make(parameters));
  return std::make_shared<distributed::ShardedOptimizer>(parameters, group, make);
}

size_t state_bytes(const optim::Optimizer& optimizer) {
  if (const auto* sharded = dynamic_cast<const distributed::ShardedOptimizer*>(&optimizer))
    return sharded->own_state_bytes();
  size_t bytes = 0;
  for (const auto& [name, tensor] : optimizer.named_states())
    bytes += tensor.data().bytes();
  return bytes;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// One line for each step, appended as soon as it is known: "step loss", exactly.
class LossFile {
 public:
  explicit LossFile(const std::string& path) {
    if (!path.empty()) file_.open(path, std::ios::app);
  }
  void write(int64_t step, double loss) {
    if (!file_.is_open()) return;
    char line[64];
    std::snprintf(line, sizeof line, "%lld %a\n", static_cast<long long>(step), loss);
    file_ << line << std::flush;
  }

 private:
  std::ofstream file_;
};

template <typename M>
int train(Task<M> task, const Options& o, const distributed::ProcessGroup& group) {
  if (o.syncs_batch_norms) distributed::sync_batch_norms(task.model, group);
  const distributed::DataParallel<M> net(task.model, group, o.parallel);
  // From here on each rank draws numbers of its own.
  manual_seed(o.seed + static_cast<uint64_t>(group.rank()));
  const auto optimizer = optimizer_of(net.parameters(), group, o);
  const auto sampler =
      std::make_shared<data::DistributedSampler>(o.samples, group.size(), group.rank());
  data::DataLoader loader(NoisySamples(o.samples, task.sample),
                          {.batch_size = o.batch, .sampler = sampler});
  const distributed::TrainingParts parts{.module = task.model,
                                         .optimizer = optimizer.get(),
                                         .loader = &loader,
                                         .sampler = sampler.get()};
  std::unique_ptr<distributed::Checkpoints> checkpoints;
  int64_t step = 0;
  if (!o.checkpoints.empty()) {
    checkpoints = std::make_unique<distributed::Checkpoints>(o.checkpoints, group);
    step = checkpoints->load_latest(parts).value_or(0);
  }
  const auto train_step = [&](const std::vector<Tensor>& batch) {
    optimizer->zero_grad();
    const Tensor loss = task.loss(net, batch);
    loss.backward();
    optimizer->step();
    return std::vector<Tensor>{loss.detach()};
  };
  const Compiled compiled =
      compile(TensorFunction(train_step), {.optimization_level = o.optimization_level});
  LossFile losses(group.rank() == 0 ? o.losses : "");
  std::vector<double> seconds;
  while (step < o.steps) {
    for (const data::Sample& batch : loader) {
      const auto begin = std::chrono::steady_clock::now();
      const Tensor loss = (o.is_compiled ? compiled(batch) : train_step(batch))[0];
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      ++step;
      if (!o.losses.empty()) {
        const Tensor mean = group.all_reduce(loss, distributed::ReduceOp::kMean);
        losses.write(step, mean.item<double>());
      }
      if (checkpoints && step % o.save_every == 0) checkpoints->save(step, parts);
      if (step >= o.steps) break;
    }
  }
  if (group.rank() != 0 || o.is_quiet) return 0;
  constexpr size_t kWarmUp = 3;
  if (seconds.size() > kWarmUp) seconds.erase(seconds.begin(), seconds.begin() + kWarmUp);
  const double of_step = median(seconds);
  std::cout << "{\"ranks\": " << group.size() << ", \"steps\": " << step
            << ", \"ms_per_step\": " << of_step * 1e3
            << ", \"samples_per_second\": " << static_cast<double>(o.batch * group.size()) / of_step
            << ", \"optimizer_state_bytes\": " << state_bytes(*optimizer) << "}" << std::endl;
  return 0;
}

int run(const Options& o) {
  set_num_threads(o.threads);
  const auto group = distributed::ProcessGroup::world();
  manual_seed(o.seed);
  if (o.model == "mlp") return train(classification(Mlp(), {784}, 10), o, group);
  if (o.model == "resnet18")
    return train(classification(models::resnet18(), {3, 224, 224}, 1000), o, group);
  return train(language(), o, group);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Trains a network of the zoo on several processes");
  app.add_option("--model", o.model)->check(CLI::IsMember({"mlp", "resnet18", "gpt"}));
  app.add_option("--optimizer", o.optimizer)->check(CLI::IsMember({"adamw", "sgd"}));
  app.add_option("--steps", o.steps);
  app.add_option("--batch", o.batch, "samples of each rank")->check(CLI::PositiveNumber);
  app.add_option("--samples", o.samples, "in an epoch")->check(CLI::PositiveNumber);
  app.add_option("--threads", o.threads, "of each rank");
  app.add_option("--seed", o.seed);
  app.add_option("--lr", o.lr);
  app.add_flag("--sharded", o.is_sharded, "divide the optimiser's state among the ranks");
  app.add_flag("--sync-batch-norms", o.syncs_batch_norms);
  app.add_flag("--compile", o.is_compiled, "the whole step, reductions included");
  app.add_option("--optimization-level", o.optimization_level, "of the compiled step")
      ->check(CLI::Range(0, 2));
  app.add_option(
         "--bucket-bytes", o.parallel.bucket_bytes,
         "gradients that are sent at once; fewer: the last ones are sooner through a network")
      ->check(CLI::PositiveNumber);
  app.add_flag("!--no-host-memory", o.parallel.host_memory,
               "send gradients also where all ranks are on one host");
  app.add_flag("--bfloat16-gradients", o.parallel.bfloat16_gradients);
  app.add_option("--checkpoints", o.checkpoints, "a folder to save in, and to go on from");
  app.add_option("--save-every", o.save_every, "steps")->check(CLI::PositiveNumber);
  app.add_option("--losses", o.losses, "a file for the mean loss of each step");
  app.add_flag("--quiet", o.is_quiet);
  CLI11_PARSE(app, argc, argv);
  return distributed::run_ranks([&] { return run(o); });
}
