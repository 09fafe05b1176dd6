#include "eager/nn/recurrent.h"

#include <cmath>

#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/nn/linear.h"
#include "eager/nn/module_state.h"
#include "eager/nn/sizes.h"
#include "eager/placed.h"

namespace sardonyx::eager::nn {
namespace {

constexpr const char* kOps[] = {"RNN", "RNN", "GRU", "LSTM"};
constexpr int64_t kGates[] = {1, 1, 3, 4};
// Where ONNX's gates stand among torch's: GRU z r h of r z n, LSTM i o f c of i f g o.
const std::vector<int64_t> kOrder[] = {{0}, {0}, {1, 0, 2}, {0, 3, 1, 2}};

}  // namespace

std::vector<Tensor> RecurrentResult::tensors() const {
  return cell.defined() ? std::vector{output, hidden, cell} : std::vector{output, hidden};
}

Recurrent::Recurrent(std::string type_name, Kind kind, int64_t in, int64_t hidden,
                     const RecurrentOptions& options, Loc loc) try
    : Layer(std::move(type_name)), kind_(kind), in_(in), hidden_(hidden), options_(options) {
  if (in <= 0 || hidden <= 0 || options.layers <= 0) {
    fail(ErrorCode::kInvalidArgument, this->type_name(), ": expected positive sizes, got ", in,
         " -> ", hidden, ", ", options.layers, " layers");
  }
  describe(text(in, " -> ", hidden, options.layers > 1 ? text(", ", options.layers, " layers") : "",
                options.bidirectional ? ", both ways" : ""));
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const int64_t rows = kGates[static_cast<size_t>(kind)] * hidden;
  const int64_t directions = options.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const int64_t width = layer == 0 ? in : hidden * directions;
    std::vector<DirectionWeights>& made = layers_.emplace_back();
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = text("_l", layer, direction == 1 ? "_reverse" : "");
      const auto add_one = [&](const char* name, const Dims& shape) {
        return parameter(name + suffix, init::uniform_tensor(shape, bound));
      };
      DirectionWeights& one = made.emplace_back();
      one.input = add_one("weight_ih", {rows, width});
      one.hidden = add_one("weight_hh", {rows, hidden});
      if (!options.bias) continue;
      one.input_bias = add_one("bias_ih", {rows});
      one.hidden_bias = add_one("bias_hh", {rows});
    }
  }
} catch (const Error& error) {
  throw placed(error, loc);
}

RecurrentResult Recurrent::operator()(const Tensor& x, const RecurrentInputs& inputs,
                                      Loc loc) const {
  const auto run = [&](const Tensor& series, const Tensor& hidden, const Tensor& cell) {
    return forward(series, {.hidden = hidden, .cell = cell, .lengths = inputs.lengths});
  };
  return call(loc, run, x, inputs.hidden, inputs.cell);
}

// Torch's parameters in ONNX's form: [directions, rows in ONNX's gate order, columns].
Recurrent::Packed Recurrent::pack(size_t layer, const Loc& loc) const {
  const std::vector<int64_t>& order = kOrder[static_cast<size_t>(kind_)];
  const auto reordered = [&](const Tensor& all) {
    if (order.size() == 1) return all;
    const std::vector<Tensor> gates =
        split(all, std::vector<int64_t>(order.size(), hidden_), 0, loc);
    std::vector<Tensor> sorted;
    for (const int64_t gate : order)
      sorted.push_back(gates[static_cast<size_t>(gate)]);
    return cat(sorted, 0, loc);
  };
  const auto joined = [&](const std::vector<Tensor>& directions) {
    if (directions.size() == 1) return directions[0].unsqueeze(0, loc);
    return stack(directions, 0, loc);
  };
  std::vector<Tensor> input, hidden, bias;
  for (const DirectionWeights& one : layers_[layer]) {
    detail::require_registered(*this, {{nullptr, one.input},
                                       {nullptr, one.hidden},
                                       {nullptr, one.input_bias},
                                       {nullptr, one.hidden_bias}});
    input.push_back(reordered(one.input));
    hidden.push_back(reordered(one.hidden));
    if (options_.bias)
      bias.push_back(cat({reordered(one.input_bias), reordered(one.hidden_bias)}, 0, loc));
  }
  return {joined(input), joined(hidden), bias.empty() ? Tensor() : joined(bias)};
}

Tensor Recurrent::state_of(const Tensor& all, size_t layer, const char* name,
                           const Loc& loc) const {
  if (!all.defined()) return all;
  const auto directions = static_cast<int64_t>(layers_[layer].size());
  const int64_t wanted = options_.layers * directions;
  using eager::detail::sizes_agree;
  if (all.rank() != 3 || !sizes_agree(all.size(0, loc), wanted, loc) ||
      !sizes_agree(all.size(2, loc), hidden_, loc)) {
    fail(ErrorCode::kInvalidArgument, type_name(), ": expected ", name, " [", wanted, ", batch, ",
         hidden_, "], got ", all.type());
  }
  if (wanted == directions) return all;
  const int64_t first = static_cast<int64_t>(layer) * directions;
  return all.slice(0, {Dim(first), Dim(first + directions)}, loc);
}

std::vector<Tensor> Recurrent::run_layer(size_t layer, const Tensor& x,
                                         const RecurrentInputs& inputs, const Loc& loc) const {
  const OpDef& op = op_named(kOps[static_cast<size_t>(kind_)]);
  const Packed packed = pack(layer, loc);
  AttrMap attrs{{"hidden_size", hidden_},
                {"direction", std::string(options_.bidirectional ? "bidirectional" : "forward")}};
  if (kind_ == Kind::kGru) attrs["linear_before_reset"] = int64_t{1};
  if (kind_ == Kind::kRelu)
    attrs["activations"] = std::vector<std::string>(layers_[layer].size(), "Relu");
  // The ops take int32.
  const Tensor lengths =
      inputs.lengths.defined() ? inputs.lengths.to(DType::kInt32, loc) : inputs.lengths;
  std::vector<Tensor> given{
      x,           packed.input, packed.hidden,
      packed.bias, lengths,      state_of(inputs.hidden, layer, "hidden", loc)};
  const bool has_cell = kind_ == Kind::kLstm;
  if (has_cell) given.push_back(state_of(inputs.cell, layer, "cell", loc));
  while (!given.back().defined())
    given.pop_back();
  return apply_many(op, given, attrs, has_cell ? 3 : 2, loc);
}

RecurrentResult Recurrent::forward(const Tensor& x, const RecurrentInputs& inputs) const {
  const Loc loc = caller();
  require_defined(x, type_name(), "x", loc);
  if (x.rank() != 3) {
    fail(ErrorCode::kInvalidArgument, type_name(), ": expected x ",
         options_.batch_first ? "[batch, time, " : "[time, batch, ", in_, "], got ", x.type());
  }
  Tensor value = options_.batch_first ? x.transpose(0, 1, loc) : x;
  std::vector<Tensor> hidden, cell;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) value = dropout(value, options_.dropout, is_training(), loc);
    const std::vector<Tensor> results = run_layer(layer, value, inputs, loc);
    // [time, directions, batch, hidden] to [time, batch, directions*hidden].
    value = layers_[layer].size() == 1 ? results[0].squeeze({1}, loc)
                                       : results[0].transpose(1, 2, loc).flatten(2, 3, loc);
    hidden.push_back(results[1]);
    if (results.size() > 2) cell.push_back(results[2]);
  }
  const auto joined = [&](const std::vector<Tensor>& states) {
    return states.empty() ? Tensor() : states.size() == 1 ? states[0] : cat(states, 0, loc);
  };
  return {options_.batch_first ? value.transpose(0, 1, loc) : value, joined(hidden), joined(cell)};
}

}  // namespace sardonyx::eager::nn
