// com.microsoft: DynamicQuantizeLSTM.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/recurrent/rnn.h"

namespace sardonyx::ops {
namespace {

using Doubles = std::vector<double>;
// The elements of an input, which may be large; in scratch memory.
using Operand = std::pmr::vector<double>;

// Inputs kX to kP are those of LSTM, but that W and R are transposed: [directions, width, 4 *
// hidden].
enum QuantizedLstmInput { kWScale = kP + 1, kWZero, kRScale, kRZero };

// The attributes as LSTM has them.
RecurrentSpec lstm_spec(const QuantizedLstmAttrs& attrs) {
  LstmAttrs lstm;
  lstm.activation_alpha = attrs.activation_alpha;
  lstm.activation_beta = attrs.activation_beta;
  lstm.activations = attrs.activations;
  lstm.clip = attrs.clip;
  lstm.direction = attrs.direction;
  lstm.hidden_size = attrs.hidden_size;
  lstm.input_forget = attrs.input_forget;
  return recurrent_spec(op_named("LSTM"), Attrs(lstm));
}

void require_dims(InferContext& c, size_t input, const Dims& wanted) {
  const Dims* shape = c.shape(input);
  if (!shape) return;
  c.require_rank(input, wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    c.merged((*shape)[i], wanted[i], c.input_label(input));
}

void infer_quantized_lstm(InferContext& c) {
  const auto& attrs = c.attrs<QuantizedLstmAttrs>();
  const auto directions = static_cast<int64_t>(lstm_spec(attrs).directions());
  c.require_rank(kX, 3);
  c.require_rank(kR, 3);
  const Dims *x = c.shape(kX), *r = c.shape(kR);
  const Dim length = x ? (*x)[0] : c.unknown(), batch = x ? (*x)[1] : c.unknown();
  const Dim width = x ? (*x)[2] : c.unknown();
  Dim hidden = r ? (*r)[1] : c.unknown();
  if (attrs.hidden_size) hidden = c.merged(hidden, *attrs.hidden_size, "R and hidden_size");
  require_dims(c, kW, {directions, width, hidden * 4});
  require_dims(c, kR, {directions, hidden, hidden * 4});
  require_dims(c, kBiases, {directions, hidden * 8});
  require_dims(c, kSequenceLens, {batch});
  require_dims(c, kInitialH, {directions, batch, hidden});
  require_dims(c, kInitialC, {directions, batch, hidden});
  require_dims(c, kP, {directions, hidden * 3});
  for (const size_t input : {kWScale, kWZero, kRScale, kRZero}) {
    const std::optional<size_t> rank = rank_of(c, input);
    if (rank) require_dims(c, input, *rank == 1 ? Dims{directions} : Dims{directions, hidden * 4});
  }
  c.set(0, DType::kFloat, Dims{length, directions, batch, hidden});
  c.set(1, DType::kFloat, Dims{directions, batch, hidden});
  c.set(2, DType::kFloat, Dims{directions, batch, hidden});
}

Operand from_bytes(const TensorView& view) {
  Operand out(scratch());
  out.reserve(static_cast<size_t>(view.count()));
  in_pieces(view.count(), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      out.push_back(view.dtype == DType::kFloat   ? view.data<float>()[i]
                    : view.dtype == DType::kUInt8 ? view.data<uint8_t>()[i]
                                                  : view.data<int8_t>()[i]);
    }
  });
  return out;
}

// The values as they come back from eight bits whose range is that of all of them and 0, which is
// what DynamicQuantizeLinear makes of them.
void round_to_bytes(std::span<double> values) {
  float low = 0, high = 0;
  const auto in_all = [&](const auto& body) {
    in_pieces(static_cast<int64_t>(values.size()), [&](int64_t first, int64_t last) {
      for (double& value :
           values.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)))
        body(value);
    });
  };
  in_all([&](double value) {
    low = std::min(low, static_cast<float>(value));
    high = std::max(high, static_cast<float>(value));
  });
  const float scale = high == low ? 1.f : (high - low) / 255;
  const float zero = std::nearbyint(clamped_number(-low / scale, 0.f, 255.f));
  in_all([&](double& value) {
    const float code = std::nearbyint(static_cast<float>(value) / scale) + zero;
    value = static_cast<double>(std::clamp(code, 0.f, 255.f) - zero) * scale;
  });
}

class QuantizedLstm {
 public:
  explicit QuantizedLstm(const KernelCall& call)
      : call_(call), spec_(lstm_spec(call.attrs<QuantizedLstmAttrs>())) {
    const std::span<const int64_t> x = call.inputs[kX].shape;
    length_ = x[0];
    batch_ = x[1];
    width_ = x[2];
    hidden_ = call.inputs[kR].shape[1];
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t own =
          call.has(kSequenceLens) ? call.inputs[kSequenceLens].data<int32_t>()[b] : length_;
      if (own < 0 || own > length_) {
        fail(ErrorCode::kInvalidArgument, "DynamicQuantizeLSTM: input sequence_lens: ", own,
             " is outside 0..", length_);
      }
      lengths_.push_back(own);
      longest_ = std::max(longest_, own);
    }
  }

  void run() {
    if (call_.wants(0)) std::fill_n(call_.outputs[0].data<float>(), call_.outputs[0].count(), 0.f);
    x_ = from_bytes(call_.inputs[kX]);
    round_to_bytes(std::span(x_).first(static_cast<size_t>(longest_ * batch_ * width_)));
    for (size_t d = 0; d < spec_.directions(); ++d)
      run_direction(static_cast<int64_t>(d));
  }

 private:
  // Row-major [rows, 4 * hidden] of direction `d` as real numbers.
  Operand weights(int64_t d, size_t input, size_t scale, size_t zero, int64_t rows) const {
    const int64_t columns = 4 * hidden_;
    const Operand scales = from_bytes(call_.inputs[scale]);
    const Operand zeros = from_bytes(call_.inputs[zero]);
    const auto of = [&](const Operand& list, size_t which, int64_t column) {
      const bool by_column = call_.inputs[which].rank() == 2;
      return list[static_cast<size_t>(by_column ? d * columns + column : d)];
    };
    const TensorView& given = call_.inputs[input];
    const int64_t extents[] = {rows, columns};
    const auto* bytes = static_cast<const std::byte*>(given.raw) + d * rows * columns;
    Operand out = from_bytes({given.dtype, extents, const_cast<std::byte*>(bytes)});
    in_pieces(rows * columns, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        double& weight = out[static_cast<size_t>(i)];
        weight = (weight - of(zeros, zero, i % columns)) * of(scales, scale, i % columns);
      }
    });
    return out;
  }

  // Part `d` of an optional input, zeros where it is missing.
  Doubles part(int64_t d, size_t input, int64_t count) const {
    if (!call_.has(input)) return Doubles(static_cast<size_t>(count), 0);
    const float* from = call_.inputs[input].data<float>() + d * count;
    return {from, from + count};
  }

  void run_direction(int64_t d) {
    const ScratchMark mark;
    const Operand w = weights(d, kW, kWScale, kWZero, width_),
                  r = weights(d, kR, kRScale, kRZero, hidden_);
    bias_ = part(d, kBiases, 8 * hidden_);
    peephole_ = part(d, kP, 3 * hidden_);
    functions_ = spec_.activations.data() + static_cast<size_t>(d) * spec_.functions();
    Doubles h = part(d, kInitialH, batch_ * hidden_), c = part(d, kInitialC, batch_ * hidden_);
    for (int64_t step = 0; step < longest_; ++step) {
      check_interrupted();
      Doubles seen = h;
      // The range is that of what the step before has made: not of sequences that had ended by
      // then.
      for (int64_t b = 0; b < batch_; ++b) {
        if (step > lengths_[static_cast<size_t>(b)])
          std::fill_n(seen.begin() + b * hidden_, hidden_, 0.0);
      }
      round_to_bytes(seen);
      for (int64_t b = 0; b < batch_; ++b) {
        const int64_t own = lengths_[static_cast<size_t>(b)];
        if (step >= own) continue;
        const int64_t t = spec_.reversed[static_cast<size_t>(d)] ? own - 1 - step : step;
        Doubles gates(static_cast<size_t>(4 * hidden_));
        for (size_t i = 0; i < gates.size(); ++i)
          gates[i] = bias_[i] + bias_[gates.size() + i];
        add_product(x_.data() + (t * batch_ + b) * width_, width_, w, gates);
        add_product(seen.data() + b * hidden_, hidden_, r, gates);
        cell(gates, h.data() + b * hidden_, c.data() + b * hidden_);
        write(0, ((t * static_cast<int64_t>(spec_.directions()) + d) * batch_ + b) * hidden_,
              h.data() + b * hidden_, hidden_);
      }
    }
    write(1, d * batch_ * hidden_, h.data(), batch_ * hidden_);
    write(2, d * batch_ * hidden_, c.data(), batch_ * hidden_);
  }

  static void add_product(const double* x, int64_t rows, const Operand& matrix, Doubles& sums) {
    const double* row = matrix.data();
    for (int64_t i = 0; i < rows; ++i) {
      for (double& sum : sums)
        sum += x[i] * *row++;
    }
  }

  double activate(size_t function, double x) const {
    if (spec_.clip) x = std::clamp(x, -double{*spec_.clip}, double{*spec_.clip});
    return functions_[function](x);
  }

  // The gates are [i, o, f, c], the peepholes [i, o, f].
  void cell(const Doubles& gates, double* h, double* c) const {
    enum { kInput, kOutput, kForget, kCell };
    for (int64_t i = 0; i < hidden_; ++i) {
      const auto gate = [&](int64_t which, double state) {
        const double seen =
            which == kCell ? 0 : peephole_[static_cast<size_t>(which * hidden_ + i)] * state;
        return gates[static_cast<size_t>(which * hidden_ + i)] + seen;
      };
      const double input = activate(0, gate(kInput, c[i]));
      const double forget = spec_.input_forget ? 1 - input : activate(0, gate(kForget, c[i]));
      c[i] = forget * c[i] + input * activate(1, gate(kCell, 0));
      h[i] = activate(0, gate(kOutput, c[i])) * activate(2, c[i]);
    }
  }

  void write(size_t output, int64_t at, const double* values, int64_t count) const {
    if (call_.wants(output)) std::copy_n(values, count, call_.outputs[output].data<float>() + at);
  }

  const KernelCall& call_;
  RecurrentSpec spec_;
  int64_t length_ = 0, batch_ = 0, width_ = 0, hidden_ = 0, longest_ = 0;
  std::vector<int64_t> lengths_;
  Operand x_{scratch()};
  Doubles bias_, peephole_;
  const Activation* functions_ = nullptr;
};

void quantized_lstm(const KernelCall& call) {
  QuantizedLstm(call).run();
}

std::vector<Sample> quantized_lstm_samples() {
  const auto bytes = [](Shape shape) {
    return SampleInput{.shape = std::move(shape), .low = 0, .high = 255, .dtype = DType::kUInt8};
  };
  const SampleInput none{.omitted = true};
  const SampleInput scale{.shape = {2}, .value = Tensor::vector<float>({0.01f, 0.02f})};
  const SampleInput zero{.shape = {2}, .value = Tensor::vector<uint8_t>({120, 130})};
  return {{.inputs = {{.shape = {3, 2, 4}},
                      bytes({2, 4, 12}),
                      bytes({2, 3, 12}),
                      none,
                      none,
                      none,
                      none,
                      none,
                      scale,
                      zero,
                      scale,
                      zero},
           .attrs = {{"hidden_size", int64_t{3}}, {"direction", std::string("bidirectional")}},
           .outputs = 3}};
}

const OpDef kContribRecurrentOps[] = {
    {.name = "DynamicQuantizeLSTM",
     .doc = "LSTM whose weights are quantised, and its inputs for each product.",
     .domain = kMicrosoft,
     .signature =
         "(X: T, W: T2, R: T2, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T, "
         "W_scale: T, W_zero_point: T2, R_scale: T, R_zero_point: T2) -> "
         "(Y?: T, Y_h?: T, Y_c?: T)",
     .types = {{"T", DType::kFloat}, {"T1", DType::kInt32}, {"T2", kByteInts}},
     .attrs = attr_schema<QuantizedLstmAttrs>(),
     .infer = infer_quantized_lstm,
     .reference = quantized_lstm,
     .samples = quantized_lstm_samples},
};

}  // namespace

std::span<const OpDef> contrib_recurrent_ops() {
  return kContribRecurrentOps;
}

}  // namespace sardonyx::ops
