// What a run on several ranks needs to go on after it was stopped, in folders that are complete or
// not there:
//
//   distributed::Checkpoints checkpoints("runs/a", group);
//   const distributed::TrainingParts parts{.module = net, .optimizer = &optimizer,
//                                          .loader = &loader, .sampler = sampler.get()};
//   int64_t step = checkpoints.load_latest(parts).value_or(0);
//   for (int64_t epoch = loader.epoch(); epoch < epochs; ++epoch) {
//     for (const data::Sample& batch : loader) {
//       ...
//       if (++step % 1000 == 0) checkpoints.save(step, parts);
//     }
//   }
//
// With as many ranks as before the run goes on bit for bit as if it had not been stopped; with
// another number it goes on with the samples of the epoch that were not taken yet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eager/data/distributed_sampler.h"
#include "eager/data/loader.h"
#include "eager/distributed/process_group.h"
#include "eager/generator.h"
#include "eager/nn/module.h"
#include "eager/optim/optimizer.h"
#include "eager/optim/scheduler.h"

namespace sardonyx::eager::distributed {

struct TrainingParts {
  // Parameters and persistent buffers: those of rank 0, which DataParallel gives to all.
  nn::Module module;
  // A ShardedOptimizer writes a file on each rank.
  optim::Optimizer* optimizer = nullptr;
  // save() while a loop runs: its batches so far are done.
  data::DataLoader* loader = nullptr;
  data::DistributedSampler* sampler = nullptr;
  // Each rank's own.
  Generator generator = default_generator();
  optim::Scheduler* scheduler = nullptr;
  // Whatever else a run goes on with: rank 0's.
  nn::NamedTensors others = {};
};

struct CheckpointOptions {
  int keep = 2;  // complete ones; older ones are removed
};

class Checkpoints {
 public:
  // `folder` is seen by all ranks, as a network file system's is. Throws kInvalidArgument unless
  // `keep` is positive.
  Checkpoints(std::filesystem::path folder, ProcessGroup group, CheckpointOptions options = {});

  // Collective calls; what goes wrong on one rank is thrown on all of them (kInternal, or what that
  // rank threw), and earlier checkpoints are as they were.
  void save(int64_t step, const TrainingParts& parts) const;
  // Gives the step; nullopt where there is none yet. Throws kInvalidArgument where the checkpoint
  // is of other parts than these.
  std::optional<int64_t> load_latest(const TrainingParts& parts) const;
  // Steps of the complete ones, ascending.
  std::vector<int64_t> steps() const;

 private:
  std::filesystem::path folder_of(int64_t step) const;
  void write(const std::filesystem::path& folder, int64_t step, const TrainingParts& parts,
             const std::vector<std::string>& generators) const;
  void remove_unfinished() const;
  void remove_old() const;

  std::filesystem::path folder_;
  ProcessGroup group_;
  CheckpointOptions options_;
};

}  // namespace sardonyx::eager::distributed
