// The cells of RNN, GRU and LSTM, computed in double.
#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/run_control.h"
#include "ir/ops/recurrent/rnn.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {
namespace {

using Doubles = std::vector<double>;

Doubles doubles_of(const TensorView& view) {
  Doubles values(static_cast<size_t>(view.count()));
  dispatch_floats(view.dtype, [&]<typename T>() {
    std::transform(view.data<T>(), view.data<T>() + view.count(), values.begin(),
                   [](T x) { return static_cast<double>(x); });
  });
  return values;
}

// sum[i] += dot(matrix row i, x) for `rows` rows.
void add_product(const double* matrix, size_t rows, const double* x, size_t columns, double* sum) {
  for (size_t i = 0; i < rows; ++i, matrix += columns) {
    double dot = 0;
    for (size_t j = 0; j < columns; ++j)
      dot += matrix[j] * x[j];
    sum[i] += dot;
  }
}

// The weights of one direction. Pointers are null where an optional input is missing.
struct Weights {
  const double* w;         // [gates * hidden, width]
  const double* r;         // [gates * hidden, hidden]
  const double* b;         // [gates * hidden] for w, then as many for r
  const double* peephole;  // [i, o, f][hidden]
};

class ReferenceDirection {
 public:
  ReferenceDirection(const RecurrentSpec& spec, size_t index, Weights weights, size_t width,
                     size_t hidden)
      : spec_(spec),
        functions_(spec.activations.data() + index * spec.functions()),
        weights_(weights),
        width_(width),
        hidden_(hidden),
        x_part_(spec.gates() * hidden),
        h_part_(spec.gates() * hidden),
        reset_(hidden) {}

  // Computes one step for one sequence: from x to new h (and c, of an LSTM).
  void step(const double* x, double* h, double* c) {
    const size_t rows = spec_.gates() * hidden_;
    for (size_t i = 0; i < rows; ++i) {
      x_part_[i] = weights_.b ? weights_.b[i] : 0;
      h_part_[i] = weights_.b ? weights_.b[rows + i] : 0;
    }
    add_product(weights_.w, rows, x, width_, x_part_.data());
    // A GRU's last gate may see the hidden state only after its reset.
    const bool resets_first = spec_.cell == RecurrentSpec::Cell::kGru && !spec_.linear_before_reset;
    add_product(weights_.r, resets_first ? 2 * hidden_ : rows, h, hidden_, h_part_.data());
    switch (spec_.cell) {
      case RecurrentSpec::Cell::kRnn:
        return step_rnn(h);
      case RecurrentSpec::Cell::kGru:
        return step_gru(h);
      case RecurrentSpec::Cell::kLstm:
        return step_lstm(h, c);
    }
  }

 private:
  // Function `index` of the cell, behind the clip.
  double activate(size_t index, double x) const {
    if (spec_.clip) x = std::clamp(x, -double{*spec_.clip}, double{*spec_.clip});
    return functions_[index](x);
  }
  double gate(size_t index, size_t i) const {
    return x_part_[index * hidden_ + i] + h_part_[index * hidden_ + i];
  }

  void step_rnn(double* h) {
    for (size_t i = 0; i < hidden_; ++i)
      h[i] = activate(0, gate(0, i));
  }

  void step_gru(double* h) {
    enum { kUpdate, kReset, kHidden };
    double* hidden_part = h_part_.data() + kHidden * hidden_;
    for (size_t i = 0; i < hidden_; ++i)
      reset_[i] = activate(0, gate(kReset, i));
    if (spec_.linear_before_reset) {
      for (size_t i = 0; i < hidden_; ++i)
        hidden_part[i] *= reset_[i];
    } else {
      for (size_t i = 0; i < hidden_; ++i)
        reset_[i] *= h[i];
      add_product(weights_.r + kHidden * hidden_ * hidden_, hidden_, reset_.data(), hidden_,
                  hidden_part);
    }
    for (size_t i = 0; i < hidden_; ++i) {
      const double update = activate(0, gate(kUpdate, i));
      h[i] = (1 - update) * activate(1, gate(kHidden, i)) + update * h[i];
    }
  }

  void step_lstm(double* h, double* c) {
    enum { kInput, kOutput, kForget, kCell };
    const auto peephole = [&](size_t index, size_t i) {
      return weights_.peephole ? weights_.peephole[index * hidden_ + i] : 0;
    };
    for (size_t i = 0; i < hidden_; ++i) {
      const double input = activate(0, gate(kInput, i) + peephole(kInput, i) * c[i]);
      const double forget = spec_.input_forget
                                ? 1 - input
                                : activate(0, gate(kForget, i) + peephole(kForget, i) * c[i]);
      c[i] = forget * c[i] + input * activate(1, gate(kCell, i));
      const double output = activate(0, gate(kOutput, i) + peephole(kOutput, i) * c[i]);
      h[i] = output * activate(2, c[i]);
    }
  }

  const RecurrentSpec& spec_;
  const Activation* functions_;
  Weights weights_;
  size_t width_, hidden_;
  Doubles x_part_, h_part_, reset_;
};

// The state of one call: the inputs as doubles, and their strides.
class RnnReference {
 public:
  explicit RnnReference(const KernelCall& call)
      : call_(call), spec_(recurrent_spec(call.op, call.raw_attrs)) {
    const std::span<const int64_t> x = call.inputs[kX].shape;
    sequence_ = static_cast<size_t>(x[spec_.batch_first ? 1 : 0]);
    batch_ = static_cast<size_t>(x[spec_.batch_first ? 0 : 1]);
    width_ = static_cast<size_t>(x[2]);
    hidden_ = static_cast<size_t>(call.inputs[kR].shape[2]);
    lengths_.assign(batch_, sequence_);
    if (call.has(kSequenceLens)) read_lengths();
  }

  void all() {
    for (const size_t input : {kX, kW, kR, kBiases, kInitialH, kInitialC, kP}) {
      if (call_.has(input)) values_[input] = doubles_of(call_.inputs[input]);
    }
    const size_t states = spec_.directions() * batch_ * hidden_;
    h_ = call_.has(kInitialH) ? values_[kInitialH] : Doubles(states, 0);
    c_ = call_.has(kInitialC) ? values_[kInitialC] : Doubles(states, 0);
    y_.assign(call_.wants(0) ? states * sequence_ : 0, 0);
    for (size_t direction = 0; direction < spec_.directions(); ++direction)
      run(direction);
    const Doubles* results[] = {&y_, &h_, &c_};
    for (size_t i = 0; i < std::size(results); ++i) {
      if (call_.wants(i)) write(call_.outputs[i], *results[i]);
    }
  }

 private:
  void read_lengths() {
    const auto* lengths = call_.inputs[kSequenceLens].data<int32_t>();
    for (size_t i = 0; i < batch_; ++i) {
      if (lengths[i] < 0 || static_cast<size_t>(lengths[i]) > sequence_) {
        fail(ErrorCode::kInvalidArgument, call_.op.name, ": sequence_lens[", i, "] is ", lengths[i],
             ", expected 0 to the sequence length, ", sequence_);
      }
      lengths_[i] = static_cast<size_t>(lengths[i]);
    }
  }

  const double* part(size_t input, size_t direction) const {
    const Doubles& values = values_[input];
    return call_.has(input) ? values.data() + direction * values.size() / spec_.directions()
                            : nullptr;
  }
  size_t state_at(size_t direction, size_t b) const {
    return (spec_.batch_first ? b * spec_.directions() + direction : direction * batch_ + b) *
           hidden_;
  }
  size_t x_at(size_t t, size_t b) const {
    return (spec_.batch_first ? b * sequence_ + t : t * batch_ + b) * width_;
  }
  size_t y_at(size_t t, size_t direction, size_t b) const {
    return spec_.batch_first ? ((b * sequence_ + t) * spec_.directions() + direction) * hidden_
                             : ((t * spec_.directions() + direction) * batch_ + b) * hidden_;
  }

  // Steps beyond a sequence's length leave its state alone and give zeros.
  void run(size_t direction) {
    const Weights weights{part(kW, direction), part(kR, direction), part(kBiases, direction),
                          part(kP, direction)};
    ReferenceDirection cell(spec_, direction, weights, width_, hidden_);
    for (size_t b = 0; b < batch_; ++b) {
      double* h = h_.data() + state_at(direction, b);
      double* c = c_.data() + state_at(direction, b);
      for (size_t i = 0; i < lengths_[b]; ++i) {
        check_interrupted();
        const size_t t = spec_.reversed[direction] ? lengths_[b] - 1 - i : i;
        cell.step(values_[kX].data() + x_at(t, b), h, c);
        if (!y_.empty()) std::copy(h, h + hidden_, y_.data() + y_at(t, direction, b));
      }
    }
  }

  static void write(const TensorView& out, const Doubles& values) {
    dispatch_floats(out.dtype, [&]<typename T>() {
      std::transform(values.begin(), values.end(), out.data<T>(), narrowed<T>);
    });
  }

  const KernelCall& call_;
  RecurrentSpec spec_;
  size_t sequence_, batch_, width_, hidden_;
  std::vector<size_t> lengths_;
  Doubles values_[kP + 1];
  Doubles h_, c_, y_;
};

}  // namespace

void run_recurrent(const KernelCall& call) {
  RnnReference(call).all();
}

}  // namespace sardonyx::ops
