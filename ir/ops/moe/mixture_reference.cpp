// What MoE and QMoE compute, expert by expert in the plainest way.
#include <algorithm>
#include <cmath>
#include <functional>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/ops/moe/mixture_of_experts.h"
#include "ir/ops/quantization/nbits.h"

namespace sardonyx::ops {
namespace {

using Floats = std::vector<float>;

Floats floats_of(const TensorView& x, int64_t offset, int64_t count) {
  Floats out(static_cast<size_t>(count));
  load_numbers<float>(x.dtype, x.raw, offset, 1, count, out.data());
  return out;
}

// Writes a row of the weights of one expert's layer.
using WriteWeights = std::function<void(int64_t expert, int64_t row, Floats& to)>;

struct ExpertLayerView {
  int64_t inputs, outputs;
  WriteWeights weights;
  const TensorView* bias;  // null where there is none

  // x [rows, inputs] -> [rows, outputs]
  Floats apply(int64_t expert, const Floats& x) const {
    const int64_t rows = static_cast<int64_t>(x.size()) / inputs;
    Floats y(static_cast<size_t>(rows * outputs)), row(static_cast<size_t>(inputs));
    const Floats added = bias ? floats_of(*bias, expert * outputs, outputs)
                              : Floats(static_cast<size_t>(outputs), 0.0f);
    for (int64_t n = 0; n < outputs; ++n) {
      check_interrupted();
      weights(expert, n, row);
      for (int64_t m = 0; m < rows; ++m) {
        double sum = added[static_cast<size_t>(n)];
        for (size_t k = 0; k < row.size(); ++k)
          sum += static_cast<double>(x[static_cast<size_t>(m * inputs) + k]) * row[k];
        y[static_cast<size_t>(m * outputs + n)] = static_cast<float>(sum);
      }
    }
    return y;
  }
};

float sigmoid_at(float x) {
  return 1 / (1 + std::exp(-x));
}

float expert_activation(const std::string& type, float x) {
  if (type == "relu") return std::max(x, 0.0f);
  if (type == "silu") return x * sigmoid_at(x);
  if (type == "gelu") {
    constexpr float kFactor = 0.7978845608f;  // sqrt(2 / pi)
    return 0.5f * x * (1 + std::tanh(kFactor * (x + 0.044715f * x * x * x)));
  }
  return x;  // identity
}

float swiglu_at(const SwiGlu& f, float gate, float linear) {
  const float g = std::min(gate, f.limit);
  return g * sigmoid_at(f.alpha * g) * (std::clamp(linear, -f.limit, f.limit) + f.beta);
}

// All that a token's answer is made of.
struct Mixture {
  const MoEAttrs& attrs;
  ExpertSizes sizes;
  ExpertLayerView fc1, fc2, fc3;  // fc3 as far as the gate is separate

  // [rows, inner] of what FC1 and FC3 give.
  Floats gated(const Floats& first, const Floats& third) const {
    const SwiGlu swiglu = swiglu_of(attrs);
    const int64_t inner = sizes.inner, step = sizes.fc1_outputs();
    const int64_t rows = static_cast<int64_t>(first.size()) / step;
    Floats out(static_cast<size_t>(rows * inner));
    for (int64_t i = 0; i < rows * inner; ++i) {
      const float* row = first.data() + i / inner * step;
      const int64_t at = i % inner;
      const bool is_glu = attrs.activation_type == "swiglu";
      float& to = out[static_cast<size_t>(i)];
      switch (sizes.gate) {
        case ExpertGate::kNone:
          to = expert_activation(attrs.activation_type, row[at]);
          break;
        case ExpertGate::kSeparate: {
          const float linear = third[static_cast<size_t>(i)];
          to = is_glu ? swiglu_at(swiglu, row[at], linear)
                      : expert_activation(attrs.activation_type, row[at]) * linear;
          break;
        }
        case ExpertGate::kInterleaved:
          to = swiglu_at(swiglu, row[2 * at], row[2 * at + 1]);
          break;
        case ExpertGate::kHalves:
          to = swiglu_at(swiglu, row[at], row[inner + at]);
          break;
      }
    }
    return out;
  }

  Floats answers(int64_t expert, const Floats& x) const {
    const Floats first = fc1.apply(expert, x);
    const Floats third = sizes.gate == ExpertGate::kSeparate ? fc3.apply(expert, x) : Floats();
    return fc2.apply(expert, gated(first, third));
  }
};

// One of a token's experts, with the share of its answer.
struct RoutedToken {
  int32_t expert;
  int64_t token;
  float share;
};

// By expert, those of one in the order of their tokens.
std::vector<RoutedToken> routed_tokens(const KernelCall& call, const Mixture& mixture) {
  const ExpertSizes& s = mixture.sizes;
  const ExpertRouting routing = expert_routing(mixture.attrs, s.experts);
  std::vector<RoutedToken> out;
  std::vector<int32_t> chosen(static_cast<size_t>(routing.chosen));
  Floats shares(chosen.size());
  for (int64_t token = 0; token < s.tokens; ++token) {
    check_interrupted();
    const auto row_of = [&](size_t slot) {
      return floats_of(call.inputs[slot], token * s.experts, s.experts);
    };
    const Floats weights = call.has(kRouterWeights) ? row_of(kRouterWeights) : Floats();
    route_token(routing, row_of(kMixtureRouter).data(), weights.empty() ? nullptr : weights.data(),
                chosen.data(), shares.data());
    for (size_t j = 0; j < chosen.size(); ++j) {
      if (shares[j] != 0) out.push_back({chosen[j], token, shares[j]});
    }
  }
  std::ranges::stable_sort(out, {}, &RoutedToken::expert);
  return out;
}

void run_mixture(const KernelCall& call, const Mixture& mixture) {
  const ExpertSizes& s = mixture.sizes;
  Floats out(static_cast<size_t>(s.tokens * s.hidden), 0.0f);
  const std::vector<RoutedToken> routed = routed_tokens(call, mixture);
  for (auto first = routed.begin(); first != routed.end();) {
    const int32_t expert = first->expert;
    const auto end = std::find_if(first, routed.end(),
                                  [&](const RoutedToken& each) { return each.expert != expert; });
    Floats x;
    for (auto each = first; each != end; ++each) {
      const Floats row = floats_of(call.inputs[kMixtureInput], each->token * s.hidden, s.hidden);
      x.insert(x.end(), row.begin(), row.end());
    }
    const Floats answers = mixture.answers(expert, x);
    for (const float* answer = answers.data(); first != end; ++first, answer += s.hidden) {
      for (int64_t h = 0; h < s.hidden; ++h)
        out[static_cast<size_t>(first->token * s.hidden + h)] += first->share * answer[h];
    }
  }
  const TensorView& y = call.outputs[0];
  store_numbers<float>(y.dtype, y.raw, 0, y.count(), out.data());
}

// The sizes, and the layers with weights as `writer_of` gives them.
template <typename WriterOf>
Mixture mixture_of(const KernelCall& call, const MoEAttrs& attrs,
                   std::span<const ExpertLayerSlots> layers, int64_t values_per_element,
                   const WriterOf& writer_of) {
  const ExpertGate gate = gate_of(attrs, call.has(layers[kFc3].weights));
  const auto shape_of = [&](size_t slot) {
    const std::span<const int64_t> shape = call.inputs[slot].shape;
    return Shape(shape.begin(), shape.end());
  };
  Mixture mixture{attrs,
                  expert_sizes(gate, shape_of(kMixtureInput), shape_of(kMixtureRouter),
                               shape_of(layers[kFc2].weights), values_per_element),
                  {},
                  {},
                  {}};
  const auto layer = [&](ExpertLayer which) {
    const ExpertLayerSlots& slots = layers[which];
    const int64_t inputs = mixture.sizes.inputs_of(which),
                  outputs = mixture.sizes.outputs_of(which);
    return ExpertLayerView{inputs, outputs, writer_of(slots, inputs, outputs),
                           call.has(slots.bias) ? &call.inputs[slots.bias] : nullptr};
  };
  mixture.fc1 = layer(kFc1);
  mixture.fc2 = layer(kFc2);
  if (gate == ExpertGate::kSeparate) mixture.fc3 = layer(kFc3);
  return mixture;
}

}  // namespace

void moe_reference(const KernelCall& call) {
  const auto writer_of = [&](const ExpertLayerSlots& slots, int64_t inputs,
                             int64_t outputs) -> WriteWeights {
    return [&call, slots, inputs, outputs](int64_t expert, int64_t row, Floats& to) {
      to = floats_of(call.inputs[slots.weights], (expert * outputs + row) * inputs, inputs);
    };
  };
  run_mixture(call, mixture_of(call, call.attrs<MoEAttrs>(), kMoELayers, 1, writer_of));
}

void qmoe_reference(const KernelCall& call) {
  const auto& attrs = call.attrs<QMoEAttrs>();
  const int bits = static_cast<int>(attrs.expert_weight_bits);
  const int64_t per_byte = attrs.values_per_byte();
  const auto writer_of = [&](const ExpertLayerSlots& slots, int64_t inputs,
                             int64_t outputs) -> WriteWeights {
    const int64_t block = attrs.block_size > 0 ? attrs.block_size : inputs;
    const int64_t blocks = inputs / block;
    const Floats scales =
        floats_of(call.inputs[slots.scales], 0, call.inputs[slots.scales].count());
    return [&call, slots, inputs, outputs, bits, per_byte, block, blocks, scales](
               int64_t expert, int64_t row, Floats& to) {
      const int64_t at = expert * outputs + row;
      const uint8_t* packed = call.inputs[slots.weights].data<uint8_t>() + at * (inputs / per_byte);
      const bool has_points = call.has(slots.zero_points);
      const bool by_block = has_points && call.inputs[slots.zero_points].shape.size() == 3;
      for (int64_t k = 0; k < inputs; ++k) {
        int zero = 1 << (bits - 1);
        if (has_points) {
          const uint8_t* points = call.inputs[slots.zero_points].data<uint8_t>();
          const int64_t bytes = ((by_block ? blocks : outputs) + per_byte - 1) / per_byte;
          zero = unpack_bits(points + (by_block ? at : expert) * bytes, by_block ? k / block : row,
                             bits);
        }
        to[static_cast<size_t>(k)] = static_cast<float>(unpack_bits(packed, k, bits) - zero) *
                                     scales[static_cast<size_t>(at * blocks + k / block)];
      }
    };
  };
  run_mixture(call, mixture_of(call, attrs, kQMoELayers, per_byte, writer_of));
}

}  // namespace sardonyx::ops
