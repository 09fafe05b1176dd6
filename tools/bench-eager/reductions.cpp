#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/losses.h"
#include "tools/bench-eager/cases.h"

namespace sardonyx::bench_eager {

namespace nn = eager::nn;

std::vector<Case> reduction_cases() {
  const CaseInput a{{256, 1024}};
  const CaseInput scores{{512, 100}}, classes{{512}, 100}, pairs{{512, 100}};
  const CaseInput frames{{50, 16, 20}}, labels{{16, 10}, 19};
  namespace F = torch::nn::functional;
  const auto lengths = [](int64_t size, int64_t count) {
    return eager::full({count}, static_cast<double>(size), {.dtype = DType::kInt64});
  };
  const auto their_lengths = [](int64_t size, int64_t count) {
    return torch::full({count}, size, at::kLong);
  };
  return {
      {"sum", {a}, SARDONYX_BOTH(in[0].sum())},
      {"sum of rows", {a}, SARDONYX_BOTH(in[0].sum({1}))},
      {"sum of columns", {a}, SARDONYX_BOTH(in[0].sum({0}))},
      {"mean", {a}, SARDONYX_BOTH(in[0].mean({1}))},
      {"amax", {a}, SARDONYX_BOTH(in[0].amax({1}))},
      {"max with indices",
       {a},
       SARDONYX_OURS(max(in[0], 1).first),
       SARDONYX_THEIRS(std::get<0>(max(in[0], 1)))},
      {"argmax", {a}, SARDONYX_BOTH(argmax(in[0], 1)), false},
      {"var",
       {a},
       SARDONYX_OURS(var(in[0], {1})),
       SARDONYX_THEIRS(at::var(in[0], at::IntArrayRef{1}, 1, false))},
      {"norm", {a}, SARDONYX_OURS(norm(in[0])), SARDONYX_THEIRS(at::norm(in[0]))},
      {"prod", {{{1024, 16}}}, SARDONYX_OURS(prod(in[0], {1})), SARDONYX_THEIRS(in[0].prod(1))},
      {"logsumexp", {a}, SARDONYX_BOTH(logsumexp(in[0], {1}))},
      {"cumsum", {a}, SARDONYX_BOTH(cumsum(in[0], 1))},
      {"softmax", {a}, SARDONYX_BOTH(softmax(in[0], 1))},
      {"softmax of columns", {a}, SARDONYX_BOTH(softmax(in[0], 0))},
      {"log_softmax", {a}, SARDONYX_BOTH(log_softmax(in[0], 1))},
      {"cross_entropy",
       {scores, classes},
       SARDONYX_OURS(nn::cross_entropy(in[0], in[1])),
       SARDONYX_THEIRS(F::cross_entropy(in[0], in[1]))},
      {"mse_loss",
       {pairs, pairs},
       SARDONYX_OURS(nn::mse_loss(in[0], in[1])),
       SARDONYX_THEIRS(F::mse_loss(in[0], in[1]))},
      {"l1_loss",
       {pairs, pairs},
       SARDONYX_OURS(nn::l1_loss(in[0], in[1])),
       SARDONYX_THEIRS(F::l1_loss(in[0], in[1]))},
      {"smooth_l1_loss",
       {pairs, pairs},
       SARDONYX_OURS(nn::smooth_l1_loss(in[0], in[1])),
       SARDONYX_THEIRS(F::smooth_l1_loss(in[0], in[1]))},
      {"bce_with_logits",
       {pairs, pairs},
       SARDONYX_OURS(nn::bce_with_logits(in[0], sigmoid(in[1].detach()))),
       SARDONYX_THEIRS(F::binary_cross_entropy_with_logits(in[0], sigmoid(in[1].detach())))},
      {"ctc_loss",
       {frames, labels},
       SARDONYX_OURS(
           nn::ctc_loss(log_softmax(in[0], 2), in[1] + 1, lengths(50, 16), lengths(10, 16))),
       SARDONYX_THEIRS(at::ctc_loss(log_softmax(in[0], 2), in[1] + 1, their_lengths(50, 16),
                                    their_lengths(10, 16)))},
  };
}

}  // namespace sardonyx::bench_eager
