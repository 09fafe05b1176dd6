// RNN, LSTM and GRU on float32 with constant weights.
#include <algorithm>
#include <string>

#include "ir/core/threading/parallel_for.h"
#include "ir/ops/recurrent.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/packed_once.h"
#include "providers/cpu/recurrent_rows.h"
#include "providers/cpu/recurrent_walk.h"
#include "providers/cpu/turn_rows.h"

namespace sardonyx::cpu {
namespace {

// Which gates a packed matrix holds, and how the cell goes over them.
enum class Cell { kRnn, kLstm, kGruLinear, kGru };

// rows [gates * hidden, depth] -> [panels][depth][gates][lanes], for gates [first, first + count).
void pack_panels(const RecurrentSizes& s, const LooseFloat* rows, size_t depth, size_t first,
                 size_t count, int threads, float* out) {
  const size_t block = count * s.lanes, panel_size = depth * block;
  if (s.padded() != s.hidden) std::fill_n(out, s.panels() * panel_size, 0.0f);
  parallel_for_each(static_cast<int64_t>(s.panels() * count), threads, [&](int64_t index) {
    const size_t panel = static_cast<size_t>(index) / count;
    const size_t gate = static_cast<size_t>(index) % count;
    const size_t unit = panel * s.lanes, units = std::min(s.lanes, s.hidden - unit);
    turn_rows(rows + ((first + gate) * s.hidden + unit) * depth, static_cast<int64_t>(depth),
              static_cast<int64_t>(units), static_cast<int64_t>(depth),
              out + panel * panel_size + gate * s.lanes, static_cast<int64_t>(block));
  });
}

const float* floats(const std::shared_ptr<const Buffer>& buffer) {
  return reinterpret_cast<const float*>(buffer->data());
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

class RecurrentKernel : public RecurrentWalk {
 public:
  RecurrentKernel(Cell cell, const ops::RecurrentSpec& spec, const RecurrentSizes& sizes,
                  const KernelRequest& request)
      : RecurrentWalk(sizes, request, cell == Cell::kLstm), cell_(cell) {
    const float* b = request.has(3) ? request.inputs[3].constant->values<float>().data() : nullptr;
    for (size_t direction = 0; direction < s_.directions; ++direction) {
      const size_t rows = s_.gates * s_.hidden;
      add_direction(request, direction, b ? b + direction * 2 * rows : nullptr);
      directions_.back().functions = cell_functions_of(spec, direction);
      if (request.has(ops::kP)) {
        constexpr size_t kPeepholes = 3;
        const float* p = request.inputs[ops::kP].constant->values<float>().data();
        directions_.back().peepholes = by_panel(p + direction * kPeepholes * s_.hidden, kPeepholes);
      }
    }
  }

 private:
  struct Direction {
    std::shared_ptr<const Buffer> input, recurrent, candidate;  // candidate: the third gate of kGru
    std::vector<float> bias;                                    // [panels][gates][lanes]
    std::vector<float> hidden_bias;                             // [panels][lanes], of kGruLinear
    std::vector<float> peepholes;                               // [panels][3][lanes]; or none
    CellFunctions functions;
  };

  // rows [count][hidden] -> [panels][count][lanes]
  std::vector<float> by_panel(const float* rows, size_t count) const {
    std::vector<float> made(count * s_.padded(), 0);
    for (size_t row = 0; row < count; ++row) {
      for (size_t unit = 0; unit < s_.hidden; ++unit) {
        made[(unit / s_.lanes * count + row) * s_.lanes + unit % s_.lanes] =
            rows[row * s_.hidden + unit];
      }
    }
    return made;
  }

  // Gates [first, first + count) of input `slot`, weights that need not be in memory before.
  std::shared_ptr<const Buffer> packed(const KernelRequest& request, size_t slot, size_t direction,
                                       size_t first, size_t count) const {
    const Tensor& weights = *request.inputs[slot].constant;
    const size_t depth = slot == ops::kW ? s_.in : s_.hidden;
    const size_t floats = s_.panels() * depth * count * s_.lanes;
    const std::string name = text("cpu/gates", s_.lanes, "/", direction, "/", first, "+", count);
    return packed_floats_once(request, slot, name, static_cast<int64_t>(floats), [&](float* to) {
      const size_t floats_before = direction * s_.gates * s_.hidden * depth;
      pack_panels(s_, peek_floats(weights) + floats_before, depth, first, count, request.threads,
                  to);
    });
  }

  void add_direction(const KernelRequest& request, size_t index, const float* b) {
    Direction made;
    const size_t together = cell_ == Cell::kGru ? 2 : s_.gates;
    made.input = packed(request, ops::kW, index, 0, s_.gates);
    made.recurrent = packed(request, ops::kR, index, 0, together);
    if (cell_ == Cell::kGru) made.candidate = packed(request, ops::kR, index, together, 1);
    made.bias.assign(s_.row(), 0);
    made.hidden_bias.assign(s_.padded(), 0);
    for (size_t gate = 0; b && gate < s_.gates; ++gate) {
      for (size_t unit = 0; unit < s_.hidden; ++unit) {
        const float of_input = b[gate * s_.hidden + unit];
        const float of_hidden = b[(s_.gates + gate) * s_.hidden + unit];
        const bool apart = cell_ == Cell::kGruLinear && gate == 2;  // inside the reset's product
        const size_t panel = unit / s_.lanes, lane = unit % s_.lanes;
        made.bias[(panel * s_.gates + gate) * s_.lanes + lane] = of_input + (apart ? 0 : of_hidden);
        if (apart) made.hidden_bias[unit] = of_hidden;
      }
    }
    directions_.push_back(std::move(made));
  }

  void input_part(const KernelArgs& args, size_t index, const Scratch& scratch,
                  const Share& share) const override {
    const Direction& direction = directions_[index];
    const auto* x = static_cast<const float*>(args.inputs[0]);
    for (size_t panel = share.begin; panel < share.end && !share.sign.ask(); ++panel) {
      gate_products(s_.gates, x, s_.in, s_.steps * s_.batch, s_.in,
                    floats(direction.input) + panel * s_.in * s_.block(),
                    direction.bias.data() + panel * s_.block(), scratch.x + panel * s_.block(),
                    s_.row());
    }
  }

  // The candidate of a GRU needs all of the state that its gates have reset.
  int phases() const override { return cell_ == Cell::kGru ? 2 : 1; }

  void run_step(size_t index, const Scratch& scratch, const Step& step, const Share& share,
                int phase) const override {
    const Direction& direction = directions_[index];
    const auto cell_step = [&](size_t panel, const float* weights, size_t gates) {
      constexpr size_t kPeepholes = 3;
      return CellStep{input_of(scratch, step, panel),
                      scratch.h,
                      scratch.h_next,
                      scratch.c,
                      s_.padded(),
                      step.rows,
                      s_.hidden,
                      weights + panel * s_.hidden * gates * s_.lanes,
                      panel * s_.lanes,
                      direction.functions,
                      direction.peepholes.empty()
                          ? nullptr
                          : direction.peepholes.data() + panel * kPeepholes * s_.lanes};
    };
    for (size_t i = 0; i < share.end - share.begin; ++i) {
      const size_t panel = share.panel(i, 1);
      if (phase == 1) {
        gru_step_candidate(cell_step(panel, floats(direction.candidate), 1), scratch.z,
                           scratch.reset);
        continue;
      }
      if (cell_ == Cell::kRnn) rnn_step(cell_step(panel, floats(direction.recurrent), 1));
      if (cell_ == Cell::kLstm) lstm_step(cell_step(panel, floats(direction.recurrent), 4));
      if (cell_ == Cell::kGruLinear) {
        gru_step_linear(cell_step(panel, floats(direction.recurrent), 3),
                        direction.hidden_bias.data() + panel * s_.lanes);
      }
      if (cell_ == Cell::kGru) {
        gru_step_gates(cell_step(panel, floats(direction.recurrent), 2), scratch.z, scratch.reset);
      }
    }
  }

  Cell cell_;
  std::vector<Direction> directions_;
};

// Why the general form is not for this kernel; nullptr where it is.
const char* refusal_of_recurrent(const KernelRequest& request) {
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (slot != ops::kSequenceLens && request.has(slot) &&
        request.inputs[slot].dtype != DType::kFloat)
      return "only float is computed here";
  }
  if (!request.inputs[ops::kW].constant || !request.inputs[ops::kR].constant)
    return "the weights are not constant";
  if (request.has(ops::kB) && !request.inputs[ops::kB].constant)
    return "the biases are not constant";
  if (request.has(ops::kP) && !request.inputs[ops::kP].constant)
    return "the peepholes are not constant";
  if (element_count(request.inputs[ops::kX].shape) == 0 ||
      element_count(request.inputs[ops::kR].shape) == 0)
    return "there is nothing to compute";
  return nullptr;
}

Cell kind_of_cell(const ops::RecurrentSpec& spec) {
  if (spec.cell == ops::RecurrentSpec::Cell::kRnn) return Cell::kRnn;
  if (spec.cell == ops::RecurrentSpec::Cell::kLstm) return Cell::kLstm;
  return spec.linear_before_reset ? Cell::kGruLinear : Cell::kGru;
}

Prepared prepare_recurrent(const KernelRequest& request) {
  const ops::RecurrentSpec spec = ops::recurrent_spec(request.op, request.raw_attrs);
  if (const char* why = refusal_of_recurrent(request)) return Prepared::refuse(why);
  const auto hidden = static_cast<size_t>(request.inputs[ops::kR].shape[2]);
  const char* direction = spec.directions() == 2 ? "bidirectional"
                          : spec.reversed[0]     ? "reverse"
                                                 : "forward";
  const RecurrentSizes sizes =
      recurrent_sizes(request, hidden, spec.gates(), direction, 1, spec.batch_first);
  Prepared prepared = Prepared::accept(
      std::make_unique<RecurrentKernel>(kind_of_cell(spec), spec, sizes, request), "simd");
  prepared.unread_inputs = 1u << ops::kW | 1u << ops::kR | 1u << ops::kB | 1u << ops::kP;
  return prepared;
}

constexpr KernelEntry kRecurrentEntries[] = {{"LSTM", "recurrent", prepare_recurrent},
                                             {"GRU", "recurrent", prepare_recurrent},
                                             {"RNN", "recurrent", prepare_recurrent}};

}  // namespace

std::span<const KernelEntry> recurrent_entries() {
  return kRecurrentEntries;
}

}  // namespace sardonyx::cpu
