#include "executor/planner.h"

#include <algorithm>

#include "ir/dims_value.h"
#include "ir/evaluate.h"
#include "ir/run_control.h"

namespace sardonyx {
namespace {

using State = Segment::Known::State;

// Outputs that can be computed while planning are, up to this size: shape arithmetic, not data.
constexpr int64_t kLargestPlanned = 64 << 10;

bool is_concrete(const Type& type) {
  return type.is_tensor() && type.known_shape().has_value();
}

size_t stored_bytes(const KernelTensor& tensor, const LayoutPtr& layout) {
  return layout ? layout->bytes() : bytes_for(tensor.dtype, element_count(tensor.shape));
}

LayoutPtr layout_at(const std::vector<LayoutPtr>& layouts, size_t index) {
  return index < layouts.size() ? layouts[index] : nullptr;
}

std::string describe(const std::vector<KernelTensor>& inputs,
                     const std::vector<KernelTensor>& outputs) {
  std::string out;
  const auto append = [&](const std::vector<KernelTensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (i > 0) out += ", ";
      out += tensors[i] ? std::string(name_of(tensors[i].dtype)) + to_text(tensors[i].shape) : "-";
    }
  };
  append(inputs);
  out += " -> ";
  append(outputs);
  return out;
}

}  // namespace

Planner::Planner(const Program& program, const Segment& parent, const RunState& state)
    : program_(program),
      parent_(parent),
      state_(state),
      environment_(program.environment_),
      known_(*parent.known),
      representations_(program.values_.size()) {}

std::shared_ptr<Segment> Planner::plan() {
  note_conditions();
  node_index_ = parent_.next_node;
  while (node_index_ < program_.nodes_.size()) {
    check_interrupted();
    const Node& node = *program_.nodes_[node_index_];
    try {
      if (!plan_node(node_index_)) break;
    } catch (const Error& error) {
      if (!error.node().empty() || node.name.empty()) throw;
      throw error.with_context("node " + node.name).at_node(node.name);
    }
    ++node_index_;
  }
  SARDONYX_CHECK(node_index_ > parent_.next_node || program_.nodes_.empty() ||
                 node_index_ == program_.nodes_.size());
  segment_->next_node = node_index_;
  finish();
  return segment_;
}

// Values whose types only the run could tell have them now; the plan is for these.
void Planner::note_conditions() {
  for (ValueId value = 0; value < known_.size(); ++value) {
    Segment::Known& known = known_[value];
    if (known.state != State::kDynamic) continue;
    const Datum* datum = state_.values[value];
    Condition condition{value, datum ? datum->type() : Type::none(), std::nullopt, std::nullopt};
    if (datum && datum->is_tensor()) condition.shape = datum->tensor().shape();
    known.type = condition.type;
    known.shape = condition.shape;
    known.is_datum = datum != nullptr;
    known.state = State::kTyped;
    segment_->conditions.push_back(std::move(condition));
  }
}

bool Planner::bind_shape_inputs(const Node& node) {
  for (size_t slot = 0; slot < node.formal_inputs() && slot < 32; ++slot) {
    if (!(node.op->shape_inputs >> slot & 1) || !node.inputs[slot]) continue;
    const ValueId value = id(node.inputs[slot]);
    Segment::Known& known = known_[value];
    if (known.constant || !known.type.is_tensor()) continue;
    if (!known.is_datum) return false;
    // The value is at hand: this plan is for this value.
    const Tensor copy = state_.values[value]->tensor().clone();
    segment_->conditions.push_back({value, known.type, known.shape, copy});
    known.constant = copy;
  }
  return true;
}

bool Planner::plan_node(size_t index) {
  const Node& node = *program_.nodes_[index];
  for (const Value* input : node.inputs) {
    if (input && known_[id(input)].state == State::kDynamic) return false;
  }
  if (!bind_shape_inputs(node)) return false;
  std::vector<InferInput> inputs;
  for (const Value* input : node.inputs) {
    if (!input) {
      inputs.emplace_back();
      continue;
    }
    const Segment::Known& known = known_[id(input)];
    inputs.push_back({known.type, known.constant ? &*known.constant : nullptr, nullptr});
  }
  const auto fresh = [this] { return Dim::symbol("?p" + std::to_string(unknown_++)); };
  const std::vector<InferOutput> inferred =
      infer(*node.op, node.attrs, inputs, node.formal_inputs(), node.outputs.size(), fresh);
  if (plan_constants(node, inferred)) return true;
  if (plan_view(node, inferred)) return true;
  const bool concrete = std::ranges::all_of(
      inferred, [](const InferOutput& output) { return is_concrete(output.type); });
  if (concrete && (plan_parts(node, inferred) || plan_concat(node, inferred))) return true;
  if (concrete && !node.op->evaluate && plan_kernel(node, inferred)) return true;
  plan_evaluation(node, inferred);
  return true;
}

// Computes the node now where its value does not depend on the run.
bool Planner::plan_constants(const Node& node, const std::vector<InferOutput>& inferred) {
  if (node.op->is(kRandom)) return false;
  std::vector<std::optional<Tensor>> values;
  bool all = !inferred.empty();
  for (const InferOutput& output : inferred) {
    values.push_back(tensor_of_dims(output.type, output.dims));
    all = all && values.back();
  }
  if (!all) {
    if (node.captures > 0 || !subgraphs_of(node).empty()) return false;
    values.clear();
    for (const InferOutput& output : inferred) {
      const std::optional<Shape> shape = output.type.known_shape();
      if (!output.type.is_tensor() || !shape) return false;
      if (static_cast<int64_t>(bytes_for(output.type.dtype, element_count(*shape))) >
          kLargestPlanned)
        return false;
    }
    std::vector<Datum> inputs;
    for (const Value* input : node.inputs) {
      if (input && !known_[id(input)].constant) return false;
      inputs.push_back(input ? Datum(*known_[id(input)].constant) : Datum());
    }
    for (Datum& result : evaluate(*node.op, node.attrs, inputs, node.outputs.size())) {
      values.emplace_back(result.tensor());
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId value = id(node.outputs[i]);
    set_typed(value, inferred[i].type);
    known_[value].constant = values[i];
  }
  return true;
}

bool Planner::plan_view(const Node& node, const std::vector<InferOutput>& inferred) {
  if (!node.op->is(kView) || node.outputs.size() != 1 || !node.inputs[0]) return false;
  const ValueId from = id(node.inputs[0]);
  const ValueId to = id(node.outputs[0]);
  if (!is_concrete(inferred[0].type) || !known_[from].type.is_tensor()) return false;
  set_typed(to, inferred[0].type);
  const Place place = place_for(from, nullptr);
  representations_[to].push_back({nullptr, place});
  add_extent(place, to, plain_bytes(to));
  return true;
}

bool Planner::plan_kernel(const Node& node, const std::vector<InferOutput>& inferred) {
  std::vector<KernelTensor> inputs, outputs;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    if (!node.inputs[slot]) {
      inputs.emplace_back();
      continue;
    }
    const ValueId value = id(node.inputs[slot]);
    const Segment::Known& known = known_[value];
    if (!known.type.is_tensor()) return false;
    const LayoutPtr layout =
        representations_[value].empty() ? nullptr : representations_[value][0].layout;
    inputs.push_back(
        {known.type.dtype, *known.shape, layout, known.constant ? &*known.constant : nullptr});
  }
  for (const InferOutput& output : inferred) {
    outputs.push_back({output.type.dtype, *output.type.known_shape(), nullptr, nullptr});
  }
  KernelRequest request{*node.op, node.attrs, inputs, outputs};
  request.threads = environment_.threads;
  request.layouts = environment_.layouts;
  request.precision = environment_.precision;
  request.packs = &environment_.packs;
  Prepared prepared = prepare_kernel(environment_.providers, request);
  if (!prepared.kernel) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    set_typed(id(node.outputs[i]), inferred[i].type);
  add_kernel_step(node, std::move(prepared), inputs, outputs);
  return true;
}

void Planner::add_kernel_step(const Node& node, Prepared prepared,
                              const std::vector<KernelTensor>& inputs,
                              const std::vector<KernelTensor>& outputs) {
  std::vector<Place> input_places;
  std::vector<size_t> input_bytes;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const bool is_read = inputs[slot] && !(prepared.unread_inputs >> slot & 1);
    const LayoutPtr layout = layout_at(prepared.input_layouts, slot);
    input_places.push_back(is_read ? place_for(id(node.inputs[slot]), layout) : Place());
    input_bytes.push_back(is_read ? stored_bytes(inputs[slot], layout) : 0);
  }
  Step step;
  step.node = &node;
  step.label = node.name;
  step.implementation = prepared.implementation;
  step.types = describe(inputs, outputs);
  step.first_pointer = static_cast<uint32_t>(segment_->pointers.size());
  step.input_count = static_cast<uint32_t>(inputs.size());
  step.output_count = static_cast<uint32_t>(outputs.size());
  segment_->pointers.resize(segment_->pointers.size() + inputs.size() + outputs.size() + 1);
  uint32_t pointer = step.first_pointer;
  for (size_t slot = 0; slot < inputs.size(); ++slot, ++pointer) {
    if (input_places[slot].root != kNoRoot) point_at(input_places[slot], pointer);
    step.bytes += input_bytes[slot];
  }
  std::vector<bool> taken(inputs.size());
  for (size_t i = 0; i < outputs.size(); ++i, ++pointer) {
    const LayoutPtr layout = layout_at(prepared.output_layouts, i);
    const size_t bytes = stored_bytes(outputs[i], layout);
    const Place place = output_place(*prepared.kernel, i, bytes, input_places, input_bytes, taken);
    const ValueId value = id(node.outputs[i]);
    representations_[value] = {{layout, place}};
    Root& root = roots_[place.root];
    root.has_strings = outputs[i].dtype == DType::kString;
    if (root.bytes == bytes) root.owner = value;
    add_extent(place, value, bytes);
    point_at(place, pointer);
    step.bytes += bytes;
  }
  scratch_bytes_.push_back(prepared.kernel->scratch_bytes());
  step.kernel = std::move(prepared.kernel);
  segment_->steps.push_back(std::move(step));
}

// Where an output lies: over one of the inputs where the kernel may write there and nobody reads it
// any more.
Planner::Place Planner::output_place(const Kernel& kernel, size_t output, size_t bytes,
                                     const std::vector<Place>& inputs,
                                     const std::vector<size_t>& input_bytes,
                                     std::vector<bool>& taken) {
  const auto overlap = [&](size_t a, size_t b) {
    return inputs[a].root == inputs[b].root &&
           inputs[a].offset < inputs[b].offset + input_bytes[b] &&
           inputs[b].offset < inputs[a].offset + input_bytes[a];
  };
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const Place place = inputs[slot];
    if (place.root == kNoRoot || taken[slot] || input_bytes[slot] != bytes) continue;
    const Root& root = roots_[place.root];
    if (root.kind != Root::Kind::kArena || root.has_strings || !is_free(place, bytes)) continue;
    bool is_read_once = true;
    for (size_t other = 0; other < inputs.size(); ++other)
      is_read_once = is_read_once && (other == slot || !overlap(slot, other));
    if (!is_read_once || !kernel.may_alias(output, slot)) continue;
    taken[slot] = true;
    return place;
  }
  Root root;
  root.bytes = bytes;
  root.first_step = root.last_step = segment_->steps.size();
  return {new_root(std::move(root)), 0};
}

// Nobody reads these bytes after the current node.
bool Planner::is_free(Place place, size_t bytes) const {
  return std::ranges::none_of(roots_[place.root].extents, [&](const Extent& extent) {
    return extent.last_use > node_index_ && extent.offset < place.offset + bytes &&
           place.offset < extent.offset + extent.bytes;
  });
}

size_t Planner::new_root(Root root) {
  roots_.push_back(std::move(root));
  return roots_.size() - 1;
}

// The same place in the root that this one's has become a part of.
Planner::Place Planner::resolved(Place place) const {
  while (roots_[place.root].parent != kNoRoot) {
    place.offset += roots_[place.root].parent_offset;
    place.root = roots_[place.root].parent;
  }
  return place;
}

void Planner::add_extent(Place place, ValueId value, size_t bytes) {
  roots_[place.root].extents.push_back({value, place.offset, bytes, program_.last_use_[value]});
}

void Planner::point_at(Place place, uint32_t pointer) {
  Root& root = roots_[place.root];
  root.pointers.push_back({pointer, place.offset});
  root.last_step = std::max(root.last_step, segment_->steps.size());
}

size_t Planner::plain_bytes(ValueId value) const {
  return bytes_for(known_[value].type.dtype, element_count(*known_[value].shape));
}

void Planner::set_typed(ValueId value, const Type& type) {
  known_[value].state = State::kTyped;
  known_[value].type = type;
  known_[value].shape = type.known_shape();
}

// Where `value` lies in `layout`; adds a reorder where there is none yet.
Planner::Place Planner::place_for(ValueId value, const LayoutPtr& layout) {
  std::vector<Representation>& forms = representations_[value];
  if (forms.empty()) {  // a constant, or a value that was there before the segment
    Root root;
    root.owner = value;
    const Segment::Known& known = known_[value];
    root.kind = known.constant ? Root::Kind::kConstant : Root::Kind::kEntry;
    if (known.constant) root.constant = *known.constant;
    root.bytes = plain_bytes(value);
    forms.push_back({nullptr, {new_root(std::move(root)), 0}});
    add_extent(forms[0].place, value, plain_bytes(value));
  }
  for (const Representation& form : forms) {
    if (same_layout(form.layout, layout)) return resolved(form.place);
  }
  return reorder(value, layout);
}

Planner::Place Planner::reorder(ValueId value, const LayoutPtr& to) {
  const Representation from = representations_[value][0];
  const DType dtype = known_[value].type.dtype;
  const Shape& shape = *known_[value].shape;
  Prepared prepared = Prepared::refuse("no provider reorders");
  for (const Provider* provider : environment_.providers) {
    if (!provider->prepare_reorder) continue;
    prepared = provider->prepare_reorder(dtype, shape, from.layout, to, environment_.threads);
    if (prepared.kernel) break;
  }
  if (!prepared.kernel) {
    fail(ErrorCode::kInternal, "value ", program_.values_[value]->name, ": no way from layout ",
         from.layout ? from.layout->text() : "plain", " to ", to ? to->text() : "plain", ": ",
         prepared.refusal);
  }
  Root root;
  root.bytes = to ? to->bytes() : plain_bytes(value);
  root.first_step = root.last_step = segment_->steps.size();
  root.owner = value;
  const Place source = resolved(from.place);
  const Place made{new_root(std::move(root)), 0};
  add_extent(made, value, roots_[made.root].bytes);
  Step step;
  step.label = "reorder of " + program_.values_[value]->name;
  step.implementation = prepared.implementation;
  step.types = std::string(name_of(dtype)) + to_text(shape) + " " +
               (from.layout ? from.layout->text() : "plain") + " -> " + (to ? to->text() : "plain");
  step.bytes = (from.layout ? from.layout->bytes() : plain_bytes(value)) + roots_[made.root].bytes;
  step.first_pointer = static_cast<uint32_t>(segment_->pointers.size());
  step.input_count = step.output_count = 1;
  segment_->pointers.resize(segment_->pointers.size() + 3);
  point_at(source, step.first_pointer);
  point_at(made, step.first_pointer + 1);
  representations_[value].push_back({to, made});
  scratch_bytes_.push_back(prepared.kernel->scratch_bytes());
  step.kernel = std::move(prepared.kernel);
  segment_->steps.push_back(std::move(step));
  return made;
}

// Sees to it that the run holds `value` as a Datum.
void Planner::need_whole(ValueId value) {
  const Segment::Known& known = known_[value];
  if (known.constant) {
    const auto same = [&](const auto& entry) { return entry.first == value; };
    if (std::ranges::none_of(segment_->constants, same))
      segment_->constants.emplace_back(value, Datum(*known.constant));
    return;
  }
  if (known.is_datum || !known.type.is_tensor() || representations_[value].empty()) return;
  const Place place = place_for(value, nullptr);
  Root& root = roots_[place.root];
  if (root.kind == Root::Kind::kConstant) {
    segment_->constants.emplace_back(
        value, Tensor(known.type.dtype, *known.shape, root.constant.buffer(),
                      static_cast<size_t>(static_cast<std::byte*>(root.constant.raw()) -
                                          root.constant.buffer()->data()) +
                          place.offset));
    return;
  }
  if (root.kind == Root::Kind::kArena) root.kind = Root::Kind::kAllocated;
  if (root.kind == Root::Kind::kAllocated) {
    const auto same = [&](const Extent& extent) { return extent.value == value; };
    if (std::ranges::none_of(root.whole, same))
      root.whole.push_back({value, place.offset, plain_bytes(value), SIZE_MAX});
    return;
  }
  if (root.owner == value) return;
  Alias alias{value, root.owner, *known.shape, place.offset};
  std::vector<Alias>& aliases = root.kind == Root::Kind::kStepOutput
                                    ? segment_->steps[root.owner_step].aliases
                                    : segment_->aliases;
  const auto same = [&](const Alias& entry) { return entry.value == value; };
  if (std::ranges::none_of(aliases, same)) aliases.push_back(std::move(alias));
}

std::unique_ptr<Program> Planner::body_program(const Node& node) const {
  auto graph = std::make_shared<Graph>();
  GraphEmitter emitter(*graph);
  emitter.set_origin(node);
  Vals inputs;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    if (!node.inputs[slot]) {
      inputs.emplace_back();
      continue;
    }
    const Segment::Known& known = known_[id(node.inputs[slot])];
    Value* input = graph->add_input("", known.type);
    if (known.constant) input->constant = std::make_shared<const Tensor>(*known.constant);
    inputs.push_back(GraphEmitter::wrap(input));
  }
  for (const Val& result :
       node.op->body(emitter, {*node.op, node.attrs, inputs, node.outputs.size()})) {
    if (result) graph->add_output(GraphEmitter::unwrap(result));
  }
  return std::make_unique<Program>(std::move(graph), environment_);
}

void Planner::plan_evaluation(const Node& node, const std::vector<InferOutput>& inferred) {
  Step step;
  step.node = &node;
  step.label = node.name;
  step.implementation = node.op->body ? "body" : "evaluate";
  for (const Value* input : node.inputs) {
    step.inputs.push_back(input ? id(input) : kNoValue);
    if (input) need_whole(id(input));
  }
  const size_t own_index = segment_->steps.size();  // behind reorders of the inputs
  if (node.op->body && !node.op->evaluate && !node.op->reference) step.body = body_program(node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId value = id(node.outputs[i]);
    const Type& type = inferred[i].type;
    step.outputs.push_back(value);
    step.promised.emplace_back();
    if (!type.is_tensor() && !type.is_none()) {
      set_typed(value, type);
      known_[value].is_datum = true;
    } else if (is_concrete(type)) {
      set_typed(value, type);
      step.promised.back() = type;
      Root root;
      root.kind = Root::Kind::kStepOutput;
      root.owner = value;
      root.owner_step = own_index;
      root.bytes = plain_bytes(value);
      representations_[value] = {{nullptr, {new_root(std::move(root)), 0}}};
    } else {
      known_[value].state = State::kDynamic;
    }
  }
  scratch_bytes_.push_back(0);
  segment_->steps.push_back(std::move(step));
}

int Planner::output_index(ValueId value) const {
  const auto at = std::ranges::find(program_.output_ids_, value);
  return at == program_.output_ids_.end() ? -1
                                          : static_cast<int>(at - program_.output_ids_.begin());
}

void Planner::finish() {
  // What later segments or the caller read must be whole.
  for (ValueId value = 0; value < known_.size(); ++value) {
    const bool is_read_later =
        program_.last_use_[value] >= node_index_ && program_.last_use_[value] != 0;
    if (!is_read_later || known_[value].state != State::kTyped) continue;
    if (known_[value].constant && output_index(value) < 0) continue;
    if (known_[value].constant && node_index_ < program_.nodes_.size()) continue;
    need_whole(value);
  }
  place_memory();
  bind_pointers();
  keep_for_children();
}

void Planner::keep_for_children() {
  if (node_index_ == program_.nodes_.size()) return;
  for (ValueId value = 0; value < known_.size(); ++value) {
    Segment::Known& known = known_[value];
    if (known.state == State::kTyped && !known.constant) known.is_datum = true;
  }
  segment_->known = std::make_shared<const std::vector<Segment::Known>>(std::move(known_));
}

}  // namespace sardonyx
