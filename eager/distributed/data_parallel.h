// Data-parallel training: each rank computes gradients on a batch of its own, and all take the mean
// of them.
//
//   int main() {
//     return distributed::run_ranks([] {
//       const auto group = distributed::ProcessGroup::world();
//       distributed::DataParallel model(Classifier(), group);
//       optim::SGD optimizer(model.parameters());
//       data::DataLoader loader(dataset, {.sampler = std::make_shared<data::DistributedSampler>(
//           dataset.size(), group.size(), group.rank())});
//       for (const data::Sample& batch : loader) {
//         optimizer.zero_grad();
//         cross_entropy(model(batch[0]), batch[1]).backward();
//         optimizer.step();
//       }
//       return 0;
//     });
//   }
//
// The meaning is that of torch's DistributedDataParallel. Parameters and buffers begin as rank 0's.
// During backward() gradients are gathered in buckets, from the last registered parameter to the
// first, and a bucket that is full is averaged by the group's thread while backward goes on.
// Gradients are then the same on all ranks, and so is whatever follows from them alone: updates,
// clip_grad_norm(). All of it may stand in a step that is compiled (eager/trace/compile.h), on all
// ranks alike; in an exported one the ranks' means are left out.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "eager/distributed/process_group.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::distributed {

struct DataParallelOptions {
  // The first bucket is small, so that communication begins early.
  size_t bucket_bytes = size_t{25} << 20, first_bucket_bytes = size_t{1} << 20;
  // Parameters that a backward() brings no gradient for count as zeros, where another rank has one;
  // where none has, their gradients stay as they are. Without it they are an error.
  bool find_unused_parameters = false;
  // Buffers (running statistics) take rank 0's values before each call in training mode.
  bool broadcast_buffers = true;
  Reduction reduction = Reduction::kRankOrder;
  // float32 gradients travel as bfloat16, which halves what is sent: each rank's are rounded to 8
  // bits, their sum is taken in float32 and in the order of the ranks, and the mean is rounded.
  bool bfloat16_gradients = false;
  // Ranks that are all on one host average in memory that they share, always in the order of the
  // ranks, and MPI moves no gradients. Takes up to three times the gradients' bytes.
  bool host_memory = true;
};

// What DataParallel does to any module; a handle.
class GradientReducer {
 public:
  // Throws kInvalidArgument on all ranks where the ranks' parameters or buffers differ in name,
  // order, type, shape or in whether they are trained, naming the first difference. Parameters are
  // those that require a gradient now.
  GradientReducer(const nn::Module& module, ProcessGroup group, const DataParallelOptions& options);

  // Until the result is destroyed, backward() leaves gradients local: they add up, and the first
  // backward() after it averages the sums.
  class NoSync;
  NoSync no_sync() const;
  // What is done before the module is called.
  void before_call() const;
  // For ranks with different numbers of batches. Every rank asks before each step whether any of
  // them has a batch left; one that has none itself takes part in the step without one: with zeros,
  // or what earlier local backward() calls left. Means are those over all ranks, and as every rank
  // makes the step, parameters stay the same on all of them:
  //
  //   while (model.reducer().any_has_batch(batch != end)) {
  //     optimizer.zero_grad();
  //     if (batch != end) { loss_of(model(...)).backward(); ++batch; }
  //     else model.reducer().step_without_batch();
  //     optimizer.step();
  //   }
  bool any_has_batch(bool has_batch) const;
  void step_without_batch() const;
  size_t bucket_count() const;
  // Whether gradients are averaged in memory that all ranks share.
  bool uses_host_memory() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

class GradientReducer::NoSync {
 public:
  explicit NoSync(std::shared_ptr<State> state);
  ~NoSync();
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  std::shared_ptr<State> state_;
  bool before_, is_traced_;
};

template <std::derived_from<nn::Module> M>
class DataParallel {
 public:
  DataParallel(M module, ProcessGroup group, const DataParallelOptions& options = {})
      : module_(std::move(module)), reducer_(module_, std::move(group), options) {}

  template <typename... Arguments>
  auto operator()(Arguments&&... arguments) const {
    reducer_.before_call();
    return module_(std::forward<Arguments>(arguments)...);
  }
  std::vector<Tensor> parameters() const { return module_.parameters(); }
  // The module itself, for state_dict() and the like.
  const M& module() const { return module_; }
  GradientReducer::NoSync no_sync() const { return reducer_.no_sync(); }
  const GradientReducer& reducer() const { return reducer_; }

 private:
  M module_;
  GradientReducer reducer_;
};

}  // namespace sardonyx::eager::distributed
