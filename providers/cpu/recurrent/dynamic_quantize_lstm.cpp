// DynamicQuantizeLSTM: the input and every state are quantized to bytes with a range found at run
// time, and multiplied with constant int8 weights. The cell is that of LSTM.
#include <algorithm>
#include <utility>

#include "ir/ops/recurrent/rnn.h"
#include "providers/cpu/gemm/gemm_s16.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"
#include "providers/cpu/recurrent/gate_matrix.h"
#include "providers/cpu/recurrent/rnn_cell_kernel.h"
#include "providers/cpu/recurrent/rnn_time_loop.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kGates = 4;

// Quantized rows, GateMatrix::row_bytes() apart, and their range.
struct ByteRows {
  std::byte* rows;
  ByteScale* scale;
};

class QuantizedLstmKernel : public RnnTimeLoop {
 public:
  QuantizedLstmKernel(const RecurrentSizes& sizes, const KernelRequest& request)
      : RnnTimeLoop(sizes, request, true) {
    for (size_t d = 0; d < s_.directions; ++d) {
      QuantizedDirection made{make_gate_matrix(request, s_, d, {1, 8, 9}, s_.in),
                              make_gate_matrix(request, s_, d, {2, 10, 11}, s_.hidden),
                              std::vector<float>(s_.row(), 0)};
      if (request.has(3)) {
        const float* bias = request.inputs[3].constant->values<float>().data();
        bias += d * 2 * kGates * s_.hidden;
        for_columns([&](size_t column, size_t source) {
          made.bias[column] = bias[source] + bias[kGates * s_.hidden + source];
        });
      }
      directions_.push_back(std::move(made));
    }
  }

 protected:
  // Scratch of one direction: both ranges, the gates of a step, the epilogue's arrays, both
  // operands, and a row of bytes. All but the bytes are in whole cache lines.
  size_t own_bytes() const override {
    return kLine + gate_bytes() + 2 * column_bytes() + x_bytes() + h_bytes() +
           std::max(s_.in, s_.hidden);
  }

  void read_input(const KernelArgs& args, const RnnScratch& scratch) const override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const Own parts = own(scratch);
    const auto all = [](size_t) { return true; };
    round_rows({x, s_.in, longest(args) * s_.batch, s_.in}, all, x_matrix(), parts.x, parts.bytes);
  }

  // The epilogue is that of W until the first state is read.
  void begin_direction(size_t index, const RnnScratch& scratch) const override {
    const Own parts = own(scratch);
    directions_[index].w->set_epilogue(*parts.x.scale, parts.epilogue);
  }

  void input_part(const KernelArgs& args, size_t index, const RnnScratch& scratch,
                  const PanelRange& share) const override {
    const QuantizedDirection& direction = directions_[index];
    const Own parts = own(scratch);
    for (size_t panel = share.begin; panel < share.end && !share.sign.ask();
         panel += s_.panels_at_once) {
      const size_t column = panel * s_.block();
      direction.w->multiply({parts.x.rows,
                             longest(args) * s_.batch,
                             column,
                             parts.epilogue,
                             {direction.bias.data() + column, 0},
                             scratch.x + column});
    }
  }

  void read_state(const KernelArgs& args, size_t direction, size_t index,
                  const RnnScratch& scratch) const override {
    const Own parts = own(scratch);
    const GateMatrix& r = *directions_[direction].r;
    // The state after the step before, without the sequences that had ended by then.
    const auto went_on = [&](size_t row) { return index <= length(args, scratch.sequences[row]); };
    round_rows({scratch.h, s_.padded(), s_.batch, s_.hidden}, went_on, r, parts.h, parts.bytes);
    r.set_epilogue(*parts.h.scale, parts.epilogue);
  }

  void run_step(size_t index, const RnnScratch& scratch, const TimeStep& step,
                const PanelRange& share, int) const override {
    const Own parts = own(scratch);
    for (size_t i = 0; i < share.end - share.begin; i += s_.panels_at_once) {
      const size_t first = share.panel(i, s_.panels_at_once);
      const size_t column = first * s_.block();
      directions_[index].r->multiply({parts.h.rows, step.rows, column, parts.epilogue,
                                      input_of(scratch, step, first), parts.gates + column});
      for (size_t panel = first; panel < first + s_.panels_at_once; ++panel) {
        // All gate products are computed already, so lstm_step() gets a depth of 0.
        lstm_step({{parts.gates + panel * s_.block(), s_.row()},
                   scratch.h,
                   scratch.h_next,
                   scratch.c,
                   s_.padded(),
                   step.rows,
                   0,
                   nullptr,
                   panel * s_.lanes});
      }
    }
  }

 private:
  struct QuantizedDirection {
    std::unique_ptr<GateMatrix> w, r;
    std::vector<float> bias;  // of both, [row()]
  };
  struct Own {
    ByteRows x, h;
    float* gates;
    GateMatrix::ColumnEpilogue epilogue;
    uint8_t* bytes;
  };

  static constexpr size_t kLine = 64;
  static size_t whole_lines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }
  size_t gate_bytes() const { return whole_lines(s_.batch * s_.row() * sizeof(float)); }
  size_t column_bytes() const { return whole_lines(s_.row() * sizeof(float)); }
  // All directions have their matrices in the same form, and so one form of rows.
  const GateMatrix& x_matrix() const { return *directions_[0].w; }
  size_t x_bytes() const { return whole_lines(s_.steps * s_.batch * x_matrix().row_bytes()); }
  size_t h_bytes() const { return whole_lines(s_.batch * directions_[0].r->row_bytes()); }

  Own own(const RnnScratch& scratch) const {
    std::byte* at = scratch.own;
    const auto take = [&at](size_t bytes) { return std::exchange(at, at + bytes); };
    auto* ranges = reinterpret_cast<ByteScale*>(take(kLine));
    auto* gates = reinterpret_cast<float*>(take(gate_bytes()));
    auto* scales = reinterpret_cast<float*>(take(column_bytes()));
    auto* initial_sums = reinterpret_cast<int32_t*>(take(column_bytes()));
    std::byte *x = take(x_bytes()), *h = take(h_bytes());
    return {{x, ranges},
            {h, ranges + 1},
            gates,
            {scales, initial_sums},
            reinterpret_cast<uint8_t*>(at)};
  }

  // visit(column in the kernel's order, column of the matrix)
  template <typename Visit>
  void for_columns(const Visit& visit) const {
    for (size_t column = 0; column < s_.row(); ++column) {
      const size_t unit = column / s_.block() * s_.lanes + column % s_.lanes;
      const size_t gate = column % s_.block() / s_.lanes;
      if (unit < s_.hidden) visit(column, gate * s_.hidden + unit);
    }
  }

  struct FloatRows {
    const float* first;
    size_t step, rows, count;
  };
  // Rounds rows to bytes of one range: that of the rows that are `wanted`; the others are not
  // written.
  template <typename Wanted>
  static void round_rows(const FloatRows& from, const Wanted& wanted, const GateMatrix& matrix,
                         const ByteRows& to, uint8_t* bytes) {
    float low = 0, high = 0;
    for (size_t row = 0; row < from.rows; ++row) {
      if (wanted(row)) widen_range(from.first + row * from.step, from.count, low, high);
    }
    *to.scale = byte_scale_of(low, high);
    for (size_t row = 0; row < from.rows; ++row) {
      if (!wanted(row)) continue;
      quantize_row(from.first + row * from.step, to.scale->scale, to.scale->zero, bytes,
                   from.count);
      matrix.write_row(bytes, to.scale->zero, to.rows + row * matrix.row_bytes());
    }
  }

  std::vector<QuantizedDirection> directions_;
};

// The largest depth at which sums of products of bytes minus zero points cannot overflow int32.
constexpr int64_t kMaxSummed = INT32_MAX / (255 * 255);

Prepared prepare(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::QuantizedLstmAttrs>();
  for (const size_t slot : {1, 2, 3, 8, 9, 10, 11}) {
    if (request.has(slot) && !request.inputs[slot].constant)
      return Prepared::refuse("weights, biases, scales or zero points are not constant");
  }
  if (request.has(7)) return Prepared::refuse("peepholes are left to the reference");
  if (attrs.clip || attrs.input_forget || !are_usual(attrs.activations, true))
    return Prepared::refuse("clip, coupled gates and other activations are left to the reference");
  const Shape &x = request.inputs[0].shape, &r = request.inputs[2].shape;
  if (element_count(x) == 0 || element_count(r) == 0)
    return Prepared::refuse("there is nothing to compute");
  if (std::max(x[2], r[1]) > kMaxSummed) return Prepared::refuse("sums may exceed 32 bits");
  const size_t at_once = kPanelColumns / (kGates * recurrent_lanes());
  const RecurrentSizes sizes =
      recurrent_sizes(request, static_cast<size_t>(r[1]), kGates, attrs.direction, at_once);
  Prepared prepared =
      Prepared::accept(std::make_unique<QuantizedLstmKernel>(sizes, request), "simd");
  for (const size_t slot : {1, 2, 3, 8, 9, 10, 11})
    prepared.unread_inputs |= 1u << slot;
  return prepared;
}

constexpr KernelEntry kQuantizedRecurrentEntries[] = {
    {"com.microsoft::DynamicQuantizeLSTM", "dynamic_quantize_lstm", prepare}};

}  // namespace

std::span<const KernelEntry> dynamic_quantize_lstm_kernels() {
  return kQuantizedRecurrentEntries;
}

}  // namespace sardonyx::cpu
