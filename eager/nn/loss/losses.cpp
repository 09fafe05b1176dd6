#include "eager/nn/loss/losses.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/fusing_emitter.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/loss_parts.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {

Tensor reduced(const Tensor& losses, Reduction reduction, const Loc& loc) {
  if (reduction == Reduction::kNone) return losses;
  return reduction == Reduction::kSum ? losses.sum({}, false, loc) : losses.mean({}, false, loc);
}

namespace {

void check_defined(const Tensor& input, const Tensor& target, const char* name, const Loc& loc) {
  require_defined(input, name, "the input", loc);
  require_defined(target, name, "the target", loc);
}

// A loss of each element, and the gradients of the input and the target by that of the loss.
struct ElementLoss {
  using Function = std::function<Tensor(const Tensor& input, const Tensor& target)>;
  using Gradient =
      std::function<Tensor(const Tensor& d, const Tensor& input, const Tensor& target)>;
  Function values;
  Gradient input_gradient;
  Gradient target_gradient = nullptr;  // nullptr: the negative of the input's
};

// The losses; their gradient takes few ops where no trace records those of the losses.
Tensor with_gradients(const Tensor& input, const Tensor& target, const ElementLoss& loss,
                      const Loc& loc) {
  const DType dtype = input.dtype();
  const bool is_alike = dtype == target.dtype() && is_floating(dtype);
  if (TraceContext::active() || !is_alike || Autocast::current() != DType::kUndefined)
    return loss.values(input, target);
  using Tensors = std::vector<Tensor>;
  const auto forward = [=](const Tensors& in) { return Tensors{loss.values(in[0], in[1])}; };
  const auto backward = [=](const Tensors& in, const Tensors&, const Tensors& d) {
    const bool is_odd = !loss.target_gradient;
    Tensor d_input, d_target;
    if (in[0].requires_grad() || is_odd) d_input = loss.input_gradient(d[0], in[0], in[1]);
    if (in[1].requires_grad())
      d_target = is_odd ? neg(d_input, loc) : loss.target_gradient(d[0], in[0], in[1]);
    return Tensors{in[0].requires_grad() ? d_input : Tensor(), d_target};
  };
  return apply(CustomFunction{forward, backward}, {input, target}, loc)[0];
}

// The target. Where a compiled function learns sizes from data, a split into one part of the wanted
// size refuses others when it runs: the loss itself would stretch a size of 1.
Tensor refusing_other_sizes(const Dims& wanted, const Tensor& target, const Loc& loc) {
  TraceContext* frame = TraceContext::active();
  if (!frame || frame->root().kind() != TraceContext::Kind::kStates) return target;
  Tensor checked = target;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (eager::detail::sizes_agree(wanted[i], target.shape(loc)[i], loc, /*unknown=*/false))
      continue;
    checked = split(checked, Dims{wanted[i]}, static_cast<int64_t>(i), loc)[0];
  }
  return checked;
}

}  // namespace

Tensor of_one_shape(const Tensor& input, const Tensor& target, const char* name, const Loc& loc) {
  check_defined(input, target, name, loc);
  const Dims a = input.shape(loc), b = target.shape(loc);
  bool fits = a.size() == b.size();
  for (size_t i = 0; fits && i < a.size(); ++i)
    fits = eager::detail::sizes_agree(a[i], b[i], loc);
  if (fits) return refusing_other_sizes(a, target, loc);
  const bool are_classes = target.rank() + 1 == input.rank() || target.rank() == 0;
  fail_at(loc, name, ": expected input and target of one shape, got ", input.type(), " and ",
          target.type(),
          std::string_view(name) == "cross_entropy" && are_classes
              ? "; classes must be integers: target.to(DType::kInt64)"
              : "");
}

namespace {

const char* name_of(Reduction reduction) {
  return reduction == Reduction::kMean ? "mean" : reduction == Reduction::kSum ? "sum" : "none";
}

Tensor number(double value, DType dtype) {
  return literal(full({}, value, {.dtype = dtype}).data());
}

// [C] as it broadcasts to [N, C, d...].
Tensor along_channels(const Tensor& weight, size_t rank, const Loc& loc) {
  Dims shape(rank, 1);
  shape[1] = weight.size(0, loc);
  return weight.reshape(shape, loc);
}

// A sample without a batch gets one, as in torch.
struct Batched {
  Tensor input, target;
  bool is_single;
};
Batched batched(const Tensor& input, const Tensor& target, const Loc& loc) {
  if (input.rank() > 1) return {input, target, false};
  return {input.unsqueeze(0, loc), target.unsqueeze(0, loc), true};
}

Tensor soft_cross_entropy(const Tensor& input, const Tensor& given,
                          const CrossEntropyOptions& options, const Loc& loc) {
  const Tensor target = of_one_shape(input, given, "cross_entropy", loc);
  const Tensor logs = log_softmax(input, 1, loc);
  Tensor goal = target;
  if (options.label_smoothing > 0) {
    const Tensor classes = dim_tensor(input.size(1, loc), loc).to(input.dtype(), loc);
    goal = add({mul({target, loc}, 1 - options.label_smoothing), loc},
               div({options.label_smoothing, loc}, classes));
  }
  Tensor products = mul({logs, loc}, goal);
  if (options.weight.defined())
    products = mul({products, loc}, along_channels(options.weight, input.rank(), loc));
  const Tensor losses = neg(products.sum({1}, false, loc), loc);
  return reduced(losses, options.reduction, loc);
}

// (1 - s) * nll + s / C * sum over classes, ignored targets left out.
Tensor smoothed_cross_entropy(const Tensor& input, const Tensor& target,
                              const CrossEntropyOptions& options, const Loc& loc) {
  const Tensor logs = log_softmax(input, 1, loc);
  const Tensor counts = Operand(target, loc) != Operand(options.ignore_index, loc);
  const Tensor classes = where(counts, {target, loc}, int64_t{0});
  Tensor picked = neg(gather(logs, 1, classes.unsqueeze(1, loc), loc).squeeze({1}, loc), loc);
  Tensor shares = counts.to(input.dtype(), loc), all = logs;
  if (options.weight.defined()) {
    shares = mul({shares, loc}, index_select(options.weight, 0, classes, loc));
    all = mul({logs, loc}, along_channels(options.weight, input.rank(), loc));
    picked = mul({picked, loc}, shares);
  } else {
    picked = mul({picked, loc}, shares);
  }
  const Tensor zero = number(0, input.dtype());
  const Tensor smooth = where(counts, {neg(all.sum({1}, false, loc), loc), loc}, zero);
  const Tensor count = dim_tensor(input.size(1, loc), loc).to(input.dtype(), loc);
  const Tensor losses = add({mul({picked, loc}, 1 - options.label_smoothing), loc},
                            mul({smooth, loc}, div({options.label_smoothing, loc}, count)));
  if (options.reduction == Reduction::kMean) {
    return div({losses.sum({}, false, loc), loc}, shares.sum({}, false, loc));
  }
  return reduced(losses, options.reduction, loc);
}

Tensor class_loss(const OpDef& op, const Tensor& input, const Tensor& target, const Tensor& weight,
                  int64_t ignore_index, Reduction reduction, const Loc& loc) {
  const AttrMap attrs{{"ignore_index", ignore_index},
                      {"reduction", std::string(name_of(reduction))}};
  const Tensor inputs[] = {input, target, weight};
  return apply_many(op, std::span(inputs, weight.defined() ? 3 : 2), attrs, 1, loc)[0];
}

void check_classes(const Tensor& target, const char* name, const Loc& loc) {
  if (target.dtype() == DType::kInt64 || target.dtype() == DType::kInt32) return;
  fail_at(loc, name, ": expected a target of int64 or int32 classes, got ", target.type(),
          "; convert it with to(DType::kInt64)");
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& given, LossOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "mse_loss", loc);
  return reduced(square(sub({input, loc}, target), loc), options.reduction, loc);
}
Tensor l1_loss(const Tensor& input, const Tensor& given, LossOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "l1_loss", loc);
  return reduced(abs(sub({input, loc}, target), loc), options.reduction, loc);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1Options options, Loc loc) {
  if (options.beta < 0) fail_at(loc, "smooth_l1_loss: expected beta >= 0, got ", options.beta);
  if (options.beta == 0) return l1_loss(input, target, {options.reduction}, loc);
  const Tensor losses = huber_loss(input, target, {options.beta, Reduction::kNone}, loc);
  const Tensor scaled = options.beta == 1 ? losses : mul({losses, loc}, 1 / options.beta);
  return reduced(scaled, options.reduction, loc);
}
// With m = min(|d|, delta): m * (|d| - m/2) is the square within delta and the line beyond.
Tensor huber_loss(const Tensor& input, const Tensor& given, HuberOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "huber_loss", loc);
  if (!(options.delta > 0)) fail_at(loc, "huber_loss: expected delta > 0, got ", options.delta);
  const double delta = options.delta;
  const auto values = [=](const Tensor& a, const Tensor& b) {
    const auto formula = [&](const ops::Term& x, const ops::Term& y) {
      const ops::Term distance = ops::apply("Abs", x - y);
      const ops::Term inner = ops::apply("Min", distance, distance.number(delta));
      return inner * (distance - inner * 0.5);
    };
    if (const auto found = fused(loc, formula, a, b)) return *found;
    const Tensor distance = abs(sub({a, loc}, b), loc);
    const Tensor inner = clamp(distance, {}, delta, loc);
    return mul({inner, loc}, sub({distance, loc}, mul({inner, loc}, 0.5)));
  };
  const auto gradient = [=](const Tensor& d, const Tensor& a, const Tensor& b) {
    const auto formula = [&](const ops::Term& slope, const ops::Term& x, const ops::Term& y) {
      const ops::Term below = ops::apply("Min", x - y, x.number(delta));
      return slope * ops::apply("Max", below, x.number(-delta));
    };
    if (const auto found = fused(loc, formula, d, a, b)) return *found;
    return mul({d, loc}, clamp(sub({a, loc}, b), -delta, delta, loc));
  };
  return reduced(with_gradients(input, target, {values, gradient}, loc), options.reduction, loc);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options,
                     Loc loc) {
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    fail_at(loc, "cross_entropy: expected label_smoothing within [0, 1], got ",
            options.label_smoothing);
  }
  check_defined(input, target, "cross_entropy", loc);
  const Batched both = batched(input, target, loc);
  Tensor loss;
  if (is_floating(target.dtype())) {
    loss = soft_cross_entropy(both.input, both.target, options, loc);
  } else {
    check_classes(target, "cross_entropy", loc);
    static const OpDef& op = op_named("SoftmaxCrossEntropyLoss");
    loss = options.label_smoothing > 0
               ? smoothed_cross_entropy(both.input, both.target, options, loc)
               : class_loss(op, both.input, both.target, options.weight, options.ignore_index,
                            options.reduction, loc);
  }
  return both.is_single && options.reduction == Reduction::kNone ? loss.squeeze({0}, loc) : loss;
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options,
                Loc loc) {
  check_defined(log_probabilities, target, "nll_loss", loc);
  check_classes(target, "nll_loss", loc);
  static const OpDef& op = op_named("NegativeLogLikelihoodLoss");
  const Batched both = batched(log_probabilities, target, loc);
  const Tensor loss = class_loss(op, both.input, both.target, options.weight, options.ignore_index,
                                 options.reduction, loc);
  return both.is_single && options.reduction == Reduction::kNone ? loss.squeeze({0}, loc) : loss;
}

// (1 - t) x + (1 + (p - 1) t) * log(1 + exp(-x)), the last in a form that does not overflow.
Tensor bce_with_logits(const Tensor& logits, const Tensor& given, const BceOptions& options,
                       Loc loc) {
  const Tensor target = of_one_shape(logits, given, "bce_with_logits", loc);
  const Tensor& positive = options.pos_weight;
  const auto values = [=](const Tensor& x, const Tensor& y) {
    const Tensor tail =
        add({relu(neg(x, loc), loc), loc}, log1p(exp(neg(abs(x, loc), loc), loc), loc));
    const Tensor linear_part = mul({sub({1.0, loc}, y), loc}, x);
    if (!positive.defined()) return add({linear_part, loc}, tail);
    const Tensor factor = add({1.0, loc}, mul({sub({positive, loc}, 1.0), loc}, y));
    return add({linear_part, loc}, mul({factor, loc}, tail));
  };
  const auto gradient = [=](const Tensor& d, const Tensor& x, const Tensor& y) {
    return mul({d, loc}, sub({sigmoid(x, loc), loc}, y));
  };
  const auto target_gradient = [=](const Tensor& d, const Tensor& x, const Tensor&) {
    return mul({d, loc}, neg(x, loc));
  };
  Tensor losses = positive.defined()
                      ? values(logits, target)
                      : with_gradients(logits, target, {values, gradient, target_gradient}, loc);
  if (options.weight.defined()) losses = mul({losses, loc}, options.weight);
  return reduced(losses, options.reduction, loc);
}

Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& given,
                            const BceOptions& options, Loc loc) {
  const Tensor target = of_one_shape(probabilities, given, "binary_cross_entropy", loc);
  const Tensor low = clamp(log(probabilities, loc), -100, {}, loc);
  const Tensor high = clamp(log(sub({1.0, loc}, probabilities), loc), -100, {}, loc);
  Tensor losses =
      neg(add({mul({target, loc}, low), loc}, mul({sub({1.0, loc}, target), loc}, high)), loc);
  if (options.weight.defined()) losses = mul({losses, loc}, options.weight);
  return reduced(losses, options.reduction, loc);
}

Tensor kl_div(const Tensor& input, const Tensor& given, KlOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "kl_div", loc);
  Tensor losses;
  if (options.log_target) {
    losses = mul({exp(target, loc), loc}, sub({target, loc}, input));
  } else {
    // 0 log 0 = 0: the logarithm is taken of ones there.
    const Tensor is_positive = Operand(target, loc) > 0.0;
    const Tensor safe = where(is_positive, {target, loc}, 1.0);
    losses = sub({mul({target, loc}, log(safe, loc)), loc}, mul({target, loc}, input));
  }
  if (!options.batch_mean) return reduced(losses, options.reduction, loc);
  const Tensor count = dim_tensor(input.size(0, loc), loc).to(input.dtype(), loc);
  return div({losses.sum({}, false, loc), loc}, count);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, CosineOptions options, Loc loc) {
  const Tensor dot = mul({a, loc}, b).sum({options.axis}, false, loc);
  const double least = options.eps * options.eps;
  const Tensor a_square = clamp(square(a, loc).sum({options.axis}, false, loc), least, {}, loc);
  const Tensor b_square = clamp(square(b, loc).sum({options.axis}, false, loc), least, {}, loc);
  return div({dot, loc}, sqrt(mul({a_square, loc}, b_square), loc));
}

}  // namespace sardonyx::eager::nn
