// RNN, LSTM and GRU on float32. Weights are packed once where they are constant, else in each run.
#include <algorithm>
#include <array>
#include <string>

#include "ir/core/threading/parallel_for.h"
#include "ir/ops/recurrent/rnn.h"
#include "providers/cpu/gemm/pack_transposed.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/packed_weights.h"
#include "providers/cpu/recurrent/rnn_cell_kernel.h"
#include "providers/cpu/recurrent/rnn_time_loop.h"

namespace sardonyx::cpu {
namespace {

// The cell's kind, which decides the gates of a packed matrix and the passes over them.
enum class PackedCell { kRnn, kLstm, kGruLinear, kGru };

// rows [gates * hidden, depth] -> [panels][depth][gates][lanes], for gates [first, first + count).
void pack_panels(const RecurrentSizes& s, const LooseFloat* rows, size_t depth, size_t first,
                 size_t count, int threads, float* out) {
  const size_t block = count * s.lanes, panel_size = depth * block;
  if (s.padded() != s.hidden) std::fill_n(out, s.panels() * panel_size, 0.0f);
  parallel_for_each(static_cast<int64_t>(s.panels() * count), threads, [&](int64_t index) {
    const size_t panel = static_cast<size_t>(index) / count;
    const size_t gate = static_cast<size_t>(index) % count;
    const size_t unit = panel * s.lanes, units = std::min(s.lanes, s.hidden - unit);
    pack_transposed(rows + ((first + gate) * s.hidden + unit) * depth, static_cast<int64_t>(depth),
                    static_cast<int64_t>(units), static_cast<int64_t>(depth),
                    out + panel * panel_size + gate * s.lanes, static_cast<int64_t>(block));
  });
}

CellFunctionKind kind_of(ops::ActivationKind kind) {
  using From = ops::ActivationKind;
  using To = CellFunctionKind;
  switch (kind) {
    case From::kRelu:
      return To::kRelu;
    case From::kTanh:
      return To::kTanh;
    case From::kSigmoid:
      return To::kSigmoid;
    case From::kAffine:
      return To::kAffine;
    case From::kLeakyRelu:
      return To::kLeakyRelu;
    case From::kThresholdedRelu:
      return To::kThresholdedRelu;
    case From::kScaledTanh:
      return To::kScaledTanh;
    case From::kHardSigmoid:
      return To::kHardSigmoid;
    case From::kElu:
      return To::kElu;
    case From::kSoftsign:
      return To::kSoftsign;
    case From::kSoftplus:
      return To::kSoftplus;
  }
  return To::kTanh;
}

CellFunctions cell_functions_of(const ops::RecurrentSpec& spec, size_t direction) {
  const auto function = [&](size_t index) {
    const ops::Activation& own = spec.activations[direction * spec.functions() + index];
    return CellFunction{kind_of(own.kind), own.alpha, own.beta};
  };
  CellFunctions functions;
  if (spec.functions() == 1) functions.candidate = function(0);  // an RNN's alone
  if (spec.functions() > 1) functions.gate = function(0), functions.candidate = function(1);
  if (spec.functions() > 2) functions.output = function(2);
  if (spec.clip) functions.clip = *spec.clip;
  functions.is_coupled = spec.input_forget;
  return functions;
}

// The packed weights and biases of one direction.
struct PackedGates {
  const float *input = nullptr, *recurrent = nullptr;
  const float* candidate = nullptr;    // the third gate of kGru
  const float* bias = nullptr;         // [panels][gates][lanes]
  const float* hidden_bias = nullptr;  // [panels][lanes], of kGruLinear
  const float* peepholes = nullptr;    // [panels][3][lanes]; or none
};

constexpr size_t kPeepholes = 3;

// The sizes of the parts of PackedGates, in floats, and how they are packed from the op's inputs.
class GatePacking {
 public:
  GatePacking(PackedCell cell, const RecurrentSizes& sizes, const KernelRequest& request)
      : cell_(cell),
        s_(sizes),
        threads_(request.threads),
        has_bias_(request.has(ops::kBiases)),
        has_peepholes_(request.has(ops::kP)) {}

  // The gates of the product with the hidden state.
  size_t gates_per_product() const { return cell_ == PackedCell::kGru ? 2 : s_.gates; }
  bool has_candidate() const { return cell_ == PackedCell::kGru; }
  size_t matrix_floats(size_t slot, size_t gates) const {
    return s_.panels() * (slot == ops::kW ? s_.in : s_.hidden) * gates * s_.lanes;
  }
  size_t vector_floats() const {
    return s_.row() + s_.padded() + (has_peepholes_ ? kPeepholes * s_.padded() : 0);
  }
  size_t floats() const {
    return matrix_floats(ops::kW, s_.gates) + matrix_floats(ops::kR, s_.gates) + vector_floats();
  }

  // Gates [first, first + count) of the weights of input `slot`.
  void pack_matrix(const LooseFloat* weights, size_t slot, size_t direction, size_t first,
                   size_t count, int threads, float* to) const {
    const size_t depth = slot == ops::kW ? s_.in : s_.hidden;
    pack_panels(s_, weights + direction * s_.gates * s_.hidden * depth, depth, first, count,
                threads, to);
  }

  // Biases and peepholes, from those of the first direction, one after the other in `to`.
  void pack_vectors(const float* b, const float* p, size_t direction, float* to,
                    PackedGates& gates) const {
    std::fill_n(to, vector_floats(), 0.0f);
    gates.bias = to;
    gates.hidden_bias = to + s_.row();
    if (has_bias_) pack_bias(b + direction * 2 * s_.gates * s_.hidden, to, to + s_.row());
    if (!has_peepholes_) return;
    to += s_.row() + s_.padded();
    gates.peepholes = to;
    p += direction * kPeepholes * s_.hidden;
    for (size_t row = 0; row < kPeepholes; ++row) {
      for (size_t unit = 0; unit < s_.hidden; ++unit)
        to[(unit / s_.lanes * kPeepholes + row) * s_.lanes + unit % s_.lanes] = *p++;
    }
  }

  // Everything of a direction, from the inputs of a run into floats() places.
  PackedGates pack(const KernelArgs& args, size_t direction, float* to) const {
    PackedGates gates;
    const auto add = [&](size_t slot, size_t first, size_t count) {
      pack_matrix(static_cast<const LooseFloat*>(args.inputs[slot]), slot, direction, first, count,
                  threads_, to);
      const float* made = to;
      to += matrix_floats(slot, count);
      return made;
    };
    gates.input = add(ops::kW, 0, s_.gates);
    gates.recurrent = add(ops::kR, 0, gates_per_product());
    if (has_candidate()) gates.candidate = add(ops::kR, gates_per_product(), 1);
    pack_vectors(has_bias_ ? static_cast<const float*>(args.inputs[ops::kBiases]) : nullptr,
                 has_peepholes_ ? static_cast<const float*>(args.inputs[ops::kP]) : nullptr,
                 direction, to, gates);
    return gates;
  }

 private:
  void pack_bias(const float* b, float* bias, float* hidden_bias) const {
    for (size_t gate = 0; gate < s_.gates; ++gate) {
      for (size_t unit = 0; unit < s_.hidden; ++unit) {
        const float of_input = b[gate * s_.hidden + unit];
        const float of_hidden = b[(s_.gates + gate) * s_.hidden + unit];
        const bool apart =
            cell_ == PackedCell::kGruLinear && gate == 2;  // inside the reset's product
        const size_t panel = unit / s_.lanes, lane = unit % s_.lanes;
        bias[(panel * s_.gates + gate) * s_.lanes + lane] = of_input + (apart ? 0 : of_hidden);
        if (apart) hidden_bias[unit] = of_hidden;
      }
    }
  }

  PackedCell cell_;
  RecurrentSizes s_;
  int threads_;
  bool has_bias_, has_peepholes_;
};

// Runs a cell on packed gates. Copies share the weights and allocate nothing.
class RecurrentKernel : public RnnTimeLoop {
 public:
  RecurrentKernel(PackedCell cell, const ops::RecurrentSpec& spec, const RecurrentSizes& sizes,
                  const KernelRequest& request)
      : RnnTimeLoop(sizes, request, cell == PackedCell::kLstm), cell_(cell) {
    for (size_t direction = 0; direction < s_.directions; ++direction)
      functions_[direction] = cell_functions_of(spec, direction);
  }
  void set_gates(size_t direction, const PackedGates& gates) { gates_[direction] = gates; }

 private:
  void input_part(const KernelArgs& args, size_t index, const RnnScratch& scratch,
                  const PanelRange& share) const override {
    const PackedGates& gates = gates_[index];
    const auto* x = static_cast<const float*>(args.inputs[0]);
    for (size_t panel = share.begin; panel < share.end && !share.sign.ask(); ++panel) {
      gate_products(s_.gates, x, s_.in, s_.steps * s_.batch, s_.in,
                    gates.input + panel * s_.in * s_.block(), gates.bias + panel * s_.block(),
                    scratch.x + panel * s_.block(), s_.row());
    }
  }

  // The candidate of a GRU needs all of the state that its gates have reset.
  int phases() const override { return cell_ == PackedCell::kGru ? 2 : 1; }

  void run_step(size_t index, const RnnScratch& scratch, const TimeStep& step,
                const PanelRange& share, int phase) const override {
    const PackedGates& packed = gates_[index];
    const auto cell_step = [&](size_t panel, const float* weights, size_t gates) {
      return CellStep{
          input_of(scratch, step, panel),
          scratch.h,
          scratch.h_next,
          scratch.c,
          s_.padded(),
          step.rows,
          s_.hidden,
          weights + panel * s_.hidden * gates * s_.lanes,
          panel * s_.lanes,
          functions_[index],
          packed.peepholes ? packed.peepholes + panel * kPeepholes * s_.lanes : nullptr};
    };
    for (size_t i = 0; i < share.end - share.begin; ++i) {
      const size_t panel = share.panel(i, 1);
      if (phase == 1) {
        gru_step_candidate(cell_step(panel, packed.candidate, 1), scratch.z, scratch.reset);
        continue;
      }
      if (cell_ == PackedCell::kRnn) rnn_step(cell_step(panel, packed.recurrent, 1));
      if (cell_ == PackedCell::kLstm) lstm_step(cell_step(panel, packed.recurrent, 4));
      if (cell_ == PackedCell::kGruLinear) {
        gru_step_linear(cell_step(panel, packed.recurrent, 3),
                        packed.hidden_bias + panel * s_.lanes);
      }
      if (cell_ == PackedCell::kGru) {
        gru_step_gates(cell_step(panel, packed.recurrent, 2), scratch.z, scratch.reset);
      }
    }
  }

  PackedCell cell_;
  std::array<PackedGates, 2> gates_;
  std::array<CellFunctions, 2> functions_;
};

// Packs constant weights once; such weights need not be in memory before.
class ConstantRecurrentKernel : public RecurrentKernel {
 public:
  ConstantRecurrentKernel(PackedCell cell, const ops::RecurrentSpec& spec,
                          const RecurrentSizes& sizes, const KernelRequest& request)
      : RecurrentKernel(cell, spec, sizes, request) {
    const GatePacking packing(cell, sizes, request);
    const auto values = [&](size_t slot) {
      return request.has(slot) ? request.inputs[slot].constant->values<float>().data() : nullptr;
    };
    for (size_t direction = 0; direction < s_.directions; ++direction) {
      PackedGates gates;
      gates.input = matrix(request, packing, ops::kW, direction, 0, s_.gates);
      gates.recurrent =
          matrix(request, packing, ops::kR, direction, 0, packing.gates_per_product());
      if (packing.has_candidate())
        gates.candidate =
            matrix(request, packing, ops::kR, direction, packing.gates_per_product(), 1);
      vectors_[direction].resize(packing.vector_floats());
      packing.pack_vectors(values(ops::kBiases), values(ops::kP), direction,
                           vectors_[direction].data(), gates);
      set_gates(direction, gates);
    }
  }

 private:
  const float* matrix(const KernelRequest& request, const GatePacking& packing, size_t slot,
                      size_t direction, size_t first, size_t count) {
    const std::string name = text("cpu/gates", s_.lanes, "/", direction, "/", first, "+", count);
    const auto floats = static_cast<int64_t>(packing.matrix_floats(slot, count));
    matrices_.push_back(packed_floats_once(request, slot, name, floats, [&](float* to) {
      packing.pack_matrix(peek_floats(*request.inputs[slot].constant), slot, direction, first,
                          count, request.threads, to);
    }));
    return reinterpret_cast<const float*>(matrices_.back()->data());
  }

  std::vector<std::shared_ptr<const Buffer>> matrices_;
  std::array<std::vector<float>, 2> vectors_;
};

// Packs the weights in each run, which costs about as much as one step of a few sequences.
class FreshRecurrentKernel : public Kernel {
 public:
  FreshRecurrentKernel(PackedCell cell, const ops::RecurrentSpec& spec, const RecurrentSizes& sizes,
                       const KernelRequest& request)
      : packing_(cell, sizes, request),
        directions_(sizes.directions),
        unpacked_(cell, spec, sizes, request) {}

  size_t scratch_bytes() const override {
    return directions_ * direction_bytes() + unpacked_.scratch_bytes();
  }
  void run(const KernelArgs& args) const override {
    RecurrentKernel kernel = unpacked_;
    std::byte* at = args.scratch;
    for (size_t direction = 0; direction < directions_; ++direction, at += direction_bytes())
      kernel.set_gates(direction, packing_.pack(args, direction, reinterpret_cast<float*>(at)));
    kernel.run({args.inputs, args.outputs, at});
  }

 private:
  size_t direction_bytes() const {  // whole cache lines
    constexpr size_t kLine = 64;
    return (packing_.floats() * sizeof(float) + kLine - 1) / kLine * kLine;
  }

  GatePacking packing_;
  size_t directions_;
  RecurrentKernel unpacked_;
};

// Why the general form is not for this kernel; nullptr where it is.
const char* why_unsupported_rnn(const KernelRequest& request) {
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (slot != ops::kSequenceLens && request.has(slot) &&
        request.inputs[slot].dtype != DType::kFloat)
      return "only float is computed here";
  }
  if (element_count(request.inputs[ops::kX].shape) == 0 ||
      element_count(request.inputs[ops::kR].shape) == 0)
    return "there is nothing to compute";
  return nullptr;
}

bool has_constant_weights(const KernelRequest& request) {
  return std::ranges::all_of(std::array{ops::kW, ops::kR, ops::kBiases, ops::kP}, [&](size_t slot) {
    return !request.has(slot) || request.inputs[slot].constant;
  });
}

PackedCell kind_of_cell(const ops::RecurrentSpec& spec) {
  if (spec.cell == ops::RecurrentSpec::Cell::kRnn) return PackedCell::kRnn;
  if (spec.cell == ops::RecurrentSpec::Cell::kLstm) return PackedCell::kLstm;
  return spec.linear_before_reset ? PackedCell::kGruLinear : PackedCell::kGru;
}

Prepared prepare_recurrent(const KernelRequest& request) {
  const ops::RecurrentSpec spec = ops::recurrent_spec(request.op, request.raw_attrs);
  if (const char* why = why_unsupported_rnn(request)) return Prepared::refuse(why);
  const auto hidden = static_cast<size_t>(request.inputs[ops::kR].shape[2]);
  const char* direction = spec.directions() == 2 ? "bidirectional"
                          : spec.reversed[0]     ? "reverse"
                                                 : "forward";
  const RecurrentSizes sizes =
      recurrent_sizes(request, hidden, spec.gates(), direction, 1, spec.batch_first);
  const PackedCell cell = kind_of_cell(spec);
  if (!has_constant_weights(request)) {
    return Prepared::accept(std::make_unique<FreshRecurrentKernel>(cell, spec, sizes, request),
                            "simd");
  }
  Prepared prepared = Prepared::accept(
      std::make_unique<ConstantRecurrentKernel>(cell, spec, sizes, request), "simd");
  prepared.unread_inputs = 1u << ops::kW | 1u << ops::kR | 1u << ops::kBiases | 1u << ops::kP;
  return prepared;
}

constexpr KernelEntry kRecurrentEntries[] = {{"LSTM", "rnn", prepare_recurrent},
                                             {"GRU", "rnn", prepare_recurrent},
                                             {"RNN", "rnn", prepare_recurrent}};

}  // namespace

std::span<const KernelEntry> rnn_kernels() {
  return kRecurrentEntries;
}

}  // namespace sardonyx::cpu
