#include <cmath>
#include <numbers>

#include "ir/core/strides.h"
#include "ir/ops/gradient/function_bodies.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_values.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/elementwise.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

using Reference = void (*)(const KernelCall&);

// Whatever the function, a NaN stays a NaN: comparisons are written so that it takes the branch
// that returns x.
constexpr auto kRelu = [](auto x) { return x <= 0 ? decltype(x){0} : x; };

struct LeakyReluAttrs {
  float alpha = 0.01f;
  static auto fields() { return std::tuple{field("alpha", &LeakyReluAttrs::alpha)}; }
};
// Attributes of Elu, Celu, ThresholdedRelu and Swish.
struct AlphaAttrs {
  float alpha = 1;
  static auto fields() { return std::tuple{field("alpha", &AlphaAttrs::alpha)}; }
};
struct SeluAttrs {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
  static auto fields() {
    return std::tuple{field("alpha", &SeluAttrs::alpha), field("gamma", &SeluAttrs::gamma)};
  }
};
struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
  static auto fields() {
    return std::tuple{field("alpha", &HardSigmoidAttrs::alpha),
                      field("beta", &HardSigmoidAttrs::beta)};
  }
};
struct HardSigmoidGradAttrs {
  float alpha = 0.2f;
  static auto fields() { return std::tuple{field("alpha", &HardSigmoidGradAttrs::alpha)}; }
};
struct GeluAttrs {
  std::string approximate = "none";
  static auto fields() { return std::tuple{field("approximate", &GeluAttrs::approximate)}; }
};
struct ShrinkAttrs {
  float bias = 0;
  float lambd = 0.5f;
  static auto fields() {
    return std::tuple{field("bias", &ShrinkAttrs::bias), field("lambd", &ShrinkAttrs::lambd)};
  }
};

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}
template <typename T>
T softplus(T x) {
  return (x <= 0 ? T{0} : x) + std::log1p(std::exp(-std::fabs(x)));
}
template <typename T>
T clamped_to_unit(T x) {
  return x <= 0 ? T{0} : x >= 1 ? T{1} : x;
}

void leaky_relu(const KernelCall& call) {
  const float alpha = call.attrs<LeakyReluAttrs>().alpha;
  map_floats(call, [=](auto x) { return x < 0 ? alpha * x : x; });
}

void prelu(const KernelCall& call) {
  map_numbers(call, [](auto x, auto slope) -> decltype(x) {
    using T = decltype(x);
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>) {
      const auto product = static_cast<uint64_t>(x) * static_cast<uint64_t>(slope);
      return x < 0 ? static_cast<T>(product) : x;
    } else {
      return x < 0 ? slope * x : x;
    }
  });
}

// The slope is broadcast to X, never the other way round.
void infer_prelu(InferContext& c) {
  same_as_first(c);
  const Dims *x = c.shape(0), *slope = c.shape(1);
  if (!x || !slope) return;
  c.require(slope->size() <= x->size() && try_broadcast(*x, *slope, c.fresh_symbol()), "slope ",
            to_text(*slope), " does not broadcast to X ", to_text(*x));
  for (size_t i = 1; i <= slope->size(); ++i) {
    const Dim& from = (*slope)[slope->size() - i];
    const Dim& to = (*x)[x->size() - i];
    c.require(!to.is_known() || !from.is_known() || from == 1 || from == to, "slope ",
              to_text(*slope), " does not broadcast to X ", to_text(*x));
  }
}

void elu(const KernelCall& call) {
  const float alpha = call.attrs<AlphaAttrs>().alpha;
  map_floats(call, [=](auto x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void selu(const KernelCall& call) {
  const float alpha = call.attrs<SeluAttrs>().alpha;
  const float gamma = call.attrs<SeluAttrs>().gamma;
  map_floats(call, [=](auto x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}

void celu(const KernelCall& call) {
  const float alpha = call.attrs<AlphaAttrs>().alpha;
  map_floats(call, [=](auto x) {
    const auto curve = alpha * std::expm1(x / alpha);
    return (x <= 0 ? decltype(x){0} : x) + (curve >= 0 ? decltype(x){0} : curve);
  });
}

void hard_sigmoid(const KernelCall& call) {
  const float alpha = call.attrs<HardSigmoidAttrs>().alpha;
  const float beta = call.attrs<HardSigmoidAttrs>().beta;
  map_floats(call, [=](auto x) { return clamped_to_unit(alpha * x + beta); });
}

constexpr auto kHardSwish = [](auto x) { return x * clamped_to_unit(x / 6 + decltype(x)(0.5)); };

void thresholded_relu(const KernelCall& call) {
  const float alpha = call.attrs<AlphaAttrs>().alpha;
  map_floats(call, [=](auto x) { return x > alpha ? x : decltype(x){0}; });
}

void swish(const KernelCall& call) {
  const float alpha = call.attrs<AlphaAttrs>().alpha;
  map_floats(call, [=](auto x) { return x * sigmoid(alpha * x); });
}

void infer_gelu(InferContext& c) {
  const std::string& kind = c.attrs<GeluAttrs>().approximate;
  c.require(kind == "none" || kind == "tanh", "approximate: expected none or tanh, got ", kind);
  same_as_first(c);
}

void gelu(const KernelCall& call) {
  if (call.attrs<GeluAttrs>().approximate == "tanh") {
    map_floats(call, [](auto x) {
      using T = decltype(x);
      const T inner = std::sqrt(2 / std::numbers::pi_v<T>) * (x + T(0.044715) * x * x * x);
      return T(0.5) * x * (1 + std::tanh(inner));
    });
  } else {
    map_floats(call, [](auto x) {
      using T = decltype(x);
      return T(0.5) * x * std::erfc(-x / std::numbers::sqrt2_v<T>);
    });
  }
}

// Integers are shrunk as doubles and truncated.
void shrink(const KernelCall& call) {
  const float bias = call.attrs<ShrinkAttrs>().bias;
  const float lambd = call.attrs<ShrinkAttrs>().lambd;
  const auto shrunk = [=](auto x) -> decltype(x) {
    if (x < -lambd) return x + bias;
    if (x > lambd) return x - bias;
    return x == x ? 0 : x;
  };
  if (is_integer(call.inputs[0].dtype))
    map_with<double>(call, shrunk);
  else
    map_floats(call, shrunk);
}

std::optional<Dim> clip_both(std::span<const Dim> x) {
  return sardonyx::min(sardonyx::max(x[0], x[1]), x[2]);
}
std::optional<Dim> clip_below(std::span<const Dim> x) {
  return sardonyx::max(x[0], x[1]);
}
std::optional<Dim> clip_above(std::span<const Dim> x) {
  return sardonyx::min(x[0], x[1]);
}

void infer_clip(InferContext& c) {
  same_as_first(c);
  for (const size_t bound : {1, 2}) {
    if (c.has(bound)) require_single(c, bound);
  }
  if (c.has(1) && c.has(2))
    propagate_values(c, clip_both);
  else if (c.has(1))
    propagate_values(c, clip_below);
  else if (c.has(2))
    propagate_values(c, clip_above);
}

template <typename C>
std::optional<C> scalar_of(const KernelCall& call, size_t input) {
  if (!call.has(input)) return std::nullopt;
  C value;
  load_numbers(call.inputs[input].dtype, call.inputs[input].raw, 0, 1, 1, &value);
  return value;
}

// As numpy.clip: where min > max, max wins.
void clip(const KernelCall& call) {
  const KernelCall data{call.op, call.raw_attrs, call.inputs.first(1), call.outputs};
  dispatch_domain(call.inputs[0].dtype, [&]<typename C>() {
    const std::optional<C> low = scalar_of<C>(call, 1), high = scalar_of<C>(call, 2);
    map_with<C>(data, [=](C x) {
      if (low && x < *low) x = *low;
      return high && x > *high ? *high : x;
    });
  });
}

// ---- Gradients. Where the result says as much as the input, rules use it: the input need not be
// kept.

using Gradient = Vals (*)(Emitter&, const GradCall&);

Term logistic(const Term& x) {
  return apply("Sigmoid", x);
}

// At 0 the slope of the left side, as torch has it.
Vals leaky_relu_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  return {where(input(e, c, 0) > 0, d, d * c.attrs<LeakyReluAttrs>().alpha)};
}

Vals prelu_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), d = d_output(e, c, 0);
  const Term positive = x > 0;
  return {c.wants(0) ? where(positive, d, d * input(e, c, 1)) : Val(),
          c.wants(1) ? where(positive, 0, d * x) : Val()};
}

Vals elu_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  const Term curve = output(e, c, 0) + c.attrs<AlphaAttrs>().alpha;
  return {where(input(e, c, 0) > 0, d, d * curve)};
}

Vals selu_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<SeluAttrs>();
  const Term d = d_output(e, c, 0);
  const Term curve = output(e, c, 0) + double{attrs.alpha} * attrs.gamma;
  return {where(input(e, c, 0) <= 0, d * curve, d * attrs.gamma)};
}

Vals celu_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  const Term curve = output(e, c, 0) / c.attrs<AlphaAttrs>().alpha + 1;
  return {where(input(e, c, 0) < 0, d * curve, d)};
}

Vals hard_sigmoid_gradient(Emitter& e, const GradCall& c) {
  return {apply("sardonyx::HardSigmoidGrad", d_output(e, c, 0), output(e, c, 0),
                {{"alpha", c.attrs<HardSigmoidAttrs>().alpha}})};
}

constexpr auto kHardSwishGradient = [](Term d, Term x, Term) {
  return apply("sardonyx::HardSwishGrad", d, x);
};

constexpr auto kMishGradient = [](Term d, Term x, Term) {
  const Term t = apply("Tanh", apply("Softplus", x));
  return d * (t + x * logistic(x) * (1 - square(t)));
};

Vals thresholded_relu_gradient(Emitter& e, const GradCall& c) {
  return {where(input(e, c, 0) > c.attrs<AlphaAttrs>().alpha, d_output(e, c, 0), 0)};
}

Vals swish_gradient(Emitter& e, const GradCall& c) {
  const double alpha = c.attrs<AlphaAttrs>().alpha;
  const Term x = input(e, c, 0);
  const Term s = logistic(alpha == 1 ? x : x * alpha);
  const Term curved = output(e, c, 0) * (1 - s);
  return {d_output(e, c, 0) * (s + (alpha == 1 ? curved : curved * alpha))};
}

// The derivative of x * F(x) is F(x) + x * F'(x), F being the normal distribution or its
// approximation by tanh.
Vals gelu_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), d = d_output(e, c, 0);
  if (c.attrs<GeluAttrs>().approximate == "tanh") {
    const double scale = std::sqrt(2 / std::numbers::pi);
    const Term squared = square(x);
    const Term t = apply("Tanh", x * (squared * (0.044715 * scale) + scale));
    const Term inner = squared * (3 * 0.044715 * scale / 2) + scale / 2;
    return {d * (t * 0.5 + 0.5 + x * (1 - square(t)) * inner)};
  }
  const Term area = apply("Erf", x * (1 / std::numbers::sqrt2)) * 0.5 + 0.5;
  const double peak = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {d * (area + x * (apply("Exp", square(x) * -0.5) * peak))};
}

Vals shrink_gradient(Emitter& e, const GradCall& c) {
  const double lambd = c.attrs<ShrinkAttrs>().lambd;
  const Term x = input(e, c, 0);
  return {where(apply("Or", x<-lambd, x> lambd), d_output(e, c, 0), 0)};
}

// Bounds take the gradient of what they hold back; of two that cross, the upper one holds.
Vals clip_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), d = d_output(e, c, 0);
  Term passed = d;
  Vals gradients(c.inputs.size());
  if (c.has(2)) {
    const Term low = c.has(1) ? apply("Max", x, input(e, c, 1)) : x;
    const Term above = low > input(e, c, 2);
    if (c.wants(2)) gradients[2] = where(above, passed, 0);
    passed = where(above, 0, passed);
  }
  if (c.has(1)) {
    const Term below = x < input(e, c, 1);
    if (c.wants(1)) gradients[1] = where(below, passed, 0);
    passed = where(below, 0, passed);
  }
  gradients[0] = passed;
  return gradients;
}

std::vector<Sample> around_zero() {
  return unary_float_samples(-4, 4);
}

template <int thousandths_alpha>
std::vector<Sample> with_alpha() {
  return joined(around_zero(),
                with_attributes(around_zero(), {{"alpha", thousandths_alpha / 1000.0f}}));
}

std::vector<Sample> gelu_samples() {
  return joined(around_zero(),
                with_attributes(around_zero(), {{"approximate", std::string("tanh")}}));
}

std::vector<Sample> shrink_samples() {
  const auto with = [](float lambd) {
    return with_attributes(around_zero(), {{"lambd", lambd}, {"bias", 1.25f}});
  };
  return joined(around_zero(), joined(with(1.5f), with(-0.5f)));
}

std::vector<Sample> prelu_samples() {
  std::vector<Sample> samples;
  for (const Shape& slope : {Shape{2, 3, 4}, Shape{}, Shape{3, 1}, Shape{1, 1, 1}}) {
    samples.push_back({.inputs = {{.shape = {2, 3, 4}, .low = -4, .high = 4}, {.shape = slope}}});
  }
  samples.push_back({.inputs = {{.shape = {0, 4}}, {.shape = {4}}}});
  return samples;
}

std::vector<Sample> clip_samples() {
  const SampleInput data{.shape = {2, 3, 4}, .low = 0, .high = 9};
  const SampleInput low{.shape = {}, .low = 2, .high = 2}, high{.shape = {}, .low = 6, .high = 6};
  const SampleInput none{.omitted = true};
  return {
      {.inputs = {data}},
      {.inputs = {data, low}},
      {.inputs = {data, low, high}},
      {.inputs = {data, none, high}},
      {.inputs = {data, high, low}},
      {.inputs = {{.shape = {0, 2}}, low, high}},
      {.inputs = {{.shape = {}, .low = 0, .high = 9}, low}},
      {.inputs = {{.value = extreme_floats(DType::kFloat)},
                  {.value = Tensor::scalar<float>(-1)},
                  {.value = Tensor::scalar<float>(2)}},
       .only = DType::kFloat},
  };
}

// Flags of activations that have kernels for all that passes may do with them.
constexpr uint32_t kFusedAnywhere = kFusable | kActivation | kBFloat16Between | kFloat32Kernels;

OpDef activation(std::string_view name, int since, Reference reference, Gradient grad,
                 std::vector<Sample> (*samples)(), const AttrSchema* attrs = attr_schema<NoAttrs>(),
                 std::string_view signature = "(X: T) -> (Y: T)", TypeSet types = kFloats) {
  return {.name = name,
          .since = since,
          .signature = signature,
          .types = {{"T", types}},
          .attrs = attrs,
          .infer = same_as_first,
          .reference = reference,
          .grad = grad,
          .facts = kElementwise,
          .samples = samples};
}

// Rows whose types or inputs differ from the plain float-to-float ones.
OpDef relu_row() {
  return activation(
             "Relu", 14, numbers<kRelu>,
             unary_gradient<[](Term d, Term, Term y) { return apply("sardonyx::ReluGrad", d, y); }>,
             around_zero, attr_schema<NoAttrs>(), "(X: T) -> (Y: T)", kFloats | kSignedInts)
      .documented("max(X, 0), element by element.")
      .with(kFusedAnywhere);
}
// dX of dY and Y or X, of one shape.
void infer_activation_grad(InferContext& c) {
  const Dims *d_y = c.shape(0), *y = c.shape(1);
  if (!d_y || !y) return c.set(0, d_y ? c.type(0) : c.type(1));
  c.require(d_y->size() == y->size(), "expected inputs of one shape, got ranks ", d_y->size(),
            " and ", y->size());
  Dims dims;
  for (size_t axis = 0; axis < y->size(); ++axis)
    dims.push_back(c.merged((*d_y)[axis], (*y)[axis], "dims of the two inputs"));
  c.set(0, c.dtype(1), std::move(dims));
}

// Takes one pass over memory where Greater and Where take two, in whatever layout Y has.
Vals relu_grad_body(Emitter& e, const BodyCall& c) {
  const Term d_y{&e, c.inputs[0]}, y{&e, c.inputs[1]};
  return {where(y > 0, d_y, 0)};
}
Vals hard_swish_grad_body(Emitter& e, const BodyCall& c) {
  const Term d{&e, c.inputs[0]}, x{&e, c.inputs[1]};
  return {where(x > -3, where(x < 3, d * (x / 3 + 0.5), d), 0)};
}
Vals hard_sigmoid_grad_body(Emitter& e, const BodyCall& c) {
  const Term d{&e, c.inputs[0]}, y{&e, c.inputs[1]};
  return {where(y > 0, where(y < 1, d * c.attrs<HardSigmoidGradAttrs>().alpha, 0), 0)};
}
template <int limit>
std::vector<Sample> activation_grad_samples() {
  const auto pair = [](Shape shape) {
    return Sample{{{shape}, {.shape = shape, .low = -limit, .high = limit}}};
  };
  return {pair({2, 3, 5}), pair({}), pair({0, 4}), pair({7, 77})};
}
OpDef activation_grad(std::string_view name, std::string_view signature,
                      Vals (*body)(Emitter&, const BodyCall&), std::vector<Sample> (*samples)()) {
  return {.name = name,
          .domain = "sardonyx",
          .since = 1,
          .signature = signature,
          .types = {{"T", kFloats}},
          .infer = infer_activation_grad,
          .body = body,
          .facts = kFloat32Kernels,
          .samples = samples};
}

// Samples with outputs y that are 0, 1 and between them.
std::vector<Sample> hard_sigmoid_grad_samples() {
  std::vector<Sample> samples = activation_grad_samples<2>();
  const SampleInput y = given<float>({0, 0.25f, 0.75f, 1}, {4});
  samples.push_back({.inputs = {{.shape = {4}, .dtype = DType::kFloat}, y}});
  return with_attributes(samples, {{"alpha", 0.3f}});
}
OpDef hard_sigmoid_grad_row() {
  OpDef row = activation_grad("HardSigmoidGrad", "(dY: T, Y: T) -> (dX: T)", hard_sigmoid_grad_body,
                              hard_sigmoid_grad_samples)
                  .documented(
                      "alpha times the output's gradient where HardSigmoid's output is "
                      "between 0 and 1, else 0.");
  row.attrs = attr_schema<HardSigmoidGradAttrs>();
  return row;
}

std::vector<Sample> celu_samples() {
  std::vector<Sample> samples = with_alpha<2000>();
  std::erase_if(samples, [](const Sample& sample) { return sample.only == DType::kDouble; });
  return samples;
}
OpDef celu_row() {
  return activation("Celu", 12, celu, celu_gradient, celu_samples, attr_schema<AlphaAttrs>(),
                    "(X: T) -> (Y: T)", DType::kFloat)
      .documented("max(0, X) + min(0, alpha * (exp(X / alpha) - 1)).");
}
OpDef gelu_row() {
  OpDef row = activation("Gelu", 20, gelu, gelu_gradient, gelu_samples, attr_schema<GeluAttrs>())
                  .documented(
                      "X times the normal distribution's share below it; approximate: \"none\" or "
                      "\"tanh\".")
                  .with(kFusedAnywhere);
  row.infer = infer_gelu;
  row.body = [](Emitter& e, const BodyCall& call) -> Vals {
    return {gelu_written_out(e, call.inputs[0], call.attrs<GeluAttrs>().approximate == "tanh")};
  };
  return row;
}
OpDef swish_row() {
  OpDef row =
      activation("Swish", 24, swish, swish_gradient, with_alpha<1702>, attr_schema<AlphaAttrs>())
          .documented("X * sigmoid(alpha * X), element by element.")
          .with(kFusable | kActivation | kBFloat16Between);
  row.body = [](Emitter& e, const BodyCall& call) -> Vals {
    return {swish_written_out(e, call.inputs[0], call.attrs<AlphaAttrs>().alpha)};
  };
  return row;
}
OpDef written_out(OpDef row, Vals (*body)(Emitter&, const BodyCall&)) {
  row.body = body;
  return row;
}
OpDef shrink_row() {
  return activation("Shrink", 9, shrink, shrink_gradient, shrink_samples,
                    attr_schema<ShrinkAttrs>(), "(input: T) -> (output: T)",
                    kNumbers.without(DType::kBFloat16))
      .documented("X moved by bias toward 0 where |X| is above lambd, else 0.");
}

}  // namespace

std::span<const OpDef> activation_ops() {
  static const OpDef rows[] = {
      relu_row(),
      activation_grad("ReluGrad", "(dY: T, Y: T) -> (dX: T)", relu_grad_body,
                      activation_grad_samples<2>)
          .documented("The output's gradient where Relu's input is positive, else 0."),
      activation_grad("HardSwishGrad", "(dY: T, X: T) -> (dX: T)", hard_swish_grad_body,
                      activation_grad_samples<5>)
          .documented("The gradient of HardSwish's input, by that of its output."),
      hard_sigmoid_grad_row(),
      activation("LeakyRelu", 16, leaky_relu, leaky_relu_gradient, with_alpha<200>,
                 attr_schema<LeakyReluAttrs>())
          .documented("X where it is not negative, else alpha * X.")
          .with(kFusedAnywhere),
      {.name = "PRelu",
       .doc =
           "X where it is not negative, else slope * X; the slope is broadcast to the shape of X.",
       .since = 16,
       .signature = "(X: T, slope: T) -> (Y: T)",
       .types = {{"T", kFloats |
                           DTypeSet{DType::kUInt32, DType::kUInt64, DType::kInt32, DType::kInt64}}},
       .infer = infer_prelu,
       .reference = prelu,
       .grad = prelu_gradient,
       .facts = kElementwise | kFusable,
       .samples = prelu_samples},
      activation("Elu", 22, elu, elu_gradient, with_alpha<2000>, attr_schema<AlphaAttrs>())
          .documented("X where it is positive, else alpha * (exp(X) - 1).")
          .with(kFusedAnywhere),
      activation("Selu", 22, selu, selu_gradient, with_alpha<2000>, attr_schema<SeluAttrs>())
          .documented("gamma * X where X is positive, else gamma * alpha * (exp(X) - 1)."),
      celu_row(),
      activation("Sigmoid", 13, floats<[](auto x) { return sigmoid(x); }>,
                 unary_gradient<[](Term d, Term, Term y) { return d * y * (1 - y); }>, around_zero)
          .documented("1 / (1 + exp(-X)), element by element.")
          .with(kFusedAnywhere),
      activation("HardSigmoid", 22, hard_sigmoid, hard_sigmoid_gradient, with_alpha<500>,
                 attr_schema<HardSigmoidAttrs>())
          .documented("max(0, min(1, alpha * X + beta)), element by element.")
          .with(kFusedAnywhere),
      written_out(activation("HardSwish", 22, floats<kHardSwish>,
                             unary_gradient<kHardSwishGradient>, around_zero)
                      .documented("X * max(0, min(1, X / 6 + 0.5)), element by element.")
                      .with(kFusedAnywhere),
                  hard_swish_body),
      written_out(activation("Mish", 22, floats<[](auto x) { return x * std::tanh(softplus(x)); }>,
                             unary_gradient<kMishGradient>, around_zero)
                      .documented("X * tanh(softplus(X)), element by element.")
                      .with(kFusable | kBFloat16Between | kFloat32Kernels),
                  mish_body),
      activation("Softplus", 22, floats<[](auto x) { return softplus(x); }>,
                 unary_gradient<[](Term d, Term x, Term) { return d * logistic(x); }>, around_zero)
          .documented("log(1 + exp(X)), element by element.")
          .with(kFloat32InMixed | kFusable | kFloat32Kernels),
      activation(
          "Softsign", 22, floats<[](auto x) { return x / (1 + std::fabs(x)); }>,
          unary_gradient<[](Term d, Term x, Term) { return d / square(apply("Abs", x) + 1); }>,
          around_zero, attr_schema<NoAttrs>(), "(input: T) -> (output: T)")
          .documented("X / (1 + |X|), element by element."),
      activation("ThresholdedRelu", 22, thresholded_relu, thresholded_relu_gradient,
                 with_alpha<2000>, attr_schema<AlphaAttrs>())
          .documented("X where it is above alpha, else 0."),
      gelu_row(),
      swish_row(),
      shrink_row(),
      {.name = "Clip",
       .doc = "Each element limited to [min, max], scalars of which either may be left out.",
       .since = 13,
       .signature = "(input: T, min?: T, max?: T) -> (output: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_clip,
       .reference = clip,
       .grad = clip_gradient,
       .facts = kElementwise | kPassesValues | kFusedAnywhere,
       .samples = clip_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
