#include "eager/nn/loss/margin_losses.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/loss_parts.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

// `positive` where the target is 1, `negative` where it is -1, 0 elsewhere (as in torch).
Tensor by_sign(const Tensor& target, const Tensor& positive, const Tensor& negative,
               const Loc& loc) {
  const Tensor other = where(Operand(target, loc) == -1, {negative, loc}, 0);
  return where(Operand(target, loc) == 1, {positive, loc}, other);
}

}  // namespace

Tensor margin_ranking_loss(const Tensor& a, const Tensor& given, const Tensor& target,
                           MarginOptions options, Loc loc) {
  const Tensor b = of_one_shape(a, given, "margin_ranking_loss", loc);
  const Tensor behind = mul({neg(target, loc), loc}, sub({a, loc}, b));
  return reduced(relu(add({behind, loc}, options.margin), loc), options.reduction, loc);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& given, HingeEmbeddingOptions options,
                            Loc loc) {
  const Tensor target = of_one_shape(input, given, "hinge_embedding_loss", loc);
  const Tensor apart = relu(sub({options.margin, loc}, input), loc);
  return reduced(by_sign(target, input, apart, loc), options.reduction, loc);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& given, const Tensor& target,
                             MarginOptions options, Loc loc) {
  const Tensor b = of_one_shape(a, given, "cosine_embedding_loss", loc);
  require_defined(target, "cosine_embedding_loss", "the target", loc);
  if (a.rank() != 2 || target.rank() != 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": cosine_embedding_loss: expected rows [N, D] and targets [N], got ", a.type(), " and ",
         target.type());
  }
  const Tensor likeness = cosine_similarity(a, b, {}, loc);
  const Tensor apart = relu(sub({likeness, loc}, options.margin), loc);
  return reduced(by_sign(target, sub({1, loc}, likeness), apart, loc), options.reduction, loc);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim,
                         Loc loc) {
  const Tensor difference = add({sub({a, loc}, b), loc}, eps);
  return norm(difference, p, {-1}, keepdim, loc);
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletOptions options, Loc loc) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.eps, false, loc);
  };
  return triplet_margin_with_distance_loss(
      anchor, positive, negative, {distance, options.margin, options.swap, options.reduction}, loc);
}
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletDistanceOptions& options, Loc loc) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function ? options.distance_function(a, b)
                                     : pairwise_distance(a, b, 2, 1e-6, false, loc);
  };
  Tensor apart = distance(anchor, negative);
  if (options.swap) apart = minimum({apart, loc}, distance(positive, negative));
  const Tensor behind = sub({distance(anchor, positive), loc}, apart);
  return reduced(relu(add({behind, loc}, options.margin), loc), options.reduction, loc);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginOptions& options, Loc loc) {
  require_defined(input, "multi_margin_loss", "the input", loc);
  require_defined(target, "multi_margin_loss", "the target", loc);
  if (input.rank() != 2 || target.rank() != 1 || is_floating(target.dtype())) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": multi_margin_loss: expected scores [N, C] and integer classes [N], got ", input.type(),
         " and ", target.type());
  }
  if (options.p != 1 && options.p != 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": multi_margin_loss: expected p 1 or 2, got ",
         options.p);
  }
  const Tensor at = target.unsqueeze(1, loc);
  const Tensor own = gather(input, 1, at, loc);
  Tensor behind = relu(add({sub({input, loc}, own), loc}, options.margin), loc);
  if (options.p == 2) behind = square(behind, loc);
  if (options.weight.defined())
    behind = mul({behind, loc}, index_select(options.weight, 0, at, loc));
  const Tensor classes = arange(Dim(0), input.size(1, loc), 1, {.dtype = target.dtype()}, loc);
  const Tensor others = where(Operand(classes, loc) == at, {0, loc}, behind);
  return reduced(others.mean({1}, false, loc), options.reduction, loc);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& given, LossOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "soft_margin_loss", loc);
  const Tensor products = neg(mul({target, loc}, input), loc);
  return reduced(softplus(products, loc), options.reduction, loc);
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, LossOptions options,
                              Loc loc) {
  require_defined(input, "multilabel_margin_loss", "the input", loc);
  require_defined(target, "multilabel_margin_loss", "the target", loc);
  const bool has_batch = input.rank() == 2;
  if ((!has_batch && input.rank() != 1) || target.rank() != input.rank() ||
      is_floating(target.dtype()) || target.dtype() == DType::kBool) {
    fail_at(loc, "multilabel_margin_loss: expected scores [N, C] or [C] and integer labels of ",
            "that shape, got ", input.type(), " and ", target.type());
  }
  const Tensor x = has_batch ? input : input.unsqueeze(0, loc);
  const Tensor labels =
      of_one_shape(x, has_batch ? target : target.unsqueeze(0, loc), "multilabel_margin_loss", loc)
          .to(DType::kInt64, loc);
  // Labels up to the first -1, and 0 in place of the others, which then do not count.
  const Tensor ends = cumsum((Operand(labels, loc) < 0).to(DType::kInt64, loc), 1, loc);
  const Tensor counts = Operand(ends, loc) == 0;
  const Tensor places = where(counts, {labels, loc}, 0);
  const Tensor is_label = Operand(scatter(zeros_like(labels, loc), 1, places,
                                          counts.to(DType::kInt64, loc), "max", loc),
                                  loc) != 0;
  const Tensor own = gather(x, 1, places, loc).unsqueeze(2, loc);
  const Tensor behind = relu(add({sub({x.unsqueeze(1, loc), loc}, own), loc}, 1), loc);
  const Tensor matters =
      Operand(counts.unsqueeze(2, loc), loc) && !Operand(is_label.unsqueeze(1, loc), loc);
  const Tensor sums = where(matters, {behind, loc}, 0).sum({1, 2}, false, loc);
  const Tensor classes = dim_tensor(x.size(1, loc), loc).to(x.dtype(), loc);
  const Tensor losses = div({sums, loc}, classes);
  return reduced(has_batch ? losses : losses.squeeze({0}, loc), options.reduction, loc);
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options, Loc loc) {
  const Tensor losses = bce_with_logits(
      input, target, {.weight = options.weight, .reduction = Reduction::kNone}, loc);
  return reduced(losses.mean({-1}, false, loc), options.reduction, loc);
}

}  // namespace sardonyx::eager::nn
