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

// function(input, target, options...), and a class that keeps the options.
template <typename L, size_t tensors, typename Options, typename Function>
void loss(py::module_& m, const char* layer, const char* function_name, const char* doc,
          Function function) {
  define_layer<L, tensors>(m, layer, doc, [](CallArguments& a) {
    Options options;
    take(a, options);
    a.finish();
    return L(options);
  });
  const std::string signature = signature_text(function_name, [&](CallArguments& a) {
    Options options;
    for (size_t i = 0; i < tensors; ++i)
      a.need<Tensor>(i == 0   ? "input"
                     : i == 1 ? "target"
                     : i == 2 ? "input_lengths"
                              : "target_lengths");
    take(a, options);
    a.finish();
  });
  m.def(
      function_name,
      [function, function_name](const py::args& args, const py::kwargs& kwargs) {
        if (args.size() < tensors)
          throw py::type_error(text(function_name, "() takes ", tensors, " tensors first"));
        std::array<Tensor, tensors> inputs;
        for (size_t i = 0; i < tensors; ++i)
          inputs[i] = tensor_from(args[i], function_name);
        py::tuple rest(args.size() - tensors);
        for (size_t i = tensors; i < args.size(); ++i)
          rest[i - tensors] = args[i];
        CallArguments a(function_name, py::args(rest), kwargs);
        Options options;
        take(a, options);
        a.finish();
        return unlocked([&](const Loc& loc) {
          return std::apply([&](const auto&... given) { return function(given..., options, loc); },
                            inputs);
        });
      },
      (signature + "\n\n" + doc).c_str());
}

}  // namespace

void bind_losses(py::module_& m) {
  loss<nn::MSELoss, 2, nn::LossOptions>(m, "MSELoss", "mse_loss", "(input - target)^2",
                                        nn::mse_loss);
  loss<nn::L1Loss, 2, nn::LossOptions>(m, "L1Loss", "l1_loss", "|input - target|", nn::l1_loss);
  loss<nn::SmoothL1Loss, 2, nn::SmoothL1Options>(m, "SmoothL1Loss", "smooth_l1_loss",
                                                 "A square up to beta, a line beyond.",
                                                 nn::smooth_l1_loss);
  loss<nn::HuberLoss, 2, nn::HuberOptions>(m, "HuberLoss", "huber_loss",
                                           "A square up to delta, a line beyond.", nn::huber_loss);
  loss<nn::CrossEntropyLoss, 2, nn::CrossEntropyOptions>(
      m, "CrossEntropyLoss", "cross_entropy",
      "Of scores [N, C, ...] and classes [N, ...], or probabilities of the input's shape.",
      nn::cross_entropy);
  loss<nn::NLLLoss, 2, nn::NllOptions>(m, "NLLLoss", "nll_loss",
                                       "Of log-probabilities [N, C, ...] and classes [N, ...].",
                                       nn::nll_loss);
  loss<nn::BCELoss, 2, nn::BceOptions>(m, "BCELoss", "binary_cross_entropy", "Of probabilities.",
                                       nn::binary_cross_entropy);
  loss<nn::BCEWithLogitsLoss, 2, nn::BceOptions>(m, "BCEWithLogitsLoss",
                                                 "binary_cross_entropy_with_logits", "Of logits.",
                                                 nn::bce_with_logits);
  loss<nn::KLDivLoss, 2, nn::KlOptions>(
      m, "KLDivLoss", "kl_div", "target * (log target - input), of log-probabilities.", nn::kl_div);
  loss<nn::CTCLoss, 4, nn::CtcOptions>(
      m, "CTCLoss", "ctc_loss",
      "log_probabilities [T, N, C], targets [N, S], lengths [N] of both (Graves et al., 2006).",
      nn::ctc_loss);
  loss<nn::CosineSimilarity, 2, nn::CosineOptions>(m, "CosineSimilarity", "cosine_similarity",
                                                   "The cosine of the angle along an axis.",
                                                   nn::cosine_similarity);
}

}  // namespace sardonyx::python::eager_layer
