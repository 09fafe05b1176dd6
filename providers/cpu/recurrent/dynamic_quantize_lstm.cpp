// DynamicQuantizeLSTM: the input and every state are quantized to bytes with a range found at run
// time, and multiplied with constant int8 weights. The cell is that of LSTM.
#include <algorithm>
#include <cstring>

#include "ir/ops/recurrent/rnn.h"
#include "providers/cpu/gemm/quantized_params.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"
#include "providers/cpu/recurrent/rnn_cell_kernel.h"
#include "providers/cpu/recurrent/rnn_time_loop.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kGates = 4;

// W or R of one direction: bytes less their zero points, in panels of kPanelColumns columns. Their
// order is [panels][gates][lanes], as lstm_step has it.
struct PackedMatrix {
  std::shared_ptr<const Buffer> panels;
  std::vector<float> scales;  // one, or one for each column in that order
  size_t depth;
  size_t pairs() const { return (depth + 1) / 2; }
  const int16_t* panel(size_t index) const {
    return reinterpret_cast<const int16_t*>(panels->data()) + index * pairs() * 2 * kPanelColumns;
  }
};

// Quantized rows as int16, `row` elements each, and their scales.
struct ByteRows {
  int16_t* codes;
  size_t row;
  float* scale;
};

class QuantizedLstmKernel : public RnnTimeLoop {
 public:
  QuantizedLstmKernel(const RecurrentSizes& sizes, const KernelRequest& request)
      : RnnTimeLoop(sizes, request, true) {
    for (size_t d = 0; d < s_.directions; ++d) {
      QuantizedDirection made{matrix(request, d, 1, 8, s_.in), matrix(request, d, 2, 10, s_.hidden),
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
  // Scratch of one direction: both operands as int16, a row of bytes, the gates of a step, the
  // scales of columns, and two scales.
  size_t own_bytes() const override {
    return (2 + s_.row() + s_.batch * s_.row()) * sizeof(float) +
           (s_.steps * s_.batch * even(s_.in) + s_.batch * even(s_.hidden)) * sizeof(int16_t) +
           std::max(s_.in, s_.hidden);
  }

  void read_input(const KernelArgs& args, const RnnScratch& scratch) const override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const Own parts = own(scratch);
    const auto all = [](size_t) { return true; };
    round_rows(x, s_.in, longest(args) * s_.batch, s_.in, all, parts.x, parts.bytes);
  }

  // `scales` are the scales of W until the first state is read.
  void begin_direction(size_t index, const RnnScratch& scratch) const override {
    const Own parts = own(scratch);
    scale_columns(directions_[index].w, parts.x, parts.scales);
  }

  void input_part(const KernelArgs& args, size_t index, const RnnScratch& scratch,
                  const PanelRange& share) const override {
    const QuantizedDirection& direction = directions_[index];
    const Own parts = own(scratch);
    for (size_t panel = share.begin; panel < share.end && !share.sign.ask();
         panel += s_.panels_at_once) {
      const size_t column = panel * s_.block();
      multiply(direction.w, parts.x, longest(args) * s_.batch, column, parts.scales,
               {direction.bias.data() + column, 0}, scratch.x + column);
    }
  }

  void read_state(const KernelArgs& args, size_t direction, size_t index,
                  const RnnScratch& scratch) const override {
    const Own parts = own(scratch);
    // The state after the step before, without the sequences that had ended by then.
    const auto went_on = [&](size_t row) { return index <= length(args, scratch.sequences[row]); };
    round_rows(scratch.h, s_.padded(), s_.batch, s_.hidden, went_on, parts.h, parts.bytes);
    scale_columns(directions_[direction].r, parts.h, parts.scales);
  }

  void run_step(size_t index, const RnnScratch& scratch, const TimeStep& step,
                const PanelRange& share, int) const override {
    const Own parts = own(scratch);
    for (size_t i = 0; i < share.end - share.begin; i += s_.panels_at_once) {
      const size_t first = share.panel(i, s_.panels_at_once);
      const size_t column = first * s_.block();
      multiply(directions_[index].r, parts.h, step.rows, column, parts.scales,
               input_of(scratch, step, first), parts.gates + column);
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
    PackedMatrix w, r;
    std::vector<float> bias;  // of both, [row()]
  };
  struct Own {
    ByteRows x, h;
    float *gates, *scales;
    uint8_t* bytes;
  };

  static size_t even(size_t count) { return (count + 1) / 2 * 2; }

  Own own(const RnnScratch& scratch) const {
    auto* at = reinterpret_cast<float*>(scratch.own);
    float *gates = at + 2, *scales = gates + s_.batch * s_.row();
    auto* x = reinterpret_cast<int16_t*>(scales + s_.row());
    int16_t* h = x + s_.steps * s_.batch * even(s_.in);
    auto* bytes = reinterpret_cast<uint8_t*>(h + s_.batch * even(s_.hidden));
    return {{x, even(s_.in), at}, {h, even(s_.hidden), at + 1}, gates, scales, bytes};
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

  // The packed matrix of input `slot`, whose scale is input `scale` and whose zero point is the
  // input after that.
  PackedMatrix matrix(const KernelRequest& request, size_t direction, size_t slot, size_t scale,
                      size_t depth) const {
    const Tensor& zeros = *request.inputs[scale + 1].constant;
    const auto scales = request.inputs[scale].constant->values<float>();
    const size_t columns = kGates * s_.hidden;
    PackedMatrix made{nullptr, {}, depth};
    made.scales.assign(scales.size() == s_.directions ? 1 : s_.row(), scales[direction]);
    std::vector<int16_t> column_zeros(s_.row(), 0);
    const std::vector<int64_t> all_zeros = zeros.to_int64s();
    const bool one_zero = all_zeros.size() == s_.directions;
    for_columns([&](size_t column, size_t source) {
      column_zeros[column] =
          static_cast<int16_t>(all_zeros[one_zero ? direction : direction * columns + source]);
      if (made.scales.size() > 1) made.scales[column] = scales[direction * columns + source];
    });
    IntegerSlots slots{.w = slot};
    slots.w_zero = scale + 1;
    const bool is_signed = request.inputs[slot].dtype == DType::kInt8;
    made.panels = packed_weights(request, slots, made.pairs() * 2 * s_.row() * sizeof(int16_t),
                                 text("cpu:gates of int16:", s_.lanes, ":", direction),
                                 [&](const void* weights, const void*, int16_t* to) {
                                   const auto* bytes = static_cast<const uint8_t*>(weights) +
                                                       direction * depth * columns;
                                   pack(bytes, is_signed, column_zeros, depth, to);
                                 });
    return made;
  }

  void pack(const uint8_t* bytes, bool is_signed, const std::vector<int16_t>& zeros, size_t depth,
            int16_t* to) const {
    const size_t pairs = (depth + 1) / 2;
    // Units past the end have weights of 0, whose zero points are 0 as well.
    std::vector<uint8_t> rows(2 * s_.row(), 0);
    for (size_t pair = 0; pair < pairs; ++pair) {
      const bool is_whole = 2 * pair + 1 < depth;
      for_columns([&](size_t column, size_t source) {
        const uint8_t* from = bytes + 2 * pair * kGates * s_.hidden + source;
        rows[column] = from[0];
        if (is_whole) rows[s_.row() + column] = from[kGates * s_.hidden];
      });
      for (size_t at = 0; at < s_.row(); at += kPanelColumns) {
        pack_pair(rows.data() + at, is_whole ? rows.data() + s_.row() + at : nullptr, is_signed,
                  zeros.data() + at, kPanelColumns,
                  to + (at / kPanelColumns * pairs + pair) * 2 * kPanelColumns);
      }
    }
  }

  // `rows` rows of `count` floats, `step` apart, rounded to bytes of one range: that of the rows
  // that are `wanted`; the others are not written.
  template <typename Wanted>
  static void round_rows(const float* from, size_t step, size_t rows, size_t count,
                         const Wanted& wanted, const ByteRows& to, uint8_t* bytes) {
    float low = 0, high = 0;
    for (size_t row = 0; row < rows; ++row) {
      if (wanted(row)) widen_range(from + row * step, count, low, high);
    }
    const ByteScale scale = byte_scale_of(low, high);
    *to.scale = scale.scale;
    for (size_t row = 0; row < rows; ++row) {
      if (!wanted(row)) continue;
      int16_t* codes = to.codes + row * to.row;
      codes[to.row - 1] = 0;
      quantize_row(from + row * step, scale.scale, scale.zero, bytes, count);
      widen_bytes(bytes, false, scale.zero, count, codes);
    }
  }

  static void scale_columns(const PackedMatrix& matrix, const ByteRows& rows, float* scales) {
    for (size_t i = 0; i < matrix.scales.size(); ++i)
      scales[i] = matrix.scales[i] * *rows.scale;
  }

  // out = rows * matrix * scales + addend for the first `row_count` rows and the kPanelColumns
  // columns from `column` on; rows of the result are row() apart.
  void multiply(const PackedMatrix& matrix, const ByteRows& rows, size_t row_count, size_t column,
                const float* scales, const InputPart& addend, float* out) const {
    int32_t sums[kRowsAtOnce * kPanelColumns];
    RowFinish finish{.type = SumType::kFloat};
    finish.scale_steps = matrix.scales.size() > 1;
    finish.scale = scales + (finish.scale_steps ? column : 0);
    const int16_t* panel = matrix.panel(column / kPanelColumns);
    for (size_t done = 0; done < row_count; done += kRowsAtOnce) {
      const size_t count = std::min(kRowsAtOnce, row_count - done);
      multiply_panel(rows.codes + done * rows.row, rows.row, count, panel, matrix.pairs(), sums);
      for (size_t r = 0; r < count; ++r) {
        finish.addend = addend.of(done + r);
        finish_row(finish, sums + r * kPanelColumns, kPanelColumns, out + (done + r) * s_.row());
      }
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
