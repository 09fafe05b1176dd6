#include "tests/api/api_steps.h"

#include <algorithm>

#include "ir/datum_tensors.h"

namespace sardonyx::api_test {
namespace {

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}

// What addresses of such elements are multiples of.
size_t alignment_of(DType dtype) {
  return std::min<size_t>(bytes_for(dtype, 1), alignof(double));
}

bool is_plain(const Datum& datum) {
  return datum.is_tensor() && datum.tensor().dtype() != DType::kString;
}

}  // namespace

CallerSteps::CallerSteps(const ApiCase& made, ApiSession& session, bool unmaps)
    : made_(made), session_(session), unmaps_(unmaps) {
  start_anew();
}

void CallerSteps::fail_with(const std::string& what) const {
  throw Finding(text(made_.name, ", ", caller_->name(), ": ", what, "\n  after ", history_));
}

void CallerSteps::take_step(fuzz::Choices& choices) {
  switch (choices.below(10)) {
    case 0:
    case 1:
      set_inputs(choices);
      break;
    case 2:
    case 3:
      bind_output(choices);
      break;
    case 4:
      clear_output(choices);
      break;
    case 5:
      if (choices.one_in(6))
        start_anew();
      else if (choices.one_in(3))
        session_.trim(), note("trim");
      else
        kept_.clear(), note("let results go");
      break;
    default:
      run(choices);
  }
  check_memory();
}

// The binding is destroyed, and so is what it was given.
void CallerSteps::start_anew() {
  caller_.reset();
  inputs_.assign(made_.variants[0].inputs.size(), {});
  outputs_.assign(session_.output_count(), {});
  for (const Memory& memory : memories_)
    let_go(memory);
  caller_ = session_.caller();
  note("new caller");
  variant_ = 0;
  fuzz::Choices none(nullptr, 0);
  for (size_t i = 0; i < inputs_.size(); ++i)
    set_input(i, none);
}

// At any address that elements of that type may have, not just those that an allocator gives.
CallerSteps::Place CallerSteps::place_for(DType dtype, const Shape& shape, size_t slack,
                                          fuzz::Choices& choices) const {
  Place place;
  if (choices.one_in(2)) place.offset = alignment_of(dtype) * (1 + choices.below(3));
  const size_t bytes = bytes_for(dtype, element_count(shape));
  place.memory = std::make_shared<CallerMemory>(place.offset + bytes + slack);
  place.tensor = place.memory->tensor(dtype, shape, place.offset);
  return place;
}

void CallerSteps::set_inputs(fuzz::Choices& choices) {
  variant_ = choices.below(made_.variants.size());
  note(text("inputs ", variant_));
  for (size_t i = 0; i < inputs_.size(); ++i)
    set_input(i, choices);
}

// In new memory, or in that of before where it suits; what is no longer needed is freed at once.
void CallerSteps::set_input(size_t index, fuzz::Choices& choices) {
  const Datum& input = variant().inputs[index];
  const Place before = inputs_[index];
  if (!is_plain(input)) {
    inputs_[index] = {};
    given_.push_back({deep_copy(input), input});
    caller_->set_input(index, given_.back().result);
  } else {
    const Tensor& tensor = input.tensor();
    const bool stays = before.is_set() && before.tensor.dtype() == tensor.dtype() &&
                       before.tensor.shape() == tensor.shape() && choices.one_in(3);
    if (!stays) {
      Place place = place_for(tensor.dtype(), tensor.shape(), 64, choices);
      memories_.push_back(place.memory);
      inputs_[index] = std::move(place);
    }
    caller_->set_input(index, inputs_[index].tensor);
  }
  if (before.is_set()) let_go(before.memory);
}

// To memory of its own or an input's, for what a run of some variant gives; or to what is too
// small.
void CallerSteps::bind_output(fuzz::Choices& choices) {
  const size_t index = choices.below(outputs_.size());
  const Variant& wanted =
      choices.one_in(3) ? made_.variants[choices.below(made_.variants.size())] : variant();
  if (wanted.error || !is_plain(wanted.outputs[index])) return;
  const Tensor& result = wanted.outputs[index].tensor();
  Place place;
  if (choices.one_in(2) && !inputs_.empty()) {
    const Place& input = inputs_[choices.below(inputs_.size())];
    const size_t behind = choices.one_in(4) ? 8 * choices.below(4) : 0;
    const size_t unit = alignment_of(result.dtype());
    const size_t offset = (input.offset + behind + unit - 1) / unit * unit;
    if (!input.is_set() || input.memory->size() < offset + result.bytes()) return;
    place = {input.memory, offset, input.memory->tensor(result.dtype(), result.shape(), offset)};
    note(text("bind ", index, " to an input's memory + ", offset));
  } else {
    Shape shape = result.shape();
    if (choices.one_in(8)) shape.push_back(1);
    place = place_for(result.dtype(), shape, 0, choices);
    memories_.push_back(place.memory);
    note(text("bind ", index));
  }
  const Place before = outputs_[index];
  outputs_[index] = place;
  caller_->bind_output(index, place.tensor);
  if (before.is_set()) let_go(before.memory);
}

void CallerSteps::clear_output(fuzz::Choices& choices) {
  const size_t index = choices.below(outputs_.size());
  const Place before = outputs_[index];
  outputs_[index] = {};
  caller_->clear_output(index);
  note(text("clear ", index));
  if (before.is_set()) let_go(before.memory);
}

bool CallerSteps::is_in_use(const CallerMemory& memory) const {
  const auto uses = [&](const Place& place) { return place.memory.get() == &memory; };
  return std::ranges::any_of(inputs_, uses) || std::ranges::any_of(outputs_, uses);
}

void CallerSteps::let_go(Memory memory) {
  if (!is_in_use(*memory)) memory->release(unmaps_);
}

// An earlier run may have written an output there.
void CallerSteps::fill_inputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_set())
      inputs_[i].memory->write(inputs_[i].offset, bytes_of(variant().inputs[i].tensor()));
  }
}

bool CallerSteps::has_overlapping_outputs() const {
  const auto overlap = [](const Place& a, const Place& b) {
    const bool have_elements = a.is_set() && b.is_set() && a.tensor.count() && b.tensor.count();
    return have_elements && a.begin() < b.end() && b.begin() < a.end();
  };
  for (size_t i = 0; i < outputs_.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (overlap(outputs_[i], outputs_[k])) return true;
    }
  }
  return false;
}

void CallerSteps::run(fuzz::Choices& choices) {
  const HowToRun how{choices.one_in(16), choices.one_in(16)};
  fill_inputs();
  std::optional<ErrorCode> expected = variant().error;
  if (!expected && has_overlapping_outputs()) expected = ErrorCode::kInvalidArgument;
  note(text("run ", how.is_cancelled ? "cancelled " : "", how.has_no_time ? "late " : ""));
  const std::optional<ErrorCode> error = caller_->run(how);
  if (error == ErrorCode::kInternal) fail_with("an internal error");
  const bool was_stopped = (how.is_cancelled && error == ErrorCode::kCancelled) ||
                           (how.has_no_time && error == ErrorCode::kDeadlineExceeded);
  const bool is_expected =
      error == expected || (error == ErrorCode::kInvalidArgument && has_overlapping_outputs());
  if (!was_stopped && !is_expected) {
    fail_with(text("the run ended with ", error ? name_of(*error) : "results", ", expected ",
                   expected ? name_of(*expected) : "results"));
  }
  if (!error) return check_outputs(), keep_results(choices);
  for (const Place& place : outputs_) {  // may be half written
    if (place.is_set()) place.memory->accept(place.offset, place.tensor.bytes());
  }
}

void CallerSteps::check_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Datum& expected = variant().outputs[i];
    const Datum got = caller_->output(i);
    const bool is_passed = caller_->passes_all_kinds() || expected.is_tensor();
    if (is_passed && !same_bits(got, expected)) {
      fail_with(text("output ", i, " is not what a fresh session gives: ", got.type(),
                     ", expected ", expected.type()));
    }
    const Place& place = outputs_[i];
    const bool fits = place.is_set() && is_plain(expected) &&
                      place.tensor.dtype() == expected.tensor().dtype() &&
                      place.tensor.shape() == expected.tensor().shape();
    if (!fits) continue;
    if (!(place.tensor == expected.tensor()))
      fail_with(text("output ", i, " is not in its memory"));
    if (got.tensor().raw() != place.tensor.raw())
      fail_with(text("output ", i, " is shown elsewhere than in its memory"));
    place.memory->accept(place.offset, place.tensor.bytes());
  }
}

bool CallerSteps::overlaps_memory(const Datum& datum) const {
  return any_tensor(datum, [&](const Tensor& tensor) {
    const auto* begin = static_cast<const std::byte*>(tensor.raw());
    return std::ranges::any_of(memories_, [&](const Memory& memory) {
      return begin < memory->data() + memory->size() && memory->data() < begin + tensor.bytes();
    });
  });
}

void CallerSteps::keep_results(fuzz::Choices& choices) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!choices.one_in(4)) continue;
    const Datum result = caller_->kept_output(i);
    if (result.defined() && !overlaps_memory(result))
      kept_.push_back({result, variant().outputs[i]});
  }
}

void CallerSteps::check_memory() {
  for (size_t i = 0; i < memories_.size(); ++i) {
    if (!memories_[i]->is_intact()) {
      fail_with(text("memory ", i, " of the caller's, ",
                     is_in_use(*memories_[i]) ? "in use" : "freed", ", was written"));
    }
  }
  for (const Kept& given : given_) {
    if (!same_bits(given.result, given.expected)) fail_with("an input has changed");
  }
  for (const Kept& kept : kept_) {
    if (!same_bits(kept.result, kept.expected)) fail_with("a result that is kept has changed");
  }
}

}  // namespace sardonyx::api_test
