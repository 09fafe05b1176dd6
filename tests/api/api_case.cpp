#include "tests/api/api_case.h"

#include <algorithm>
#include <cstring>

#include "ir/op_samples.h"
#include "ir/value_compare.h"
#include "onnx_io/save.h"

namespace sardonyx::api_test {
namespace {

// ---- Inputs that differ

// Elements of `from`, as often as need be, the first at `start`.
Tensor filled(const Tensor& from, const Shape& shape, int64_t start) {
  Tensor made = Tensor::zeros(from.dtype(), shape);
  for (int64_t i = 0; i < made.count() && from.count() > 0; ++i) {
    const int64_t source = (i + start) % from.count();
    if (from.dtype() == DType::kString) {
      static_cast<std::string*>(made.raw())[i] = static_cast<std::string*>(from.raw())[source];
    } else if (is_packed(from.dtype())) {
      set_packed(from.dtype(), made.raw(), i, get_packed(from.dtype(), from.raw(), source));
    } else {
      const size_t bytes = bytes_for(from.dtype(), 1);
      std::memcpy(static_cast<std::byte*>(made.raw()) + static_cast<size_t>(i) * bytes,
                  static_cast<const std::byte*>(from.raw()) + static_cast<size_t>(source) * bytes,
                  bytes);
    }
  }
  if (made.dtype() == DType::kBool && made.rank() == 0 && start % 2 == 1)
    made.mutable_values<bool>()[0] = !made.values<bool>()[0];
  return made;
}

// Wherever a dim has the size of one that is chosen, it gets another.
std::vector<Datum> resized(const std::vector<Datum>& inputs, fuzz::Choices& choices) {
  std::vector<int64_t> sizes;
  for (const Datum& input : inputs) {
    if (input.is_tensor())
      sizes.insert(sizes.end(), input.tensor().shape().begin(), input.tensor().shape().end());
  }
  const int64_t old = sizes.empty() ? -1 : sizes[choices.below(sizes.size())];
  const int64_t now = choices.one_in(5)   ? 0
                      : choices.one_in(3) ? std::max<int64_t>(1, old - 1)
                                          : old + 1;
  std::vector<Datum> made = inputs;
  for (Datum& input : made) {
    if (!input.is_tensor()) continue;
    Shape shape = input.tensor().shape();
    std::ranges::replace(shape, old, now);
    input = filled(input.tensor(), shape, 0);
  }
  return made;
}

std::vector<Datum> with_other_values(const std::vector<Datum>& inputs, int64_t start) {
  std::vector<Datum> made = inputs;
  for (Datum& input : made) {
    if (input.is_tensor()) input = filled(input.tensor(), input.tensor().shape(), start);
  }
  return made;
}

std::vector<Datum> with_a_wrong_type(const std::vector<Datum>& inputs) {
  std::vector<Datum> made = inputs;
  for (Datum& input : made) {
    if (!input.is_tensor()) continue;
    const bool is_float = input.tensor().dtype() == DType::kFloat;
    input = Tensor::zeros(is_float ? DType::kInt32 : DType::kFloat, input.tensor().shape());
    break;
  }
  return made;
}

void add_variants(ApiCase& made, const std::vector<Datum>& inputs, fuzz::Choices& choices) {
  made.variants.push_back({inputs, {}, {}});
  made.variants.push_back({with_other_values(inputs, 1), {}, {}});
  for (int i = 0; i < 2; ++i)
    made.variants.push_back({resized(made.variants.back().inputs, choices), {}, {}});
  if (choices.one_in(3)) made.variants.push_back({with_a_wrong_type(inputs), {}, {}});
}

// ---- Models

GraphPtr branch(const Type& type, std::string_view op) {
  auto graph = std::make_shared<Graph>();
  const std::vector<Value*> inputs(op == "Add" ? 2 : 1, graph->add_capture("captured", type));
  graph->add_output(graph->append(op_named(op), Attrs(), inputs, {"made"})->outputs[0]);
  return graph;
}

class CaseBuilder {
 public:
  explicit CaseBuilder(fuzz::Choices& choices) : choices_(choices) {}

  ApiCase build() {
    ApiCase made;
    std::vector<const OpDef*> rows;
    std::ranges::copy_if(all_ops(), std::back_inserter(rows),
                         [](const OpDef* op) { return op->samples && !op->is(kRandom); });
    const OpDef& op = *rows[choices_.below(rows.size())];
    const std::vector<Sample> samples = op.samples();
    if (samples.empty()) return made;
    const Sample& sample = samples[choices_.below(samples.size())];
    const std::vector<std::vector<Datum>> lists = sample_inputs(op, sample);
    if (lists.empty()) return made;
    std::vector<Val> operands;
    const std::vector<Datum>& list = lists[choices_.below(lists.size())];
    for (size_t i = 0; i < list.size(); ++i) {
      const bool decides_shape = i < 32 && (op.shape_inputs >> i & 1u);
      operands.push_back(operand(list[i], decides_shape ? 2 : 6));
    }
    for (const Val& val :
         emitter_.emit(op, operands, Attrs::parse(*op.attrs, sample.attrs), sample.outputs)) {
      if (val) made_.push_back(val), outputs_.push_back(val);
    }
    for (size_t count = choices_.below(5); count > 0; --count)
      attempt([&] { add_further(); });
    if (outputs_.empty()) return made;
    for (const Val& output : outputs_)
      model_.graph->add_output(GraphEmitter::unwrap(output));
    made.name = full_name(op);
    made.bytes = model_bytes(model_);
    add_variants(made, inputs_, choices_);
    return made;
  }

 private:
  template <typename Work>
  static void attempt(const Work& work) {
    try {
      work();
    } catch (const Error&) {  // not for values of this type
    }
  }

  Val operand(const Datum& datum, size_t constants) {
    if (!datum.defined()) return {};
    if (datum.is_tensor() && choices_.one_in(constants)) return emitter_.constant(datum.tensor());
    return input(datum);
  }

  Val input(const Datum& datum) {
    Type type = datum.type();
    if (type.is_tensor() && !choices_.one_in(4)) {
      for (Dim& dim : *type.shape)
        dim = Dim::symbol(text("d", inputs_.size(), "_", &dim - type.shape->data()));
    }
    Value* value = model_.graph->add_input(text("in", inputs_.size()), type);
    inputs_.push_back(datum);
    made_.push_back(GraphEmitter::wrap(value));
    return made_.back();
  }

  // A value that shows one that is there, or is computed from it.
  void add_further() {
    if (made_.empty()) return;
    const Val from = made_[choices_.below(made_.size())];
    constexpr std::string_view kOps[] = {"Identity", "Flatten", "Shape",   "Size",
                                         "Neg",      "Tanh",    "Softmax", "SequenceConstruct"};
    const size_t which = choices_.below(std::size(kOps) + 3);
    Val made;
    if (which < std::size(kOps))
      made = emitter_.call(kOps[which], {from});
    else if (which == std::size(kOps))
      made = emitter_.call("Sub", {from, made_[choices_.below(made_.size())]});
    else
      made = branches(from);
    made_.push_back(made);
    outputs_.push_back(made);
  }

  // One branch gives a weight or a value as it is, the other computes.
  Val branches(const Val& from) {
    const Type type = emitter_.type(from);
    Val captured = from;
    if (type.is_tensor() && type.dtype == DType::kFloat && choices_.one_in(2)) {
      captured = emitter_.constant(drawn_tensor(DType::kFloat, {2, 3}, -1, 1, 1));
      made_.push_back(captured);
      const Val scaled = emitter_.call("Mul", {captured, captured});
      outputs_.push_back(scaled);
    }
    const Val condition = input(Tensor::scalar(choices_.one_in(2)));
    const Type inner = emitter_.type(captured);
    const OpDef& op = op_named("If");
    const Attrs attrs = Attrs::parse(*op.attrs, {{"then_branch", branch(inner, "Identity")},
                                                 {"else_branch", branch(inner, "Add")}});
    return emitter_.emit(op, std::vector<Val>{condition, captured}, attrs, 1, 1)[0];
  }

  fuzz::Choices& choices_;
  Model model_;
  GraphEmitter emitter_{*model_.graph};
  std::vector<Datum> inputs_;
  std::vector<Val> made_, outputs_;
};

}  // namespace

Datum deep_copy(const Datum& datum) {
  const auto copies = [](auto container) {
    for (Datum& item : container.items)
      item = deep_copy(item);
    return Datum(std::move(container));
  };
  if (datum.is_tensor()) return datum.tensor().clone();
  if (datum.is_sequence()) return copies(datum.sequence());
  if (datum.is_optional()) return copies(datum.optional());
  if (datum.is_map()) return Map{datum.map().keys.clone(), datum.map().values.clone()};
  return datum;
}

bool same_bits(const Datum& a, const Datum& b) {
  if (a.is_tensor() != b.is_tensor()) return false;
  if (a.is_tensor()) return a.tensor() == b.tensor();
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return static_cast<bool>(compare(a, b, {0, 0, 0}));
}

ApiCase row_case(fuzz::Choices& choices) {
  return CaseBuilder(choices).build();
}

ApiCase model_case(std::string name, std::string bytes, std::vector<std::vector<Datum>> inputs,
                   fuzz::Choices& choices) {
  ApiCase made{std::move(name), std::move(bytes), {}};
  for (const std::vector<Datum>& given : inputs)
    made.variants.push_back({given, {}, {}});
  made.variants.push_back({with_other_values(inputs[0], 1), {}, {}});
  if (choices.one_in(3)) made.variants.push_back({with_a_wrong_type(inputs[0]), {}, {}});
  return made;
}

void expect_fresh(ApiCase& made, const SessionOptions& options) {
  for (Variant& variant : made.variants) {
    std::vector<Datum> copies;
    for (const Datum& input : variant.inputs)
      copies.push_back(deep_copy(input));
    const Session session(std::as_bytes(std::span(made.bytes)), options);
    variant.outputs.clear();
    variant.error.reset();
    try {
      for (const Datum& output : session.run(copies))
        variant.outputs.push_back(deep_copy(output));
    } catch (const Error& error) {
      variant.error = error.code();
    }
  }
}

}  // namespace sardonyx::api_test
