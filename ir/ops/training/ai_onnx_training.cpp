#include <algorithm>
#include <array>
#include <cmath>

#include "ir/autodiff/autodiff_body.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

// The inputs are R (learning rate), T (count of updates before this one), then n tensors of each
// kind: x1 ... xn, g1 ... gn and so on. The outputs are n tensors of each kind that the op updates.

struct AdagradAttrs {
  float decay_factor = 0;
  float epsilon = 1e-6f;
  float norm_coefficient = 0;
  static auto fields() {
    return std::tuple{field("decay_factor", &AdagradAttrs::decay_factor),
                      field("epsilon", &AdagradAttrs::epsilon),
                      field("norm_coefficient", &AdagradAttrs::norm_coefficient)};
  }
};
struct AdamAttrs {
  float alpha = 0.9f;
  float beta = 0.999f;
  float epsilon = 1e-6f;
  float norm_coefficient = 0;
  float norm_coefficient_post = 0;
  static auto fields() {
    return std::tuple{field("alpha", &AdamAttrs::alpha), field("beta", &AdamAttrs::beta),
                      field("epsilon", &AdamAttrs::epsilon),
                      field("norm_coefficient", &AdamAttrs::norm_coefficient),
                      field("norm_coefficient_post", &AdamAttrs::norm_coefficient_post)};
  }
};
struct MomentumAttrs {
  float alpha = 0;
  float beta = 0;
  std::string mode;
  float norm_coefficient = 0;
  static auto fields() {
    return std::tuple{required("alpha", &MomentumAttrs::alpha),
                      required("beta", &MomentumAttrs::beta),
                      required("mode", &MomentumAttrs::mode),
                      required("norm_coefficient", &MomentumAttrs::norm_coefficient)};
  }
};

// `kinds`: which kind of input each kind of output replaces.
void infer_update(InferContext& c, size_t input_kinds, std::initializer_list<size_t> kinds) {
  require_single(c, 0);
  require_single(c, 1);
  const size_t tensors = (c.input_count() - 2) / input_kinds;
  c.require(tensors * input_kinds == c.input_count() - 2, "expected R, T and ", input_kinds,
            " inputs for each tensor, got ", c.input_count(), " inputs");
  c.require(c.output_count() == tensors * kinds.size(), "expected ", tensors * kinds.size(),
            " outputs, got ", c.output_count());
  for (size_t i = 2; i < c.input_count(); ++i) {
    const size_t first = 2 + (i - 2) % tensors;  // its x
    if (c.dtype(i) != c.dtype(first))
      c.fail_input(i, "must have the type of ", c.input_label(first));
    const Dims *mine = c.shape(i), *wanted = c.shape(first);
    if (!mine || !wanted) continue;
    if (mine->size() != wanted->size()) c.fail_input(i, "must have the shape ", to_text(*wanted));
    for (size_t k = 0; k < mine->size(); ++k)
      c.merged((*mine)[k], (*wanted)[k], c.input_label(i));
  }
  size_t output = 0;
  for (const size_t kind : kinds) {
    for (size_t i = 0; i < tensors; ++i)
      c.set(output++, c.type(2 + kind * tensors + i));
  }
}

template <typename T>
T scalar_input(const KernelCall& call, size_t input) {
  T value;
  load_numbers(call.inputs[input].dtype, call.inputs[input].raw, 0, 1, 1, &value);
  return value;
}

// Runs step(elements in, elements out) for all elements of all tensors, in double.
template <size_t input_kinds, size_t output_kinds, typename UpdateStep>
void update(const KernelCall& call, const UpdateStep& step) {
  constexpr int64_t kPiece = 512;
  const size_t tensors = (call.inputs.size() - 2) / input_kinds;
  std::array<std::array<double, kPiece>, input_kinds> in;
  std::array<std::array<double, kPiece>, output_kinds> out;
  for (size_t tensor = 0; tensor < tensors; ++tensor) {
    const TensorView& x = call.inputs[2 + tensor];
    const int64_t count = x.count();
    for (int64_t begin = 0; begin < count; begin += kPiece) {
      check_interrupted();
      const int64_t length = std::min(kPiece, count - begin);
      for (size_t kind = 0; kind < input_kinds; ++kind) {
        const TensorView& from = call.inputs[2 + kind * tensors + tensor];
        load_numbers(from.dtype, from.raw, begin, 1, length, in[kind].data());
      }
      for (size_t i = 0; i < static_cast<size_t>(length); ++i) {
        std::array<double, input_kinds> old_values;
        for (size_t kind = 0; kind < input_kinds; ++kind)
          old_values[kind] = in[kind][i];
        const std::array<double, output_kinds> new_values = step(old_values);
        for (size_t kind = 0; kind < output_kinds; ++kind)
          out[kind][i] = new_values[kind];
      }
      for (size_t kind = 0; kind < output_kinds; ++kind) {
        const TensorView& to = call.outputs[kind * tensors + tensor];
        store_numbers(to.dtype, to.raw, begin, length, out[kind].data());
      }
    }
  }
}

// x, g, h (sum of squared gradients) -> x, h
void adagrad(const KernelCall& call) {
  const auto& a = call.attrs<AdagradAttrs>();
  const auto t = static_cast<double>(scalar_input<int64_t>(call, 1));
  const double rate = scalar_input<double>(call, 0) / (1 + t * a.decay_factor);
  update<3, 2>(call, [&](const std::array<double, 3>& old) -> std::array<double, 2> {
    const auto [x, g, h] = old;
    const double gradient = a.norm_coefficient * x + g;
    const double h_new = h + gradient * gradient;
    return {x - rate * gradient / (std::sqrt(h_new) + a.epsilon), h_new};
  });
}

// x, g, v (mean gradient), h (mean squared gradient) -> x, v, h
void adam(const KernelCall& call) {
  const auto& a = call.attrs<AdamAttrs>();
  const double alpha = a.alpha, beta = a.beta;
  const auto t = static_cast<double>(scalar_input<int64_t>(call, 1));
  double rate = scalar_input<double>(call, 0);
  if (t > 0) rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
  update<4, 3>(call, [&](const std::array<double, 4>& old) -> std::array<double, 3> {
    const auto [x, g, v, h] = old;
    const double gradient = a.norm_coefficient * x + g;
    const double v_new = alpha * v + (1 - alpha) * gradient;
    const double h_new = beta * h + (1 - beta) * gradient * gradient;
    const double x_new = x - rate * v_new / (std::sqrt(h_new) + a.epsilon);
    return {(1 - static_cast<double>(a.norm_coefficient_post)) * x_new, v_new, h_new};
  });
}

// x, g, v (momentum) -> x, v
void momentum(const KernelCall& call) {
  const auto& a = call.attrs<MomentumAttrs>();
  const double alpha = a.alpha, rate = scalar_input<double>(call, 0);
  const double beta = scalar_input<int64_t>(call, 1) > 0 ? a.beta : 1.0;
  const bool is_nesterov = a.mode == "nesterov";
  update<3, 2>(call, [&](const std::array<double, 3>& old) -> std::array<double, 2> {
    const auto [x, g, v] = old;
    const double gradient = a.norm_coefficient * x + g;
    const double v_new = alpha * v + beta * gradient;
    return {x - rate * (is_nesterov ? gradient + alpha * v_new : v_new), v_new};
  });
}

// ---- Decompositions, for gradients: an optimiser step may be part of a trained graph.

// The tensors of one parameter's update, and its learning rate.
struct UpdateStep {
  Term rate;
  std::vector<Term> old;
  // The regularised gradient: x * norm + g.
  Term gradient(double norm) const { return old[0] * norm + old[1]; }
};

// R or T as a double scalar.
Term scalar_in_double(Emitter& e, const Val& given) {
  return cast(apply("Reshape", Term{&e, given}, int64s(e, {})), DType::kDouble);
}

// Writes step(Step) -> the new values, by kind, for all tensors.
template <typename Update>
Vals update_decomposition(Emitter& e, const BodyCall& c, size_t kinds, const Term& rate,
                          const Update& update) {
  const size_t tensors = (c.inputs.size() - 2) / kinds;
  Vals out(c.output_count);
  for (size_t i = 0; i < tensors; ++i) {
    UpdateStep step{cast(rate, e.type(c.inputs[2 + i]).dtype), {}};
    for (size_t kind = 0; kind < kinds; ++kind)
      step.old.push_back({&e, c.inputs[2 + kind * tensors + i]});
    const std::vector<Term> next = update(step);
    for (size_t kind = 0; kind < next.size(); ++kind)
      out[kind * tensors + i] = next[kind];
  }
  return out;
}

Vals adagrad_decomposition(Emitter& e, const BodyCall& c) {
  const auto& a = c.attrs<AdagradAttrs>();
  const Term t = scalar_in_double(e, c.inputs[1]);
  const Term rate = scalar_in_double(e, c.inputs[0]) / (1 + t * double{a.decay_factor});
  return update_decomposition(e, c, 3, rate, [&](const UpdateStep& s) -> std::vector<Term> {
    const Term gradient = s.gradient(a.norm_coefficient), sum = s.old[2] + square(gradient);
    return {s.old[0] - s.rate * gradient / (apply("Sqrt", sum) + double{a.epsilon}), sum};
  });
}

Vals adam_decomposition(Emitter& e, const BodyCall& c) {
  const auto& a = c.attrs<AdamAttrs>();
  const double alpha = a.alpha, beta = a.beta;
  const Term t = scalar_in_double(e, c.inputs[1]);
  const Term correction =
      apply("Sqrt", 1 - apply("Pow", t.number(beta), t)) / (1 - apply("Pow", t.number(alpha), t));
  const Term rate = scalar_in_double(e, c.inputs[0]) * where(t > 0, correction, 1);
  return update_decomposition(e, c, 4, rate, [&](const UpdateStep& s) -> std::vector<Term> {
    const Term gradient = s.gradient(a.norm_coefficient);
    const Term mean = s.old[2] * alpha + gradient * (1 - alpha);
    const Term power = s.old[3] * beta + square(gradient) * (1 - beta);
    const Term x = s.old[0] - s.rate * mean / (apply("Sqrt", power) + double{a.epsilon});
    return {x * (1 - double{a.norm_coefficient_post}), mean, power};
  });
}

Vals momentum_decomposition(Emitter& e, const BodyCall& c) {
  const auto& a = c.attrs<MomentumAttrs>();
  const double alpha = a.alpha;
  const Term is_later = scalar_in_double(e, c.inputs[1]) > 0;
  const Term rate = scalar_in_double(e, c.inputs[0]);
  return update_decomposition(e, c, 3, rate, [&](const UpdateStep& s) -> std::vector<Term> {
    const Term gradient = s.gradient(a.norm_coefficient);
    const Term share = where(is_later, s.rate.number(a.beta), 1);
    const Term velocity = s.old[2] * alpha + gradient * share;
    const Term step = a.mode == "nesterov" ? gradient + velocity * alpha : velocity;
    return {s.old[0] - s.rate * step, velocity};
  });
}

template <Vals (*body)(Emitter&, const BodyCall&)>
Vals gradient_of(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, body);
}

void infer_momentum(InferContext& c) {
  const std::string& mode = c.attrs<MomentumAttrs>().mode;
  c.require(mode == "standard" || mode == "nesterov", "mode: expected standard or nesterov, got ",
            mode);
  infer_update(c, 3, {0, 2});
}

// Samples of one tensor, and of two of different shapes and types, at the first and a later update.
std::vector<Sample> update_samples(size_t input_kinds, size_t output_kinds, const AttrMap& attrs) {
  std::vector<Sample> samples;
  for (const int64_t t : {0, 3}) {
    for (const size_t tensors : {1, 2}) {
      Sample sample{.attrs = attrs, .outputs = tensors * output_kinds};
      sample.inputs = {{.value = Tensor::scalar<float>(0.1f)}, {.value = Tensor::scalar(t)}};
      for (size_t kind = 0; kind < input_kinds; ++kind) {
        for (size_t i = 0; i < tensors; ++i) {
          sample.inputs.push_back({.shape = i == 0 ? Shape{2, 3} : Shape{},
                                   .low = kind < 2 ? -2.0 : 0.1,  // running sums of squares
                                   .dtype = i == 0 ? DType::kFloat : DType::kDouble});
        }
      }
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

std::vector<Sample> momentum_samples() {
  std::vector<Sample> samples;
  for (const char* mode : {"standard", "nesterov"}) {
    const AttrMap attrs{{"alpha", 0.95f},
                        {"beta", 0.85f},
                        {"norm_coefficient", 0.001f},
                        {"mode", std::string(mode)}};
    for (Sample& sample : update_samples(3, 2, attrs))
      samples.push_back(std::move(sample));
  }
  return samples;
}

OpDef optimizer(std::string_view name, const AttrSchema* attrs, void (*infer)(InferContext&),
                void (*reference)(const KernelCall&), Vals (*grad)(Emitter&, const GradCall&),
                std::vector<Sample> (*samples)()) {
  constexpr DTypeSet kReals{DType::kFloat, DType::kDouble};
  return {.name = name,
          .domain = "ai.onnx.preview.training",
          .since = 1,
          .signature = "(R: T1, T: T2, inputs...: T3*) -> (outputs...: T3*)",
          .types = {{"T1", kReals}, {"T2", DType::kInt64}, {"T3", kReals}},
          .attrs = attrs,
          .infer = infer,
          .reference = reference,
          .grad = grad,
          .samples = samples};
}

}  // namespace

std::span<const OpDef> training_ops() {
  static const OpDef rows[] = {
      optimizer(
          "Adagrad", attr_schema<AdagradAttrs>(),
          [](InferContext& c) {
            infer_update(c, 3, {0, 2});
          },
          adagrad, gradient_of<adagrad_decomposition>,
          [] {
            return update_samples(3, 2, {{"norm_coefficient", 0.001f}, {"decay_factor", 0.1f}});
          })
          .documented(
              "A step of Adagrad for the tensors X, G and H of each parameter: the new X and H."),
      optimizer(
          "Adam", attr_schema<AdamAttrs>(),
          [](InferContext& c) {
            infer_update(c, 4, {0, 2, 3});
          },
          adam, gradient_of<adam_decomposition>,
          [] {
            return update_samples(4, 3,
                                  {{"norm_coefficient", 0.001f}, {"norm_coefficient_post", 0.01f}});
          })
          .documented("A step of Adam for the tensors X, G, V and H of each parameter: the new X, "
                      "V and H."),
      optimizer("Momentum", attr_schema<MomentumAttrs>(), infer_momentum, momentum,
                gradient_of<momentum_decomposition>, momentum_samples)
          .documented("A step of momentum or Nesterov's for the tensors X, G and V of each "
                      "parameter: the new X and V."),
  };
  return rows;
}

}  // namespace sardonyx::ops
