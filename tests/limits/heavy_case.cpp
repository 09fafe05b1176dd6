#include "tests/limits/heavy_case.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "ir/op_samples.h"

namespace sardonyx::limits_test {
namespace {

// Elements that are counted for an output whose size is not known yet.
constexpr double kUnknownDim = 1;
// Larger dims and elements are not grown any further.
constexpr int64_t kMaxGrown = int64_t{1} << 26;
// Of each string, besides what it points at.
constexpr double kStringBytes = 32;

double bytes_of(DType dtype, double elements) {
  return dtype == DType::kString ? elements * kStringBytes : elements * bits_of(dtype) / 8;
}

// What is grown: every dim of this size, or an element of an input that is a list of integers.
struct Move {
  int64_t size = 0;
  size_t input = 0;
  int64_t element = -1;
};

// A call that is described, but holds no large tensors yet.
struct Plan {
  std::vector<std::optional<Type>> types;        // of inputs; nullopt where omitted
  std::vector<std::optional<Tensor>> constants;  // by input
};

bool is_list(const Tensor& tensor) {
  return (tensor.dtype() == DType::kInt64 || tensor.dtype() == DType::kInt32) &&
         tensor.shape().size() <= 1 && tensor.count() <= 16;
}

Plan plan_of(const Sample& sample, const std::vector<Datum>& inputs) {
  Plan plan;
  for (size_t i = 0; i < inputs.size(); ++i) {
    plan.types.emplace_back();
    plan.constants.emplace_back();
    if (!inputs[i].defined()) continue;
    plan.types.back() = inputs[i].type();
    if (sample.inputs[i].value) plan.constants.back() = *sample.inputs[i].value;
  }
  return plan;
}

std::vector<Move> moves_of(const Plan& plan) {
  std::set<int64_t> sizes;
  std::vector<Move> moves;
  for (size_t i = 0; i < plan.types.size(); ++i) {
    if (!plan.types[i]) continue;
    const auto& constant = plan.constants[i];
    if (!constant) {
      const Shape shape = plan.types[i]->known_shape().value();
      sizes.insert(shape.begin(), shape.end());
    } else if (is_list(*constant)) {
      for (int64_t element = 0; element < constant->count(); ++element)
        moves.push_back({0, i, element});
    }
  }
  for (const int64_t size : sizes) {
    if (size > 0) moves.push_back({size, 0, -1});
  }
  return moves;
}

template <typename T>
Tensor with_larger_element(const Tensor& list, int64_t element, int64_t factor) {
  Tensor larger = Tensor::allocate(list.dtype(), list.shape());
  std::memcpy(larger.raw(), list.raw(), list.bytes());
  static_cast<T*>(larger.raw())[element] *= static_cast<T>(factor);
  return larger;
}

// The plan after the move, or nullopt where that changes nothing.
std::optional<Plan> moved(Plan plan, const Move& move, int64_t factor) {
  if (move.element >= 0) {
    const Tensor& list = *plan.constants[move.input];
    const bool is_wide = list.dtype() == DType::kInt64;
    const int64_t before = is_wide ? static_cast<const int64_t*>(list.raw())[move.element]
                                   : static_cast<const int32_t*>(list.raw())[move.element];
    if (before <= 0 || before > kMaxGrown) return std::nullopt;
    plan.constants[move.input] = is_wide ? with_larger_element<int64_t>(list, move.element, factor)
                                         : with_larger_element<int32_t>(list, move.element, factor);
    return plan;
  }
  bool has_changed = false;
  for (size_t i = 0; i < plan.types.size(); ++i) {
    if (!plan.types[i] || plan.constants[i]) continue;
    Shape shape = plan.types[i]->known_shape().value();
    for (int64_t& dim : shape) {
      if (dim != move.size || dim > kMaxGrown) continue;
      dim *= factor;
      has_changed = true;
    }
    plan.types[i] = Type::tensor(plan.types[i]->dtype, to_dims(shape));
  }
  return has_changed ? std::optional(std::move(plan)) : std::nullopt;
}

double counted_bytes(const Type& type) {
  if (!type.is_tensor() || !type.shape) return 0;
  double elements = 1;
  for (const Dim& dim : *type.shape)
    elements *= dim.is_known() ? static_cast<double>(dim.value()) : kUnknownDim;
  return bytes_of(type.dtype, elements);
}

// Inputs and outputs; nullopt where inference does not take the call.
std::optional<double> bytes_of(const OpDef& op, const AttrMap& attrs, size_t outputs,
                               const Plan& plan) {
  try {
    Graph graph;
    GraphEmitter emitter(graph);
    std::vector<Val> inputs;
    double bytes = 0;
    for (size_t i = 0; i < plan.types.size(); ++i) {
      inputs.emplace_back();
      if (!plan.types[i]) continue;
      bytes += counted_bytes(*plan.types[i]);
      inputs.back() =
          plan.constants[i]
              ? emitter.constant(*plan.constants[i])
              : GraphEmitter::wrap(graph.add_input(text("in", inputs.size()), *plan.types[i]));
    }
    for (const Val& output : emitter.emit(op, inputs, Attrs::parse(*op.attrs, attrs), outputs)) {
      if (output) bytes += counted_bytes(emitter.type(output));
    }
    return bytes;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Elements of `small`, again and again: what a row's sample allows stays allowed.
Tensor tiled(const Tensor& small, const Type& type) {
  const Shape shape = type.known_shape().value();
  if (shape == small.shape()) return small;
  Tensor large = Tensor::allocate(small.dtype(), shape);
  if (large.count() == 0) return large;
  if (small.dtype() == DType::kString) {
    const auto* from = static_cast<const std::string*>(small.raw());
    for (int64_t i = 0; i < large.count(); ++i)
      static_cast<std::string*>(large.raw())[i] = from[i % small.count()];
    return large;
  }
  auto* to = static_cast<std::byte*>(large.raw());
  size_t filled = std::min(small.bytes(), large.bytes());
  std::memcpy(to, small.raw(), filled);
  while (filled < large.bytes()) {
    const size_t more = std::min(filled, large.bytes() - filled);
    std::memcpy(to + filled, to, more);
    filled += more;
  }
  return large;
}

// Grows the plan until nothing can be grown any further.
double grow(const OpDef& op, const Sample& sample, double most_bytes, uint64_t seed, Plan& plan) {
  std::mt19937_64 random(seed);
  double bytes = bytes_of(op, sample.attrs, sample.outputs, plan).value_or(0);
  for (int step = 0; step < 24; ++step) {
    std::vector<Move> moves = moves_of(plan);
    std::ranges::shuffle(moves, random);
    bool has_grown = false;
    for (const Move& move : moves) {
      for (const int64_t factor : {16, 4, 2}) {
        auto next = moved(plan, move, factor);
        const auto needed = next ? bytes_of(op, sample.attrs, sample.outputs, *next) : std::nullopt;
        if (!needed || *needed > most_bytes || *needed < bytes) continue;
        plan = std::move(*next);
        bytes = *needed;
        has_grown = true;
        break;
      }
      if (has_grown) break;
    }
    if (!has_grown) break;
  }
  return bytes;
}

}  // namespace

std::string HeavyCase::label() const {
  std::string shapes;
  for (const Datum& input : inputs) {
    if (!shapes.empty()) shapes += ", ";
    shapes += input.defined() ? text(input.type()) : "none";
  }
  return text(full_name(*op), "(", shapes, ")");
}

Model HeavyCase::model(bool folded) const {
  Model model;
  GraphEmitter emitter(*model.graph);
  std::vector<Val> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.emplace_back();
    if (!inputs[i].defined()) continue;
    values.back() = folded || is_constant[i] ? emitter.constant(inputs[i].tensor())
                                             : GraphEmitter::wrap(model.graph->add_input(
                                                   text("in", values.size()), inputs[i].type()));
  }
  for (const Val& output : emitter.emit(*op, values, Attrs::parse(*op->attrs, attrs), outputs)) {
    if (output) model.graph->add_output(GraphEmitter::unwrap(output));
  }
  return model;
}

std::vector<Datum> HeavyCase::feeds() const {
  std::vector<Datum> fed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined() && !is_constant[i]) fed.push_back(inputs[i]);
  }
  return fed;
}

std::optional<HeavyCase> grown_case(const OpDef& op, const Sample& sample, double most_bytes,
                                    uint64_t seed) {
  const auto choices = sample_inputs(op, sample);
  if (choices.empty()) return std::nullopt;
  const std::vector<Datum>& small = choices[seed % choices.size()];
  for (const Datum& input : small) {
    if (input.defined() && !input.type().is_tensor()) return std::nullopt;
  }
  Plan plan = plan_of(sample, small);
  HeavyCase made;
  made.bytes = grow(op, sample, most_bytes, seed, plan);
  made.op = &op;
  made.attrs = sample.attrs;
  made.outputs = sample.outputs;
  for (size_t i = 0; i < small.size(); ++i) {
    made.is_constant.push_back(plan.constants[i].has_value());
    if (!small[i].defined())
      made.inputs.emplace_back();
    else if (plan.constants[i])
      made.inputs.emplace_back(*plan.constants[i]);
    else
      made.inputs.emplace_back(tiled(small[i].tensor(), *plan.types[i]));
  }
  return made;
}

}  // namespace sardonyx::limits_test
