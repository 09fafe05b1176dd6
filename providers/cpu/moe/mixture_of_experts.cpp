// com.microsoft's MoE and QMoE in float: the rows of each expert are gathered, one product per
// layer and expert goes over them, and the answers are added up token by token. Experts that no
// token chose are never touched.
#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/moe/expert_rows_kernel.h"
#include "providers/cpu/moe/expert_weights.h"

namespace sardonyx::cpu {
namespace {

using ops::ExpertGate;

// Tokens are taken in parts whose rows between the layers are this many floats at most.
constexpr int64_t kRowsMemory = 1 << 25;
// Elements below which a second thread is not worth waking.
constexpr int64_t kElementsPerTask = 1 << 13;

// f(FC1's row), and FC3's where there is one.
class GateFunction {
 public:
  GateFunction(const ops::MoEAttrs& attrs, ExpertGate gate)
      : gate_(gate), is_glu_(attrs.activation_type == "swiglu"), glu_(ops::swiglu_of(attrs)) {
    if (attrs.activation_type == "relu") function_ = ExpertActivation::kRelu;
    if (attrs.activation_type == "gelu") function_ = ExpertActivation::kGelu;
    if (attrs.activation_type == "silu") function_ = ExpertActivation::kSilu;
  }

  // `out` may be `first`.
  void apply(const float* first, const float* third, float* out, size_t count) const {
    if (gate_ == ExpertGate::kInterleaved) return swiglu_pairs_row(glu_, first, out, count);
    if (gate_ == ExpertGate::kHalves) return swiglu_row(glu_, first, first + count, out, count);
    if (is_glu_) return swiglu_row(glu_, first, third, out, count);
    expert_activation_row(function_, first, out, count);
    if (gate_ == ExpertGate::kSeparate)
      binary_row(Binary::kMul, out, true, third, true, out, count);
  }

 private:
  ExpertGate gate_;
  bool is_glu_;
  ops::SwiGlu glu_;
  ExpertActivation function_ = ExpertActivation::kIdentity;
};

// The layers of all experts; null where there is no third one.
struct ExpertLayers {
  std::unique_ptr<ExpertWeights> fc1, fc2, fc3;
};

// The rows that a layer of all experts goes over.
struct LayerRows {
  const float* in;
  int64_t in_step;
  float* out;
  int64_t out_step;
};

class MixtureKernel : public Kernel {
 public:
  MixtureKernel(const ops::MoEAttrs& attrs, const ops::ExpertSizes& sizes, ExpertLayers layers,
                std::optional<size_t> router_weights, int threads)
      : s_(sizes),
        routing_(ops::expert_routing(attrs, sizes.experts)),
        layers_(std::move(layers)),
        gate_(attrs, sizes.gate),
        router_weights_(router_weights),
        threads_(threads) {
    first_step_ = s_.fc1_outputs() + (layers_.fc3 ? s_.inner : 0);
    // Answers take the place of the rows that the first layers read.
    outer_step_ = std::max(layers_.fc1->row_step(), s_.hidden);
    if (layers_.fc3) outer_step_ = std::max(outer_step_, layers_.fc3->row_step());
    inner_step_ = layers_.fc2->row_step();
    const int64_t pair_floats = first_step_ + outer_step_ + inner_step_;
    part_ = std::clamp<int64_t>(kRowsMemory / pair_floats / routing_.chosen, 1, s_.tokens);
    thread_floats_ = std::max(layers_.fc1->scratch_floats(), layers_.fc2->scratch_floats());
    if (layers_.fc3) thread_floats_ = std::max(thread_floats_, layers_.fc3->scratch_floats());
  }

  size_t scratch_bytes() const override { return Part(*this, nullptr).bytes; }

  // A part of the tokens is read before its answers are written.
  bool may_alias(size_t output, size_t input) const override {
    return output == 0 && input == ops::kMixtureInput;
  }

  void run(const KernelArgs& args) const override {
    for (int64_t first = 0; first < s_.tokens; first += part_)
      run_part(args, first, std::min(part_, s_.tokens - first));
  }

 private:
  // A part of the tokens on their way: a pair is a token and one of its experts, pair t * chosen +
  // j the j-th of token t. Rows stand in the order of their experts, those of one in that of their
  // tokens.
  struct Part {
    int32_t* chosen;      // [pairs]: the experts
    float* shares;        // [pairs]
    int64_t* row_of;      // [pairs]; -1 where the share is 0
    int64_t* pair_of;     // [rows]
    int64_t* first_row;   // [experts + 1]
    int64_t* first_task;  // [experts + 1], of the layer that runs
    float *outer, *first, *inner, *threads;
    size_t bytes = 0;

    Part(const MixtureKernel& k, std::byte* memory) {
      const auto take = [&](auto*& part, int64_t count) {
        using Pointer = std::remove_reference_t<decltype(part)>;
        part = memory ? reinterpret_cast<Pointer>(memory + bytes) : nullptr;
        constexpr size_t kLine = 64;
        bytes += (static_cast<size_t>(count) * sizeof(*part) + kLine - 1) / kLine * kLine;
      };
      const int64_t pairs = k.part_ * k.routing_.chosen;
      take(chosen, pairs);
      take(shares, pairs);
      take(row_of, pairs);
      take(pair_of, pairs);
      take(first_row, k.s_.experts + 1);
      take(first_task, k.s_.experts + 1);
      take(outer, pairs * k.outer_step_);
      take(first, pairs * k.first_step_);
      take(inner, pairs * k.inner_step_);
      take(threads, k.threads_ * k.thread_floats_);
    }
  };

  int threads_for(int64_t elements) const {
    return static_cast<int>(std::clamp<int64_t>(elements / kElementsPerTask, 1, threads_));
  }

  void run_part(const KernelArgs& args, int64_t token, int64_t tokens) const {
    const Part part(*this, args.scratch);
    route(args, token, tokens, part);
    gather(args, token, part);
    multiply(args, *layers_.fc1, part, {part.outer, outer_step_, part.first, first_step_});
    if (layers_.fc3) {
      multiply(args, *layers_.fc3, part,
               {part.outer, outer_step_, part.first + s_.fc1_outputs(), first_step_});
    }
    activate(args, part);
    multiply(args, *layers_.fc2, part, {part.inner, inner_step_, part.outer, outer_step_});
    add_up(args, token, tokens, part);
  }

  void route(const KernelArgs& args, int64_t token, int64_t tokens, const Part& part) const {
    const auto* logits = static_cast<const float*>(args.inputs[ops::kMixtureRouter]);
    const auto* weights =
        router_weights_ ? static_cast<const float*>(args.inputs[*router_weights_]) : nullptr;
    const int64_t work = s_.experts * (routing_.chosen + 4);
    for_each_task(tokens, threads_for(tokens * work), work, [&](int64_t t) {
      const int64_t row = (token + t) * s_.experts, pair = t * routing_.chosen;
      ops::route_token(routing_, logits + row, weights ? weights + row : nullptr,
                       part.chosen + pair, part.shares + pair);
    });
    const int64_t pairs = tokens * routing_.chosen;
    std::fill_n(part.first_row, s_.experts + 1, 0);
    for (int64_t pair = 0; pair < pairs; ++pair)
      part.first_row[part.chosen[pair] + 1] += part.shares[pair] != 0;
    std::partial_sum(part.first_row, part.first_row + s_.experts + 1, part.first_row);
    std::copy_n(part.first_row, s_.experts, part.first_task);  // where the next row of each goes
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const bool counts = part.shares[pair] != 0;
      part.row_of[pair] = counts ? part.first_task[part.chosen[pair]]++ : -1;
      if (counts) part.pair_of[part.row_of[pair]] = pair;
    }
  }

  int64_t rows_in(const Part& part) const { return part.first_row[s_.experts]; }
  int64_t rows_of(const Part& part, int64_t expert) const {
    return part.first_row[expert + 1] - part.first_row[expert];
  }
  // How many rows the expert of row `row` has.
  int64_t rows_beside(const Part& part, int64_t row) const {
    return rows_of(part, part.chosen[part.pair_of[row]]);
  }

  void gather(const KernelArgs& args, int64_t token, const Part& part) const {
    const auto* in = static_cast<const float*>(args.inputs[ops::kMixtureInput]);
    const int64_t rows = rows_in(part);
    for_each_task(rows, threads_for(rows * s_.hidden), s_.hidden, [&](int64_t row, int64_t seat) {
      const float* from = in + (token + part.pair_of[row] / routing_.chosen) * s_.hidden;
      float* to = part.outer + row * outer_step_;
      if (layers_.fc1->spreads(rows_beside(part, row)))
        layers_.fc1->spread(args, from, part.threads + seat * thread_floats_, to);
      else
        std::copy_n(from, s_.hidden, to);
    });
  }

  // One layer of all experts.
  void multiply(const KernelArgs& args, const ExpertWeights& layer, const Part& part,
                const LayerRows& rows) const {
    const int64_t wide = layer.columns_per_task();
    const int64_t blocks = (layer.outputs() + wide - 1) / wide;
    part.first_task[0] = 0;
    for (int64_t e = 0; e < s_.experts; ++e)
      part.first_task[e + 1] = part.first_task[e] + (rows_of(part, e) > 0 ? blocks : 0);
    const int64_t tasks = part.first_task[s_.experts];
    const int64_t products = rows_in(part) * layer.inputs() * layer.outputs();
    const int64_t work = products / std::max<int64_t>(tasks, 1);
    for_each_task(tasks, threads_for(products / 4), work, [&](int64_t task, int64_t seat) {
      const std::span<const int64_t> firsts(part.first_task, static_cast<size_t>(s_.experts) + 1);
      const int64_t expert = std::ranges::upper_bound(firsts, task) - firsts.begin() - 1;
      const int64_t first = (task - part.first_task[expert]) * wide;
      const int64_t row = part.first_row[expert];
      layer.multiply(args,
                     {.expert = expert,
                      .first = first,
                      .columns = std::min(wide, layer.outputs() - first),
                      .in = rows.in + row * rows.in_step,
                      .in_step = rows.in_step,
                      .rows = rows_of(part, expert),
                      .out = rows.out + row * rows.out_step,
                      .out_step = rows.out_step},
                     part.threads + seat * thread_floats_);
    });
  }

  void activate(const KernelArgs& args, const Part& part) const {
    const int64_t rows = rows_in(part), inner = s_.inner;
    constexpr int64_t kCost = 4;  // of an element, as copying one goes
    for_each_task(rows, threads_for(rows * inner * kCost), inner * kCost,
                  [&](int64_t row, int64_t seat) {
                    float* first = part.first + row * first_step_;
                    float* to = part.inner + row * inner_step_;
                    const bool spreads = layers_.fc2->spreads(rows_beside(part, row));
                    gate_.apply(first, first + s_.fc1_outputs(), spreads ? first : to,
                                static_cast<size_t>(inner));
                    if (!spreads) return;
                    layers_.fc2->spread(args, first, part.threads + seat * thread_floats_, to);
                  });
  }

  void add_up(const KernelArgs& args, int64_t token, int64_t tokens, const Part& part) const {
    const int64_t work = routing_.chosen * s_.hidden;
    for_each_task(tokens, threads_for(tokens * work), work, [&](int64_t t) {
      float* out = static_cast<float*>(args.outputs[0]) + (token + t) * s_.hidden;
      bool is_set = false;
      for (int64_t pair = t * routing_.chosen; pair < (t + 1) * routing_.chosen; ++pair) {
        if (part.row_of[pair] < 0) continue;
        const float* answer = part.outer + part.row_of[pair] * outer_step_;
        (is_set ? add_scaled_row : set_scaled_row)(part.shares[pair], answer, out,
                                                   static_cast<size_t>(s_.hidden));
        is_set = true;
      }
      if (!is_set) std::fill_n(out, s_.hidden, 0.0f);
    });
  }

  ops::ExpertSizes s_;
  ops::ExpertRouting routing_;
  ExpertLayers layers_;
  GateFunction gate_;
  std::optional<size_t> router_weights_;
  int threads_;
  int64_t first_step_, outer_step_, inner_step_;  // of rows behind FC1, before and behind all
  int64_t part_;                                  // tokens
  int64_t thread_floats_;
};

using MakeWeights = std::unique_ptr<ExpertWeights> (*)(const KernelRequest& request,
                                                       const ops::ExpertSizes& sizes, size_t layer);

Prepared prepare_mixture(const KernelRequest& request, const ops::MoEAttrs& attrs,
                         std::span<const ops::ExpertLayerSlots> slots, int64_t values_per_element,
                         MakeWeights make) {
  if (element_count(request.outputs[0].shape) == 0) return Prepared::refuse("no elements");
  const ExpertGate gate = ops::gate_of(attrs, request.has(slots[ops::kFc3].weights));
  const ops::ExpertSizes sizes = ops::expert_sizes(
      gate, request.inputs[ops::kMixtureInput].shape, request.inputs[ops::kMixtureRouter].shape,
      request.inputs[slots[ops::kFc2].weights].shape, values_per_element);
  ExpertLayers layers{make(request, sizes, ops::kFc1), make(request, sizes, ops::kFc2), nullptr};
  if (gate == ExpertGate::kSeparate) layers.fc3 = make(request, sizes, ops::kFc3);
  const auto router_weights =
      request.has(ops::kRouterWeights) ? std::optional<size_t>(ops::kRouterWeights) : std::nullopt;
  return Prepared::accept(std::make_unique<MixtureKernel>(attrs, sizes, std::move(layers),
                                                          router_weights, request.threads));
}

Prepared prepare_moe(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  Prepared prepared = prepare_mixture(request, request.attrs<ops::MoEAttrs>(), ops::kMoELayers, 1,
                                      float_expert_weights);
  if (!prepared.kernel) return prepared;
  for (const ops::ExpertLayerSlots& layer : ops::kMoELayers) {
    if (request.has(layer.weights) && request.inputs[layer.weights].constant)
      prepared.unread_inputs |= 1u << layer.weights;
  }
  return prepared;
}

Prepared prepare_qmoe(const KernelRequest& request) {
  for (const KernelTensor& input : request.inputs) {
    if (input && input.dtype != DType::kFloat && input.dtype != DType::kUInt8)
      return Prepared::refuse("only float is computed here");
  }
  const auto& attrs = request.attrs<ops::QMoEAttrs>();
  return prepare_mixture(request, attrs, ops::kQMoELayers, attrs.values_per_byte(),
                         nbits_expert_weights);
}

constexpr KernelEntry kMixtureKernels[] = {
    {"com.microsoft::MoE", "mixture_of_experts", prepare_moe},
    {"com.microsoft::QMoE", "mixture_of_experts", prepare_qmoe},
};

}  // namespace

std::span<const KernelEntry> mixture_of_experts_kernels() {
  return kMixtureKernels;
}

}  // namespace sardonyx::cpu
