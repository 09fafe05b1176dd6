#include "executor/plan/planner.h"

#include <algorithm>

#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

using State = PlanSegment::ValueState::State;

size_t stored_bytes(const StepValue& value, const LayoutPtr& layout) {
  return layout ? layout->bytes() : value.facts->plain_bytes();
}

const LayoutPtr& layout_at(const std::vector<LayoutPtr>& layouts, size_t index) {
  static const auto& kPlain = *new LayoutPtr;
  return index < layouts.size() ? layouts[index] : kPlain;
}

}  // namespace

bool is_concrete(const Type& type) {
  return type.is_tensor() && type.known_shape().has_value();
}

Planner::Planner(Executable& executable, const PlanSegment& parent, const RunState& state,
                 bool may_release)
    : executable_(executable),
      parent_(parent),
      state_(state),
      session_state_(executable.session_state_),
      known_(parent.known->values),
      form_of_(executable.values_.size(), kNoForms) {
  roots_.reserve(executable.nodes_.size());
  forms_.reserve(executable.nodes_.size());
  if (!may_release) return;
  if (!executable.weight_uses_)
    executable.weight_uses_.emplace(executable.values_, executable.last_use_);
  weight_uses_ = &*executable.weight_uses_;
}

std::shared_ptr<PlanSegment> Planner::plan() {
  segment_->steps.reserve(executable_.nodes_.size() - parent_.next_node);
  const PackedWeightArena::Scope packing(session_state_.packed_weight_arena);
  learned_->inherited = parent_.known;
  record_guards();
  computed_.emplace(executable_.symbolic_, executable_.symbolic_.sizes([this](ValueId value) {
    const PlanSegment::ValueState& given = known(value);
    return given.shape() ? &*given.shape() : nullptr;
  }));
  node_index_ = parent_.next_node;
  while (node_index_ < executable_.nodes_.size()) {
    check_interrupted();
    try {
      if (!can_leave_out() && !plan_node()) break;
    } catch (const Error& error) {
      const Node& node = *numbered().node;
      if (!error.node().empty() || node.name.empty()) throw;
      throw error.with_context("node " + node.name + source_text(node)).at_node(node.name);
    }
    ++node_index_;
  }
  SARDONYX_CHECK(node_index_ > parent_.next_node || executable_.nodes_.empty() ||
                 node_index_ == executable_.nodes_.size());
  segment_->next_node = node_index_;
  finish();
  return segment_;
}

// Values whose types only the run could tell have them now; the plan is for these.
void Planner::record_guards() {
  for (const ValueId value : parent_.known->dynamic) {
    PlanSegment::ValueState& known = refine(value);
    const Datum* datum = state_.values[value];
    ShapeGuard condition{value, datum ? datum->type() : Type::none(), std::nullopt, std::nullopt};
    if (datum && datum->is_tensor()) condition.shape = datum->tensor().shape();
    known.facts = condition.shape ? executable_.inference_cache_.facts_of(condition.type.dtype,
                                                                          *condition.shape)
                                  : executable_.inference_cache_.facts_of(condition.type);
    known.is_datum = datum != nullptr;
    known.state = State::kTyped;
    segment_->conditions.push_back(std::move(condition));
  }
}

// The entry of `value`, which may now be changed.
PlanSegment::ValueState& Planner::refine(ValueId value) {
  PlanSegment::ValueState& entry = learned_->own.emplace_back(known(value));
  known_[value] = &entry;
  return entry;
}

bool Planner::plan_node() {
  const Node& node = *numbered().node;
  for (const ValueId input : numbered().inputs) {
    if (input == kNoValue) continue;
    compute_if_left_out(input);
    if (known(input).state == State::kDynamic) return false;
  }
  if (!bind_shape_inputs()) return false;
  const Inference& inference = infer_node(node);
  if (plan_constants(node, inference)) return true;
  if (plan_view(inference)) return true;
  const bool concrete = inference.is_concrete;
  refused_ = nullptr;
  if (concrete && (plan_parts(node, inference) || plan_concat(node, inference))) return true;
  if (concrete && !numbered().op->def().evaluate && plan_kernel(node, inference)) return true;
  plan_evaluation(node, inference);
  return true;
}

bool Planner::plan_view(const Inference& inference) {
  if (!numbered().op->def().is(kView) || numbered().outputs.size() != 1 || input(0) == kNoValue)
    return false;
  const ValueId from = input(0);
  const ValueId to = output(0);
  if (!inference.is_concrete || !known(from).type().is_tensor()) return false;
  set_typed(to, inference.outputs[0]);
  const Place place = place_for(from, nullptr);
  set_place(to, nullptr, place);
  add_extent(place, to, plain_bytes(to));
  return true;
}

bool Planner::plan_kernel(const Node& node, const Inference& inference) {
  for (size_t slot = 0; slot < numbered().formal_inputs; ++slot) {
    if (input(slot) != kNoValue && !known(input(slot)).type().is_tensor()) return false;
  }
  std::shared_ptr<const PreparedStep> prepared = prepared_step(node, inference);
  if (!prepared) return false;
  for (size_t i = 0; i < numbered().outputs.size(); ++i) {
    if (output(i) != kNoValue) set_typed(output(i), inference.outputs[i]);
  }
  const uint32_t unread = prepared->unread_inputs;
  add_kernel_step(node, std::move(prepared));
  release_packed(unread);
  return true;
}

// The elements of the node's constant inputs are there; all of them, or those that kernels may look
// at when they are prepared.
void Planner::load_constants(bool all) {
  for (size_t slot = 0; slot < numbered().inputs.size(); ++slot) {
    const bool is_wanted = all || !has_bit(numbered().op->def().weight_inputs, slot);
    if (is_wanted && input(slot) != kNoValue && known(input(slot)).constant)
      load_weight(*known(input(slot)).constant);
  }
}

void Planner::release_packed(uint32_t unread_inputs) {
  if (!weight_uses_) return;
  const size_t slots = executable_.nodes_[node_index_].inputs.size();
  for (size_t slot = 0; slot < slots; ++slot) {
    if (!has_bit(unread_inputs, slot) || input(slot) == kNoValue) continue;
    const Tensor* weights = known(input(slot)).constant.get();
    if (!weights || session_state_.weight_residency.is_kept(*weights)) continue;
    if (const auto buffer = weight_uses_->unused_after(*weights, node_index_)) buffer->release();
  }
}

void Planner::add_kernel_step(const Node& node, std::shared_ptr<const PreparedStep> shared) {
  const PreparedStep& prepared = *shared;
  const size_t input_count = prepared.inputs.size();
  const size_t output_count = prepared.outputs.size();
  InputPlaces inputs(input_count);
  for (size_t slot = 0; slot < input_count; ++slot) {
    const StepValue& value = prepared.inputs[slot];
    if (!value.facts || has_bit(prepared.unread_inputs, slot)) continue;
    const LayoutPtr& layout = layout_at(prepared.input_layouts, slot);
    const OpDef& op = numbered().op->def();
    const bool reads_anywhere = op.is(kReadsTable) && has_bit(op.weight_inputs, slot);
    inputs[slot] = {place_for(input(slot), layout, reads_anywhere), stored_bytes(value, layout)};
  }
  Step step = new_step(std::move(shared), input_count, output_count);
  step.node = &node;
  uint32_t pointer = step.first_pointer;
  for (size_t slot = 0; slot < input_count; ++slot, ++pointer) {
    if (inputs[slot].place.root != kNoRoot) point_at(inputs[slot].place, pointer);
    step.bytes += inputs[slot].bytes;
  }
  for (size_t i = 0; i < output_count; ++i, ++pointer) {
    const LayoutPtr& layout = layout_at(prepared.output_layouts, i);
    const size_t bytes = stored_bytes(prepared.outputs[i], layout);
    const Place place = output_place(*prepared.kernel, i, bytes, inputs);
    const ValueId value = output(i);
    Root& root = roots_[place.root];
    root.has_strings = prepared.outputs[i].facts->type.dtype == DType::kString;
    if (root.bytes == bytes) root.owner = value;
    if (value != kNoValue) {
      set_place(value, layout, place);
      add_written(place, value, bytes);
    }
    point_at(place, pointer);
    step.bytes += bytes;
  }
  add_step(std::move(step));
}

// With entries of its own in the table of pointers: inputs, outputs, scratch.
Step Planner::new_step(std::shared_ptr<const PreparedStep> prepared, size_t inputs,
                       size_t outputs) {
  Step step;
  step.kernel = prepared->kernel.get();
  step.prepared = std::move(prepared);
  step.first_pointer = static_cast<uint32_t>(segment_->pointers.size());
  step.input_count = static_cast<uint32_t>(inputs);
  step.output_count = static_cast<uint32_t>(outputs);
  segment_->pointers.resize(segment_->pointers.size() + inputs + outputs + 1);
  return step;
}

void Planner::add_step(Step step) {
  if (step.kernel)
    scratch_.push_back(step.kernel->scratch_bytes());
  else
    scratch_.push_back({});
  segment_->steps.push_back(std::move(step));
}

// Where an output lies: over one of the inputs where the kernel may write there and nobody reads it
// any more.
Planner::Place Planner::output_place(const Kernel& kernel, size_t output, size_t bytes,
                                     InputPlaces& inputs) {
  const auto overlap = [&](const InputPlace& a, const InputPlace& b) {
    return a.place.root == b.place.root && a.place.offset < b.place.offset + b.bytes &&
           b.place.offset < a.place.offset + a.bytes;
  };
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const Place place = inputs[slot].place;
    if (place.root == kNoRoot || inputs[slot].is_taken || inputs[slot].bytes != bytes) continue;
    const Root& root = roots_[place.root];
    // Only in the first segment are all views of an entry known to be such.
    const bool may_be_bound =
        parent_.next_node == 0 && is_entry(place, bytes) && this->output(output) != kNoValue;
    const bool is_arena = root.kind == Root::Kind::kArena && !root.has_strings;
    if ((!is_arena && !may_be_bound) || !is_free(place, bytes)) continue;
    if (!kernel.may_alias(output, slot)) continue;
    const bool is_read_again = std::ranges::any_of(inputs, [&](const InputPlace& other) {
      return &other != &inputs[slot] && overlap(inputs[slot], other);
    });
    if (is_read_again) continue;
    if (may_be_bound) {
      in_place_.push_back({this->output(output), root.owner});
      continue;
    }
    inputs[slot].is_taken = true;
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

// All elements of a value that was there before the segment.
bool Planner::is_entry(Place place, size_t bytes) const {
  const Root& root = roots_[place.root];
  return root.kind == Root::Kind::kEntry && place.offset == 0 && root.bytes == bytes;
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

Planner::Extent& Planner::add_extent(Place place, ValueId value, size_t bytes) {
  auto& extents = roots_[place.root].extents;
  extents.push_back({value, place.offset, bytes, executable_.last_use_[value]});
  return extents.back();
}

void Planner::add_written(Place place, ValueId value, size_t bytes) {
  add_extent(place, value, bytes).written_at = node_index_;
}

void Planner::point_at(Place place, uint32_t pointer) {
  Root& root = roots_[place.root];
  root.pointers.push_back({pointer, place.offset});
  root.last_step = std::max(root.last_step, segment_->steps.size());
}

size_t Planner::plain_bytes(ValueId value) const {
  return known(value).facts->plain_bytes();
}

PlanSegment::ValueState& Planner::set_typed(ValueId value, TypeInfoPtr facts) {
  PlanSegment::ValueState& entry = learned_->own.emplace_back();
  entry.state = State::kTyped;
  entry.facts = std::move(facts);
  known_[value] = &entry;
  return entry;
}

// What `value` came with; null where it lies row-major.
const LayoutPtr& Planner::layout_of(ValueId value) const {
  static const auto& kPlain = *new LayoutPtr;
  return has_place(value) ? forms_[form_of_[value]].first.layout : kPlain;
}

// Where `value` was made.
void Planner::set_place(ValueId value, LayoutPtr layout, Place place) {
  form_of_[value] = static_cast<uint32_t>(forms_.size());
  forms_.push_back({{std::move(layout), place}, {}});
}

// Where `value` lies in `layout`; adds a reorder where there is none yet.
Planner::Place Planner::place_for(ValueId value, const LayoutPtr& layout, bool reads_anywhere) {
  if (!has_place(value)) place_given(value, reads_anywhere);
  const Representations& forms = this->forms(value);
  const auto fits = [&](const Representation& form) { return same_layout(form.layout, layout); };
  const Representation* form = &forms.first;
  if (!fits(*form)) {
    const auto other = std::ranges::find_if(forms.others, fits);
    form = other == forms.others.end() ? nullptr : &*other;
  }
  if (!form || !reads_anywhere)
    keep_in_memory(roots_[resolved(form ? form->place : forms.first.place).root]);
  return form ? resolved(form->place) : reorder(value, layout);
}

// A constant, or a value that was there before the segment.
void Planner::place_given(ValueId value, bool reads_anywhere) {
  Root root;
  root.owner = value;
  const PlanSegment::ValueState& entry = known(value);
  root.kind = entry.constant ? Root::Kind::kConstant : Root::Kind::kEntry;
  root.constant = entry.constant;
  if (entry.constant && weight_uses_ && reads_anywhere)
    root.outside = address_outside(*entry.constant);
  if (entry.constant && !root.outside) keep_in_memory(root);
  root.bytes = plain_bytes(value);
  const Place place{new_root(std::move(root)), 0};
  set_place(value, nullptr, place);
  add_extent(place, value, plain_bytes(value));
}

// A constant that somebody reads as its type is.
void Planner::keep_in_memory(Root& root) {
  if (root.kind != Root::Kind::kConstant) return;
  root.outside = nullptr;
  if (executable_.is_kept_[root.owner]) return;
  load_weight(*root.constant);
  if (!weight_uses_) return;  // nobody lets it go
  session_state_.weight_residency.keep(*root.constant);
  executable_.is_kept_[root.owner] = root.constant == executable_.values_[root.owner]->constant;
}

Planner::Place Planner::reorder(ValueId value, const LayoutPtr& to) {
  const Representation from = forms(value).first;
  const DType dtype = known(value).type().dtype;
  const Shape& shape = *known(value).shape();
  Prepared prepared = Prepared::refuse("no provider reorders");
  for (const Provider* provider : session_state_.providers) {
    if (!provider->prepare_reorder) continue;
    prepared = provider->prepare_reorder(dtype, shape, from.layout, to, session_state_.threads);
    if (prepared.kernel) break;
  }
  if (!prepared.kernel) {
    fail(ErrorCode::kInternal, "value ", executable_.values_[value]->name, ": no way from layout ",
         from.layout ? from.layout->text() : "plain", " to ", to ? to->text() : "plain", ": ",
         prepared.refusal);
  }
  Root root;
  root.bytes = to ? to->bytes() : plain_bytes(value);
  root.first_step = root.last_step = segment_->steps.size();
  root.owner = value;
  const Place source = resolved(from.place);
  const Place made{new_root(std::move(root)), 0};
  add_written(made, value, roots_[made.root].bytes);
  const auto shared = std::make_shared<const PreparedStep>(
      std::move(prepared), std::vector<StepValue>{{known(value).facts, from.layout}},
      std::vector<StepValue>{{known(value).facts, to}});
  Step step = new_step(shared, 1, 1);
  step.reordered = value;
  step.bytes = (from.layout ? from.layout->bytes() : plain_bytes(value)) + roots_[made.root].bytes;
  point_at(source, step.first_pointer);
  point_at(made, step.first_pointer + 1);
  forms(value).others.push_back({to, made});
  add_step(std::move(step));
  return made;
}

// Sees to it that the run holds `value` as a Datum.
void Planner::need_whole(ValueId value) {
  const PlanSegment::ValueState& known = this->known(value);
  if (known.constant) {
    const auto same = [&](const auto& entry) { return entry.first == value; };
    if (std::ranges::none_of(segment_->constants, same))
      segment_->constants.emplace_back(value, Datum(*known.constant));
    return;
  }
  if (known.is_datum || !known.type().is_tensor() || !has_place(value)) return;
  const Place place = place_for(value, nullptr);
  Root& root = roots_[place.root];
  if (root.kind == Root::Kind::kConstant) {
    segment_->constants.emplace_back(
        value, Tensor(known.type().dtype, *known.shape(), root.constant->buffer(),
                      root.constant->byte_offset() + place.offset));
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
  Alias alias{value, root.owner, *known.shape(), place.offset};
  std::vector<Alias>& aliases = root.kind == Root::Kind::kStepOutput
                                    ? segment_->steps[root.owner_step].aliases
                                    : segment_->aliases;
  const auto same = [&](const Alias& entry) { return entry.value == value; };
  if (std::ranges::none_of(aliases, same)) aliases.push_back(std::move(alias));
}

void Planner::finish() {
  // What later segments or the caller read must be whole.
  for (ValueId value = 0; value < known_.size(); ++value) {
    const bool is_read_later =
        executable_.last_use_[value] >= node_index_ && executable_.last_use_[value] != 0;
    if (!is_read_later) continue;
    if (output_index(value) >= 0) compute_if_left_out(value);
    if (known(value).state != State::kTyped) continue;
    if (known(value).constant && output_index(value) < 0) continue;
    if (known(value).constant && node_index_ < executable_.nodes_.size()) continue;
    need_whole(value);
  }
  for (size_t i = 0; i < executable_.output_ids_.size(); ++i) {
    const PlanSegment::ValueState& output = known(executable_.output_ids_[i]);
    if (output.state == State::kTyped && output.facts)
      segment_->known_outputs.emplace_back(i, output.facts);
  }
  place_memory();
  bind_pointers();
  number_slots();
  keep_for_children();
}

void Planner::keep_for_children() {
  if (node_index_ == executable_.nodes_.size()) return;
  for (ValueId value = 0; value < known_.size(); ++value) {
    const PlanSegment::ValueState& entry = known(value);
    if (entry.state == State::kDynamic) learned_->dynamic.push_back(value);
    if (entry.state == State::kTyped && !entry.constant && !entry.is_datum)
      refine(value).is_datum = true;
  }
  learned_->values = std::move(known_);
  segment_->known = learned_;
}

}  // namespace sardonyx
