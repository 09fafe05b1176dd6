// One update of one parameter, as torch.optim computes it; sardonyx's own rows. What a run changes
// (learning rate, momentum, count of updates, running means) are tensors, so that a training step
// is a graph. Numbers among the attributes are sums of their parts, so that they have more digits
// than a float.
#include <algorithm>
#include <numeric>

#include "ir/autodiff/autodiff.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"
#include "ir/ops/training/optimizer.h"

namespace sardonyx::ops {

double number_of(const std::vector<float>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

std::vector<float> number_parts(double number) {
  const auto high = static_cast<float>(number);
  const auto low = static_cast<float>(number - static_cast<double>(high));
  return low == 0 ? std::vector{high} : std::vector{high, low};
}

namespace {

// Output k has the type of input inputs[k], which, but for the count of updates, must be like X.
// `momentum`: the index of that input, SIZE_MAX for a row without.
void infer_step(InferContext& c, std::initializer_list<size_t> inputs, size_t momentum) {
  constexpr size_t kRate = 2;
  require_single(c, kRate);
  if (c.has(momentum)) require_single(c, momentum);
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (!c.has(i) || i == kRate || i == momentum || c.dtype(i) == DType::kInt64) continue;
    const Dims *mine = c.shape(i), *wanted = c.shape(0);
    if (!mine || !wanted) continue;
    if (mine->size() != wanted->size()) c.fail_input(i, "must have the shape ", to_text(*wanted));
    for (size_t k = 0; k < mine->size(); ++k)
      c.merged((*mine)[k], (*wanted)[k], c.input_label(i));
  }
  size_t output = 0;
  for (const size_t input : inputs) {
    if (output >= c.output_count()) return;
    c.require(c.has(input), "output ", output, " is input ", input,
              "'s next value, which is missing");
    c.set(output++, c.type(input));
  }
}

// Arithmetic in one emitter, on values and numbers of x's type.
struct Arithmetic {
  Emitter& e;
  Val x;
  Val number(double value) const { return e.scalar_like(x, value); }
  Val add(const Val& a, const Val& b) const { return e.call("Add", {a, b}); }
  Val sub(const Val& a, const Val& b) const { return e.call("Sub", {a, b}); }
  Val mul(const Val& a, const Val& b) const { return e.call("Mul", {a, b}); }
  Val div(const Val& a, const Val& b) const { return e.call("Div", {a, b}); }
  Val scaled(const Val& a, double factor) const { return mul(a, number(factor)); }
  Val root(const Val& a) const { return e.call("Sqrt", {a}); }
  Val cast(const Val& a, DType dtype) const {
    return e.type(a).dtype == dtype ? a
                                    : e.call("Cast", {a}, {{"to", static_cast<int64_t>(dtype)}});
  }
  Val fitting(const Val& a) const { return cast(a, e.type(x).dtype); }
  // mean + share * (value - mean)
  Val moved(const Val& mean, const Val& value, const Val& share) const {
    return add(mean, mul(sub(value, mean), share));
  }
  Val moved(const Val& mean, const Val& value, double share) const {
    return moved(mean, value, number(share));
  }
  // A number that is an input of a call, else an attribute: in x's type.
  Val number_in(const BodyCall& c, size_t input, double attribute) const {
    return c.has(input) ? fitting(c.inputs[input]) : number(attribute);
  }
};

// A velocity where momentum may be 0: it rests then, as does the count, and the step is the
// gradient's, as without one.
struct RestingMomentum {
  const Arithmetic& a;
  Val is_zero;  // none where the momentum is an attribute
  RestingMomentum(const Arithmetic& arithmetic, const BodyCall& c, size_t input) : a(arithmetic) {
    if (!c.has(input)) return;
    const Val& momentum = c.inputs[input];
    is_zero = a.e.call("Equal", {momentum, a.e.scalar_like(momentum, 0)});
  }
  Val unless_zero(const Val& value, const Val& resting) const {
    return is_zero ? a.e.call("Where", {is_zero, resting, value}) : value;
  }
};

// The gradient that an update starts from.
Val effective_gradient(const Arithmetic& a, Val gradient, bool maximize, double decay) {
  if (maximize) gradient = a.e.call("Neg", {gradient});
  return decay == 0 ? gradient : a.add(gradient, a.scaled(a.x, decay));
}

Val next_count(Emitter& e, const Val& count) {
  return e.call("Add", {count, e.scalar(DType::kInt64, 1)});
}

// The last inputs of the rows with a momentum.
constexpr size_t kMomentumOfSgd = 5, kBeta1OfAdam = 7, kMomentumOfRmsprop = 6;

Vals sgd_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<SgdStepAttrs>();
  const Arithmetic a{e, c.inputs[0]};
  Val gradient = effective_gradient(a, c.inputs[1], attrs.maximize, number_of(attrs.weight_decay));
  const Val rate = a.fitting(c.inputs[2]);
  if (!c.has(4)) return {a.sub(a.x, a.mul(rate, gradient))};
  const Val momentum = a.number_in(c, kMomentumOfSgd, number_of(attrs.momentum));
  const RestingMomentum rest(a, c, kMomentumOfSgd);
  const double dampening = number_of(attrs.dampening);
  const Val count = c.inputs[3];
  Val added = gradient;
  if (dampening != 0) {
    // The first gradient is taken whole.
    const Val is_first = e.call("Equal", {count, e.scalar(DType::kInt64, 0)});
    added = e.call("Where", {is_first, gradient, a.scaled(gradient, 1 - dampening)});
  }
  const Val velocity = a.add(a.mul(c.inputs[4], momentum), added);
  const Val step = attrs.nesterov ? a.add(gradient, a.mul(velocity, momentum)) : velocity;
  return {a.sub(a.x, a.mul(rate, rest.unless_zero(step, gradient))),
          rest.unless_zero(next_count(e, count), count), rest.unless_zero(velocity, c.inputs[4])};
}

Vals adam_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<AdamStepAttrs>();
  const double decay = number_of(attrs.weight_decay);
  const double beta2 = number_of(attrs.beta2);
  Arithmetic a{e, c.inputs[0]};
  const Val rate = a.cast(c.inputs[2], DType::kDouble);
  Val gradient = effective_gradient(a, c.inputs[1], attrs.maximize, attrs.decoupled ? 0 : decay);
  if (attrs.decoupled && decay != 0) {
    const Val kept =
        a.sub(e.scalar(DType::kDouble, 1), a.mul(rate, e.scalar(DType::kDouble, decay)));
    a.x = a.mul(a.x, a.fitting(kept));
  }
  const Val count = next_count(e, c.inputs[3]);
  const Val one = e.scalar(DType::kDouble, 1);
  const Val beta1 = c.has(kBeta1OfAdam) ? a.cast(c.inputs[kBeta1OfAdam], DType::kDouble)
                                        : e.scalar(DType::kDouble, number_of(attrs.beta1));
  const Val mean = a.moved(c.inputs[4], gradient, a.fitting(a.sub(one, beta1)));
  const Val square =
      a.add(a.scaled(c.inputs[5], beta2), a.scaled(a.mul(gradient, gradient), 1 - beta2));
  const auto correction = [&](const Val& beta) {
    return a.sub(one, e.call("Pow", {beta, a.cast(count, DType::kDouble)}));
  };
  const Val size = a.fitting(e.call("Div", {rate, correction(beta1)}));
  const Val scale = a.fitting(e.call("Sqrt", {correction(e.scalar(DType::kDouble, beta2))}));
  const Val greatest = c.has(6) ? e.call("Max", {c.inputs[6], square}) : square;
  const Val divisor = a.add(a.div(a.root(greatest), scale), a.number(number_of(attrs.epsilon)));
  Vals out{a.sub(a.x, a.mul(size, a.div(mean, divisor))), count, mean, square};
  if (c.has(6)) out.push_back(greatest);
  return out;
}

Vals rmsprop_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<RmspropStepAttrs>();
  const Arithmetic a{e, c.inputs[0]};
  const double alpha = number_of(attrs.alpha);
  const Val gradient =
      effective_gradient(a, c.inputs[1], attrs.maximize, number_of(attrs.weight_decay));
  const Val rate = a.fitting(c.inputs[2]);
  const Val square =
      a.add(a.scaled(c.inputs[3], alpha), a.scaled(a.mul(gradient, gradient), 1 - alpha));
  Val spread = square, mean;
  if (c.has(5)) {
    mean = a.moved(c.inputs[5], gradient, 1 - alpha);
    spread = a.sub(square, a.mul(mean, mean));
  }
  const Val divisor = a.add(a.root(spread), a.number(number_of(attrs.epsilon)));
  const Val step = a.div(gradient, divisor);
  if (!c.has(4)) return {a.sub(a.x, a.mul(rate, step)), square};
  const Val momentum = a.number_in(c, kMomentumOfRmsprop, number_of(attrs.momentum));
  const RestingMomentum rest(a, c, kMomentumOfRmsprop);
  const Val velocity = a.add(a.mul(c.inputs[4], momentum), step);
  Vals out{a.sub(a.x, a.mul(rate, rest.unless_zero(velocity, step))), square,
           rest.unless_zero(velocity, c.inputs[4])};
  if (mean) out.push_back(mean);
  return out;
}

Vals adagrad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<AdagradStepAttrs>();
  const Arithmetic a{e, c.inputs[0]};
  const Val gradient =
      effective_gradient(a, c.inputs[1], attrs.maximize, number_of(attrs.weight_decay));
  const Val before = a.cast(c.inputs[3], DType::kDouble);
  const Val slowed = e.call(
      "Add", {e.scalar(DType::kDouble, 1),
              e.call("Mul", {before, e.scalar(DType::kDouble, number_of(attrs.rate_decay))})});
  const Val rate = a.fitting(e.call("Div", {a.cast(c.inputs[2], DType::kDouble), slowed}));
  const Val sum = a.add(c.inputs[4], a.mul(gradient, gradient));
  const Val divisor = a.add(a.root(sum), a.number(number_of(attrs.epsilon)));
  return {a.sub(a.x, a.mul(rate, a.div(gradient, divisor))), next_count(e, c.inputs[3]), sum};
}

// The step of X by the product of A and B, then the other inputs of the step.
template <typename Step>
Vals product_step_body(Emitter& e, const BodyCall& c, std::string_view step) {
  const auto& attrs = c.attrs<ProductStepAttrs<Step>>();
  Vals inputs{c.inputs[0],
              e.call("Gemm", {c.inputs[1], c.inputs[2]},
                     {{"transA", int64_t{attrs.transA}}, {"transB", int64_t{attrs.transB}}})};
  inputs.insert(inputs.end(), c.inputs.begin() + 3, c.inputs.end());
  return e.emit(op_named(step), inputs, Attrs(static_cast<const Step&>(attrs)), c.output_count);
}

Vals sgd_product_body(Emitter& e, const BodyCall& c) {
  return product_step_body<SgdStepAttrs>(e, c, "sardonyx::SgdStep");
}

Vals adam_product_body(Emitter& e, const BodyCall& c) {
  return product_step_body<AdamStepAttrs>(e, c, "sardonyx::AdamStep");
}

// Samples at the first and a later update. kinds: x, p tensor of X's shape, r rate, s count, b and
// 0 momentum, - nothing.
std::vector<Sample> step_samples(std::string_view kinds, const std::vector<AttrMap>& attrs,
                                 size_t outputs) {
  std::vector<Sample> samples;
  for (const AttrMap& one : attrs) {
    for (const int64_t count : {0, 3}) {
      Sample sample{.attrs = one, .outputs = outputs};
      for (const char kind : kinds) {
        if (kind == 'r')
          sample.inputs.push_back({.value = Tensor::scalar<double>(0.1)});
        else if (kind == 's')
          sample.inputs.push_back({.value = Tensor::scalar<int64_t>(count)});
        else if (kind == 'b' || kind == '0')
          sample.inputs.push_back({.value = Tensor::scalar<double>(kind == 'b' ? 0.6 : 0)});
        else if (kind == '-')
          sample.inputs.push_back({.omitted = true});
        else
          sample.inputs.push_back({.shape = {3, 5}, .low = kind == 'x' ? -2.0 : 0.5});
      }
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

void append(std::vector<Sample>& samples, std::vector<Sample> more) {
  samples.insert(samples.end(), more.begin(), more.end());
}

std::vector<Sample> sgd_samples() {
  const AttrMap decay{{"weight_decay", std::vector<float>{0.1f}}, {"maximize", int64_t{1}}};
  AttrMap momentum{{"momentum", std::vector<float>{0.75f}},
                   {"dampening", std::vector<float>{0.5f}}};
  AttrMap nesterov{{"momentum", std::vector<float>{0.75f}}, {"nesterov", int64_t{1}}};
  std::vector<Sample> samples = step_samples("xxr", {{}, decay}, 1);
  append(samples, step_samples("xxrsx", {momentum, nesterov}, 3));
  append(samples, step_samples("xxrsxb", {momentum, nesterov}, 3));
  append(samples, step_samples("xxrsx0", {momentum, nesterov}, 3));
  return samples;
}
std::vector<Sample> adam_samples() {
  const AttrMap decay{{"weight_decay", std::vector<float>{0.1f}}};
  const AttrMap decoupled{{"weight_decay", std::vector<float>{0.1f}}, {"decoupled", int64_t{1}}};
  std::vector<Sample> samples = step_samples("xxrsxp", {{}, decay, decoupled}, 4);
  append(samples, step_samples("xxrsxpp", {{{"maximize", int64_t{1}}}}, 5));
  append(samples, step_samples("xxrsxp-b", {decoupled}, 4));
  append(samples, step_samples("xxrsxppb", {{}}, 5));
  return samples;
}
std::vector<Sample> rmsprop_samples() {
  std::vector<Sample> samples =
      step_samples("xxrp", {{}, {{"weight_decay", std::vector<float>{0.1f}}}}, 2);
  const AttrMap momentum{{"momentum", std::vector<float>{0.75f}}};
  append(samples, step_samples("xxrpx", {momentum}, 3));
  append(samples, step_samples("xxrpx-b", {momentum}, 3));
  append(samples, step_samples("xxrpx-0", {momentum}, 3));
  // The mean of gradients as small as their root mean square allows.
  for (Sample& sample : step_samples("xxrpxx", {momentum}, 4)) {
    sample.inputs[3].low = 5, sample.inputs[3].high = 6;
    samples.push_back(sample);
  }
  return samples;
}
std::vector<Sample> adagrad_samples() {
  return step_samples("xxrsp", {{}, {{"rate_decay", std::vector<float>{0.1f}}}}, 3);
}

// `steps`: samples of a step of [3, 5] without its gradient.
std::vector<Sample> with_product(const std::vector<Sample>& steps) {
  std::vector<Sample> samples;
  for (Sample sample : steps) {
    const bool transposed = samples.size() % 2 != 0;
    sample.inputs.insert(sample.inputs.begin() + 1,
                         {SampleInput{.shape = transposed ? Shape{4, 3} : Shape{3, 4}},
                          SampleInput{.shape = transposed ? Shape{5, 4} : Shape{4, 5}}});
    sample.attrs["transA"] = sample.attrs["transB"] = int64_t{transposed};
    samples.push_back(std::move(sample));
  }
  return samples;
}
std::vector<Sample> sgd_product_samples() {
  const AttrMap decay{{"weight_decay", std::vector<float>{0.1f}}, {"maximize", int64_t{1}}};
  const AttrMap nesterov{{"momentum", std::vector<float>{0.75f}}, {"nesterov", int64_t{1}}};
  std::vector<Sample> samples = with_product(step_samples("xr", {{}, decay}, 1));
  append(samples, with_product(step_samples("xrsx", {nesterov}, 3)));
  append(samples, with_product(step_samples("xrsxb", {nesterov}, 3)));
  append(samples, with_product(step_samples("xrsx0", {nesterov}, 3)));
  return samples;
}
std::vector<Sample> adam_product_samples() {
  const AttrMap decoupled{{"weight_decay", std::vector<float>{0.1f}}, {"decoupled", int64_t{1}}};
  std::vector<Sample> samples = with_product(step_samples("xrsxp", {decoupled}, 4));
  append(samples, with_product(step_samples("xrsxpp", {{}}, 5)));
  append(samples, with_product(step_samples("xrsxp-b", {{}}, 4)));
  return samples;
}

OpDef step_row(std::string_view name, std::string_view signature, const AttrSchema* attrs,
               void (*infer)(InferContext&), Vals (*body)(Emitter&, const BodyCall&),
               std::vector<Sample> (*samples)()) {
  constexpr DTypeSet kReals{DType::kFloat, DType::kDouble};
  return {.name = name,
          .domain = "sardonyx",
          .signature = signature,
          .types = {{"T", kReals}, {"R", kReals}},
          .attrs = attrs,
          .infer = infer,
          .body = body,
          .samples = samples};
}

}  // namespace

std::span<const OpDef> optimizer_ops() {
  static const OpDef rows[] = {
      step_row(
          "SgdStep",
          "(X: T, G: T, rate: R, count?: int64, V?: T, momentum?: R) -> "
          "(X2: T, count2?: int64, V2?: T)",
          attr_schema<SgdStepAttrs>(),
          [](InferContext& c) {
            infer_step(c, {0, 3, 4}, kMomentumOfSgd);
          },
          sgd_body, sgd_samples)
          .documented("One step of SGD with momentum as torch.optim.SGD takes it: the new X and "
                      "running mean, shaped like X, which rests where the input momentum is 0."),
      step_row(
          "AdamStep",
          "(X: T, G: T, rate: R, count: int64, M: T, V: T, W?: T, beta1?: R) -> "
          "(X2: T, count2: int64, M2: T, V2: T, W2?: T)",
          attr_schema<AdamStepAttrs>(),
          [](InferContext& c) {
            infer_step(c, {0, 3, 4, 5, 6}, kBeta1OfAdam);
          },
          adam_body, adam_samples)
          .documented("One step of Adam or AdamW as torch.optim takes it: the new X, its moments "
                      "and the count of updates."),
      step_row(
          "RmspropStep",
          "(X: T, G: T, rate: R, V: T, B?: T, M?: T, momentum?: R) -> "
          "(X2: T, V2: T, B2?: T, M2?: T)",
          attr_schema<RmspropStepAttrs>(),
          [](InferContext& c) {
            infer_step(c, {0, 3, 4, 5}, kMomentumOfRmsprop);
          },
          rmsprop_body, rmsprop_samples)
          .documented(
              "One step of torch.optim.RMSprop: the new X and its running means, shaped like X."),
      step_row(
          "AdagradStep",
          "(X: T, G: T, rate: R, count: int64, V: T) -> (X2: T, count2: int64, V2: T)",
          attr_schema<AdagradStepAttrs>(),
          [](InferContext& c) {
            infer_step(c, {0, 3, 4}, SIZE_MAX);
          },
          adagrad_body, adagrad_samples)
          .documented("One step of torch.optim.Adagrad: the new X and the sum of squared "
                      "gradients, shaped like X."),
      step_row("SgdProductStep",
               "(X: T, A: T, B: T, rate: R, count?: int64, V?: T, momentum?: R) -> "
               "(X2: T, count2?: int64, V2?: T)",
               attr_schema<ProductStepAttrs<SgdStepAttrs>>(), infer_by_body, sgd_product_body,
               sgd_product_samples)
          .documented(
              "SgdStep whose gradient is the matrix product A x B, which is never written."),
      step_row("AdamProductStep",
               "(X: T, A: T, B: T, rate: R, count: int64, M: T, V: T, W?: T, beta1?: R) -> "
               "(X2: T, count2: int64, M2: T, V2: T, W2?: T)",
               attr_schema<ProductStepAttrs<AdamStepAttrs>>(), infer_by_body, adam_product_body,
               adam_product_samples)
          .documented(
              "AdamStep whose gradient is the matrix product A x B, which is never written."),
  };
  return rows;
}

}  // namespace sardonyx::ops
