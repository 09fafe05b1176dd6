// LSTM and GRU on float32 with constant weights and the default activations.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "ir/ops/recurrent.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/recurrent_rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

// Which gates a packed matrix holds, and how the cell goes over them.
enum class Cell { kLstm, kGruLinear, kGru };

struct Sizes {
  size_t steps, batch, in, hidden, directions, gates, lanes;
  bool first_backward;
  size_t panels() const { return (hidden + lanes - 1) / lanes; }
  size_t padded() const { return panels() * lanes; }
  size_t row() const { return panels() * gates * lanes; }  // all gates of one position
};

// rows [gates * hidden, depth] -> [panels][depth][gates][lanes], for gates [first, first + count).
std::shared_ptr<Buffer> pack_panels(const Sizes& s, const float* rows, size_t depth, size_t first,
                                    size_t count) {
  auto buffer = Buffer::allocate(s.panels() * depth * count * s.lanes * sizeof(float));
  auto* out = reinterpret_cast<float*>(buffer->data());
  for (size_t panel = 0; panel < s.panels(); ++panel) {
    for (size_t k = 0; k < depth; ++k) {
      for (size_t gate = 0; gate < count; ++gate) {
        for (size_t lane = 0; lane < s.lanes; ++lane) {
          const size_t unit = panel * s.lanes + lane;
          *out++ = unit < s.hidden ? rows[((first + gate) * s.hidden + unit) * depth + k] : 0;
        }
      }
    }
  }
  return buffer;
}

const float* floats(const std::shared_ptr<const Buffer>& buffer) {
  return reinterpret_cast<const float*>(buffer->data());
}

class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(Cell cell, const Sizes& sizes, const KernelRequest& request)
      : cell_(cell),
        s_(sizes),
        threads_(request.threads),
        outputs_(request.outputs.size()),
        has_lengths_(request.has(4)),
        has_hidden_(request.has(5)),
        has_cell_(cell == Cell::kLstm && request.has(6)) {
    const float* w = request.inputs[1].constant->values<float>().data();
    const float* r = request.inputs[2].constant->values<float>().data();
    const float* b = request.has(3) ? request.inputs[3].constant->values<float>().data() : nullptr;
    for (size_t direction = 0; direction < s_.directions; ++direction) {
      const size_t rows = s_.gates * s_.hidden;
      add_direction(request, direction, w + direction * rows * s_.in,
                    r + direction * rows * s_.hidden, b ? b + direction * 2 * rows : nullptr);
    }
  }

  // The input's part of all gates, two hidden states, the cell state, z and r * h.
  size_t scratch_bytes() const override {
    return (s_.steps * s_.batch * s_.row() + 5 * s_.batch * s_.padded()) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    if (has_lengths_) check_lengths(static_cast<const int32_t*>(args.inputs[4]));
    for (size_t direction = 0; direction < s_.directions; ++direction)
      run_direction(args, direction);
  }

 private:
  struct Direction {
    std::shared_ptr<const Buffer> input, recurrent, candidate;  // candidate: the third gate of kGru
    std::vector<float> bias;                                    // [panels][gates][lanes]
    std::vector<float> hidden_bias;                             // [panels][lanes], of kGruLinear
  };

  void add_direction(const KernelRequest& request, size_t index, const float* w, const float* r,
                     const float* b) {
    Direction made;
    const std::string form = "cpu/gates" + std::to_string(s_.lanes) + "/" + std::to_string(index);
    const auto packed = [&](size_t slot, const std::string& part, const auto& make) {
      std::shared_ptr<const Buffer> buffer;
      if (!request.packs) return buffer = make();
      return buffer = request.packs->get(*request.inputs[slot].constant, form + part, make);
    };
    const size_t together = cell_ == Cell::kGru ? 2 : s_.gates;
    made.input = packed(1, "w", [&] { return pack_panels(s_, w, s_.in, 0, s_.gates); });
    made.recurrent = packed(2, "r" + std::to_string(together),
                            [&] { return pack_panels(s_, r, s_.hidden, 0, together); });
    if (cell_ == Cell::kGru) {
      made.candidate = packed(2, "h", [&] { return pack_panels(s_, r, s_.hidden, 2, 1); });
    }
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

  struct Rows {
    size_t first, count;
  };
  // One thread's panels. Every other step goes through them from the last to the first: it begins
  // with the weights that the step before has left in the nearest cache.
  struct Share {
    size_t begin, end, parts;
    bool from_end = false;
    size_t panel(size_t index) const { return from_end ? begin + end - 1 - index : index; }
  };
  struct Scratch {
    float *x, *h, *h_next, *c, *z, *reset;
  };

  void run_direction(const KernelArgs& args, size_t index) const {
    const size_t state = s_.batch * s_.padded();
    auto* at = reinterpret_cast<float*>(args.scratch);
    const Scratch scratch{at + 5 * state, at, at + state, at + 2 * state, at + 3 * state,
                          at + 4 * state};
    std::memset(at, 0, 5 * state * sizeof(float));
    if (has_hidden_) load_state(args.inputs[5], index, scratch.h);
    if (has_cell_) load_state(args.inputs[6], index, scratch.c);
    // A step is worth sharing when its weights no longer fit one core's nearest caches.
    const bool shares = s_.hidden * s_.row() >= size_t{1} << 16;
    const int wanted =
        shares ? static_cast<int>(std::min<size_t>(static_cast<size_t>(threads_), s_.panels())) : 1;
    const StopSign sign;
    std::atomic<size_t> end = s_.steps;
    if (wanted <= 1) {
      run_part(args, index, scratch, 0, 1, sign, end);
    } else {
#pragma omp parallel num_threads(wanted)
      run_part(args, index, scratch, static_cast<size_t>(omp_get_thread_num()),
               static_cast<size_t>(omp_get_num_threads()), sign, end);
    }
    sign.check();
  }

  static void wait_for_all(size_t parts) {
    if (parts > 1) {
#pragma omp barrier
    }
  }

  // One thread's share of the panels, over all steps before `end`. That is moved by the first
  // thread alone, to the step behind its own before all meet: so all leave after the same one.
  void run_part(const KernelArgs& args, size_t index, Scratch scratch, size_t part, size_t parts,
                const StopSign& sign, std::atomic<size_t>& end_step) const {
    const Direction& direction = directions_[index];
    const size_t begin = s_.panels() * part / parts, end = s_.panels() * (part + 1) / parts;
    const bool backward = index == 1 || s_.first_backward;
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const size_t block = s_.gates * s_.lanes;
    for (size_t panel = begin; panel < end && !sign.ask(); ++panel) {
      gate_products(s_.gates, x, s_.in, s_.steps * s_.batch, s_.in,
                    floats(direction.input) + panel * s_.in * block,
                    direction.bias.data() + panel * block, scratch.x + panel * block, s_.row());
    }
    const auto work = static_cast<int64_t>(s_.batch * s_.hidden * (end - begin) * block);
    const auto mask = static_cast<size_t>(mask_of_looks(work));
    Share share{begin, end, parts};
    const auto* lengths = has_lengths_ ? static_cast<const int32_t*>(args.inputs[4]) : nullptr;
    for (size_t i = 0; i < end_step; ++i) {
      const bool is_over = (i & mask) == mask ? sign.ask() : sign.is_up();
      if (part == 0 && is_over) end_step = i + 1;
      if (!lengths) {
        const size_t step = backward ? s_.steps - 1 - i : i;
        run_step(direction, scratch, step, {0, s_.batch}, share);
        store_step(args.outputs[0], index, step, {0, s_.batch}, scratch.h_next, share);
      }
      for (size_t row = 0; lengths && row < s_.batch; ++row) {
        const auto length = static_cast<size_t>(lengths[row]);
        const size_t step = i >= length ? i : backward ? length - 1 - i : i;
        if (i < length)
          run_step(direction, scratch, step, {row, 1}, share);
        else
          keep_state(scratch, row, share);
        // Past its end a sequence gives zeros; z is free for them between two steps.
        store_step(args.outputs[0], index, step, {row, 1},
                   i < length ? scratch.h_next : zeros(scratch, row, share), share);
      }
      wait_for_all(parts);
      std::swap(scratch.h, scratch.h_next);
      share.from_end = !share.from_end;
    }
    if (part == 0) store_last(args, index, scratch);
  }

  void run_step(const Direction& direction, const Scratch& scratch, size_t step, Rows rows,
                const Share& share) const {
    const size_t block = s_.gates * s_.lanes;
    const size_t state = rows.first * s_.padded();
    const auto cell_step = [&](size_t panel, const float* weights, size_t gates) {
      const float* x = scratch.x + (step * s_.batch + rows.first) * s_.row() + panel * block;
      return CellStep{x,
                      s_.row(),
                      scratch.h + state,
                      scratch.h_next + state,
                      scratch.c + state,
                      s_.padded(),
                      rows.count,
                      s_.hidden,
                      weights + panel * s_.hidden * gates * s_.lanes,
                      panel * s_.lanes};
    };
    for (size_t i = share.begin; i < share.end; ++i) {
      const size_t panel = share.panel(i);
      if (cell_ == Cell::kLstm) lstm_step(cell_step(panel, floats(direction.recurrent), 4));
      if (cell_ == Cell::kGruLinear) {
        gru_step_linear(cell_step(panel, floats(direction.recurrent), 3),
                        direction.hidden_bias.data() + panel * s_.lanes);
      }
      if (cell_ == Cell::kGru) {
        gru_step_gates(cell_step(panel, floats(direction.recurrent), 2), scratch.z + state,
                       scratch.reset + state);
      }
    }
    if (cell_ != Cell::kGru) return;
    wait_for_all(share.parts);
    for (size_t i = share.begin; i < share.end; ++i) {
      const size_t panel = share.panel(i);
      const CellStep own = cell_step(panel, floats(direction.candidate), 1);
      gru_step_candidate(own, own.x + 2 * s_.lanes, scratch.z + state, scratch.reset + state);
    }
  }

  void keep_state(const Scratch& scratch, size_t row, const Share& share) const {
    const size_t first = row * s_.padded() + share.begin * s_.lanes;
    std::memcpy(scratch.h_next + first, scratch.h + first,
                (share.end - share.begin) * s_.lanes * sizeof(float));
  }

  const float* zeros(const Scratch& scratch, size_t row, const Share& share) const {
    std::fill_n(scratch.z + row * s_.padded() + share.begin * s_.lanes,
                (share.end - share.begin) * s_.lanes, 0.0f);
    return scratch.z;
  }

  void check_lengths(const int32_t* lengths) const {
    for (size_t row = 0; row < s_.batch; ++row) {
      if (lengths[row] >= 0 && static_cast<size_t>(lengths[row]) <= s_.steps) continue;
      fail(ErrorCode::kInvalidArgument, "input sequence_lens: element ", row, " is ", lengths[row],
           ", expected 0 to ", s_.steps);
    }
  }

  void load_state(const void* initial, size_t index, float* state) const {
    const auto* from = static_cast<const float*>(initial) + index * s_.batch * s_.hidden;
    for (size_t row = 0; row < s_.batch; ++row) {
      std::memcpy(state + row * s_.padded(), from + row * s_.hidden, s_.hidden * sizeof(float));
    }
  }

  // This share's units of one step into Y [steps, directions, batch, hidden].
  void store_step(void* y, size_t index, size_t step, Rows rows, const float* h,
                  const Share& share) const {
    auto* to = static_cast<float*>(y) + (step * s_.directions + index) * s_.batch * s_.hidden;
    const size_t first = share.begin * s_.lanes, last = std::min(share.end * s_.lanes, s_.hidden);
    for (size_t row = rows.first; row < rows.first + rows.count && first < last; ++row) {
      std::memcpy(to + row * s_.hidden + first, h + row * s_.padded() + first,
                  (last - first) * sizeof(float));
    }
  }

  void store_last(const KernelArgs& args, size_t index, const Scratch& scratch) const {
    const float* states[] = {scratch.h, scratch.c};
    for (size_t i = 0; i < 2; ++i) {
      const size_t output = i + 1;
      if (output >= outputs_) continue;
      auto* to = static_cast<float*>(args.outputs[output]) + index * s_.batch * s_.hidden;
      for (size_t row = 0; row < s_.batch; ++row) {
        std::memcpy(to + row * s_.hidden, states[i] + row * s_.padded(), s_.hidden * sizeof(float));
      }
    }
  }

  Cell cell_;
  Sizes s_;
  int threads_;
  size_t outputs_;
  bool has_lengths_, has_hidden_, has_cell_;
  std::vector<Direction> directions_;
};

// Why the general form is not for this kernel; nullptr where it is.
const char* refusal(const KernelRequest& request, const ops::RecurrentAttrs& attrs,
                    const std::optional<std::vector<std::string>>& activations, bool is_lstm) {
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (slot != 4 && request.has(slot) && request.inputs[slot].dtype != DType::kFloat)
      return "only float is computed here";
  }
  if (!request.inputs[1].constant || !request.inputs[2].constant)
    return "the weights are not constant";
  if (request.has(3) && !request.inputs[3].constant) return "the biases are not constant";
  if (is_lstm && request.has(7)) return "peepholes are left to the reference";
  if (attrs.clip || attrs.layout != 0) return "clip and layout 1 are left to the reference";
  const std::vector<std::string> usual = is_lstm
                                             ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                             : std::vector<std::string>{"Sigmoid", "Tanh"};
  for (size_t i = 0; activations && i < activations->size(); ++i) {
    if ((*activations)[i] != usual[i % usual.size()])
      return "other activations are left to the reference";
  }
  return nullptr;
}

Prepared accept(Cell cell, size_t gates, const KernelRequest& request,
                const ops::RecurrentAttrs& attrs) {
  const Shape& x = request.inputs[0].shape;
  const Shape& r = request.inputs[2].shape;
  if (element_count(x) == 0 || element_count(r) == 0)
    return Prepared::refuse("there is nothing to compute");
  const Sizes sizes{static_cast<size_t>(x[0]), static_cast<size_t>(x[1]),
                    static_cast<size_t>(x[2]), static_cast<size_t>(r[2]),
                    static_cast<size_t>(r[0]), gates,
                    recurrent_lanes(),         attrs.direction == "reverse"};
  Prepared prepared =
      Prepared::accept(std::make_unique<RecurrentKernel>(cell, sizes, request), "simd");
  prepared.unread_inputs = 1u << 1 | 1u << 2 | 1u << 3;
  return prepared;
}

Prepared prepare_lstm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LstmAttrs>();
  if (const char* why = refusal(request, attrs, attrs.activations, true))
    return Prepared::refuse(why);
  if (attrs.input_forget) return Prepared::refuse("coupled gates are left to the reference");
  return accept(Cell::kLstm, 4, request, attrs);
}

Prepared prepare_gru(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GruAttrs>();
  if (const char* why = refusal(request, attrs, attrs.activations, false))
    return Prepared::refuse(why);
  return accept(attrs.linear_before_reset ? Cell::kGruLinear : Cell::kGru, 3, request, attrs);
}

constexpr KernelEntry kEntries[] = {{"LSTM", "recurrent", prepare_lstm},
                                    {"GRU", "recurrent", prepare_gru}};

}  // namespace

std::span<const KernelEntry> recurrent_entries() {
  return kEntries;
}

}  // namespace sardonyx::cpu
