#include "executor/session/session_inputs.h"

#include <algorithm>

#include "executor/type_check.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/datum_tensors.h"

namespace sardonyx {
namespace {

// Checks that the items of a sequence or an optional have its own element type: callers build them
// by hand, and kernels trust it.
void check_items(const ValueInfo& input, const Datum& datum) {
  const bool is_sequence = datum.is_sequence();
  if (!is_sequence && !datum.is_optional()) return;
  const Type& element = is_sequence ? datum.sequence().element : datum.optional().element;
  const std::vector<Datum>& items = is_sequence ? datum.sequence().items : datum.optional().items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].has_kind(element)) {
      fail(ErrorCode::kInvalidArgument, "input ", input.name, ": item ", i, " is ", items[i].type(),
           ", expected ", element, ", of which the ", is_sequence ? "sequence" : "optional",
           " says to be");
    }
    check_items(input, items[i]);
  }
}

void check_given(const ValueInfo& input, const Datum& datum) {
  if (!datum.defined()) {
    fail(ErrorCode::kInvalidArgument, "input ", input.name, " (", input.type, ") was not given");
  }
  if (datum.is_tensor() && input.type.is_tensor()) {
    if (datum.tensor().dtype() == input.type.dtype && allows(input.type, datum.tensor().shape()))
      return;
  } else if (datum.has_kind(input.type)) {
    return check_items(input, datum);
  }
  const Type got = datum.type();
  if (input.type.is_optional() && same_kind(*input.type.element, got)) return;
  const bool same = same_kind(input.type, got);
  fail(ErrorCode::kInvalidArgument, "input ", input.name, ": expected ", same ? "shape " : "type ",
       input.type, ", got ", got);
}

// A tensor of one element for an input that is a scalar.
bool is_scalar_in_disguise(const ValueInfo& input, const Datum& datum) {
  if (!datum.is_tensor() || !input.type.is_tensor() || !input.type.has_rank()) return false;
  const Tensor& tensor = datum.tensor();
  return input.type.rank() == 0 && tensor.rank() > 0 && tensor.count() == 1 &&
         tensor.dtype() == input.type.dtype;
}

// Commutative ops of the table compute each element from both operands. Any other may hand on
// elements of its inputs, or be replaced by one that does; custom ones may read them in any way.
bool may_hand_on(const Use& use) {
  const OpDef& op = *use.node->op;
  return !op.is(kCommutative) || find_op(op.name, op.domain) != &op;
}

}  // namespace

SessionInputs::SessionInputs(const Graph& graph, UnnamedDims& unnamed, bool is_strict)
    : is_strict_(is_strict) {
  for (const bool with_default : {false, true}) {
    for (const Value* input : graph.inputs()) {
      if ((input->default_value != nullptr) != with_default) continue;
      infos_.push_back({input->name, unnamed.numbered(input->type)});
      defaults_.push_back(with_default ? Datum(*input->default_value) : Datum());
      is_read_.push_back(!input->uses.empty() || graph.is_output(*input));
      is_handed_on_.push_back(graph.is_output(*input) ||
                              std::ranges::any_of(input->uses, may_hand_on));
      required_ += with_default ? 0 : 1;
    }
  }
  symbols_ = SharedSymbols(infos_);
}

std::vector<Datum> SessionInputs::in_order(const NamedData& named) const {
  std::vector<Datum> ordered(infos_.size());
  size_t used = 0;
  for (size_t i = 0; i < infos_.size(); ++i) {
    const auto at = named.find(infos_[i].name);
    if (at == named.end()) continue;
    ordered[i] = at->second;
    ++used;
  }
  if (used == named.size()) return ordered;
  for (const auto& [name, datum] : named) {
    if (std::ranges::find(infos_, name, &ValueInfo::name) != infos_.end()) continue;
    std::string known;
    for (const ValueInfo& input : infos_)
      known += (known.empty() ? "" : ", ") + input.name;
    fail(ErrorCode::kInvalidArgument, "the model has no input ", name, "; its inputs are ", known);
  }
  return ordered;
}

SessionInputs::Given SessionInputs::merged_with_defaults(DatumRefs given) const {
  if (given.size() != infos_.size() && given.size() != required_) {
    fail(ErrorCode::kInvalidArgument, "expected ", infos_.size(), " inputs, got ", given.size());
  }
  Given all{std::pmr::vector<const Datum*>(infos_.size(), scratch()),
            std::pmr::vector<size_t>(scratch())};
  for (size_t i = 0; i < infos_.size(); ++i) {
    const bool is_given = i < given.size() && given[i].defined();
    all.values[i] = is_given ? &given[i] : &defaults_[i];
    if (is_given && i >= required_) all.optional.push_back(i);
  }
  return all;
}

const Datum* SessionInputs::accepted(size_t index, const Datum& given,
                                     std::pmr::vector<Datum>& changed,
                                     NamedWarnings& warnings) const {
  const ValueInfo& input = infos_[index];
  const Datum* datum = &given;
  if (!given.defined() && !is_read_[index]) return datum;
  if (!is_strict_ && is_scalar_in_disguise(input, given)) {
    warnings.tell("one-element-scalar", text("input ", input.name, ": expected ", input.type,
                                             ", got ", given.type(), "; its element is taken"));
    datum = &changed.emplace_back(given.tensor().reshaped({}));
  }
  check_given(input, *datum);
  // The caller's memory is checked in each run, and never modified. Where nobody hands elements on,
  // kernels see for themselves what is true.
  if (is_handed_on_[index] && &given != &defaults_[index] && has_odd_bools(*datum))
    datum = &changed.emplace_back(with_normal_bools(*datum));
  return datum;
}

std::pmr::vector<const Datum*> SessionInputs::read_by(std::span<const size_t> wanted,
                                                      std::span<const Datum* const> values) const {
  static const Datum kOmitted;
  std::pmr::vector<const Datum*> read(values.begin(), values.end(), scratch());
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i] != &defaults_[i] && std::ranges::find(wanted, i) == wanted.end())
      read[i] = &kOmitted;
  }
  return read;
}

bool SessionInputs::has_symbol_conflict(std::span<const Datum* const> values,
                                        NamedWarnings& warnings) const {
  if (symbols_.empty()) return false;
  const std::optional<std::string> conflict = symbols_.conflict(values);
  if (!conflict) return false;
  if (is_strict_) fail(ErrorCode::kInvalidArgument, *conflict);
  warnings.tell("reused-dim-name", *conflict + "; taken for two names");
  return true;
}

}  // namespace sardonyx
