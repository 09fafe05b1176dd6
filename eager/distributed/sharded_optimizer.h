// Optimisers whose state is divided among the ranks (ZeRO, stage 1: Rajbhandari et al., 2020):
//
//   distributed::ShardedOptimizer optimizer(model.parameters(), group, [](const auto& own) {
//     return optim::AdamW(own, {.lr = 1e-3});
//   });
//
// It is used as the one that is made: with the same gradients on all ranks, which DataParallel
// brings, parameters become bit for bit what they become without it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eager/distributed/process_group.h"
#include "eager/optim/optimizer.h"

namespace sardonyx::eager::distributed {

// Elements [begin, end) of a parameter, in row-major order.
struct ParameterPart {
  size_t parameter = 0;
  int64_t begin = 0, end = 0;
};
// Which rank updates what. Parts of parameters where `may_split`: each rank has the same number of
// elements but for a hundred or so; else whole parameters, the largest first to the rank that has
// least.
std::vector<std::vector<ParameterPart>> divide_among_ranks(const std::vector<int64_t>& counts,
                                                           int ranks, bool may_split);

// The state_dict() of one optimiser of all parameters from the shares that ShardedOptimizers of
// `count` ranks had of it. Throws kInvalidArgument where a part of a state is in none of them.
nn::StateDict merged_shares(const std::vector<Tensor>& parameters, size_t count,
                            const std::function<nn::StateDict(size_t)>& share);

class ShardedOptimizer : public optim::Optimizer {
 public:
  // `make` gives the optimiser of the tensors that it is given: this rank's parts of the
  // parameters, in one group. Parameters are split where the optimiser is_elementwise(). All ranks
  // give the same parameters in the same order. Optimisers that call a closure several times are
  // refused by their own step().
  template <typename Make>
  ShardedOptimizer(const std::vector<Tensor>& parameters, ProcessGroup group, Make make)
      : ShardedOptimizer(parameters, std::move(group), Maker([make](const auto& own) {
                           return std::make_shared<decltype(make(own))>(make(own));
                         })) {}
  using Maker =
      std::function<std::shared_ptr<optim::Optimizer>(const std::vector<Tensor>& parameters)>;
  ShardedOptimizer(const std::vector<Tensor>& parameters, ProcessGroup group, Maker make);

  // The optimiser of this rank's parts.
  const optim::Optimizer& own() const { return *own_; }
  // Bytes of what this rank keeps beside the parameters.
  size_t own_state_bytes() const;

  // What `make` would have for all parameters, on every rank; a collective call, and as much memory
  // as without sharding. Loads where the number of ranks, or no sharding at all, is another.
  nn::StateDict state_dict() const override;
  void load_state_dict(const nn::StateDict& state) override;

  // This rank's share: for files of its own. Names are those of state_dict(), with the elements of
  // a part behind: "state.3.exp_avg[0:4096]".
  nn::StateDict own_state_dict() const;
  // From the shares of all ranks of some run, of as many ranks or another number: `share(i)` gives
  // the i-th of `count`, and is called for one after the other.
  void load_shares(size_t count, const std::function<nn::StateDict(size_t)>& share);

 protected:
  Tensor step_all(const optim::Closure* closure, const Loc& loc) override;

 private:
  struct OwnState;
  void show_parts() const;
  void record_parts() const;
  void exchange_parts(bool is_recorded) const;
  void exchange(size_t first, size_t last) const;
  void record_exchange(size_t first, size_t last) const;
  std::vector<OwnState> own_states() const;

  ProcessGroup group_;
  std::vector<Tensor> all_;
  std::vector<std::vector<ParameterPart>> parts_;  // of each rank, in order
  std::vector<Tensor> leaves_;                     // this rank's parts, as own_ sees them
  std::shared_ptr<optim::Optimizer> own_;
};

}  // namespace sardonyx::eager::distributed
