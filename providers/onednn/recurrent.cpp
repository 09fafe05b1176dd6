// RNN, GRU and LSTM in float32 with the default activations: one primitive for each direction, or,
// as nothing ends a primitive once it runs, for as many steps as take a fraction of a second.
#include "ir/ops/recurrent.h"
#include "ir/pack_room.h"

#include <algorithm>
#include <optional>

#include "providers/onednn/entries.h"
#include "providers/onednn/product_blocks.h"
#include "providers/onednn/program.h"

namespace sardonyx::onednn {
namespace {

constexpr auto kFloat = memory::data_type::f32;
using Cell = RecurrentLayer::Cell;
using ops::RecurrentSpec;

struct RecurrentProblem {
  RecurrentSpec spec;
  Cell cell;
  algorithm activation = algorithm::eltwise_tanh;
  int64_t steps, batch, inputs, hidden;
  int64_t gates() const { return static_cast<int64_t>(spec.gates()); }
  double products_of_step() const {
    return static_cast<double>(batch) * static_cast<double>(gates() * hidden) *
           static_cast<double>(inputs + hidden);
  }
  int64_t bias_gates() const { return gates() + (cell == Cell::kGruLinearBeforeReset ? 1 : 0); }
};

// Where oneDNN's gate `gate` stands in ONNX's order. LSTM: input, forget, cell, output there;
// input, output, forget, cell here. The others agree.
int64_t onnx_gate(Cell cell, int64_t gate) {
  constexpr int64_t kLstmGates[] = {0, 2, 3, 1};
  return cell == Cell::kLstm ? kLstmGates[gate] : gate;
}

bool has_default_activations(const RecurrentSpec& spec, algorithm& activation) {
  using Kind = ops::ActivationKind;
  const size_t functions = spec.functions();
  for (size_t i = 0; i < spec.activations.size(); ++i) {
    const Kind kind = spec.activations[i].kind;
    if (spec.cell == RecurrentSpec::Cell::kRnn) {
      if (kind != spec.activations[0].kind || (kind != Kind::kTanh && kind != Kind::kRelu)) {
        return false;
      }
      activation = kind == Kind::kTanh ? algorithm::eltwise_tanh : algorithm::eltwise_relu;
    } else if (kind != (i % functions == 0 ? Kind::kSigmoid : Kind::kTanh)) {
      return false;
    }
  }
  return true;
}

const char* refusal(const KernelRequest& request, const RecurrentSpec& spec) {
  if (request.inputs[ops::kX].dtype != DType::kFloat) return "only float is computed here";
  if (spec.batch_first) return "the batch comes first";
  if (spec.clip) return "clip";
  if (spec.input_forget) return "input_forget";
  if (request.has(ops::kP)) return "peepholes";
  for (const size_t input : {ops::kW, ops::kR, ops::kB}) {
    if (request.has(input) && !request.inputs[input].constant) return "weights are no constants";
  }
  if (!request.has(ops::kSequenceLens)) return nullptr;
  const Tensor* lengths = request.inputs[ops::kSequenceLens].constant;
  if (!lengths) return "sequence_lens is no constant";
  const int64_t steps = request.inputs[ops::kX].shape[0];
  const auto all = lengths->to_int64s();
  if (std::ranges::any_of(all, [=](int64_t length) { return length != steps; })) {
    return "sequences of different lengths";
  }
  return nullptr;
}

// Weights [directions, gates * hidden, inputs] of one direction as [1, 1, inputs, gates, hidden].
std::shared_ptr<Buffer> transposed_weights(const RecurrentProblem& problem, const Tensor& weights,
                                           int64_t inputs, int64_t direction) {
  const int64_t gates = problem.gates(), hidden = problem.hidden;
  auto buffer = allocate_packed(sizeof(float) * static_cast<size_t>(gates * hidden * inputs));
  auto* to = reinterpret_cast<float*>(buffer->data());
  const float* from = weights.values<float>().data() + direction * gates * hidden * inputs;
  for (int64_t input = 0; input < inputs; ++input) {
    for (int64_t gate = 0; gate < gates; ++gate) {
      const int64_t row = onnx_gate(problem.cell, gate) * hidden;
      for (int64_t unit = 0; unit < hidden; ++unit) {
        *to++ = from[(row + unit) * inputs + input];
      }
    }
  }
  return buffer;
}

// B holds the biases of W, then those of R. oneDNN takes their sum, but for the last gate of a GRU
// that is linear before the reset, where both stay.
std::shared_ptr<Buffer> joined_bias(const RecurrentProblem& problem, const float* bias) {
  const int64_t gates = problem.gates(), hidden = problem.hidden;
  const auto count = static_cast<size_t>(problem.bias_gates() * hidden);
  auto buffer = allocate_packed(sizeof(float) * count);
  auto* to = reinterpret_cast<float*>(buffer->data());
  std::fill_n(to, count, 0.f);
  if (!bias) return buffer;
  for (int64_t gate = 0; gate < gates; ++gate) {
    const float* of_w = bias + onnx_gate(problem.cell, gate) * hidden;
    const float* of_r = of_w + gates * hidden;
    const bool is_apart = gate + 1 == gates && problem.bias_gates() > gates;
    for (int64_t unit = 0; unit < hidden; ++unit) {
      to[gate * hidden + unit] = is_apart ? of_w[unit] : of_w[unit] + of_r[unit];
      if (is_apart) to[gates * hidden + unit] = of_r[unit];
    }
  }
  return buffer;
}

// One direction being added to a program.
class Direction {
 public:
  Direction(const KernelRequest& request, const RecurrentProblem& problem, ProgramBuilder& builder,
            size_t direction)
      : request_(request),
        problem_(problem),
        builder_(builder),
        direction_(static_cast<int64_t>(direction)) {}

  // `together` steps with each primitive. False where oneDNN has no such primitive.
  bool add(int64_t together) {
    const bool is_reversed = problem_.spec.reversed[static_cast<size_t>(direction_)];
    for (int64_t done = 0; done < problem_.steps; done += together) {
      const int64_t count = std::min(together, problem_.steps - done);
      const Steps steps{is_reversed ? problem_.steps - done - count : done, count};
      if (!add(steps, done + count == problem_.steps)) return false;
    }
    return true;
  }
  const std::string& implementation() const { return implementation_; }

 private:
  struct Steps {
    int64_t first, count;
  };
  struct State {
    ProgramBuilder::Place hidden, cell;  // without a cell state both are the same
  };

  bool add(const Steps& steps, bool is_last) {
    const RecurrentLayer layer = describe(steps.count);
    const MaybePrimitive primitive = recurrent(layer, attributes());
    if (!primitive) return false;
    implementation_ = primitive->implementation();
    ProgramBuilder::Args args{
        {DNNL_ARG_SRC_LAYER, input_of(steps, layer.src)},
        {DNNL_ARG_WEIGHTS_LAYER,
         weights(ops::kW, problem_.inputs, primitive->argument(DNNL_ARG_WEIGHTS_LAYER))},
        {DNNL_ARG_WEIGHTS_ITER,
         weights(ops::kR, problem_.hidden, primitive->argument(DNNL_ARG_WEIGHTS_ITER))},
        {DNNL_ARG_BIAS, bias(layer.bias)}};
    if (has_state())
      args.emplace_back(DNNL_ARG_SRC_ITER, left_ ? left_->hidden : state_in(ops::kInitialH));
    if (takes_cell_state())
      args.emplace_back(DNNL_ARG_SRC_ITER_C, left_ ? left_->cell : state_in(ops::kInitialC));
    const auto all = results_of(steps, layer.dst);
    const auto last = is_last ? target(1) : builder_.scratch(state_desc());
    args.emplace_back(DNNL_ARG_DST_LAYER, all);
    args.emplace_back(DNNL_ARG_DST_ITER, last);
    auto cell = last;
    if (is_lstm()) cell = is_last ? target(2) : builder_.scratch(state_desc());
    if (is_lstm()) args.emplace_back(DNNL_ARG_DST_ITER_C, cell);
    builder_.step(*primitive, args);
    left_ = State{last, cell};
    deliver(0, all, part_of_sequence(steps));
    if (!is_last) return true;
    deliver(1, last, part_of_state());
    if (is_lstm()) deliver(2, cell, part_of_state());
    return true;
  }

  bool is_lstm() const { return problem_.cell == Cell::kLstm; }
  // oneDNN takes both states of an LSTM or none.
  bool takes_cell_state() const { return is_lstm() && has_state(); }
  bool has_state() const {
    return left_ || request_.has(ops::kInitialH) || (is_lstm() && request_.has(ops::kInitialC));
  }
  Desc state_desc() const { return plain_desc(kFloat, {1, 1, problem_.batch, problem_.hidden}); }
  int64_t directions() const { return static_cast<int64_t>(problem_.spec.directions()); }
  // This direction's part of [directions, batch, hidden].
  Desc part_of_state() const {
    const Extents all{1, 1, directions() * problem_.batch, problem_.hidden};
    return plain_desc(kFloat, all)
        .submemory_desc({1, 1, problem_.batch, problem_.hidden},
                        {0, 0, direction_ * problem_.batch, 0});
  }
  // This direction's part of [steps, directions, batch, hidden], as [steps, batch, hidden].
  Desc part_of_sequence(const Steps& steps) const {
    const Extents all{problem_.steps, directions() * problem_.batch, problem_.hidden};
    return plain_desc(kFloat, all)
        .submemory_desc({steps.count, problem_.batch, problem_.hidden},
                        {steps.first, direction_ * problem_.batch, 0});
  }
  ProgramBuilder::Place input_of(const Steps& steps, const Desc& desc) {
    if (steps.count == problem_.steps) return builder_.input(ops::kX, desc);
    return builder_.input_from(ops::kX, desc, bytes_before(steps, problem_.inputs));
  }
  // Of elements [steps, batch, width].
  size_t bytes_before(const Steps& steps, int64_t width) const {
    return static_cast<size_t>(steps.first * problem_.batch * width) * sizeof(float);
  }
  // Where the primitive writes: at once, if there is one direction alone.
  bool is_direct(size_t index) const { return directions() == 1 && request_.wants(index); }
  ProgramBuilder::Place results_of(const Steps& steps, const Desc& desc) {
    if (!is_direct(0)) return builder_.scratch(desc);
    return builder_.output_from(0, desc, bytes_before(steps, problem_.hidden));
  }
  ProgramBuilder::Place target(size_t index) {
    return is_direct(index) ? builder_.output_as(index, state_desc())
                            : builder_.scratch(state_desc());
  }
  void deliver(size_t index, ProgramBuilder::Place made, const Desc& part) {
    if (directions() == 1 || !request_.wants(index)) return;
    builder_.copy(made, builder_.output_as(index, part));
  }

  RecurrentLayer describe(int64_t steps) const {
    const int64_t gates = problem_.gates(), hidden = problem_.hidden;
    RecurrentLayer layer;
    layer.cell = problem_.cell;
    layer.activation = problem_.activation;
    layer.reversed = problem_.spec.reversed[static_cast<size_t>(direction_)];
    layer.src = plain_desc(kFloat, {steps, problem_.batch, problem_.inputs});
    layer.weights = any_desc(kFloat, {1, 1, problem_.inputs, gates, hidden});
    layer.weights_iter = any_desc(kFloat, {1, 1, hidden, gates, hidden});
    layer.bias = plain_desc(kFloat, {1, 1, problem_.bias_gates(), hidden});
    layer.dst = plain_desc(kFloat, {steps, problem_.batch, hidden});
    layer.dst_iter = state_desc();
    if (has_state()) layer.src_iter = state_desc();
    if (is_lstm()) layer.dst_iter_c = state_desc();
    if (takes_cell_state()) layer.src_iter_c = state_desc();
    return layer;
  }

  ProgramBuilder::Place weights(size_t input, int64_t inputs, const Desc& wanted) {
    const Tensor& value = *request_.inputs[input].constant;
    const Desc plain = plain_desc(kFloat, {1, 1, inputs, problem_.gates(), problem_.hidden});
    const std::string form = text("recurrent", direction_, ":", fingerprint(wanted));
    return builder_.packed(input, wanted, form, [&] {
      auto transposed = transposed_weights(problem_, value, inputs, direction_);
      return plain == wanted ? transposed : reordered(transposed->data(), plain, wanted);
    });
  }

  ProgramBuilder::Place bias(const Desc& desc) {
    if (!request_.has(ops::kB)) return builder_.constant(desc, joined_bias(problem_, nullptr));
    const float* values = request_.inputs[ops::kB].constant->values<float>().data();
    values += direction_ * 2 * problem_.gates() * problem_.hidden;
    const std::string form = text("recurrent", direction_, ":", static_cast<int>(problem_.cell));
    return builder_.packed(ops::kB, desc, form, [&] { return joined_bias(problem_, values); });
  }

  // An initial state as a place of its own; zeros where it is left out.
  ProgramBuilder::Place state_in(size_t input) {
    if (!request_.has(input)) {
      auto zeros = Buffer::allocate(state_desc().get_size());
      std::fill_n(zeros->data(), zeros->size(), std::byte{0});
      return builder_.constant(state_desc(), std::move(zeros));
    }
    const auto state = builder_.scratch(state_desc());
    builder_.copy(builder_.input_as(input, part_of_state()), state);
    return state;
  }

  const KernelRequest& request_;
  const RecurrentProblem& problem_;
  ProgramBuilder& builder_;
  int64_t direction_;
  std::optional<State> left_;  // by the steps before
  std::string implementation_;
};

Cell cell_of(const RecurrentSpec& spec) {
  switch (spec.cell) {
    case RecurrentSpec::Cell::kRnn:
      return Cell::kRnn;
    case RecurrentSpec::Cell::kGru:
      return spec.linear_before_reset ? Cell::kGruLinearBeforeReset : Cell::kGru;
    case RecurrentSpec::Cell::kLstm:
      break;
  }
  return Cell::kLstm;
}

Prepared prepare_recurrent(const KernelRequest& request) {
  RecurrentProblem problem{};
  problem.spec = ops::recurrent_spec(request.op, request.raw_attrs);
  if (const char* why = refusal(request, problem.spec)) return Prepared::refuse(why);
  problem.activation = algorithm::eltwise_tanh;
  if (!has_default_activations(problem.spec, problem.activation)) {
    return Prepared::refuse("other activations than the default ones");
  }
  problem.cell = cell_of(problem.spec);
  const Shape& x = request.inputs[ops::kX].shape;
  problem.steps = x[0];
  problem.batch = x[1];
  problem.inputs = x[2];
  problem.hidden = request.inputs[ops::kR].shape[2];
  if (problem.steps == 0) return Prepared::refuse("there are no steps");
  // Products with a few rows are slower than those of kProductsPerBlock.
  constexpr double kProductsTogether = static_cast<double>(kProductsPerBlock) / 4;
  const double fitting = kProductsTogether / std::max(problem.products_of_step(), 1.0);
  if (fitting < 1) return Prepared::refuse("long steps are left to what looks at the deadline");
  const auto steps = static_cast<double>(std::max<int64_t>(problem.steps, 1));
  const auto together = static_cast<int64_t>(std::min(fitting, steps));
  ProgramBuilder builder(request);
  std::string implementation;
  for (size_t direction = 0; direction < problem.spec.directions(); ++direction) {
    Direction one(request, problem, builder, direction);
    if (!one.add(together)) return Prepared::refuse("oneDNN has no recurrent layer of this form");
    implementation = one.implementation();
  }
  return builder.finish(implementation);
}

// With fewer sequences than this the products are bound by reading the weights, which cells that
// meet all gates in registers do faster.
constexpr int64_t kFewestSequences = 12;

Prepared prepare_gated(const KernelRequest& request) {
  if (request.inputs[ops::kX].shape[1] < kFewestSequences) {
    return Prepared::refuse("few sequences are left to kernels without intermediate gates");
  }
  return prepare_recurrent(request);
}

constexpr KernelEntry kRecurrentKernels[] = {
    {"RNN", "rnn", guarded<prepare_gated>},
    {"GRU", "rnn", guarded<prepare_gated>},
    {"LSTM", "rnn", guarded<prepare_gated>},
};

}  // namespace

std::span<const KernelEntry> recurrent_kernels() {
  return kRecurrentKernels;
}

}  // namespace sardonyx::onednn
