// Losses, as functions and as layers, under torch's names.
#include "eager/nn.h"
#include "tools/python/module/eager/layers.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace nn = eager::nn;

void take(CallArguments& a, nn::LossOptions& o) {
  a.take("reduction", o.reduction);
}
void take(CallArguments& a, nn::SmoothL1Options& o) {
  a.take("reduction", o.reduction).take("beta", o.beta);
}
void take(CallArguments& a, nn::HuberOptions& o) {
  a.take("reduction", o.reduction).take("delta", o.delta);
}
void take(CallArguments& a, nn::CrossEntropyOptions& o) {
  a.take("weight", o.weight).take("ignore_index", o.ignore_index).take("reduction", o.reduction);
  a.take("label_smoothing", o.label_smoothing);
}
void take(CallArguments& a, nn::NllOptions& o) {
  a.take("weight", o.weight).take("ignore_index", o.ignore_index).take("reduction", o.reduction);
}
void take(CallArguments& a, nn::BceOptions& o) {
  a.take("weight", o.weight).take("reduction", o.reduction).take("pos_weight", o.pos_weight);
}
void take(CallArguments& a, nn::KlOptions& o) {
  a.take_batch_reduction("reduction", o.reduction, o.batch_mean).take("log_target", o.log_target);
  a.take("batch_mean", o.batch_mean);
}
void take(CallArguments& a, nn::CtcOptions& o) {
  a.take("blank", o.blank).take("reduction", o.reduction).take("zero_infinity", o.zero_infinity);
}
void take(CallArguments& a, nn::CosineOptions& o) {
  a.take("dim", o.axis).take("eps", o.eps);
}

void take(CallArguments& a, nn::MarginOptions& o) {
  a.take("margin", o.margin).take("reduction", o.reduction);
}
void take(CallArguments& a, nn::HingeEmbeddingOptions& o) {
  a.take("margin", o.margin).take("reduction", o.reduction);
}
void take(CallArguments& a, nn::TripletOptions& o) {
  a.take("margin", o.margin).take("p", o.p).take("eps", o.eps).take("swap", o.swap);
  a.take("reduction", o.reduction);
}
void take(CallArguments& a, nn::MultiMarginOptions& o) {
  a.take("p", o.p).take("margin", o.margin).take("weight", o.weight);
  a.take("reduction", o.reduction);
}
void take(CallArguments& a, nn::MultilabelSoftMarginOptions& o) {
  a.take("weight", o.weight).take("reduction", o.reduction);
}
void take(CallArguments& a, nn::GaussianNllOptions& o) {
  a.take("full", o.full).take("eps", o.eps).take("reduction", o.reduction);
}
void take(CallArguments& a, nn::PoissonNllOptions& o) {
  a.take("log_input", o.log_input).take("full", o.full).take("eps", o.eps);
  a.take("reduction", o.reduction);
}

// function(input, target, options...), and a class that keeps the options.
template <typename L, typename Options, size_t tensors, typename Function>
void loss(py::module_& m, const char* layer, const char* function_name, const char* doc,
          const std::array<const char*, tensors>& names, Function function) {
  define_layer<L, tensors>(m, layer, doc, [](CallArguments& a) {
    Options options;
    take(a, options);
    a.finish();
    return L(options);
  });
  const auto call = [function, names](CallArguments& a) {
    std::array<Tensor, tensors> inputs;
    for (size_t i = 0; i < tensors; ++i)
      inputs[i] = a.need<Tensor>(names[i]);
    Options options;
    take(a, options);
    a.finish();
    return unlocked([&](const Loc& loc) {
      return std::apply([&](const auto&... given) { return function(given..., options, loc); },
                        inputs);
    });
  };
  m.def(
      function_name,
      [call, function_name](const py::args& args, const py::kwargs& kwargs) {
        CallArguments a(function_name, args, kwargs);
        return call(a);
      },
      (signature_text(function_name, call) + "\n\n" + doc).c_str());
}

constexpr std::array kOfTarget{"input", "target"};

void bind_margin_losses(py::module_& m) {
  loss<nn::MarginRankingLoss, nn::MarginOptions>(
      m, "MarginRankingLoss", "margin_ranking_loss", "max(0, -target * (input1 - input2) + margin)",
      std::array{"input1", "input2", "target"}, nn::margin_ranking_loss);
  loss<nn::HingeEmbeddingLoss, nn::HingeEmbeddingOptions>(
      m, "HingeEmbeddingLoss", "hinge_embedding_loss", "Of targets 1 and -1.", kOfTarget,
      nn::hinge_embedding_loss);
  loss<nn::CosineEmbeddingLoss, nn::MarginOptions>(
      m, "CosineEmbeddingLoss", "cosine_embedding_loss", "Of rows [N, D] and targets 1 and -1.",
      std::array{"input1", "input2", "target"}, nn::cosine_embedding_loss);
  loss<nn::TripletMarginLoss, nn::TripletOptions>(
      m, "TripletMarginLoss", "triplet_margin_loss",
      "max(0, |anchor - positive| - |anchor - negative| + margin)",
      std::array{"anchor", "positive", "negative"}, nn::triplet_margin_loss);
  loss<nn::MultiMarginLoss, nn::MultiMarginOptions>(m, "MultiMarginLoss", "multi_margin_loss",
                                                    "Of scores [N, C] and classes [N].", kOfTarget,
                                                    nn::multi_margin_loss);
  loss<nn::MultiLabelMarginLoss, nn::LossOptions>(
      m, "MultiLabelMarginLoss", "multilabel_margin_loss",
      "Of scores [N, C] and labels in front of the first -1.", kOfTarget,
      nn::multilabel_margin_loss);
  loss<nn::SoftMarginLoss, nn::LossOptions>(m, "SoftMarginLoss", "soft_margin_loss",
                                            "log(1 + exp(-target * input))", kOfTarget,
                                            nn::soft_margin_loss);
  loss<nn::MultiLabelSoftMarginLoss, nn::MultilabelSoftMarginOptions>(
      m, "MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss",
      "Of logits [N, C] and targets 0 or 1.", kOfTarget, nn::multilabel_soft_margin_loss);
}

void bind_likelihood_losses(py::module_& m) {
  loss<nn::GaussianNLLLoss, nn::GaussianNllOptions>(
      m, "GaussianNLLLoss", "gaussian_nll_loss", "(log(var) + (input - target)^2 / var) / 2",
      std::array{"input", "target", "var"}, nn::gaussian_nll_loss);
  loss<nn::PoissonNLLLoss, nn::PoissonNllOptions>(m, "PoissonNLLLoss", "poisson_nll_loss",
                                                  "exp(input) - target * input", kOfTarget,
                                                  nn::poisson_nll_loss);
}

}  // namespace

void bind_losses(py::module_& m) {
  loss<nn::MSELoss, nn::LossOptions>(m, "MSELoss", "mse_loss", "(input - target)^2", kOfTarget,
                                     nn::mse_loss);
  loss<nn::L1Loss, nn::LossOptions>(m, "L1Loss", "l1_loss", "|input - target|", kOfTarget,
                                    nn::l1_loss);
  loss<nn::SmoothL1Loss, nn::SmoothL1Options>(m, "SmoothL1Loss", "smooth_l1_loss",
                                              "A square up to beta, a line beyond.", kOfTarget,
                                              nn::smooth_l1_loss);
  loss<nn::HuberLoss, nn::HuberOptions>(m, "HuberLoss", "huber_loss",
                                        "A square up to delta, a line beyond.", kOfTarget,
                                        nn::huber_loss);
  loss<nn::CrossEntropyLoss, nn::CrossEntropyOptions>(
      m, "CrossEntropyLoss", "cross_entropy",
      "Of scores [N, C, ...] and classes [N, ...], or probabilities of the input's shape.",
      kOfTarget, nn::cross_entropy);
  loss<nn::NLLLoss, nn::NllOptions>(m, "NLLLoss", "nll_loss",
                                    "Of log-probabilities [N, C, ...] and classes [N, ...].",
                                    kOfTarget, nn::nll_loss);
  loss<nn::BCELoss, nn::BceOptions>(m, "BCELoss", "binary_cross_entropy", "Of probabilities.",
                                    kOfTarget, nn::binary_cross_entropy);
  loss<nn::BCEWithLogitsLoss, nn::BceOptions>(m, "BCEWithLogitsLoss",
                                              "binary_cross_entropy_with_logits", "Of logits.",
                                              kOfTarget, nn::bce_with_logits);
  loss<nn::KLDivLoss, nn::KlOptions>(m, "KLDivLoss", "kl_div",
                                     "target * (log target - input), of log-probabilities.",
                                     kOfTarget, nn::kl_div);
  loss<nn::CTCLoss, nn::CtcOptions>(
      m, "CTCLoss", "ctc_loss",
      "log_probabilities [T, N, C], targets [N, S], lengths [N] of both (Graves et al., 2006).",
      std::array{"log_probs", "targets", "input_lengths", "target_lengths"}, nn::ctc_loss);
  loss<nn::CosineSimilarity, nn::CosineOptions>(m, "CosineSimilarity", "cosine_similarity",
                                                "The cosine of the angle along an axis.",
                                                std::array{"x1", "x2"}, nn::cosine_similarity);
  bind_margin_losses(m);
  bind_likelihood_losses(m);
}

}  // namespace sardonyx::python::eager_layer
