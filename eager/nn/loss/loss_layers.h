// Losses as layers: each calls its function with the options that it was made with.
//
//   const nn::CrossEntropyLoss criterion({.label_smoothing = 0.1});
//   const Tensor loss = criterion(scores, classes);
#pragma once

#include <algorithm>

#include "eager/nn/loss/likelihood_losses.h"
#include "eager/nn/loss/losses.h"
#include "eager/nn/loss/margin_losses.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// A string as a template argument.
template <size_t size>
struct LossName {
  consteval LossName(const char (&name)[size]) { std::copy_n(name, size, text); }
  char text[size];
};

// `function` takes the arguments of a call, the options and the caller's line.
template <LossName name, auto function, typename Options>
class Loss : public Layer<Loss<name, function, Options>> {
 public:
  explicit Loss(Options options = {})
      : Layer<Loss>(std::string(name.text)), options_(std::move(options)) {}
  template <typename... Arguments>
  requires(std::invocable<decltype(function), const Arguments&..., const Options&, Loc>) Tensor
      forward(const Arguments&... arguments)
  const { return function(arguments..., options_, this->caller()); }

 private:
  Options options_;
};

// pairwise_distance() as a layer.
struct PairwiseDistanceOptions {
  double p = 2, eps = 1e-6;
  bool keepdim = false;
};
class PairwiseDistance : public Layer<PairwiseDistance> {
 public:
  explicit PairwiseDistance(PairwiseDistanceOptions options = {}) : options_(options) {}
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return pairwise_distance(a, b, options_.p, options_.eps, options_.keepdim, caller());
  }

 private:
  PairwiseDistanceOptions options_;
};

// Each is declared with its formula where its function is: losses.h, margin_losses.h,
// likelihood_losses.h, metrics.h.
using MSELoss = Loss<"MSELoss", mse_loss, LossOptions>;
using L1Loss = Loss<"L1Loss", l1_loss, LossOptions>;
using SmoothL1Loss = Loss<"SmoothL1Loss", smooth_l1_loss, SmoothL1Options>;
using HuberLoss = Loss<"HuberLoss", huber_loss, HuberOptions>;
using CrossEntropyLoss = Loss<"CrossEntropyLoss", cross_entropy, CrossEntropyOptions>;
using NLLLoss = Loss<"NLLLoss", nll_loss, NllOptions>;
using BCELoss = Loss<"BCELoss", binary_cross_entropy, BceOptions>;
using BCEWithLogitsLoss = Loss<"BCEWithLogitsLoss", bce_with_logits, BceOptions>;
using KLDivLoss = Loss<"KLDivLoss", kl_div, KlOptions>;
using CTCLoss = Loss<"CTCLoss", ctc_loss, CtcOptions>;
// Not a loss of its own, but a layer in torch: the cosine along an axis.
using CosineSimilarity = Loss<"CosineSimilarity", cosine_similarity, CosineOptions>;
// Losses of distances and margins; targets are 1 and -1.
using MarginRankingLoss = Loss<"MarginRankingLoss", margin_ranking_loss, MarginOptions>;
using HingeEmbeddingLoss = Loss<"HingeEmbeddingLoss", hinge_embedding_loss, HingeEmbeddingOptions>;
using CosineEmbeddingLoss = Loss<"CosineEmbeddingLoss", cosine_embedding_loss, MarginOptions>;
using TripletMarginLoss = Loss<"TripletMarginLoss", triplet_margin_loss, TripletOptions>;
using TripletMarginWithDistanceLoss =
    Loss<"TripletMarginWithDistanceLoss", triplet_margin_with_distance_loss,
         TripletDistanceOptions>;
using MultiLabelMarginLoss = Loss<"MultiLabelMarginLoss", multilabel_margin_loss, LossOptions>;
using MultiMarginLoss = Loss<"MultiMarginLoss", multi_margin_loss, MultiMarginOptions>;
using SoftMarginLoss = Loss<"SoftMarginLoss", soft_margin_loss, LossOptions>;
using MultiLabelSoftMarginLoss =
    Loss<"MultiLabelSoftMarginLoss", multilabel_soft_margin_loss, MultilabelSoftMarginOptions>;
// Negative log-likelihoods of distributions that the network describes.
using GaussianNLLLoss = Loss<"GaussianNLLLoss", gaussian_nll_loss, GaussianNllOptions>;
using PoissonNLLLoss = Loss<"PoissonNLLLoss", poisson_nll_loss, PoissonNllOptions>;

}  // namespace sardonyx::eager::nn
