// RnnGrad, GruGrad and LstmGrad in float32: the steps are recomputed, then visited backwards.
// Products with the weights are one GEMM over all steps; only the recurrence itself is computed
// step by step.
#include <algorithm>
#include <utility>

#include "ir/core/run_control.h"
#include "ir/ops/recurrent/rnn_decomposition.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/layout.h"
#include "providers/onednn/training.h"

namespace sardonyx::onednn {
namespace {

using ops::RecurrentGradInputs;
using Cell = ops::RecurrentSpec::Cell;

struct RecurrentGradientProblem {
  Cell cell;
  bool is_relu = false;  // of an RNN: its activation, else tanh
  std::vector<bool> reversed;
  RecurrentGradInputs at;
  int64_t steps = 0, batch = 0, width = 0, hidden = 0, gates = 0;
  int threads = 1;
  int64_t rows() const { return gates * hidden; }
};

// Places of one direction's values in the scratch memory, in floats.
struct ScratchOffsets {
  explicit ScratchOffsets(const RecurrentGradientProblem& p) {
    const int64_t state = p.batch * p.hidden, sums = p.steps * p.batch * p.rows();
    const auto take = [&](int64_t floats) {
      constexpr int64_t kLine = 16;
      return std::exchange(size, size + (floats + kLine - 1) / kLine * kLine);
    };
    gates = take(sums);
    h = take((p.steps + 1) * state);
    if (p.cell == Cell::kLstm) c = take((p.steps + 1) * state);
    if (p.cell == Cell::kGru) {
      linear = take(p.steps * state);
      into_recurrent = take(sums);
    }
    d_h = take(state);
    d_c = take(state);
    product = take(p.batch * p.rows());
  }
  int64_t size = 0;
  // [steps, batch, gates, hidden], by time: activated, then the gradients of their sums
  int64_t gates;
  int64_t h, c = 0;            // [steps + 1, batch, hidden]: states between the steps, by time
  int64_t linear = 0;          // of a GRU: h R^T + bias of the last gate
  int64_t into_recurrent = 0;  // of a GRU: gradients of the recurrent products
  int64_t d_h, d_c;            // of the state between two steps
  int64_t product;             // of a state with the recurrent weights
};

// One direction of one run.
class BackwardDirection {
 public:
  BackwardDirection(const RecurrentGradientProblem& p, const ScratchOffsets& places,
                    const KernelArgs& args, int64_t direction)
      : p_(p),
        args_(args),
        direction_(direction),
        memory_(reinterpret_cast<float*>(args.scratch)),
        gates_(memory_ + places.gates),
        h_(memory_ + places.h),
        c_(memory_ + places.c),
        linear_(memory_ + places.linear),
        recurrent_(p.cell == Cell::kGru ? memory_ + places.into_recurrent : gates_),
        d_h_(memory_ + places.d_h),
        d_c_(memory_ + places.d_c),
        product_(memory_ + places.product) {}

  void run() {
    forward();
    start_backward();
    for (int64_t step = p_.steps; step-- > 0;) {
      check_interrupted();
      backward(time_of(step));
    }
    finish();
  }

 private:
  const float* input(size_t index) const {
    return index == RecurrentGradInputs::kNone ? nullptr
                                               : static_cast<const float*>(args_.inputs[index]);
  }
  float* output(size_t index) const { return static_cast<float*>(args_.outputs[index]); }
  int64_t state() const { return p_.batch * p_.hidden; }
  const float* weights() const { return input(p_.at.w) + direction_ * p_.rows() * p_.width; }
  const float* recurrent_weights() const {
    return input(p_.at.r) + direction_ * p_.rows() * p_.hidden;
  }
  const float* biases() const { return input(p_.at.b) + direction_ * p_.rows() * 2; }
  bool is_reversed() const { return p_.reversed[static_cast<size_t>(direction_)]; }
  // The time index of step number `step`.
  int64_t time_of(int64_t step) const { return is_reversed() ? p_.steps - 1 - step : step; }
  bool is_inside(int64_t time, int64_t row) const {
    if (p_.at.lengths == RecurrentGradInputs::kNone) return true;
    return time < static_cast<const int32_t*>(args_.inputs[p_.at.lengths])[row];
  }
  // Offsets of the state of a row before the step at `time`, and after it.
  int64_t before(int64_t time, int64_t row) const {
    return (time + (is_reversed() ? 1 : 0)) * state() + row * p_.hidden;
  }
  int64_t after(int64_t time, int64_t row) const {
    return (time + (is_reversed() ? 0 : 1)) * state() + row * p_.hidden;
  }
  // The sums of one row of the batch, gate by gate.
  float* gates_at(int64_t time, int64_t row) const {
    return gates_ + (time * p_.batch + row) * p_.rows();
  }
  float* recurrent_at(int64_t time, int64_t row) const {
    return recurrent_ + (time * p_.batch + row) * p_.rows();
  }

  void forward() {
    const int64_t first = before(time_of(0), 0), all = p_.steps * p_.batch;
    std::copy_n(input(p_.at.initial_h) + direction_ * state(), state(), h_ + first);
    if (p_.cell == Cell::kLstm)
      std::copy_n(input(p_.at.initial_c) + direction_ * state(), state(), c_ + first);
    compute({false, true, all, p_.rows(), p_.width, input(p_.at.x), weights(), 0, gates_});
    for (int64_t step = 0; step < p_.steps; ++step) {
      check_interrupted();
      const int64_t time = time_of(step);
      compute({false, true, p_.batch, p_.rows(), p_.hidden, h_ + before(time, 0),
               recurrent_weights(), 0, product_});
      for (int64_t row = 0; row < p_.batch; ++row)
        forward_row(time, row);
    }
  }

  void forward_row(int64_t time, int64_t row) {
    const int64_t hidden = p_.hidden, at = before(time, row);
    float* sums = gates_at(time, row);
    const float* product = product_ + row * p_.rows();
    const float *input_bias = biases(), *hidden_bias = biases() + p_.rows();
    const int64_t joined = p_.cell == Cell::kGru ? 2 * hidden : p_.rows();
    for (int64_t i = 0; i < joined; ++i)
      sums[i] += product[i] + input_bias[i] + hidden_bias[i];
    float* next = h_ + after(time, row);
    if (p_.cell == Cell::kRnn) {
      activate(p_.is_relu ? cpu::common_unaries().relu : cpu::common_unaries().tanh, sums, hidden);
      std::copy_n(sums, hidden, next);
    } else if (p_.cell == Cell::kGru) {
      float* linear = linear_ + (time * p_.batch + row) * hidden;
      float *z = sums, *r = sums + hidden, *n = sums + 2 * hidden;
      activate(cpu::common_unaries().sigmoid, sums, 2 * hidden);
      for (int64_t i = 0; i < hidden; ++i) {
        linear[i] = product[2 * hidden + i] + hidden_bias[2 * hidden + i];
        n[i] += input_bias[2 * hidden + i] + r[i] * linear[i];
      }
      activate(cpu::common_unaries().tanh, n, hidden);
      for (int64_t i = 0; i < hidden; ++i)
        next[i] = (1 - z[i]) * n[i] + z[i] * h_[at + i];
    } else {
      const float *in = sums, *out = sums + hidden, *forget = out + hidden, *cell = forget + hidden;
      activate(cpu::common_unaries().sigmoid, sums, 3 * hidden);
      activate(cpu::common_unaries().tanh, sums + 3 * hidden, hidden);
      float* c_next = c_ + after(time, row);
      for (int64_t i = 0; i < hidden; ++i)
        c_next[i] = forget[i] * c_[at + i] + in[i] * cell[i];
      cpu::unary_row(cpu::common_unaries().tanh, {}, c_next, next, static_cast<size_t>(hidden));
      for (int64_t i = 0; i < hidden; ++i)
        next[i] *= out[i];
    }
    if (is_inside(time, row)) return;
    std::copy_n(h_ + at, hidden, next);
    if (p_.cell == Cell::kLstm) std::copy_n(c_ + at, hidden, c_ + after(time, row));
  }

  void compute(const MatrixProduct& product) const { multiply(product, p_.threads); }

  static void activate(cpu::Unary op, float* values, int64_t count) {
    cpu::unary_row(op, {}, values, values, static_cast<size_t>(count));
  }

  void start_backward() {
    const auto start = [&](size_t index, float* d) {
      if (const float* given = input(index))
        std::copy_n(given + direction_ * state(), state(), d);
      else
        std::fill_n(d, state(), 0.f);
    };
    start(p_.at.d_h, d_h_);
    start(p_.at.d_c, d_c_);
  }

  void backward(int64_t time) {
    const auto directions = static_cast<int64_t>(p_.reversed.size());
    const float* d_y = input(p_.at.d_y);
    if (d_y) d_y += (time * directions + direction_) * state();
    for (int64_t row = 0; row < p_.batch; ++row) {
      if (is_inside(time, row))
        backward_row(time, row, d_y ? d_y + row * p_.hidden : nullptr);
      else
        skip_row(time, row);
    }
    // `d_h_` already holds the part of d_h that did not pass through a gate.
    compute({false, false, p_.batch, p_.hidden, p_.rows(), recurrent_at(time, 0),
             recurrent_weights(), 1, d_h_});
  }

  void skip_row(int64_t time, int64_t row) {
    std::fill_n(gates_at(time, row), p_.rows(), 0.f);
    std::fill_n(recurrent_at(time, row), p_.rows(), 0.f);
  }

  void backward_row(int64_t time, int64_t row, const float* d_y) {
    float* d_h = d_h_ + row * p_.hidden;
    if (d_y) {
      for (int64_t i = 0; i < p_.hidden; ++i)
        d_h[i] += d_y[i];
    }
    if (p_.cell == Cell::kRnn) return backward_rnn(gates_at(time, row), d_h);
    if (p_.cell == Cell::kGru) return backward_gru(time, row, d_h);
    backward_lstm(time, row, d_h);
  }

  void backward_rnn(float* gate, float* d_h) const {
    for (int64_t i = 0; i < p_.hidden; ++i) {
      const float y = gate[i];
      gate[i] = p_.is_relu ? (y > 0 ? d_h[i] : 0) : d_h[i] * (1 - y * y);
      d_h[i] = 0;
    }
  }

  void backward_gru(int64_t time, int64_t row, float* d_h) const {
    const int64_t hidden = p_.hidden;
    float *z = gates_at(time, row), *r = z + hidden, *n = r + hidden;
    float* into = recurrent_at(time, row);
    const float *old = h_ + before(time, row), *linear = linear_ + (time * p_.batch + row) * hidden;
    for (int64_t i = 0; i < hidden; ++i) {
      const float d_n = d_h[i] * (1 - z[i]) * (1 - n[i] * n[i]);
      const float d_z = d_h[i] * (old[i] - n[i]) * z[i] * (1 - z[i]);
      const float d_r = d_n * linear[i] * r[i] * (1 - r[i]);
      into[2 * hidden + i] = d_n * r[i];
      d_h[i] *= z[i];
      z[i] = into[i] = d_z;
      r[i] = into[hidden + i] = d_r;
      n[i] = d_n;
    }
  }

  void backward_lstm(int64_t time, int64_t row, float* d_h) const {
    const int64_t hidden = p_.hidden;
    float *in = gates_at(time, row), *out = in + hidden, *forget = out + hidden,
          *cell = forget + hidden;
    float* d_c = d_c_ + row * hidden;
    float* root = product_;  // tanh of the new cell state
    cpu::unary_row(cpu::common_unaries().tanh, {}, c_ + after(time, row), root,
                   static_cast<size_t>(hidden));
    const float* old = c_ + before(time, row);
    for (int64_t i = 0; i < hidden; ++i) {
      const float d_cell = d_c[i] + d_h[i] * out[i] * (1 - root[i] * root[i]);
      const float d_in = d_cell * cell[i] * in[i] * (1 - in[i]);
      const float d_out = d_h[i] * root[i] * out[i] * (1 - out[i]);
      const float d_forget = d_cell * old[i] * forget[i] * (1 - forget[i]);
      const float d_new = d_cell * in[i] * (1 - cell[i] * cell[i]);
      d_c[i] = d_cell * forget[i];
      d_h[i] = 0;
      in[i] = d_in, out[i] = d_out, forget[i] = d_forget, cell[i] = d_new;
    }
  }

  // The gradients of the weights, which all steps share.
  void finish() {
    const int64_t rows = p_.rows();
    std::copy_n(d_h_, state(), output(4) + direction_ * state());
    if (p_.cell == Cell::kLstm) std::copy_n(d_c_, state(), output(5) + direction_ * state());
    float* d_w = output(1) + direction_ * rows * p_.width;
    float* d_r = output(2) + direction_ * rows * p_.hidden;
    float* d_b = output(3) + direction_ * rows * 2;
    const int64_t all = p_.steps * p_.batch;
    compute({false, false, all, p_.width, rows, gates_, weights(), direction_ == 0 ? 0.f : 1.f,
             output(0)});
    compute({true, false, rows, p_.width, all, gates_, input(p_.at.x), 0, d_w});
    compute({true, false, rows, p_.hidden, all, recurrent_, h_ + before(0, 0), 0, d_r});
    add_up(gates_, all, d_b);
    add_up(recurrent_, all, d_b + rows);
  }

  void add_up(const float* sums, int64_t count, float* total) const {
    std::fill_n(total, p_.rows(), 0.f);
    for (int64_t row = 0; row < count; ++row) {
      for (int64_t i = 0; i < p_.rows(); ++i)
        total[i] += sums[row * p_.rows() + i];
    }
  }

  const RecurrentGradientProblem& p_;
  const KernelArgs& args_;
  int64_t direction_;
  float* memory_;
  float *gates_, *h_, *c_, *linear_, *recurrent_, *d_h_, *d_c_, *product_;
};

class RecurrentGradient : public Kernel {
 public:
  explicit RecurrentGradient(RecurrentGradientProblem problem)
      : problem_(std::move(problem)), places_(problem_) {}

  size_t scratch_bytes() const override {
    return static_cast<size_t>(places_.size) * sizeof(float);
  }
  void run(const KernelArgs& args) const override {
    for (size_t direction = 0; direction < problem_.reversed.size(); ++direction)
      BackwardDirection(problem_, places_, args, static_cast<int64_t>(direction)).run();
  }

 private:
  RecurrentGradientProblem problem_;
  ScratchOffsets places_;
};

bool is(const ops::Activation& activation, ops::ActivationKind kind) {
  return activation.kind == kind;
}

const char* refusal(const KernelRequest& request, const ops::RecurrentSpec& spec,
                    const RecurrentGradInputs& at) {
  using Kind = ops::ActivationKind;
  if (request.inputs[at.x].dtype != DType::kFloat) return "only float is computed here";
  if (spec.batch_first) return "only layout 0";
  if (spec.clip) return "sums are clipped";
  if (spec.input_forget) return "input and forget gate are coupled";
  if (request.has(at.peepholes)) return "peepholes";
  if (spec.cell == Cell::kGru && !spec.linear_before_reset)
    return "the reset comes before the product";
  for (size_t i = 0; i < spec.activations.size(); ++i) {
    const ops::Activation& activation = spec.activations[i];
    const bool is_gate = i % spec.functions() == 0 && spec.cell != Cell::kRnn;
    const bool is_known = is(activation, is_gate ? Kind::kSigmoid : Kind::kTanh) ||
                          (spec.cell == Cell::kRnn && is(activation, Kind::kRelu) &&
                           is(spec.activations[0], Kind::kRelu));
    if (!is_known) return "other activations than the usual ones";
  }
  return nullptr;
}

Prepared prepare_backward(const KernelRequest& request) {
  const OpDef& op = ops::op_of_gradient(request.op);
  const ops::RecurrentSpec spec = ops::recurrent_spec(op, request.raw_attrs);
  RecurrentGradInputs at = ops::gradient_inputs(op);
  if (const char* why = refusal(request, spec, at)) return Prepared::refuse(why);
  for (size_t* input : {&at.lengths, &at.d_y, &at.d_h, &at.d_c}) {
    if (!request.has(*input)) *input = RecurrentGradInputs::kNone;
  }
  const Shape &x = request.inputs[at.x].shape, &r = request.inputs[at.r].shape;
  RecurrentGradientProblem problem{spec.cell, is(spec.activations[0], ops::ActivationKind::kRelu),
                                   spec.reversed, at};
  problem.steps = x[0], problem.batch = x[1], problem.width = x[2], problem.hidden = r[2];
  problem.gates = static_cast<int64_t>(spec.gates());
  problem.threads = request.threads;
  return Prepared::accept(std::make_unique<RecurrentGradient>(std::move(problem)), "steps");
}

constexpr KernelEntry kRecurrentBackwardKernels[] = {
    {"sardonyx::RnnGrad", "rnn_backward", guarded<prepare_backward>},
    {"sardonyx::GruGrad", "rnn_backward", guarded<prepare_backward>},
    {"sardonyx::LstmGrad", "rnn_backward", guarded<prepare_backward>},
};

}  // namespace

std::span<const KernelEntry> rnn_backward_kernels() {
  return kRecurrentBackwardKernels;
}

}  // namespace sardonyx::onednn
