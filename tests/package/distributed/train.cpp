#include <sardonyx/distributed.h>
#include <sardonyx/eager.h>

#include <cstdio>

using namespace sardonyx::eager;

// Every rank ends with the same parameters, and rank 0 says so.
int main() {
  return distributed::run_ranks([] {
    const auto group = distributed::ProcessGroup::world();
    manual_seed(static_cast<uint64_t>(group.rank()));
    const distributed::DataParallel<nn::Linear> model(nn::Linear(4, 2), group);
    distributed::ShardedOptimizer optimizer(
        model.parameters(), group, [](const auto& own) { return optim::Adam(own, {.lr = 0.01}); });
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      model(randn({3, 4})).square().mean().backward();
      optimizer.step();
    }
    const Tensor weight = model.module().weight.detach();
    const Tensor least = group.all_reduce(weight, distributed::ReduceOp::kMin);
    const Tensor most = group.all_reduce(weight, distributed::ReduceOp::kMax);
    const bool agree = all(least == most).item<bool>();
    if (group.rank() == 0) std::printf("%d ranks %s\n", group.size(), agree ? "agree" : "differ");
    return agree ? 0 : 1;
  });
}
