// Losses and distances.
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {
namespace {

using nn::Reduction;

void add_regressions(std::vector<Function>& all) {
  const Tensor x = signed_numbers({3, 4}), y = signed_numbers({3, 4}, 2);
  const Tensor share = positive_numbers({3, 4}), spread = positive_numbers({3, 4}, 2);
  const Tensors two{x, y}, of_variance{x, y, spread};
  const Function functions[] = {
      {"mse_loss", two, SARDONYX_OF(nn::mse_loss(in[0], in[1]))},
      {"mse_loss of none", two,
       SARDONYX_OF(nn::mse_loss(in[0], in[1], {.reduction = Reduction::kNone}))},
      {"l1_loss", two, SARDONYX_OF(nn::l1_loss(in[0], in[1], {.reduction = Reduction::kSum}))},
      {"smooth_l1_loss", two, SARDONYX_OF(nn::smooth_l1_loss(in[0], in[1]))},
      {"huber_loss", two, SARDONYX_OF(nn::huber_loss(in[0], in[1], {.delta = 0.5}))},
      {"kl_div", {log(share), spread}, SARDONYX_OF(nn::kl_div(in[0], in[1], {.batch_mean = true}))},
      {"gaussian_nll_loss", of_variance, SARDONYX_OF(nn::gaussian_nll_loss(in[0], in[1], in[2]))},
      {"poisson_nll_loss",
       {x, share},
       SARDONYX_OF(nn::poisson_nll_loss(in[0], in[1], {.full = true}))},
      {"cosine_similarity", two, SARDONYX_OF(nn::cosine_similarity(in[0], in[1]))},
      {"pairwise_distance", two, SARDONYX_OF(nn::pairwise_distance(in[0], in[1]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_classifications(std::vector<Function>& all) {
  const Tensor x = signed_numbers({3, 4}), share = positive_numbers({3, 4});
  const Tensor classes = integers(0, 4, {3}), weight = positive_numbers({4}, 2);
  const Tensors scores{x, classes}, shares{x, share}, weighted{x, classes, weight};
  const Tensors images{signed_numbers({2, 3, 2, 2}), integers(0, 3, {2, 2, 2})};
  const Tensors sequences{log_softmax(signed_numbers({6, 2, 4}), -1), integers(1, 4, {2, 3}),
                          tensor<int64_t>({6, 5}), tensor<int64_t>({3, 2})};
  const Function functions[] = {
      {"cross_entropy",
       scores,
       SARDONYX_OF(nn::cross_entropy(in[0], in[1])),
       {11, "GatherElements"}},
      {"cross_entropy of images",
       images,
       SARDONYX_OF(nn::cross_entropy(in[0], in[1])),
       {11, "GatherElements"}},
      {"cross_entropy weighted",
       weighted,
       SARDONYX_OF(nn::cross_entropy(in[0], in[1], {.weight = in[2], .ignore_index = 1})),
       {11, "GatherElements"}},
      {"cross_entropy smoothed",
       scores,
       SARDONYX_OF(nn::cross_entropy(in[0], in[1], {.label_smoothing = 0.1})),
       {11, "GatherElements"}},
      {"cross_entropy of shares", shares, SARDONYX_OF(nn::cross_entropy(in[0], in[1]))},
      {"nll_loss",
       scores,
       SARDONYX_OF(nn::nll_loss(log_softmax(in[0]), in[1])),
       {11, "GatherElements"}},
      {"bce_with_logits", shares, SARDONYX_OF(nn::bce_with_logits(in[0], in[1]))},
      {"bce_with_logits weighted",
       {x, share, weight},
       SARDONYX_OF(nn::bce_with_logits(in[0], in[1], {.pos_weight = in[2]}))},
      {"binary_cross_entropy", {share, share}, SARDONYX_OF(nn::binary_cross_entropy(in[0], in[1]))},
      {"multi_margin_loss",
       scores,
       SARDONYX_OF(nn::multi_margin_loss(in[0], in[1])),
       {11, "GatherElements"}},
      {"multilabel_soft_margin_loss",
       {x, (share > 0.5).to(DType::kFloat)},
       SARDONYX_OF(nn::multilabel_soft_margin_loss(in[0], in[1]))},
      {"ctc_loss",
       sequences,
       SARDONYX_OF(nn::ctc_loss(in[0], in[1], in[2], in[3])),
       {11, "GatherElements"}},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_margins(std::vector<Function>& all) {
  const Tensor x = signed_numbers({3, 4}), y = signed_numbers({3, 4}, 2);
  const Tensor signs = sign(signed_numbers({3, 4}, 5)), sign_of_row = sign(signed_numbers({3}, 4));
  const Tensors ranked{x, y, signs}, rows{x, y, sign_of_row};
  const Tensors triples{x, y, signed_numbers({3, 4}, 3)};
  const Function functions[] = {
      {"margin_ranking_loss", ranked,
       SARDONYX_OF(nn::margin_ranking_loss(in[0], in[1], in[2], {.margin = 0.5}))},
      {"hinge_embedding_loss", {x, signs}, SARDONYX_OF(nn::hinge_embedding_loss(in[0], in[1]))},
      {"cosine_embedding_loss", rows, SARDONYX_OF(nn::cosine_embedding_loss(in[0], in[1], in[2]))},
      {"triplet_margin_loss", triples,
       SARDONYX_OF(nn::triplet_margin_loss(in[0], in[1], in[2], {.swap = true}))},
      {"soft_margin_loss", {x, signs}, SARDONYX_OF(nn::soft_margin_loss(in[0], in[1]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

}  // namespace

std::vector<Function> losses() {
  std::vector<Function> all;
  add_regressions(all);
  add_classifications(all);
  add_margins(all);
  return all;
}

}  // namespace sardonyx::eager::exports
